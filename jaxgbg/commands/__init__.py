"""The commands of `jaxgbg`, one function for each; their signatures are the options."""

from collections.abc import Callable

from jaxgbg.commands.analysing import compare, results
from jaxgbg.commands.checking import check
from jaxgbg.commands.joining import ensemble
from jaxgbg.commands.measuring import bench, evaluate, games, perft
from jaxgbg.commands.playing import play
from jaxgbg.commands.rating import tournament
from jaxgbg.commands.reporting import plot, report
from jaxgbg.commands.showing import show
from jaxgbg.commands.sweeping import sweep
from jaxgbg.commands.training import ablate, table1, train
from jaxgbg.commands.watching import watch

COMMANDS: dict[str, Callable[..., None]] = {
    "games": games,
    "check": check,
    "show": show,
    "train": train,
    "ablate": ablate,
    "table1": table1,
    "sweep": sweep,
    "eval": evaluate,
    "ensemble": ensemble,
    "compare": compare,
    "tournament": tournament,
    "results": results,
    "plot": plot,
    "report": report,
    "watch": watch,
    "play": play,
    "perft": perft,
    "bench": bench,
}
"""Name -> function, in the order in which help lists them."""
