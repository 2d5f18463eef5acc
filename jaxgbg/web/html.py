"""The report on all runs below a folder: one self-contained HTML file."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from jaxgbg.evaluation.auxiliary import AuxiliaryError, auxiliary_errors
from jaxgbg.results.folders import FIGURES, Everything, StoredRun, find_all, unknown_games
from jaxgbg.results.groups import group_stored, shortened
from jaxgbg.results.ladder import Ladder
from jaxgbg.results.rows import Row, Table
from jaxgbg.results.stored_ladders import StoredLadder, read_ladders
from jaxgbg.results.table import notes, panel_tables
from jaxgbg.runs import load_agent
from jaxgbg.runs.presets import GAMES
from jaxgbg.runs.progress_bar import rough_duration
from jaxgbg.runs.run import LaneName, RulesChanged
from jaxgbg.runs.storage.files import written_whole
from jaxgbg.runs.storage.histograms import weight_histograms
from jaxgbg.runs.storage.locations import Place, place_of
from jaxgbg.runs.storage.schemas import Histogram, Histograms
from jaxgbg.system import core_numbers
from jaxgbg.web.curve_charts import curve_panels, curve_styles, histogram_panels
from jaxgbg.web.ladder_chart import MOST_PLAYERS, ratings_chart, scores_chart
from jaxgbg.web.positions import shape_markup
from jaxgbg.web.record_view import RecordView
from jaxgbg.web.records import record_games
from jaxgbg.web.run_facts import game_text, provenance_text, run_names, settings_text

if TYPE_CHECKING:
    from jinja2 import Template

# More would hide the table and make the page too large to open.
_MOST_SECTIONS = 30
# More sections than this are folded at first; their headings are the index.
_MOST_UNFOLDED = 2
_MOST_PROBLEMS = 1000
# The number of runs of a game that are searched for an agent to show.
_MOST_TRIED = 100
_RARE = "The scale is logarithmic; bins without weights have no line."


@dataclasses.dataclass(frozen=True)
class Report:
    """The result of writing a report.

    It has the rows of the table, the numbers of runs and tournaments, the size in bytes, and a line
    for each problem.
    """

    rows: list[Row]
    runs: int
    tournaments: int
    bytes: int
    problems: list[str]


@dataclasses.dataclass(frozen=True)
class _Sample:
    """Games of one agent, histograms of its weights if the run has none, and the errors of its
    auxiliary outputs.
    """

    file: Place
    games: list[RecordView]
    histograms: Mapping[str, Histogram]
    foretold: list[AuxiliaryError]


def write_report(
    root: str | Path,
    out: Path,
    by: Sequence[str] = (),
    baseline: Sequence[str] = (),
    pool: Sequence[str] = (),
) -> Report:
    """Write the report on all runs and tournaments below `root`, a folder or a URL, to `out`.

    Rows and lines are the settings in `by`, or those that differ, as in `results.group`. Unreadable
    files are named in the report and in `problems`, and so is a run that is skipped because its
    game is not registered or has other rules now. The file is complete or absent. Raises ValueError
    if there is nothing to report, OSError if `out` cannot be written.
    """
    found = find_all(root)
    found.check([*found.runs, *found.tournaments])
    runs, problems = _runs(found)
    ladders = [
        _ladder_section(each, each.ladder)
        for each in read_ladders(found.tournaments[:_MOST_SECTIONS], problems)
        if each.ladder is not None
    ]
    samples = _samples(runs)
    whole = group_stored(runs, by, baseline, pool=pool)
    table = shortened(whole)
    names = dict(zip(map(id, runs), run_names(runs), strict=True))
    told = [
        _run_section(each, samples.get(each.run.game.name)) | {"name": names[id(each)]}
        for each in _with_section(runs, samples)
    ]
    problems += [problem for stored in runs for problem in stored.problems]
    page = _template().render(
        name=_name(root),
        summary=_summary(runs, len(ladders)),
        problems=problems[:_MOST_PROBLEMS],
        more_problems=len(problems[_MOST_PROBLEMS:]),
        games=[game_section(each) for each in table.of_games()],
        notes=notes(table.rows) + table.notes,
        ladders=ladders,
        more_ladders=len(found.tournaments[_MOST_SECTIONS:]),
        runs=told,
        left_out=len(runs) - len(told),
        folded=len(told) > _MOST_UNFOLDED,
    )
    with written_whole(out) as temporary:
        size = temporary.write_bytes(page.encode(errors="backslashreplace"))
    return Report(whole.rows, len(runs), len(ladders), size, problems)


@lru_cache(maxsize=1)
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("jaxgbg.web", "page")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True)
    environment.globals |= {"anchor": _anchor, "shape_markup": shape_markup, "units": _units}
    return environment.get_template("page.html.j2")


def game_section(table: Table) -> dict[str, object]:
    """The tables and the curves of one game, rendered with the template of that name."""
    return {
        "name": table.rows[0].game,
        "tables": list(panel_tables(table.rows, table.compared)),
        "curves": curve_panels(table),
        "looks": curve_styles(table),
        # A single agent has neither a mean nor an error.
        "shows": "Mean over the seeds, band ± one standard error"
        if any(row.n > 1 for row in table.rows)
        else "One agent",
        "published": any(row.paper_mean is not None and row.as_published for row in table.rows),
    }


def _ladder_section(stored: StoredLadder, ladder: Ladder) -> dict[str, object]:
    """The table, the charts and the notes of one tournament."""
    settings = stored.settings
    cut = len(ladder.standings) - MOST_PLAYERS
    more = [f"The figures show the first {MOST_PLAYERS}."] if cut > 0 else []
    games = sum(met.games.rewards[..., 0].size for met in stored.met)
    return {
        "name": stored.name,
        "words": f"{_count(len(stored.names), 'participant')} in {game_text(stored.game)},"
        f" {_count(games, 'game')} in {_count(len(stored.met), 'group')}; starts:"
        f" {settings['starts']}, plies: {settings['plies']}, seed: {settings['seed']}.",
        "columns": ladder.columns(),
        "rows": len(ladder.standings),
        "charts": [ratings_chart(ladder), scores_chart(ladder)],
        "notes": ladder.notes() + more,
    }


def _name(root: str | Path) -> str:
    """The name of the folder."""
    place = place_of(root)
    return (place.resolve().name if isinstance(place, Path) else place.name) or str(root)


def _with_section(runs: Sequence[StoredRun], samples: Mapping[str, _Sample]) -> list[StoredRun]:
    """The runs with their own section: the first ones, and those of the sample games."""
    places = {sample.file.parent.parent for sample in samples.values()}
    return [run for at, run in enumerate(runs) if at < _MOST_SECTIONS or run.path in places]


def _runs(found: Everything) -> tuple[list[StoredRun], list[str]]:
    """The runs to report, in the order of Table 1, and a line for each that is skipped."""
    problems = found.problems + unknown_games(found.runs, "left out")
    runs = []
    for stored in found.runs:
        if stored.game is None:
            continue
        error = stored.error
        if error is None:
            runs.append(stored)
        elif isinstance(error, RulesChanged):
            problems.append(f"{stored.path} was {error}; the run is left out")
        else:
            problems.append(f"{stored.path / 'config.json'}: {error}; the run is left out")
    games = (*GAMES, *sorted({_game(stored) for stored in runs} - set(GAMES)))
    order = {name: at for at, name in enumerate(games)}
    return sorted(runs, key=lambda each: (order[_game(each)], each.name)), problems


def _game(stored: StoredRun) -> str:
    """The name of its game."""
    name: str = stored.shared.content["game"]["name"]
    return name


def _samples(runs: Sequence[StoredRun]) -> dict[str, _Sample]:
    """By game: games of the first agent of the run with the most episodes, or of the next best run.

    Most of the time is compile time, so several threads do this in parallel.
    """
    of_games: dict[str, list[StoredRun]] = {}
    for stored in runs:
        of_games.setdefault(_game(stored), []).append(stored)

    def sample(game: str) -> _Sample | None:
        longest = sorted(of_games[game], key=lambda each: -each.shared.parts["schedule"].episodes)
        for stored in longest[:_MOST_TRIED]:
            for file in _agent_files(stored)[:1]:
                try:
                    saved = load_agent(file, game)
                    agent = saved.player()
                    records = record_games(agent, stored.run.evaluation.opponents)
                    known = auxiliary_errors(agent)
                except ValueError as error:
                    stored.problems.append(str(error))
                    continue
                views = [RecordView(record, f"{game}-shape") for record in records]
                lane = LaneName(saved.seed, saved.variant)
                histograms = {"weights": Histogram.read(weight_histograms({lane: saved.weights}))}
                return _Sample(file, views, histograms, known)
        return None

    with ThreadPoolExecutor(len(core_numbers())) as pool:
        samples = zip(of_games, pool.map(sample, of_games), strict=True)
        return {game: each for game, each in samples if each is not None}


def _agent_files(stored: StoredRun) -> list[Place]:
    """The agent files, those with FARL first, in the order of their seeds."""
    lanes = sorted(stored.run.lanes, key=lambda lane: (lane.variant, lane.seed))
    files = [stored.path / "agents" / lane.file for lane in lanes]
    return [file for file in files if file.exists()]


def _seconds(stored: StoredRun) -> float:
    """The training time; NaN if it is unknown, for example while the run is unfinished."""
    seconds = stored.summary.get("training_seconds")
    return math.nan if seconds is None else seconds


def _summary(runs: Sequence[StoredRun], ladders: int) -> str:
    met = [f"{_count(ladders, 'tournament')}."] if ladders else []
    if not runs and met:
        return met[0]
    finished = [stored for stored in runs if stored.finished]
    seconds = sum(stored.summary.get("training_seconds") or 0 for stored in finished)
    episodes = sum(stored.summary.get("episodes") or 0 for stored in finished)
    games = list(dict.fromkeys(map(_game, runs)))
    counts = f"{_count(len(runs), 'run')}, {len(finished)} of them finished, of {', '.join(games)}"
    # Only a finished run says how long it took.
    trained = f": {episodes:,} episodes in {rough_duration(seconds)} of training"
    return " ".join([f"{counts}{trained if finished else ''}.", *met])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _units(number: float) -> str:
    """Format a figure: counts with two decimals, larger numbers with none."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.2f}"


