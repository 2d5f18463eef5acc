"""One part in a process of its own, so that whatever it breaks is not the others'.

    python -m experiments.gpu.part correctness --games nim --out runs/gpu

Its results are OUT/PART.json; those that stand there are not made again.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from experiments.gpu import connectfour, correctness, speed, table1
from experiments.gpu.records import Records, Task, machine
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.devices import prepare_jax, warn_of_known_faults
from jaxgbg.runs.presets import GAMES

PARTS: dict[str, ModuleType] = {
    "correctness": correctness,
    "speed": speed,
    "connectfour": connectfour,
    "table1": table1,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """What the run tells each of its parts."""
    parser.add_argument("--scale", type=float, default=1.0, help="times the published budgets")
    parser.add_argument("--games", nargs="*", choices=GAMES, default=list(GAMES), metavar="GAME")
    parser.add_argument("--out", type=Path, default=Path("runs/gpu"), help="folder of results")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=list(PARTS))
    add_options(parser)
    parser.add_argument("--seconds", type=float, default=1500.0, help="for this part")
    options = parser.parse_args(arguments)
    until = time.time() + options.seconds
    prepare_jax()
    warn_of_known_faults()
    part = PARTS[options.part]
    options.out.mkdir(parents=True, exist_ok=True)
    records = Records(options.out / f"{options.part}.json", machine(), part.KEY)
    failed = len(records.errors)
    try:
        part.measure(Task(options.out, tuple(options.games), options.scale, until), records)
    except Exception as error:
        records.fail(speed.reason_of(error))
        raise
    sys.exit(1 if len(records.errors) > failed else 0)


if __name__ == "__main__":
    end_in_a_line(main)
