"""Sweeps: many runs from one specification, by one process, many, or many machines."""

from jaxgbg.sweeps.executors import EXECUTORS, Failure
from jaxgbg.sweeps.spec import Plan, Unit, read_spec

__all__ = ["EXECUTORS", "Failure", "Plan", "Unit", "read_spec"]
