"""Packages that only some results need."""

import importlib

from jaxgbg.players import MissingExtra


def require_extra(*names: str) -> None:
    """Raise MissingExtra for the first of these packages that is not installed."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise MissingExtra(f"results needs {name}: pip install 'jaxgbg[analysis]'") from error
