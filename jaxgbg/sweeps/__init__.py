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
            "EXECUTORS": "jaxgbg.sweeps.executors",
            "Failure": "jaxgbg.sweeps.executors",
            "Plan": "jaxgbg.sweeps.spec",
            "Unit": "jaxgbg.sweeps.spec",
            "read_spec": "jaxgbg.sweeps.spec",
        },
    )

__all__ = ["EXECUTORS", "Failure", "Plan", "Unit", "read_spec"]
