"""The report on all runs below a folder: one HTML file that needs nothing else."""

import dataclasses
import json
import math
import os
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jaxgbg.pages.figures import curve_panels, histogram_panels
from jaxgbg.pages.record_view import RecordView, shape_markup
from jaxgbg.pages.records import record_games
from jaxgbg.papers.figures import in_words
from jaxgbg.results.curves import STYLES
from jaxgbg.results.folders import FoundRun, find_runs
from jaxgbg.results.rows import Row, rows
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.results.table import VARIANTS, difference, in_figures, notes
from jaxgbg.training import Config, load_agent
from jaxgbg.training.files import written_whole
from jaxgbg.training.histograms import weight_histograms

_RARE = "The scale is logarithmic; what is rarer than its foot stands on it."


@dataclasses.dataclass(frozen=True)
class Report:
    """What was written: the table's rows, how many runs, and every line about what is damaged."""

    rows: list[Row]
    runs: int
    problems: list[str]


@dataclasses.dataclass(frozen=True)
class _Sample:
    """Games of one agent, and the histograms of its weights for a run that kept none."""

    file: Path
    games: list[RecordView]
    histograms: dict[str, Any]


def write_report(root: Path, out: Path) -> Report:
    """Write the report on all runs below `root` to `out`, whole or not at all.

    A file that cannot be read is named in the report and in `problems`. Raises ValueError in one
    line where there are no runs, OSError where `out` cannot be written.
    """
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    runs, problems = find_runs(root)
    samples = _samples(runs)
    tables = [rows(run.config, run.evaluations, run.seconds) for run in runs]
    shown = [_run_section(run, samples.get(run.config.game)) for run in runs]
    curves = [Markup(panel) for run in runs for panel in curve_panels(run)]
    problems = problems + [problem for run in runs for problem in run.problems]
    environment = Environment(
        loader=PackageLoader("jaxgbg.pages", "page"), autoescape=True, trim_blocks=True
    )
    folder = Path(__file__).parent / "page"
    variants = {farl for run in runs for farl in run.config.farl}
    page = environment.get_template("page.html.j2").render(
        name=root.resolve().name or str(root),
        summary=_summary(runs),
        style=Markup((folder / "page.css").read_text(encoding="utf-8")),
        script=Markup((folder / "page.js").read_text(encoding="utf-8")),
        problems=problems,
        rows=[
            [_table_row(run, row) for row in table]
            for run, table in zip(runs, tables, strict=True)
            if table
        ],
        notes=notes([row for table in tables for row in table]),
        curves=curves,
        legend=[
            {"style": farl, "label": label}
            for farl, (label, _) in STYLES.items()
            if farl in variants
        ],
        runs=shown,
    )
    with written_whole(out) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return Report([row for table in tables for row in table], len(runs), problems)


def _samples(runs: Sequence[FoundRun]) -> dict[str, _Sample]:
    """By game: games of the first agent of the run with the most episodes, or of the next best.

    Most of the time goes into compiling, which several threads do side by side.
    """
    games = list(dict.fromkeys(run.config.game for run in runs))

    def sample(game: str) -> _Sample | None:
        own = [run for run in runs if run.config.game == game]
        for run in sorted(own, key=lambda run: -run.config.episodes):
            for file in run.agent_files[:1]:
                try:
                    saved = load_agent(file, game)
                    records = record_games(saved.player(), run.config.opponents)
                except ValueError as error:
                    run.problems.append(str(error))
                    continue
                views = [RecordView(record, f"{game}-shape") for record in records]
                found = weight_histograms({(saved.seed, saved.farl): saved.weights})
                return _Sample(file, views, {"weights": found})
        return None

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = zip(games, pool.map(sample, games), strict=True)
        return {game: each for game, each in found if each is not None}


