"""The command line: one file per command."""

from jaxgbg.cli.main import main

__all__ = ["main"]
