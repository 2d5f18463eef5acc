"""The runs below a folder, finished or not, as far as they can be read; damage is named."""

import dataclasses
import functools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxgbg.contents import defect, read_json, read_object
from jaxgbg.games import Game, broken_games, game_names
from jaxgbg.specs import Spec
from jaxgbg.training import Result, Run
from jaxgbg.training.kept import Summary, read_leniently
from jaxgbg.training.metrics import Complain, evaluation_columns
from jaxgbg.training.run import changed_parts, digest_of, read_game, read_parts

FIGURES = ("episodes", "moves", "training_seconds", "moves_per_second")
"""The numbers in summary.json."""


@dataclasses.dataclass
class StoredRun:
    """A run on disk; `name` is its path below the folder searched.

    `config` is its plain form, without what is not known here; `parts` are its specs and settings,
    `game` its game, None where none of that name is registered. `columns` are those of
    `evaluation_columns`, `summary` what is good in summary.json. `problems` collects a line for
    each thing that could not be read.
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

    def content(self, name: str, kind: type[Spec]) -> dict[str, Any]:
        """What is good in a file of JSON in its folder; damage is a problem, no file is none."""
        path = self.path / name
        try:
            content = read_json(path)
        except FileNotFoundError:
            return {}
        except ValueError as error:
            self._note(str(error))
            return {}
        return read_leniently(kind, content, self.complain(path))

    def complain(self, path: Path) -> Complain:
        """Who is told of something in a file that is left out."""
        return lambda text: self._note(f"{path}: {text}; left out")

    def _note(self, problem: str) -> None:
        """Keep a problem, once: a file may be read more than once."""
        if problem not in self.problems:
            self.problems.append(problem)


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
    for path in _run_folders(folder, problems.append):
        try:
            runs.append(_read(path, folder, games, unknown))
        except FileNotFoundError:
            problems.append(f"{path}: metrics.jsonl without config.json; the run is left out")
        except ValueError as error:
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


def _run_folders(folder: Path, complain: Complain) -> Iterator[Path]:
    """What may be a run: `folder` and all below it with a config or evaluations in it."""

    def unreadable(error: OSError) -> None:
        complain(f"{error.filename}: {error.strerror}; left out")

    for path, below, files in os.walk(folder, onerror=unreadable):
        below.sort()
        if "config.json" in files or "metrics.jsonl" in files:
            yield Path(path)


def _read(
    path: Path, root: Path, games: frozenset[str], unknown: dict[str, list[Path]]
) -> StoredRun:
    """Raises FileNotFoundError without a config, ValueError where it is damaged."""
    before = sum(map(len, unknown.values()))
    config = _known(path / "config.json", unknown)
    if not isinstance(config.get("fingerprint", ""), str):
        raise ValueError(f"fingerprint must be text, not {config['fingerprint']!r}")
    game = config.get("game")
    name = game.get("name") if isinstance(game, Mapping) else None
    elsewhere = isinstance(name, str) and name not in games
    parts = read_parts(config)
    problems: list[str] = []
    run = StoredRun(
        path=path,
        name=path.relative_to(root).as_posix() if path != root else path.name,
        config=config,
        game=None if elsewhere else read_game(game),
        parts=parts,
        columns=[],
        summary={},
        problems=problems,
    )
    if run.game is not None and before == sum(map(len, unknown.values())):
        _check_name(path, digest_of(changed_parts(parts | {"game": game})))
    run.columns = evaluation_columns(
        path / "metrics.jsonl", lambda text: problems.append(f"{text}; left out")
    )
    run.summary = run.content("summary.json", Summary)
    return run


def _check_name(path: Path, digest: str) -> None:
    """Raise ValueError where a folder has the name of another run than its config."""
    named = re.fullmatch(r"[\w-]+-([0-9a-f]{8})", path.name)
    if named is not None and named[1] != digest:
        raise ValueError(
            f"of another run than its folder is named after, which would end in -{digest}: rename"
            " the folder if the config is right"
        )


def _known(path: Path, unknown: dict[str, list[Path]]) -> dict[str, Any]:
    """A config without the settings that no spec has, which are noted."""
    known: dict[str, Any] = {}
    names = {field.name for field in dataclasses.fields(Run)} | {"fingerprint"}
    for name, part in read_object(path).items():
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
