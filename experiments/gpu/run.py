"""All that is to be known of this project on a GPU, most valuable first, within a given time.

    python -m experiments.gpu.run [--scale 1] [--minutes 25] [--parts ...] [--out runs/gpu]

Correctness against a CPU's results, speed next to the device's own rates, ConnectFour towards
200-0-0 against AB-DL, and Table 1. Each part has its share of the time and is a process, or one for
each game, where compiling takes most of it; its results are on disk as they come, and the next part
begins whatever its result is. The same command with the same --out goes on where it ended.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.gpu.part import add_options
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.storage.files import write_json

SHARES = {"correctness": 0.1, "speed": 0.15, "connectfour": 0.5, "table1": 0.25}
"""The parts, most valuable first, and what each may take of all time."""


class Clock:
    """Shares out `seconds` from now on; what a part leaves is shared by those after it."""

    def __init__(self, seconds: float, shares: Mapping[str, float] = SHARES) -> None:
        self.end = time.time() + seconds
        self._shares = shares

    def left(self) -> float:
        """Seconds until all must be over."""
        return self.end - time.time()

    def until(self, parts: Sequence[str]) -> float:
        """When the first of the `parts` that are still to come is to end, in seconds since 1970."""
        total = sum(self._shares[part] for part in parts)
        return time.time() + max(0.0, self.left()) * self._shares[parts[0]] / total


# What a part may take beyond its time to write down what it has.
_GRACE = 30.0
# Where several processes share a device none may take all of its memory when it starts.
_SHARED = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser)
    parser.add_argument("--minutes", type=float, default=25.0, help="for everything")
    parser.add_argument(
        "--parts", nargs="+", choices=list(SHARES), default=list(SHARES), metavar="PART"
    )
    parser.add_argument(
        "--make-reference", action="store_true", help="on a CPU: what correctness compares with"
    )
    options = parser.parse_args(arguments)
    if options.make_reference:
        from experiments.gpu.correctness import make_reference

        make_reference()
        return
    if not 0 < options.minutes < float("inf") or not 0 < options.scale < float("inf"):
        parser.error("--minutes and --scale must be above 0")
    if not options.games:
        parser.error("--games needs one at least")
    options.out.mkdir(parents=True, exist_ok=True)
    told = do_parts([part for part in SHARES if part in options.parts], options)
    sys.exit(0 if all(part["state"] == "done" for part in told.values()) else 1)


def do_parts(parts: list[str], options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """One part after the other; their outcomes are printed and kept in OUT/parts.json."""
    clock = Clock(60 * options.minutes)
    told: dict[str, dict[str, Any]] = {}
    while parts:
        until = clock.until(parts)
        part = parts.pop(0)
        # Not the time of day: whoever repeats the command has the same time for it.
        left = f"{until - time.time():.1f}"
        command = [sys.executable, "-m", "experiments.gpu.part", part, "--seconds", left]
        command += ["--scale", str(options.scale), "--out", str(options.out), "--games"]
        start = time.monotonic()
        commands = [[*command, *games] for games in jobs(part, options.games)]
        state = watched(commands, min(until + _GRACE, clock.end) - time.time())
        seconds = round(time.monotonic() - start, 1)
        told[part] = {"state": state, "seconds": seconds}
        write_json(Path(options.out) / "parts.json", told)
        print(f"{part}: {state} after {seconds} s, {clock.left():.0f} s left", flush=True)
    return told


def jobs(part: str, games: Sequence[str]) -> list[list[str]]:
    """The games of each process of a part; that without a game times the memory."""
    single = [[game] for game in games]
    if part == "connectfour":
        return [list(games)]
    return [[], *single] if part == "speed" else single


def watched(commands: Sequence[Sequence[str]], seconds: float) -> str:
    """Run commands at once, for so long at most: done, stopped by the clock, or how one failed."""
    end = time.monotonic() + max(seconds, 0.1)
    shared = _SHARED if len(commands) > 1 else {}
    running = [subprocess.Popen(command, env={**shared, **os.environ}) for command in commands]
    states = []
    try:
        for process in running:
            try:
                states.append(_ended(process.wait(max(end - time.monotonic(), 0.01))))
            except subprocess.TimeoutExpired:
                states.append("stopped")
    finally:
        for process in running:
            process.kill()
            process.wait()
    return next((state for state in states if state not in ("done", "stopped")), max(states))


def _ended(code: int) -> str:
    if code < 0:
        return f"killed by signal {-code}"
    return "done" if code == 0 else f"failed with {code}"


if __name__ == "__main__":
    end_in_a_line(main)
