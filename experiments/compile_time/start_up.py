"""How long do commands take, and how long until a training has made its first moves?

    python -m experiments.compile_time.start_up --out OUT    # leave the machine idle
    python -m experiments.compile_time.start_up --show       # kept figures

Each is a process of its own, from its start to its end, with an empty cache of compiled programs.
One that trains a game prepares JAX, begins the training of the preset with one seed, without the
command line around it, and ends when its first chunk has run. Wall time, the median of five.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from experiments.shared import Number, measure_rows
from jaxgbg.cli.exit_codes import end_in_a_line

FILE = "start_up.json"
GAMES = ("tictactoe", "nim", "nim3p", "connectfour", "hex", "othello", "2048")
_TRAINED = """
from jaxgbg.runs.devices import prepare_jax
prepare_jax()
import jaxgbg
from jaxgbg.runs.loop import Training
training = Training(jaxgbg.preset({game!r}, seeds=(0,)))
training.advance(1)
assert training.progress().moves
"""


class Process(NamedTuple):
    """A Python process, its label and arguments."""

    label: str
    arguments: tuple[str, ...]


PROCESSES = (
    Process("python -c 'import jax'", ("-c", "import jax")),
    Process("jaxgbg --help", ("-m", "jaxgbg.cli", "--help")),
    Process("jaxgbg games", ("-m", "jaxgbg.cli", "games")),
    *(Process(f"first chunk of {name}", ("-c", _TRAINED.format(game=name))) for name in GAMES),
)


def seconds(arguments: Sequence[str]) -> float:
    """Wall time of a Python process with an empty cache of compiled programs."""
    with tempfile.TemporaryDirectory() as cache:
        # An empty name turns JAX's cache off; the user's own cache stays as it is.
        changed = os.environ | {"JAX_COMPILATION_CACHE_DIR": "", "XDG_CACHE_HOME": cache}
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments], check=True, env=changed, stdout=subprocess.DEVNULL
        )
        return round(time.perf_counter() - start, 3)


def measured(process: Process, options: argparse.Namespace) -> dict[str, Any]:
    """The label of a process and the seconds of each round."""
    rounds = [seconds(process.arguments) for _ in range(options.rounds)]
    return {"label": process.label, "seconds": rounds}


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The median, the least and the most of every process."""
    yield "| process | s, median | least | most |"
    yield "|---|---|---|---|"
    for row in results:
        each = row["seconds"]
        figures = statistics.median(each), min(each), max(each)
        yield f"| {row['label']} | {' | '.join(f'{figure:.2f}' for figure in figures)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    rounds = Number(5, "processes of each kind")
    settings = {process.label: process for process in PROCESSES}
    measure_rows(arguments, __file__, __doc__, FILE, settings, measured, table, rounds=rounds)


if __name__ == "__main__":
    end_in_a_line(main)
