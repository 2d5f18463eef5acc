"""What the experiments share: options, archived runs, the scores of a run as arrays, figures."""

import argparse
import dataclasses
import fcntl
import functools
import gzip
import json
import math
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.gpu.records import Records, machine
from jaxgbg import Run, make
from jaxgbg.results.figures import new_figure as new_figure
from jaxgbg.runs import Result, RunFolder
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json, written_whole
from jaxgbg.runs.storage.provenance import revision, versions_of
from jaxgbg.values import Layout, random_walk

ARCHIVE = "runs.jsonl.gz"
"""The finished runs of an experiment, next to its README. See `experiments.archive`."""

_Z = 1.96


def older_layout(game: str) -> dict[str, Layout]:
    """ConnectFour's n-tuples in the preset until 29 November 2026, as a setting; else none.

    The preset has walks from lines since then. Experiments with agents made before pin these.
    """
    return {"layout": random_walk(make(game), 70, 8, seed=0)} if game == "connectfour" else {}


def make_parser(script: str, doc: str | None) -> argparse.ArgumentParser:
    """The options of every experiment: where runs are trained, and where figures go."""
    here = Path(script).parent
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs") / here.name, help="runs")
    parser.add_argument("--results", type=Path, default=here, help="figures and pictures")
    return parser


def make_rows_parser(
    script: str, doc: str | None, names: Sequence[str], option: str = "--labels"
) -> argparse.ArgumentParser:
    """As `make_parser`, with the rows to be measured and `--show` for the kept figures."""
    parser = make_parser(script, doc)
    word = option.removeprefix("--").removesuffix("s").upper()
    parser.add_argument(option, nargs="+", choices=names, default=list(names), metavar=word)
    parser.add_argument("--show", action="store_true", help="print the kept figures")
    return parser


def kept_results(path: Path) -> list[dict[str, Any]]:
    """The results in a file of `Records`."""
    results: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["results"]
    return results


def measure_missing(
    path: Path, field: str, measures: Mapping[str, Callable[[], dict[str, Any]]]
) -> None:
    """Add the result of each name that has none in `path`; `field` of a result is its name."""
    prepare_jax()
    path.parent.mkdir(parents=True, exist_ok=True)
    records = Records(path, machine(), (field,))
    for name, measure in measures.items():
        if {field: name} not in records:
            records.add(measure())


class Number(NamedTuple):
    """An option of a script with rows: `least` is its lowest value, None for any above 0."""

    default: float
    help: str
    least: int | None = 1


SCALE = Number(1.0, "times the episodes", None)


def measure_rows(
    arguments: Sequence[str] | None,
    script: str,
    doc: str | None,
    file: str,
    settings: Mapping[str, Any],
    measured: Callable[[Any, argparse.Namespace], dict[str, Any]],
    table: Callable[[Sequence[dict[str, Any]]], Iterator[str]],
    **numbers: Number,
) -> None:
    """Measure the rows that `file` lacks, `measured(setting, options)`, or print the kept `table`.

    `settings` by the labels of their rows; `numbers` are options of the script.
    """
    parser = make_rows_parser(script, doc, list(settings))
    for name, number in numbers.items():
        kind = type(number.default)
        parser.add_argument(f"--{name}", type=kind, default=number.default, help=number.help)
    options = parser.parse_args(arguments)
    if options.show:
        print("\n".join(table(kept_results(options.results / file))))
        return
    for name, (_, _, least) in numbers.items():
        value = getattr(options, name)
        if value <= 0 if least is None else value < least:
            parser.error(
                f"--{name} must be " + ("above 0" if least is None else f"{least} or more")
            )
    rows = {
        label: functools.partial(measured, settings[label], options) for label in options.labels
    }
    measure_missing(options.out / file, "label", rows)


def opened(parser: argparse.ArgumentParser, places: Sequence[Path]) -> Iterator[RunFolder]:
    """The folders of runs that were named; one that is none ends the program in a line."""
    for place in places:
        try:
            yield RunFolder.open(place)
        except ValueError as error:
            parser.exit(2, f"error: {error}\n")


@dataclasses.dataclass(frozen=True)
class ArchivedRun:
    """A finished run from an archive, read as a `RunFolder` is; its agents are not archived.

    `files` maps config, provenance and summary to the content of these JSON files, and metrics to
    the list of evaluations, one for each line of metrics.jsonl.
    """

    name: str
    files: dict[str, Any]
    finished = True

    @functools.cached_property
    def run(self) -> Run:
        return Run.read(self.files["config"])

    def results(self) -> list[Result]:
        return [Result(**line) for line in self.files["metrics"]]

    def summary(self) -> dict[str, Any]:
        return dict(self.files["summary"])


FinishedRun = RunFolder | ArchivedRun
Record = dict[str, Any]
WRITTEN_WITH = "written_with"
"""The field of a record that names the revision and versions that made it."""


