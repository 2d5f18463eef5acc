"""The commands of `jaxgbg`, one function for each; their signatures are the options."""

from collections.abc import Callable

from jaxgbg.cli.ablate import ablate
from jaxgbg.cli.bench import bench
from jaxgbg.cli.check import check
from jaxgbg.cli.compare import compare
from jaxgbg.cli.ensemble import ensemble
from jaxgbg.cli.eval import evaluate
from jaxgbg.cli.games import games
from jaxgbg.cli.gtp import gtp
from jaxgbg.cli.perft import perft
from jaxgbg.cli.play import play
from jaxgbg.cli.plot import plot
from jaxgbg.cli.report import report
from jaxgbg.cli.results import results
from jaxgbg.cli.show import show
from jaxgbg.cli.shrink import shrink
from jaxgbg.cli.sweep import sweep
from jaxgbg.cli.table1 import table1
from jaxgbg.cli.tournament import tournament
from jaxgbg.cli.train import train
from jaxgbg.cli.watch import watch
from jaxgbg.cli.zoo import zoo

COMMANDS: dict[str, Callable[..., None]] = {
    "games": games,
    "zoo": zoo,
    "check": check,
    "show": show,
    "train": train,
    "ablate": ablate,
    "table1": table1,
    "sweep": sweep,
    "eval": evaluate,
    "ensemble": ensemble,
    "shrink": shrink,
    "compare": compare,
    "tournament": tournament,
    "results": results,
    "plot": plot,
    "report": report,
    "watch": watch,
    "play": play,
    "gtp": gtp,
    "perft": perft,
    "bench": bench,
}
"""Name -> function, in the order in which help lists them."""
