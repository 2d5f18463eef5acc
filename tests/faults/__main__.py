"""A seeded schedule of faults against real commands: python -m tests.faults --count N --seed S.

After every fault the same command is given again, and what it has left once it is done is compared
byte for byte with what it leaves undisturbed. Ends with a tally, and code 1 if anything was lost.
"""

import argparse
import contextlib
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .kinds import KINDS, Kind
from .work import Work, Wrong, small_disk

TRAIN = ["train", "nim", "--seeds", "2", "--episodes", "60000", "--eval-every", "10000"]
TRAIN += ["--batch", "16", "--checkpoint-every", "0"]
SWEEP = """
game = "tictactoe"
seeds = "0:4"
chunk = 2

[settings]
episodes = 20_000
eval_every = 5_000
opponents = ["random"]

[axes]
batch = [16, 32]
"""
# Metrics, checkpoints and agents of TRAIN take a twentieth of it.
DISK = "2m"
# So many faults, and then it has to come to its end.
_AT_MOST = 3
_TRIES = 4


@dataclass
class Tally:
    """How often a fault was tried, and with what result."""

    tried: int = 0
    compared: int = 0
    lost: int = 0


def schedule(kinds: list[Kind], count: int, draw: random.Random) -> list[Kind]:
    """`count` faults, each kind as often as any other, or once more, in an order drawn."""
    whole, rest = divmod(count, len(kinds))
    order = kinds * whole + draw.sample(kinds, rest)
    draw.shuffle(order)
    return order


@contextlib.contextmanager
def works(folder: Path) -> Iterator[dict[str, Work]]:
    """By name, what can be disturbed here."""
    cache = folder / "cache"
    spec = folder / "sweep.toml"
    spec.write_text(SWEEP)
    inline = ["sweep", str(spec), "--checkpoint-every", "0", "--executor", "inline"]
    sweep = [*inline[:-1], "processes", "--workers", "2"]
    with small_disk(folder / "disk", DISK) as mounted:
        train = Work(TRAIN, folder / "train", cache)
        # Whoever does a sweep, it leaves the same: one process is enough to know what.
        found = {"train": train, "sweep": Work(sweep, folder / "sweep", cache, first=inline)}
        if mounted:
            found["disk"] = Work(TRAIN, folder / "disk" / "train", cache, first=train)
        yield found


def settle(work: Work, since: list[Tally]) -> list[str]:
    """Do the rest, compare, begin from nothing next time; returns what was wrong."""
    wrong = []
    try:
        work.finish()
        work.compare()
    except (Wrong, AssertionError) as error:
        wrong.append(str(error))
    for tally in since:
        tally.compared += 1
        tally.lost += bool(wrong)
    since.clear()
    work.clear()
    return wrong


def run(count: int, seed: int, folder: Path) -> tuple[dict[str, Tally], list[str]]:
    """The tally by kind, and a line for all that went wrong."""
    draw = random.Random(seed)
    wrong: list[str] = []
    with works(folder) as known:
        kinds = [kind for kind in KINDS if kind.work in known]
        tallies = {kind.name: Tally() for kind in kinds}
        since: dict[str, list[Tally]] = {name: [] for name in known}
        for kind in schedule(kinds, count, draw):
            work, tally = known[kind.work], tallies[kind.name]
            for _ in range(_TRIES):
                try:
                    struck = kind.strike(work, draw)
                except Wrong as error:
                    wrong.append(f"{kind.name}: {error}")
                    tally.lost += 1
                    struck = True
                if struck:
                    tally.tried += 1
                    since[kind.work].append(tally)
                    break
                # It was over before the fault came.
                wrong += [f"{kind.name}: {line}" for line in settle(work, since[kind.work])]
            if len(since[kind.work]) >= _AT_MOST:
                names = ", ".join(
                    name for name, each in tallies.items() if each in since[kind.work]
                )
                wrong += [f"{names}: {line}" for line in settle(work, since[kind.work])]
            print(f"{kind.name}: {'struck' if struck else 'missed'}", file=sys.stderr, flush=True)
        for name, work in known.items():
            if since[name]:
                wrong += settle(work, since[name])
    return tallies, wrong


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.faults", description=__doc__)
    parser.add_argument("--count", type=int, default=32, help="faults in all (default 32)")
    parser.add_argument("--seed", type=int, default=0, help="of kinds and moments (default 0)")
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="jaxgbg-faults-") as folder:
        tallies, wrong = run(options.count, options.seed, Path(folder))
    print(f"| {'fault':40} | tried | compared | lost |\n|{'-' * 42}|------:|---------:|-----:|")
    total = Tally()
    for name, tally in tallies.items():
        print(f"| {name:40} | {tally.tried:5} | {tally.compared:8} | {tally.lost:4} |")
        total.tried += tally.tried
        total.compared += tally.compared
        total.lost += tally.lost
    print(f"| {'all':40} | {total.tried:5} | {total.compared:8} | {total.lost:4} |")
    for kind in KINDS:
        if kind.name not in tallies:
            print(f"skipped: {kind.name}: mounting is not allowed here")
    who = "root" if os.geteuid() == 0 else "a user who is not root"
    print(f"seed {options.seed}, as {who}, {time.monotonic() - begun:.0f} s")
    for line in wrong:
        print(f"wrong: {line}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