def written_with() -> Record:
    """The revision of the source and the versions of Python and the packages."""
    packages = versions_of(("jax", "jaxlib", "numpy", "bitbully"))
    versions = {"python": platform.python_version(), **packages}
    return {"revision": revision(), "versions": versions}


def with_origin(records: Sequence[Record], kept: Sequence[Record]) -> list[Record]:
    """The records, those that are not among the `kept` ones with what made them."""
    known = [json.dumps(record) for record in kept]
    return [
        record if json.dumps(record) in known else record | {WRITTEN_WITH: written_with()}
        for record in records
    ]


@dataclasses.dataclass(frozen=True)
class Section:
    """The records of one script in the results.json of an experiment, whose folder is `folder`.

    results.json maps the names of such sections to lists of objects. A new or changed record gets
    the field `written_with`.
    """

    folder: Path
    name: str

    def _sections(self) -> dict[str, list[Record]]:
        path = self.folder / "results.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def read(self) -> list[Record]:
        """The records; none where the section is missing."""
        return self._sections().get(self.name, [])

    def write(self, records: Sequence[Record]) -> None:
        """Replace the records; scripts that write other sections may run at the same time."""
        self.update(lambda _: records)

    def update(self, change: Callable[[list[Record]], Sequence[Record]]) -> None:
        """Replace the records by `change` of them, while no other process writes to the file."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            sections = self._sections()
            kept = sections.get(self.name, [])
            changed = with_origin(change(kept), kept)
            write_json(self.folder / "results.json", sections | {self.name: changed})
        finally:
            os.close(descriptor)


def archived_runs(experiment: Path) -> list[ArchivedRun]:
    """The runs in the archive of an experiment, given as its folder, in the order of their names.

    An archive is gzipped JSON lines: one object for each run, with its name and its files.
    """
    with gzip.open(experiment / ARCHIVE, "rt", encoding="utf-8") as lines:
        objects = [json.loads(line) for line in lines]
    return [ArchivedRun(each.pop("name"), each) for each in objects]


def sessions(folder: RunFolder, opponent: str, variant: str) -> tuple[np.ndarray, np.ndarray]:
    """(episodes int[T], scores float[T, seeds]) of all evaluations against an opponent."""
    figures: dict[int, list[float]] = {}
    for result in sorted(folder.results(), key=lambda result: result.seed):
        if (result.opponent, result.variant) == (opponent, variant):
            figures.setdefault(result.episodes, []).append(result.score)
    episodes = sorted(figures)
    return np.array(episodes), np.array([figures[at] for at in episodes])


def interval(scores: np.ndarray, span: tuple[float, float] | None) -> tuple[float, float]:
    """95 % for the mean of one agent's games: Wilson's where scores lie in `span`, else normal.

    Correlated games, such as those from one start, make it wider than this. Without `span` equal
    scores have no interval, but NaN.
    """
    count, mean = scores.size, float(scores.mean())
    if span is None:
        reach = _Z * float(scores.std(ddof=1)) / math.sqrt(count) if np.ptp(scores) else math.nan
        return mean - reach, mean + reach
    low, width = span[0], span[1] - span[0]
    share, shrunk = (mean - low) / width, _Z**2 / count
    centre = (share + shrunk / 2) / (1 + shrunk)
    reach = _Z / (1 + shrunk) * math.sqrt(share * (1 - share) / count + shrunk / (4 * count))
    return low + width * max(0.0, centre - reach), low + width * min(1.0, centre + reach)


def welch_interval(
    first: tuple[float, float],
    second: tuple[float, float],
    sizes: tuple[int, int],
    level: float = 0.95,
) -> tuple[float, float]:
    """Welch's interval of the difference of two independent means, each with its error."""
    from scipy import special

    squares = first[1] ** 2, second[1] ** 2
    freedom = sum(squares) ** 2 / sum(s**2 / (n - 1) for s, n in zip(squares, sizes, strict=True))
    reach = float(special.stdtrit(freedom, (1 + level) / 2)) * sum(squares) ** 0.5
    return first[0] - second[0] - reach, first[0] - second[0] + reach


def p_of_zero(differences: Sequence[float]) -> float:
    """The p of Student's t-test that the mean of the differences is 0."""
    from scipy import stats

    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def add_legend(figure: Any, title: str = "") -> None:
    """Add one legend for all panels of a figure, above them, so that it covers none."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        # About 13 letters and a sample of the line fit an inch.
        room = max(1, int(figure.get_figwidth() / (0.6 + max(map(len, found)) / 13)))
        options = {"loc": "outside upper center", "ncols": min(room, len(found)), "fontsize": 8}
        figure.legend(found.values(), found, title=title, title_fontsize=8, **options)


def save_figure(figure: Any, path: Path, colors: int | None = None) -> None:
    """Write a picture, whole or not at all; `colors` limits its palette and so its size."""
    with written_whole(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)
        if colors is not None:
            from PIL import Image

            with Image.open(temporary) as picture:
                small = picture.convert("RGB").quantize(colors, dither=Image.Dither.NONE)
            small.save(temporary, format="png", optimize=True)
