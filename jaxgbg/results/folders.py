"""The runs below a folder, finished or not, as far as they can be read; damage is named."""

import dataclasses
import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxgbg.games import Game, broken_games, game_names
from jaxgbg.results.reading import (
    UNREADABLE,
    defect,
    evaluation_columns,
    is_number,
    json_object,
    run_folders,
)
from jaxgbg.training import Result, Run
from jaxgbg.training.run import read_game, read_parts

FIGURES = ("episodes", "moves", "training_seconds", "moves_per_second")
"""The numbers in summary.json."""


@dataclasses.dataclass
class StoredRun:
    """A run on disk; `name` is its path below the folder searched.

    `config` is its plain form, without what is not known here; `parts` are its specs and settings,
    `game` its game, None where none of that name is registered. `columns` are those of
    `evaluation_columns`, `summary` what summary.json holds. `problems` collects a line for each
    thing that could not be read.
    """

    path: Path
    name: str
    config: dict[str, Any]
    game: Game | None
    parts: dict[str, Any]
    columns: list[list[Any]]
    summary: dict[str, Any]
    problems: list[str]

    @property
    def finished(self) -> bool:
        """Whether nothing was left to be done."""
        return (self.path / "summary.json").exists()

    @functools.cached_property
    def run(self) -> Run:
        """Raises ValueError where it cannot be repeated here, as under other rules of its game."""
        return Run.read(self.config)

    @functools.cached_property
    def results(self) -> list[Result]:
        """Its evaluations, those repeated after a stop among them."""
        return [Result(*fields) for fields in zip(*self.columns[1:], strict=True)]

    def column(self, name: str) -> list[Any]:
        """A field of all its evaluations."""
        return self.columns[1 + Result._fields.index(name)] if self.columns else []

    def content(self, name: str) -> dict[str, Any] | None:
        """What a file of JSON in its folder holds; None, and a problem, where that is damaged."""
        try:
            return json_object(self.path / name)
        except FileNotFoundError:
            return None
        except UNREADABLE as error:
            self.problems.append(defect(self.path / name, error))
            return None


def find_runs(folder: Path) -> tuple[list[StoredRun], list[str]]:
    """All runs below `folder`, however deep, and itself; and a line for what is left out.

    Raises ValueError where there is no folder, or no run in it.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; give the one that holds the runs, such as runs")
    runs: list[StoredRun] = []
    problems: list[str] = []
    unknown: dict[str, list[Path]] = {}
    games = frozenset(game_names())
    for path in run_folders(folder, problems.append):
        try:
            runs.append(_read(path, folder, games, unknown))
        except FileNotFoundError:
            problems.append(f"{path}: metrics.jsonl without config.json; the run is left out")
        except UNREADABLE as error:
            # Others keep a config.json too: only a run has one of these beside it.
            if any((path / name).exists() for name in ("metrics.jsonl", "provenance.json")):
                problems.append(f"{defect(path / 'config.json', error)}; the run is left out")
    for name, paths in unknown.items():
        others = f" and in {len(paths) - 1} more" if len(paths) > 1 else ""
        problems.append(f"{paths[0]}: {name!r} is not known here and left out{others}")
    if not runs and not problems:
        raise ValueError(
            f"{folder} holds no runs; `jaxgbg train`, `ablate`, `table1` and `sweep` leave them in"
            " --out"
        )
    return runs, problems


def unknown_games(runs: Iterable[StoredRun], consequence: str) -> list[str]:
    """A line for each game that is not known in this process, though runs of it are here."""
    counts = Counter(run.config["game"]["name"] for run in runs if run.game is None)
    return [
        f"{broken_games().get(name, f'no game {name!r} is known here')}:"
        f" {count} run{'s' * (count > 1)} {consequence};"
        " --import MODULE makes a game of your own known"
        for name, count in counts.items()
    ]


def _read(
    path: Path, root: Path, games: frozenset[str], unknown: dict[str, list[Path]]
) -> StoredRun:
    """Raises FileNotFoundError without a config, another of UNREADABLE where it is damaged."""
    config = _known(path / "config.json", unknown)
    game = config.get("game")
    name = game.get("name") if isinstance(game, Mapping) else None
    elsewhere = isinstance(name, str) and name not in games
    problems: list[str] = []
    run = StoredRun(
        path=path,
        name=path.relative_to(root).as_posix() if path != root else path.name,
        config=config,
        game=None if elsewhere else read_game(config.get("game")),
        parts=read_parts(config),
        columns=evaluation_columns(path / "metrics.jsonl", problems.append),
        summary={},
        problems=problems,
    )
    run.summary = run.content("summary.json") or {}
    for figure in FIGURES:
        value = run.summary.get(figure)
        if value is not None and not is_number(value):
            problems.append(f"{path / 'summary.json'}: {figure} cannot be {value!r}; left out")
            run.summary[figure] = None
    return run


def _known(path: Path, unknown: dict[str, list[Path]]) -> dict[str, Any]:
    """A config without the settings that no spec has, which are noted."""
    known: dict[str, Any] = {}
    names = {field.name for field in dataclasses.fields(Run)} | {"fingerprint"}
    for name, part in json_object(path).items():
        if name not in names:
            unknown.setdefault(name, []).append(path)
            continue
        component = None if name in ("game", "fingerprint") else Run.part(name)
        if component is not None:
            spec = component.of(part)
            settings = {field.name for field in dataclasses.fields(spec)} | {"kind"}
            for setting in part.keys() - settings:
                unknown.setdefault(f"{name}.{setting}", []).append(path)
            part = {setting: part[setting] for setting in part if setting in settings}
        known[name] = part
    return known
