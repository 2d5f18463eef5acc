"""What the command `jaxgbg` can do, one function a command; their signatures are its options."""

from jaxgbg.commands.analysing import compare, results
from jaxgbg.commands.checking import check
from jaxgbg.commands.measuring import bench, evaluate, games, perft
from jaxgbg.commands.reporting import report
from jaxgbg.commands.sweeping import sweep
from jaxgbg.commands.training import ablate, table1, train

__all__ = [
    "ablate",
    "bench",
    "check",
    "compare",
    "evaluate",
    "games",
    "perft",
    "report",
    "results",
    "sweep",
    "table1",
    "train",
]
