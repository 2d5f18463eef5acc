"""The runs below a folder, finished or not, as far as they can be read; damage is named."""

import dataclasses
import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxgbg.contents import defect, read_json, read_object
from jaxgbg.games import Game, broken_games
from jaxgbg.results.bulk import without_collector
from jaxgbg.results.configs import Config, Configs
from jaxgbg.results.evaluations import Evaluations
from jaxgbg.results.index import LEAST, Entry, Index
from jaxgbg.runs import LaneName, Run
from jaxgbg.runs.storage.locations import FILES, LADDER, Found, NoRuns, Place, find, place_of
from jaxgbg.runs.storage.metrics import Complain, evaluation_columns
from jaxgbg.runs.storage.schemas import Histograms, Summary, read_leniently
from jaxgbg.specs import Spec
from jaxgbg.system import cache_folder

FIGURES = ("episodes", "moves", "training_seconds", "moves_per_second")
"""The numbers in summary.json."""


@dataclasses.dataclass
class StoredRun:
    """A run on disk; `name` is its path below the folder searched.

    `shared` is what its config says but for its `seeds`, the same object for all runs that differ
    by these alone; `finished` whether nothing was left to be done, `stopped` whether it says that
    it was stopped early. `summary` is what is good in summary.json; `untrained` are agents whose
    weights are all 0, as far as the run kept how they are spread. `problems` collects a line for
    each thing that could not be read.
    """

    path: Place
    name: str
    shared: Config
    seeds: tuple[int, ...]
    finished: bool
    stopped: bool
    evaluations: Evaluations
    summary: dict[str, Any]
    untrained: frozenset[LaneName]
    problems: list[str]

    @property
    def config(self) -> dict[str, Any]:
        """Its plain form, without what is not known here."""
        return self.shared.content | {"seeds": list(self.seeds)}

    @property
    def game(self) -> Game | None:
        """None where no game of that name is known in this process."""
        return self.shared.game

    @functools.cached_property
    def run(self) -> Run:
        """Raises ValueError where it cannot be repeated here, as under other rules of its game."""
        return Run.read(self.config)

    @property
    def error(self) -> ValueError | None:
        """Why `run` raises one, if it does."""
        if self.shared.error is None and self.seeds and len(set(self.seeds)) == len(self.seeds):
            return None
        try:
            assert self.run
        except ValueError as error:
            return error
        return None

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

    def complain(self, path: Place) -> Complain:
        """Who is told of something in a file that is left out."""
        return lambda text: self._note(f"{path}: {text}; left out")

    def _note(self, problem: str) -> None:
        """Keep a problem, once: a file may be read more than once."""
        if problem not in self.problems:
            self.problems.append(problem)


def find_runs(folder: str | Path) -> tuple[list[StoredRun], list[str]]:
    """All runs below a folder, however deep, and itself; and a line for what is left out.

    `folder` may be a URL of an object storage, as s3://bucket/runs. Raises NoRuns where there
    is no folder, or no run in it, MissingExtra where what reads the URL is not installed.
    """
    everything = find_all(folder)
    everything.check(everything.runs)
    return everything.runs, everything.problems


class Everything(NamedTuple):
    """What is below a folder: runs, folders of tournaments, a line for each that is left out."""

    root: Place
    runs: list[StoredRun]
    tournaments: list[Found]
    problems: list[str]

    def check(self, wanted: Sequence[Any]) -> None:
        """Raise NoRuns where there is nothing of what is wanted, nor a problem with it."""
        if wanted or self.problems:
            return
        raise NoRuns(
            f"{self.root} holds no runs; `jaxgbg train`, `ablate`, `table1` and `sweep` leave them"
            " in --out"
        )


def find_all(folder: str | Path) -> Everything:
    """`find_runs` with the tournaments there; raises no error where there is nothing."""
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
    """Reads runs from their files or, where these are what they were, from the index."""

    def __init__(self, index: Index | None, problems: list[str]) -> None:
        self._index, self._problems = index, problems
        self._configs = Configs()
        self._unknown: dict[str, list[Place]] = {}

    def read(self, found: Iterable[Found]) -> list[StoredRun]:
        """What can be read of them; a line for all else goes to the problems."""
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

    def _recalled(self, found: Found, entry: Entry) -> StoredRun:
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
            # Others keep a config.json too: only a run has one of these beside it.
            if found.files.intersection(("metrics.jsonl", "provenance.json")):
                self._problems.append(f"{defect(path, error)}; the run is left out")
            return None
        run = _read(found, config, seeds)
        if self._index is not None and found.signature and checked and not run.problems:
            kept = [seeds, run.evaluations.packed, run.summary, sorted(run.untrained)]
            entry = Entry(found.signature, text, json.dumps(kept, separators=(",", ":")))
            self._index.add(found.name, entry, found.newest)
        return run


def unknown_games(runs: Iterable[StoredRun], consequence: str) -> list[str]:
    """A line for each game that is not known in this process, though runs of it are here."""
    counts = Counter(run.config["game"]["name"] for run in runs if run.game is None)
    return [
        f"{broken_games().get(name, f'no game {name!r} is known here')}:"
        f" {count} run{'s' * (count > 1)} {consequence};"
        " --import MODULE makes a game of your own known"
        for name, count in counts.items()
    ]


def _read(found: Found, config: Config, seeds: tuple[int, ...]) -> StoredRun:
    """All but the config of a run."""
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
    """Raise ValueError where a folder has the name of another run than its config."""
    named = re.fullmatch(r"[\w-]+-([0-9a-f]{8})", name)
    if named is not None and named[1] != config.digest(seeds):
        raise ValueError(
            "of another run than its folder is named after, which would end in"
            f" -{config.digest(seeds)}: rename the folder if the config is right"
        )