def _summary(runs: Sequence[FoundRun]) -> str:
    finished = [run for run in runs if run.summary]
    seconds = sum(run.seconds for run in finished)
    episodes = sum(run.summary["episodes"] for run in finished if run.summary)
    games = list(dict.fromkeys(run.config.game for run in runs))
    return (
        f"{_count(len(runs), 'run')}, {len(finished)} of them finished, of"
        f" {', '.join(games)}: {episodes:,} episodes in {_duration(seconds)} of training."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _anchor(run: FoundRun) -> str:
    return "run-" + "".join(each if each.isalnum() else "-" for each in run.name)


def _table_row(run: FoundRun, row: Row) -> dict[str, Any]:
    low, high = confidence_interval(row.per_seed)
    known = math.isfinite(low)
    return {
        "anchor": _anchor(run),
        "run": run.name,
        "opponent": row.opponent,
        "farl": row.farl,
        "variant": VARIANTS[row.farl],
        "score": in_figures(row, row.mean, row.sem),
        "interval": f"{in_words(row.unit, low)} to {in_words(row.unit, high)}" if known else "",
        "paper": "" if row.paper_mean is None else in_figures(row, row.paper_mean, row.paper_error),
        "n": row.n,
        "episodes": f"{row.episodes:,}",
        "difference": difference(row),
        "seconds": f"{row.seconds:,.0f}" if math.isfinite(row.seconds) else "",
    }


def _run_section(run: FoundRun, sample: _Sample | None) -> dict[str, Any]:
    from markupsafe import Markup

    own = sample if sample is not None and sample.file.parent.parent == run.path else None
    panels, told = _histograms(run, own)
    section = {
        "anchor": _anchor(run),
        "name": run.name,
        "finished": run.summary is not None,
        "state": _state(run),
        "problems": run.problems,
        "settings": _settings(run.config),
        "origin": _origin(run),
        "config": json.dumps(run.config.as_json()),
        "histograms": [Markup(panel) for panel in panels],
        "histogram_note": told,
        "records": [],
        "record_note": "",
    }
    if own is not None:
        section["shapes"] = Markup(shape_markup(own.games[0].drawing, own.games[0].shapes))
        section["record_note"] = (
            f"Played by {own.file.name}. Each legal move bears the agent's value for the player to"
            " move, the stronger the colour the better; a frame marks the move played."
        )
        section["records"] = [
            {
                "title": view.title,
                "plies": view.plies,
                "board": Markup(view.board(0)),
                "stills": [
                    {"board": Markup(still.board), "caption": still.caption}
                    for still in view.stills()
                ],
                "moves": view.moves,
                "data": Markup(view.data()),
            }
            for view in own.games
        ]
    elif sample is not None:
        section["record_note"] = (
            f"Sample games of {run.config.game} are shown with {sample.file.parent.parent.name}."
        )
    return section


def _histograms(run: FoundRun, sample: _Sample | None) -> tuple[list[str], str]:
    """(panels, what they show): those the run kept, else the weights of the agent at hand."""
    if run.histograms is not None:
        try:
            told = "Weights that are not 0: mean over the seeds, band from the least to the most."
            return histogram_panels(run.histograms), f"{told} {_RARE}"
        except (KeyError, TypeError, ValueError):
            run.problems.append(f"{run.path / 'histograms.json'} is damaged")
    if sample is None:
        return [], ""
    told = f"Weights of {sample.file.name} that are not 0. This run did not keep its TC factors."
    return histogram_panels(sample.histograms), f"{told} {_RARE}"


def _state(run: FoundRun) -> str:
    config, summary = run.config, run.summary
    if summary:
        text = (
            f"Finished: {_count(len(config.lanes), 'agent')}, {summary['episodes']:,} episodes and"
            f" {summary['moves']:,} moves in {_duration(run.seconds)}"
            f" ({summary['moves_per_second']:,} moves/s)."
        )
        lost = ", ".join(f"seed {seed}, {farl}" for seed, farl in summary.get("diverged", ()))
        return text + (f" Diverged, so that they play at random: {lost}." if lost else "")
    reached = max((found.episodes for found in run.evaluations), default=0)
    return (
        f"Unfinished: {_count(len(run.evaluations), 'evaluation')} so far, the last after"
        f" {reached:,} of {config.episodes:,} episodes."
    )


def _settings(config: Config) -> list[tuple[str, str]]:
    """The settings that one looks for first; the whole config stands below them."""

    def course(first: float, last: float) -> str:
        return f"{first:g}" if first == last else f"{first:g} to {last:g}"

    if config.value == "mlp":
        value = f"network, {' and '.join(map(str, config.hidden))} hidden, {config.optimizer}"
    elif config.tuples:
        lengths = sorted({len(cells) for cells in config.tuples})
        value = f"{_count(len(config.tuples), 'n-tuple')} of {' or '.join(map(str, lengths))} cells"
    else:
        value = f"{config.walks[0]} random walks of {config.walks[1]} cells, others for each seed"
    parameters = ", ".join(f"{name} {figure}" for name, figure in config.game_parameters)
    settings = [
        ("Game", config.game + (f" ({parameters})" if parameters else "")),
        ("Learner", config.learner + (" with replan" if config.replan else "")),
        ("Value function", value),
        ("Episodes", f"{config.episodes:,} an agent, evaluated every {config.eval_every:,}"),
        ("Opponents", ", ".join(config.opponents)),
        ("Seeds", ", ".join(map(str, config.seeds))),
        ("Variants", ", ".join(STYLES[farl][0] for farl in config.farl)),
        ("In lockstep", f"{_count(config.batch, 'game')}, updates joined by {config.combine}"),
        ("Step size", course(config.alpha_start, config.alpha_end)),
        ("Exploration rate", course(config.epsilon_start, config.epsilon_end)),
        ("Trace decay", f"{config.trace_decay:g}" + (", delayed" * config.delayed_traces)),
        ("Discount", f"{config.discount:g}"),
    ]
    if config.value == "ntuple":
        settings.append(
            ("Temporal coherence", f"TCL-{config.tcl}" if config.tcl != "none" else "no")
        )
    if config.partner != "self":
        settings.append(("Partner", config.partner))
    return settings


def _origin(run: FoundRun) -> list[tuple[str, str]]:
    """Where and by what a run was made, as far as it was kept."""
    kept = run.provenance or {}
    versions = kept.get("versions")
    command = kept.get("command")
    devices = kept.get("devices")
    told = {
        "Folder": str(run.path),
        "Command": shlex.join(map(str, command)) if isinstance(command, list) else None,
        "Started": kept.get("started"),
        "Devices": ", ".join(map(str, devices)) if isinstance(devices, list) else None,
        "Machine": kept.get("machine"),
        "Revision": kept.get("revision"),
        "Python": kept.get("python"),
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items())
        if isinstance(versions, dict)
        else None,
    }
    return [(name, str(words) if words else "not kept") for name, words in told.items()]
