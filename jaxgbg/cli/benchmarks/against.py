"""How much faster than another revision: both train in turn, each in a process of its own.

The speed of a shared machine changes from one minute to the next. Two timings that follow each
other have most of that in common, so their ratio varies less than each of them.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import jaxgbg
from jaxgbg.cli.benchmarks import Batches, Rounds, Seconds, pace
from jaxgbg.cli.benchmarks.training import default_seeds
from jaxgbg.games import Game
from jaxgbg.results.statistics import bootstrap_interval
from jaxgbg.runs.presets import preset
from jaxgbg.runs.run import Seeds, plain_game
from jaxgbg.specs import checked
from jaxgbg.types import SettingValue

_HERE = Path(jaxgbg.__file__).parents[1]


class AgainstRow(NamedTuple):
    """Moves/s of both programs, and how many times as fast as the other one this one is.

    The medians over rounds; `low` to `high` is the 95% bootstrap interval of the median ratio.
    """

    game: str
    batch: int
    lanes: int
    rounds: int
    other_moves_per_s: int
    moves_per_s: int
    ratio: float
    low: float
    high: float


def compare(
    other: str,
    rounds: Rounds,
    games: Sequence[Game],
    seeds: Seeds | None,
    batches: Batches,
    seconds: Seconds,
    changes: dict[str, SettingValue],
) -> list[AgainstRow]:
    """A row of `bench_against` for each game and batch size; `other` is a folder or a revision."""
    sizes: list[dict[str, SettingValue]] = [{"batch": batch} for batch in batches or ()] or [{}]
    with source_of(other) as folder:
        return [
            bench_against(folder, game, seeds, rounds, seconds, **changes, **size)
            for game in games
            for size in sizes
        ]


@checked
def bench_against(
    folder: Path,
    game: Game,
    seeds: Seeds | None = None,
    rounds: Rounds = 10,
    seconds: Seconds = 1.0,
    **settings: SettingValue,
) -> AgainstRow:
    """Train a game with the jaxgbg in `folder` and with this one, in turn, and compare the speed.

    `settings` are those of the run in which it differs from the published parameters. Raises
    ValueError if one of the two does not train.
    """
    run = preset(game, **settings)
    content = {
        "game": plain_game(game),
        "seeds": seeds or default_seeds(run),
        "settings": settings,
    }
    with _pace(folder) as other, _pace(_HERE) as this:
        pair, speeds = (other, this), np.zeros((rounds, 2))
        lanes, _ = (ask(content) for ask in pair)
        # Warm caches, and chunks of their final length.
        for ask in pair:
            ask(seconds)
        for number in range(rounds):
            for place in (0, 1) if number % 2 else (1, 0):
                speeds[number, place] = pair[place](seconds)
    ratios = speeds[:, 1:] / speeds[:, :1]
    low, high = bootstrap_interval(lambda drawn: np.median(drawn, axis=(1, 2)), ratios)
    others, ours = np.median(speeds, axis=0)
    return AgainstRow(
        game=game.name,
        batch=run.schedule.batch,
        lanes=round(lanes),
        rounds=rounds,
        other_moves_per_s=round(others),
        moves_per_s=round(ours),
        ratio=round(float(np.median(ratios)), 3),
        low=round(low, 3),
        high=round(high, 3),
    )


@contextlib.contextmanager
def source_of(name: str) -> Iterator[Path]:
    """A folder with the package: `name` itself, or a temporary one with a revision of that name.

    Raises ValueError if it is neither.
    """
    if name and (Path(name) / "jaxgbg" / "__init__.py").is_file():
        yield Path(name).absolute()
        return
    git = ["git", "-C", str(_HERE), "archive", "--format=zip", f"{name}^{{tree}}", "jaxgbg"]
    try:
        # A name with a dash in front would be an option.
        archive = None if name.startswith("-") else subprocess.run(git, capture_output=True)
    except OSError:
        archive = None
    if archive is None or archive.returncode:
        raise ValueError(
            f"--against {name}: neither a folder that contains the folder jaxgbg nor a revision of"
            f" a git repository in {_HERE}"
        )
    with tempfile.TemporaryDirectory(prefix="jaxgbg-") as folder:
        with zipfile.ZipFile(io.BytesIO(archive.stdout)) as packed:
            packed.extractall(folder)
        yield Path(folder)


@contextlib.contextmanager
def _pace(folder: Path) -> Iterator[Callable[[object], float]]:
    """Start the program `pace` with the jaxgbg in `folder`; yield a function that asks it.

    The function sends a line and returns the answer. It raises ValueError if the program has ended.
    """
    with tempfile.TemporaryFile() as errors:
        # -P: without the folder of the script, whose modules are this revision's.
        process = subprocess.Popen(
            [sys.executable, "-P", str(pace.__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONPATH": str(folder)},
            cwd=folder,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(question: object) -> float:
            with contextlib.suppress(BrokenPipeError):
                questions.write(json.dumps(question).encode() + b"\n")
                questions.flush()
            if answer := answers.readline():
                return float(answer)
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise ValueError(f"the jaxgbg in {folder} does not train: {last or 'no message'}")

        try:
            yield ask
        finally:
            process.kill()
            process.communicate()
