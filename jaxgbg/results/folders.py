"""Read the runs below a folder, finished or not; damaged files are reported and skipped."""

import dataclasses
import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxgbg.contents import defect, read_json, read_object
from jaxgbg.games import Game, broken_games
from jaxgbg.results.configs import Config, Configs
from jaxgbg.results.evaluations import Evaluations
from jaxgbg.results.index import LEAST, Index, IndexEntry
from jaxgbg.runs import LaneName, Run
from jaxgbg.runs.storage.locations import FILES, LADDER, Found, NoRuns, Place, find, place_of
from jaxgbg.runs.storage.metrics import Complain, evaluation_columns
from jaxgbg.runs.storage.schemas import Histograms, Summary, validate_partial
from jaxgbg.specs import Spec
from jaxgbg.system import cache_folder, without_collector
from jaxgbg.types import JSON

FIGURES = ("episodes", "moves", "training_seconds", "moves_per_second")
"""The numbers in summary.json."""


@dataclasses.dataclass
class StoredRun:
    """A run on disk; `name` is its path below the searched folder.

    `shared` is its config without `seeds`, one object for all runs that differ only in their seeds.
    `finished` means that the run is complete, `stopped` that it was stopped early. `summary` has
    the valid entries of summary.json. `untrained` are agents whose weights are all 0, if the run
    has histograms. `problems` has a line for everything that could not be read.
    """

    path: Place
    name: str
    shared: Config
    seeds: tuple[int, ...]
    finished: bool
    stopped: bool
    evaluations: Evaluations
    summary: dict[str, JSON]
    untrained: frozenset[LaneName]
    problems: list[str]

    @property
    def config(self) -> dict[str, JSON]:
        """The plain form of its config, without unknown settings."""
        return self.shared.content | {"seeds": list(self.seeds)}

    @property
    def game(self) -> Game | None:
        """The game; None if no game of that name is registered in this process."""
        return self.shared.game

    @functools.cached_property
    def run(self) -> Run:
        """The run; raises ValueError if it cannot be repeated here, as under other rules."""
        return Run.read(self.config)

    @property
    def error(self) -> ValueError | None:
        """The error that `run` raises, or None."""
        if self.shared.error is None and self.seeds and len(set(self.seeds)) == len(self.seeds):
            return None
        try:
            assert self.run
        except ValueError as error:
            return error
        return None

    def content(self, name: str, kind: type[Spec]) -> dict[str, JSON]:
        """The valid entries of a JSON file in its folder; {} if absent. Damage is a problem."""
        path = self.path / name
        try:
            content = read_json(path)
        except FileNotFoundError:
            return {}
        except ValueError as error:
            self._note(str(error))
            return {}
        return validate_partial(kind, content, self.complain(path))

    def complain(self, path: Place) -> Complain:
        """A function that reports something in a file that is skipped."""
        return lambda text: self._note(f"{path}: {text}; left out")

    def _note(self, problem: str) -> None:
        """Add a problem unless it is known: a file may be read more than once."""
        if problem not in self.problems:
            self.problems.append(problem)


def find_runs(folder: str | Path) -> tuple[list[StoredRun], list[str]]:
    """Find all runs in and below a folder; also returns a line for everything that is skipped.

    `folder` may be a URL of an object storage, such as s3://bucket/runs. Raises NoRuns if there is
    no folder or no run in it, MissingExtra if the package for the URL is not installed.
    """
    everything = find_all(folder)
    everything.check(everything.runs)
    return everything.runs, everything.problems


class Everything(NamedTuple):
    """The content of a folder: runs, folders of tournaments, a line for each skipped one."""

    root: Place
    runs: list[StoredRun]
    tournaments: list[Found]
    problems: list[str]

    def check(self, wanted: Sequence[object]) -> None:
        """Raise NoRuns if there is nothing of what is wanted and no problem either."""
        if wanted or self.problems:
            return
        raise NoRuns(
            f"{self.root} has no runs; `jaxgbg train`, `ablate`, `table1` and `sweep` write them"
            " to --out"
        )


def find_all(folder: str | Path) -> Everything:
    """Like `find_runs`, with tournaments; an empty folder is no error."""
    root = place_of(folder)
    problems: list[str] = []
    with without_collector():
        found = list(find(root, problems.append))
        tournaments = [each for each in found if LADDER in each.files]
        found = [each for each in found if each.files.intersection(FILES[:2])]
        cache = cache_folder() if isinstance(root, Path) and len(found) >= LEAST else None
        index = Index(root, cache) if isinstance(root, Path) and cache else None
        runs = _Reader(index, problems).read(found)
    return Everything(root, runs, tournaments, problems)


