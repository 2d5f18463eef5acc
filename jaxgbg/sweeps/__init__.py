"""Sweeps: many runs from one specification, by one process, many, or many machines."""

from typing import TYPE_CHECKING

from jaxgbg import lazy

if TYPE_CHECKING:
    from jaxgbg.sweeps.executors import EXECUTORS, Failure
    from jaxgbg.sweeps.spec import Plan, Unit, read_spec
else:
    __getattr__, __dir__ = lazy.attributes(
        __name__,
        {
            "jaxgbg.sweeps.executors": "EXECUTORS Failure",
            "jaxgbg.sweeps.spec": "Plan Unit read_spec",
        },
    )

__all__ = ["EXECUTORS", "Failure", "Plan", "Unit", "read_spec"]