def _anchor(run: StoredRun) -> str:
    return "run-" + "".join(each if each.isalnum() else "-" for each in run.name)


def _run_section(stored: StoredRun, sample: _Sample | None) -> dict[str, object]:
    place = sample.file.parent.parent if sample is not None else None
    own = sample if place == stored.path else None
    panels, note = _histograms(stored, own)
    return {
        "stored": stored,
        "state": _state(stored),
        "settings": settings_text(stored.run),
        "provenance": provenance_text(stored),
        "config": json.dumps(stored.config),
        "histograms": panels,
        "histogram_note": note,
        "sample": own,
        "shown_with": place,
    }


def _histograms(stored: StoredRun, sample: _Sample | None) -> tuple[list[str], str]:
    """(panels, caption): the histograms of the run, or the weights of its agent."""
    kept = stored.content("histograms.json", Histograms)
    if kept:
        several = ": mean over the seeds, band from the least to the most"
        note = f"Weights that are not 0{several * (len(stored.run.seeds) > 1)}."
        return histogram_panels(kept), f"{note} {_RARE}"
    if sample is None:
        return [], ""
    note = f"Weights of {sample.file.name} that are not 0. This run did not keep its TC factors."
    return histogram_panels(sample.histograms), f"{note} {_RARE}"


def _state(stored: StoredRun) -> str:
    summary = stored.summary
    if stored.finished:
        text = f"Finished: {_count(len(stored.run.agents), 'agent')}"
        if all(summary.get(figure) is not None for figure in FIGURES):
            text += (
                f", {summary['episodes']:,} episodes and {summary['moves']:,} moves in"
                f" {rough_duration(_seconds(stored))} ({summary['moves_per_second']:,.0f} moves/s)"
            )
        lost = ", ".join(" ".join(map(str, lane)) for lane in summary.get("diverged", ()))
        return f"{text}." + (f" Diverged, so that they play at random: {lost}." if lost else "")
    episodes = stored.evaluations.column("episodes")
    reached = max(episodes, default=0)
    return (
        f"Unfinished: {_count(len(episodes), 'evaluation')} so far, the last after"
        f" {reached:,} of {stored.run.schedule.episodes:,} episodes."
    )