class _Reader:
    """Reads runs from their files, or from the index if the files have not changed."""

    def __init__(self, index: Index | None, problems: list[str]) -> None:
        self._index, self._problems = index, problems
        self._configs = Configs()
        self._unknown: dict[str, list[Place]] = {}

    def read(self, found: Iterable[Found]) -> list[StoredRun]:
        """Read the runs; adds a line to the problems for each that cannot be read."""
        entries = self._index.load() if self._index is not None else {}
        known = frozenset(entries)
        runs = []
        for each in found:
            entry = entries.pop(each.name, None)
            if entry is not None and entry.signature == each.signature:
                run: StoredRun | None = self._recalled(each, entry)
            else:
                run = self._of_files(each)
            if run is not None:
                runs.append(run)
        if self._index is not None:
            self._index.save(gone=known.difference(run.name for run in runs))
        for name, paths in self._unknown.items():
            others = f" and in {len(paths) - 1} more" if len(paths) > 1 else ""
            self._problems.append(f"{paths[0]}: {name!r} is not known here and left out{others}")
        return runs

    def _recalled(self, found: Found, entry: IndexEntry) -> StoredRun:
        seeds, packed, summary, untrained = json.loads(entry.content)
        config = self._configs.known(entry.config, tuple(seeds))
        return StoredRun(
            path=found.path,
            name=found.name,
            shared=config,
            seeds=tuple(seeds),
            finished="summary.json" in found.files,
            stopped="stopped.json" in found.files,
            evaluations=Evaluations(packed),
            summary=summary,
            untrained=frozenset(LaneName(*lane) for lane in untrained),
            problems=[],
        )

    def _of_files(self, found: Found) -> StoredRun | None:
        path = found.path / "config.json"
        try:
            content = read_object(path)
            config, seeds, text = self._configs.read(content)
            for name in config.unknown:
                self._unknown.setdefault(name, []).append(path)
            checked = config.game is not None and not config.unknown
            if checked:
                _check_name(found.path.name, config, seeds)
        except FileNotFoundError:
            problem = "metrics.jsonl without config.json; the run is left out"
            self._problems.append(f"{found.path}: {problem}")
            return None
        except ValueError as error:
            # Other programs have a config.json too; only a run also has one of these files.
            if found.files.intersection(("metrics.jsonl", "provenance.json")):
                self._problems.append(f"{defect(path, error)}; the run is left out")
            return None
        run = _read(found, config, seeds)
        if self._index is not None and found.signature and checked and not run.problems:
            kept = [seeds, run.evaluations.packed, run.summary, sorted(run.untrained)]
            entry = IndexEntry(found.signature, text, json.dumps(kept, separators=(",", ":")))
            self._index.add(found.name, entry, found.last_change)
        return run


def unknown_games(runs: Iterable[StoredRun], consequence: str) -> list[str]:
    """A line for each unregistered game that has runs here."""
    counts = Counter(run.config["game"]["name"] for run in runs if run.game is None)
    return [
        f"{broken_games().get(name, f'no game {name!r} is known here')}:"
        f" {count} run{'s' * (count > 1)} {consequence};"
        " --import MODULE makes a game of your own known"
        for name, count in counts.items()
    ]


def _read(found: Found, config: Config, seeds: tuple[int, ...]) -> StoredRun:
    """Read everything of a run except its config."""
    problems: list[str] = []
    columns = evaluation_columns(
        found.path / "metrics.jsonl", lambda text: problems.append(f"{text}; left out")
    )
    run = StoredRun(
        path=found.path,
        name=found.name,
        shared=config,
        seeds=seeds,
        finished="summary.json" in found.files,
        stopped="stopped.json" in found.files,
        evaluations=Evaluations.pack(columns),
        summary={},
        untrained=frozenset(),
        problems=problems,
    )
    if run.finished:
        run.summary = run.content("summary.json", Summary)
    if "histograms.json" in found.files:
        weights = run.content("histograms.json", Histograms).get("weights")
        agents = weights.agents if weights is not None else ()
        run.untrained = frozenset(
            LaneName(one.seed, one.variant) for one in agents if not sum(one.counts)
        )
    return run


def _check_name(name: str, config: Config, seeds: tuple[int, ...]) -> None:
    """Raise ValueError if the name of a folder does not match its config."""
    named = re.fullmatch(r"[\w-]+-([0-9a-f]{8})", name)
    if named is not None and named[1] != config.digest(seeds):
        raise ValueError(
            "of another run than its folder's name says, so its evaluations may belong to other"
            f" settings: restore the file, or if only the name was changed, let it end in"
            f" -{config.digest(seeds)}"
        )
