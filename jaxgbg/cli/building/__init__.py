"""Rules in, rated agent out: choose the settings of a game, train, rate and export in one call."""

from jaxgbg.cli.building.build import build_agent

__all__ = ["build_agent"]
