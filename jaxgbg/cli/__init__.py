"""The command line: one file per command."""

from jaxgbg.cli.app import main

__all__ = ["main"]
