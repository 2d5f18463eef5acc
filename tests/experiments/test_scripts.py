"""The experiments: their scripts run, and their committed figures are those of today's settings."""

import importlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from experiments import redraw
from experiments.archive import pack, unpack
from experiments.shared import (
    ARCHIVE,
    ArchivedRun,
    Section,
    add_legend,
    archived_runs,
    new_figure,
)
from jaxgbg import Protocol, Run, RunFolder, with_changes
from jaxgbg.players import GRHINO
from jaxgbg.results.groups import read_table
from jaxgbg.results.rows import as_records
from jaxgbg.results.statistics import mean_sem
from jaxgbg.results.table import difference, in_figures, interval
from jaxgbg.runs.presets import preset, ree2013
from jaxgbg.runs.presets.table1 import table1_run
from jaxgbg.sweeps.spec import units
from tests.experiments.pages import kept_records, pages_of
from tests.internals import NO_DEVICE_STARTED

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "experiments"
SCRIPTS = sorted(path.relative_to(EXPERIMENTS) for path in EXPERIMENTS.glob("*/*.py"))
ARCHIVED = {
    path.parent.name: archived_runs(path.parent)
    for path in sorted(EXPERIMENTS.glob(f"*/{ARCHIVE}"))
}


def module(path: Path | str) -> ModuleType:
    return importlib.import_module(f"experiments.{'.'.join(Path(path).with_suffix('').parts)}")


@pytest.mark.parametrize("path", SCRIPTS, ids=str)
def test_every_script_is_imported_and_explains_its_options(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = module(path)
    if hasattr(script, "main"):
        with pytest.raises(SystemExit) as stopped:
            script.main(["--help"])
        assert stopped.value.code == 0
        assert f"-m experiments.{path.parts[0]}" in capsys.readouterr().out


def test_a_legend_of_an_experiment_covers_no_panel() -> None:
    figure = new_figure(6, 3)
    for axes in figure.subplots(1, 2):
        for number in range(5):
            axes.plot([0, 1], [number, 1], label=f"setting {number}")
    add_legend(figure, "trained against")
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 5
    assert not any(legend.get_window_extent().overlaps(axes.bbox) for axes in figure.axes)
    # Axes with a legend of their own place it below themselves.
    own = {
        str(path): line
        for path in SCRIPTS
        for line in (EXPERIMENTS / path).read_text(encoding="utf-8").splitlines()
        if re.search(r"\bax\w*(\[.*\])?\.legend\(", line) and "bbox_to_anchor" not in line
    }
    assert own == {}


def test_a_picture_is_drawn_again_from_its_kept_results(tmp_path: Path) -> None:
    redraw.main(["search/othello_levels", "--out", str(tmp_path)])
    assert (tmp_path / "search" / "othello_levels.png").read_bytes().startswith(b"\x89PNG")
    for name in redraw.FIGURES:
        assert (EXPERIMENTS / f"{name}.png").exists()


@pytest.mark.slow
def test_imports_leave_the_process_as_it_is() -> None:
    modules = [f"experiments.{'.'.join(path.with_suffix('').parts)}" for path in SCRIPTS]
    code = (
        "import importlib, os, sys, threading\n"
        "before = os.sched_getaffinity(0), list(sys.path), dict(os.environ)\n"
        f"for name in {modules}: importlib.import_module(name)\n"
        "assert before == (os.sched_getaffinity(0), list(sys.path), dict(os.environ))\n"
    ) + NO_DEVICE_STARTED
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stdout


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of an experiment's archived runs, which nobody may write in."""
    place = tmp_path_factory.mktemp("unpacked")

    def folder(experiment: str) -> Path:
        if not (place / experiment).exists():
            unpack(ARCHIVED[experiment], place / experiment)
        return place / experiment

    return folder


def half(experiment: str, archived: ArchivedRun) -> object:
    """Runs of small games are in the fast half."""
    small = archived.name.startswith(("tictactoe", "nim"))
    name = f"{experiment}-{archived.name}"
    return pytest.param(experiment, archived, marks=() if small else pytest.mark.slow, id=name)


@pytest.mark.parametrize(
    ("experiment", "archived"),
    [half(experiment, each) for experiment, runs in ARCHIVED.items() for each in runs],
)
def test_every_archived_run_is_found_again(
    experiment: str, archived: ArchivedRun, unpacked: Callable[[str], Path]
) -> None:
    run = archived.run
    folder = RunFolder(unpacked(experiment), run)
    assert folder.path.name == archived.name
    assert folder.finished
    kept = archived.files["config"]
    # Some settings had other names when the run was made.
    kept |= {"learner": run.learner.renamed(kept["learner"])}
    assert _without_added_settings(run.plain(), kept) == kept
    # Those of no opponent have no evaluations.
    lanes = {(one.seed, one.variant) for one in folder.results()}
    assert lanes in (set(run.agents), set())


ADDED = {
    "schedule": {"alpha_decay": "geometric"},
    "learner": {"learn_start": True, "random_test": "gbg"},
    "value": {
        "images": [],
        "symmetries": True,
        "initial_value": 0.0,
        "stages": [],
        "one_table": False,
    },
}
"""Settings that are newer than most archived runs, all of which have these values."""


def _without_added_settings(config: dict[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    for part, added in ADDED.items():
        for name in (added.keys() & config[part].keys()) - kept[part].keys():
            assert config[part].pop(name) == added[name]
    return config


def test_a_run_comes_out_of_the_archive_as_it_went_in(trained: Path, tmp_path: Path) -> None:
    (path,) = (trained / "small").iterdir()
    pack(tmp_path, [RunFolder.open(path)])
    first = (tmp_path / ARCHIVE).read_bytes()
    (copy,) = unpack(archived_runs(tmp_path), tmp_path / "out")
    for file in copy.iterdir():
        assert file.read_bytes() == (path / file.name).read_bytes()
    assert {file.name for file in copy.iterdir()} == {
        "config.json",
        "provenance.json",
        "summary.json",
        "metrics.jsonl",
    }
    (archived,) = archived_runs(tmp_path)
    folder = RunFolder.open(copy)
    assert (archived.name, archived.run) == (path.name, folder.run)
    assert archived.results() == folder.results()
    assert archived.summary() == json.loads((path / "summary.json").read_text())
    # The same run again changes nothing, and an unfinished one is refused.
    pack(tmp_path, [folder])
    assert (tmp_path / ARCHIVE).read_bytes() == first
    (copy / "summary.json").unlink()
    with pytest.raises(ValueError, match="is not finished"):
        pack(tmp_path, [folder])
    assert (tmp_path / ARCHIVE).read_bytes() == first


def test_every_experiment_has_a_row_in_the_index_and_a_short_page() -> None:
    index = (EXPERIMENTS / "README.md").read_text()
    for page in EXPERIMENTS.glob("*/README.md"):
        assert f"]({page.parent.name}/README.md)" in index
        assert page.read_text().count("\n") < 120
    for target in re.findall(r"\]\(([^)]+)\)", index):
        assert (EXPERIMENTS / target).exists(), target


def test_scripts_end_in_a_line() -> None:
    programs = [
        text for path in SCRIPTS if "__main__" in (text := (EXPERIMENTS / path).read_text())
    ]
    assert len(programs) > 30
    assert all("    end_in_a_line(main)\n" in text for text in programs)
    # Whoever reads has enough before anything is written.
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "experiments.table1.overview"]
    done = subprocess.run(command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def published_runs(experiment: str) -> Iterator[Run]:
    """The runs of the commands and scripts that the README of an experiment names."""
    if experiment == "table1":
        for game in ("tictactoe", "nim", "nim3p", "hex"):
            yield table1_run(game, 10, 1.0)
            yield table1_run(game, 10, 1.0, batch=1)
        for seeds in ((0, 1), (2,)):
            yield module("search/run").run_of("connectfour-5m", seeds=seeds)
        walks = {"walks": (70, 8), "averaging": "tail"}
        judges = ("ab", "ab-dl", "ab-dl-gbg", "solver")
        for variant, first in (("farl", 3), ("none", 0)):
            for seed in range(first, 10):
                lane = {"seeds": (seed,), "variants": (variant,)}
                yield preset("connectfour", opponents=judges, **walks, **lane)
        for seed, variant in itertools.product((0, 1), ("farl", "none")):
            lane = {"seeds": (seed,), "variants": (variant,), "batch": 1}
            yield preset("connectfour", opponents=judges, **walks, **lane)
        for seed in range(3):
            lane = {"seeds": (seed,), "variants": ("farl",), "episodes": 6_000_000}
            yield preset("connectfour", opponents=judges, **walks, **lane)
        shipped = {"averaging": "tail", "eval_every": 250_000}
        for seed, variant in itertools.product(range(10), ("farl", "none")):
            lane = {"seeds": (seed,), "variants": (variant,)}
            yield preset("connectfour", opponents=judges[:3], **shipped, **lane)
        yield table1_run("othello", 5, 1.0)
        for seed in range(5, 10):
            yield table1_run("othello", 1, 1.0, first=seed)
        for variant in ("farl", "none"):
            yield preset("othello", seeds=(0,), variants=(variant,), batch=1)
        for seed in range(4):
            yield table1_run("2048", 1, 1.0, first=seed, batch=1)
    elif experiment == "farl_ablation":
        yield preset(
            "connectfour",
            seeds=range(4),
            variants=("farl", "part1", "none"),
            episodes=300_000,
            eval_every=50_000,
            batch=1,
            walks=(70, 8),
            opponents=("ab", "ab-dl", "solver"),
        )
        for game in ("tictactoe", "nim"):
            yield preset(game, seeds=range(10), variants=("farl", "part1", "none"))
    elif experiment == "td_sarsa":
        script = module("td_sarsa/larger_games")
        for game, setting in script.SETTINGS.items():
            choice = script.runs_of(ARCHIVED["td_sarsa"], game).choice
            # Not every game has been trained.
            for fields in (setting.choosing(), setting.judging(choice)) if choice else ():
                yield from (run for unit in units(fields) for run in unit.runs)
    else:
        for setting in module("farl_predictor/settings").SETTINGS:
            # Table 1 has other runs of these two by now.
            if not setting.published or setting.game.name in ("2048", "connectfour"):
                yield from setting.runs(1.0, None).values()


@pytest.mark.parametrize("experiment", ["table1", "farl_ablation", "farl_predictor", "td_sarsa"])
def test_the_documented_commands_find_the_kept_runs_finished(experiment: str) -> None:
    kept = {each.name for each in ARCHIVED[experiment]}
    assert {run.name for run in published_runs(experiment)} == kept


@pytest.mark.figures
@pytest.mark.parametrize("game", ["tictactoe", "connectfour"])
def test_the_table_of_traces_is_that_of_the_kept_figures(
    game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module("ralpha/table").main([game])
    table = capsys.readouterr().out
    assert len(table.splitlines()) == 35
    assert table in pages_of("ralpha")


@pytest.mark.figures
def test_what_is_given_away_is_of_the_kept_runs(capsys: pytest.CaptureFixture[str]) -> None:
    script = module("table1/given_away")
    kept = {run.digest: run for run in published_runs("table1")}
    rows = kept_records("table1/given_away")
    assert {(row["condition"], row["config"]) for row in rows} == {
        (agent, row["config"]) for row in rows for agent in script.AGENTS.values()
    }
    for row in rows:
        run = kept[row["config"]]
        assert (row["episodes"], [row["seed"]]) == (run.schedule.episodes, list(run.seeds))
        assert row["wins"] + row["draws"] + row["losses"] == 1000
        assert sum(row["first mistakes by ply"].values()) >= 1000 - row["wins"]
    script.main([])
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(rows)


def test_kept_figures_name_the_runs_of_their_scripts() -> None:
    run_of = module("othello_partners/run").run_of
    for row in kept_records("othello_partners/networks"):
        told = ("learner", "partner", "games", "seed", "step", "openings", "loss")
        run = run_of(*(row[name] for name in told))
        assert row["config"] == run.digest
        published = ree2013.BEST_SESSIONS[row["opponent"]][row["partner"]]
        assert row["paper_best"] == published[row["learner"]]


def test_networks_join_those_that_the_file_has_of_other_seeds() -> None:
    join = module("othello_partners/run").joined

    def row(learner: str, seed: int, best: int) -> dict[str, object]:
        about = {"step": 1, "games": 2_000_000, "openings": "cycled", "loss": "squared"}
        config = f"{learner} {seed}"
        return {"learner": learner, "seed": seed, "config": config, "best": best, **about}

    new = [row("q", 1, 3)]
    assert join([], new) == new
    kept = [row("q", 2, 0), row("q", 1, 2), row("td", 0, 0), row("q", 0, 0)]
    assert join(kept, new) == [row("q", 0, 0), *new, row("q", 2, 0), row("td", 0, 0)]


@pytest.mark.figures
def test_kept_figures_of_searches_are_those_of_the_script() -> None:
    script = module("search/run")
    for row in kept_records("search/strength"):
        run = script.run_of(row["study"], seeds=row["seeds"])
        assert (row["config"], row["game"]) == (run.digest, run.game.name)
        assert row["opponent"] in script.STUDIES[row["study"]].opponents
        script.play_of(row["play"])
        for mean, (low, high) in zip(row["per agent"], row["intervals"], strict=True):
            assert low <= mean <= high
        assert row["mean"] == pytest.approx(sum(row["per agent"]) / len(row["per agent"]))
    tables = (EXPERIMENTS / "search/tables.md").read_text().splitlines()
    assert script.tables(kept_records("search/strength")) == tables


@pytest.mark.figures
def test_table_1_at_a_glance_is_that_of_the_kept_runs(capsys: pytest.CaptureFixture[str]) -> None:
    module("table1/overview").main([])
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 19
    assert printed in (ROOT / "docs" / "table-1.md").read_text()
    readme = (ROOT / "README.md").read_text().partition("## Results")[2]
    rows = [cells(line) for line in readme.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 10
    kept = [cells(line) for line in printed.splitlines()]
    for game, opponent, *figures in rows:
        (row,) = [each for each in kept if each[:2] == [game, opponent]]
        # Of 2048, which was trained one game at a time, the figures are in brackets there.
        seeds, *scores = (each.partition(" (")[0].strip("()") for each in row[3:])
        assert figures == [seeds, *scores]


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.figures
def test_moves_and_active_weights_are_those_of_the_archived_runs(jaxgbg, unpacked) -> None:
    readme = pages_of("table1")
    (query,) = re.findall(r'--format markdown --sql "(.*?)"\n```', readme, re.DOTALL)
    code, printed, _ = jaxgbg("results", unpacked("table1"), "--format", "markdown", "--sql", query)
    assert (code, len(printed.splitlines())) == (0, 26)
    assert printed in readme


@pytest.mark.figures
def test_connectfour_s_draws_and_lists_are_those_of_the_kept_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    readme = pages_of("table1")
    for script, lines in (("draws", 13), ("listed", 24)):
        module(f"table1/{script}").main([])
        printed = capsys.readouterr().out
        assert len(printed.splitlines()) == lines
        assert printed in readme
    held = module("table1/listed").fours_held
    game = preset("connectfour").game
    for line in game.lines:
        images = {frozenset(image[cell] for cell in line) for image in game.symmetries}
        assert held(game, (line,)) == len(images) in (1, 2)
    assert held(game, tuple(game.lines)) == len(game.lines) == 69


@pytest.mark.figures
def test_speed_s_tables_are_those_of_the_kept_figures(capsys: pytest.CaptureFixture[str]) -> None:
    module("table1/speed").main([])
    tables = capsys.readouterr().out.strip().split("\n\n")
    readme = pages_of("table1")
    assert [len(table.splitlines()) for table in tables] == [9, 6, 17]
    assert all(table in readme for table in tables)


@pytest.mark.figures
def test_the_profile_is_that_of_the_kept_figures(capsys: pytest.CaptureFixture[str]) -> None:
    module("table1/profile").main([])
    table = capsys.readouterr().out.strip()
    assert len(table.splitlines()) == 9
    assert table in pages_of("table1")


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
def test_a_profile_finds_the_parts_of_a_tick(tmp_path: Path) -> None:
    script = module("table1/profile")
    command = [sys.executable, "-m", script.__name__, "--take", "--games", "nim"]
    done = subprocess.run(
        [*command, "--results", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("\n") == 3
    (row,) = Section(tmp_path, script.SECTION).read()
    times = {part: row[part] for part in script.COLUMNS}
    assert sum(times.values()) == pytest.approx(row["microseconds a move"], rel=0.01)
    # Nim has traces, and its moves are made without a look at what they bring.
    # What tracing costs may be as much as the few kernels of a part take.
    found = {"random words", "choice", "moves", "errors", "tables", "next boards"}
    assert found <= {*row["parts with kernels"]}
    assert min(times.values()) >= 0
    assert max(times[part] for part in found) > 0
    assert times[script.BETWEEN] < sum(times.values()) / 2
    # A trace that was cut short would have fewer.
    assert row["kernels a tick"] > 60


def test_what_tracing_costs_is_taken_off_a_profile() -> None:
    script = module("table1/profile")
    own, counts = {"large": 5.0, "small": 0.3, "often": 2.0}, {"large": 1, "small": 3, "often": 40}
    traced = {kernel: own[kernel] + 0.1 * counts[kernel] for kernel in own}
    assert script.without_tracing(traced, counts, 7.3) == pytest.approx(own)
    # None takes less than nothing, and all of them what the program takes.
    left = script.without_tracing(traced, counts, 4.0)
    assert left["small"] == 0
    assert sum(left.values()) == pytest.approx(4.0)
    assert script.without_tracing(traced, counts, 20.0) == traced


@pytest.mark.figures
def test_both_kinds_of_ab_dl_are_tabulated_from_the_kept_games() -> None:
    readme = pages_of("farl_ablation")
    kept = {name: kept_records(f"farl_ablation/{name}") for name in ("ab-dl", "ab-dl-gbg")}
    for variant in ("farl", "part1", "none"):
        cells = [
            "{:.1f} ± {:.1f}".format(
                *mean_sem([row["mean"] for row in rows if row["variant"] == variant])
            )
            for rows in kept.values()
        ]
        assert f"| {variant} | {' | '.join(cells)} |" in readme


@pytest.mark.figures
@pytest.mark.slow
def test_the_table_is_rebuilt_from_the_kept_runs(tmp_path: Path) -> None:
    module("table1/report").main(["--results", str(tmp_path)])
    kept = EXPERIMENTS / "table1" / "table.txt"
    assert (tmp_path / "table.txt").read_text() == kept.read_text()
    assert (tmp_path / "curves.png").stat().st_size > 10_000


@pytest.mark.figures
def test_the_ablation_is_tabulated_from_the_archived_runs(
    unpacked: Callable[[str], Path],
) -> None:
    readme = pages_of("farl_ablation")
    (where,) = re.findall(r'--where "\n(.*?)"', readme, re.DOTALL)
    table = read_table(unpacked("table1"), where=where)
    assert as_records(table.rows) == kept_records("farl_ablation/table")
    assert len(table.rows) == 12
    for row in table.rows:
        figures = in_figures(row, row.mean, row.sem), interval(row), difference(row)
        assert any(all(each in line for each in figures) for line in readme.splitlines())


@pytest.mark.figures
def test_active_weights_are_those_of_the_kept_run() -> None:
    place = EXPERIMENTS / "farl_ablation"
    readme = pages_of("farl_ablation")
    (archived,) = (each for each in archived_runs(place) if each.run.game.name == "connectfour")
    kept = archived.summary()["agents"]
    for variant in ("farl", "part1", "none"):
        told = [figures for _, name, *figures in kept if name == variant]
        shares = mean_sem([100 * active / weights for _, _, weights, active in told])
        plies = mean_sem([moves / episodes for episodes, moves, _, _ in told])
        line = (
            f"| {variant} | {shares[0]:.2f} ± {shares[1]:.2f} | {plies[0]:.1f} ± {plies[1]:.1f} |"
        )
        assert line in readme


@pytest.fixture
def run_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run a script in this process, with other values of its constants; its folder of results."""

    def run(name: str, *arguments: str, **constants: object) -> Path:
        script = module(name)
        for constant, value in {"prepare_jax": lambda *devices: None, **constants}.items():
            monkeypatch.setattr(script, constant, value)
        out = tmp_path / "runs"
        script.main([*arguments, "--results", str(tmp_path), "--out", str(out)])
        return tmp_path

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "constants", "rows"),
    [
        (
            "search/run",
            ["--only", "tictactoe", "--episodes", "60", "--plays", "greedy", "puct-2"],
            {},
            2,
        ),
        (
            "othello_partners/run",
            ["q", "--games", "16", "--seeds", "3", "5", "--only", "fixed"],
            {},
            36,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_scripts_run_with_tiny_budgets(
    run_script, name: str, arguments: list[str], constants: dict[str, object], rows: int
) -> None:
    results = run_script(name, *arguments, **constants)
    (made,) = json.loads((results / "results.json").read_text()).values()
    assert len(made) == rows
    assert len([*results.glob("*.png")]) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "rows"),
    [
        ("hex_openings", ["--seeds", "1", "--episodes", "64", "--plays", "greedy", "puct-2"], 2),
        (
            "won_starts",
            ["--repeats", "1", "--episodes", "64", "--seeds", "0", "--plays", "greedy"],
            4,
        ),
        (
            "speed",
            ["--only", "hex", "--episodes", "64", "--batch", "16", "--iterations", "4"],
            1,
        ),
    ],
)
def test_searches_are_judged_and_timed(
    run_script, name: str, arguments: list[str], rows: int
) -> None:
    constants = {}
    if name == "won_starts":
        pytest.importorskip("bitbully")
        # Against the solver, the evaluations of the training would take minutes.
        run_of, quick = module("search/run").run_of, {"opponents": ["random"]}
        constants["run_of"] = lambda *settings: with_changes(run_of(*settings), quick)
    results = run_script(f"search/{name}", *arguments, **constants)
    assert len(Section(results, name).read()) == rows


@pytest.mark.slow
@pytest.mark.skipif(not Path(GRHINO.split()[0]).exists(), reason="GRhino is not installed")
def test_levels_of_an_engine_are_played(run_script, monkeypatch: pytest.MonkeyPatch) -> None:
    script = module("search/othello_levels")
    monkeypatch.setattr(script, "protocol_for", lambda *_: Protocol())
    arguments = ["--levels", "1", "2", "--plays", "greedy", "--episodes", "16"]
    results = run_script("search/othello_levels", *arguments)
    rows = Section(results, "othello_levels").read()
    assert [row["level"] for row in rows] == [1, 2]
    assert (results / "othello_levels.png").exists()


@pytest.mark.slow
def test_searches_are_compared_at_equal_time(run_script) -> None:
    contest = (
        module("search/equal_time")
        .CONTESTS["nim3p"]
        ._replace(protocol=None, values=("greedy", "puct-2"), roll_outs=("mcts-2",))
    )
    results = run_script(
        "search/equal_time", "--only", "nim3p", "--episodes", "60", CONTESTS={"nim3p": contest}
    )
    rows = Section(results, "equal_time").read()
    assert [row["play"] for row in rows] == ["greedy", "puct-2", "mcts-2"]
    assert all(row["core_ms_a_move"] > 0 for row in rows)
    assert (results / "equal_time.png").exists()


@pytest.mark.slow
def test_speed_is_taken_beside_the_serial_algorithm(
    run_script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None)
    games = {"tictactoe": module("othello_partners/speed").GAMES["tictactoe"]}
    results = run_script("othello_partners/speed", "--seconds", "0.1", GAMES=games)
    rates = Section(results, "speed").read()
    assert [rate["learner"] for rate in rates] == ["td", "q"]
    assert all(rate["games_per_s"] > rate["numpy_games_per_s"] > 0 for rate in rates)


@pytest.mark.figures
def test_gains_by_players_are_those_of_the_kept_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("results.json", "forecast.json"):
        shutil.copy(EXPERIMENTS / "n_players" / name, tmp_path)
    module("n_players/run").main(["--show", "--results", str(tmp_path)])
    lines = capsys.readouterr().out.strip().splitlines()
    after = next(number for number, line in enumerate(lines) if line.startswith("rank"))
    missed, blindness = lines[after : after + 2]
    page = pages_of("n_players")
    assert "\n".join(lines[:after]) in page
    assert "\n".join(lines[after + 2 :]) in page
    assert f"**: {missed.rpartition(' ')[2]} (blindness {blindness.rpartition(' ')[2]})" in page
    assert (tmp_path / "n_players.png").stat().st_size > 10_000


@pytest.fixture
def measured_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[dict[str, Any], list[str]]]:
    """Run a script for one of its rows: the row, and the lines that --show prints of it."""
    monkeypatch.setattr("experiments.shared.prepare_jax", lambda *devices: None)

    def run(script: Any, *arguments: str) -> tuple[dict[str, Any], list[str]]:
        script.main([*arguments, "--out", str(tmp_path)])
        (one,) = json.loads((tmp_path / script.FILE).read_text())["results"]
        capsys.readouterr()
        script.main(["--show", "--results", str(tmp_path)])
        return one, capsys.readouterr().out.splitlines()

    return run


@pytest.mark.slow
def test_one_table_meets_a_table_for_each(monkeypatch: pytest.MonkeyPatch, measured_row) -> None:
    script = module("n_players/one_table")
    monkeypatch.setattr(script, "SHARES", {"1/8": 0.5, "1/2": 0.5, "all": 1.0})
    chosen = ["--labels", script.LABELS[0], "--scale", "0.01", "--seeds", "2"]
    one, shown = measured_row(script, *chosen)
    assert one["weights"] == {"each": 3 * 6**3, "one": 6**3}
    assert shown[2].startswith(f"| {script.LABELS[0]} | ")


@pytest.mark.slow
def test_agents_meet_perfect_players_and_learn_to_lose_little(measured_row) -> None:
    script = module("n_players/perfect")
    chosen = ["--labels", "nim, 2 players", "--scale", "0.1", "--games", "100", "--seeds", "2"]
    one, shown = measured_row(script, *chosen)
    # What one perfect player wins the other loses.
    assert one["perfect"] == 0
    assert max(script.lost(one, "farl")) < 0.4 < min(script.lost(one, "none"))
    assert shown[2].startswith("| nim, 2 players | +0.00 | ")


@pytest.mark.slow
def test_the_share_of_evaluations_is_computed(measured_row) -> None:
    script = module("table1/evaluation_share")
    one, shown = measured_row(script, "--labels", "nim", "--seconds", "0.1")
    assert (one["label"], one["lanes"], one["milestones"]) == ("nim", 20, 20)
    assert one["seconds"]["training"] > 0 < one["seconds"]["evaluations"]
    assert one["seconds"]["final opponents"] == 0
    assert shown[-1].startswith("| all | ")


@pytest.mark.slow
def test_the_predictor_is_computed_and_drawn(run_script) -> None:
    games = ["nim", "nim misere", "nim, 3 players", "tictactoe"]
    few = {"RANDOM_PLAY": (50, 4), "TRAINED_PLAY": (20, 4), "MATCHES": 4}
    arguments = ["--scale", "0.01", "--seeds", "2", "--games", *games]
    results = run_script("farl_predictor/run", *arguments, **few)
    (place,) = (results / "runs").glob("scale-*")
    figures = json.loads((place / "results.json").read_text())
    assert all({"random", "trained", "gains", "ceiling"} <= figures[game].keys() for game in games)
    assert (place / "farl_predictor.png").exists()


@pytest.mark.figures
def test_tables_are_those_of_the_kept_figures(capsys: pytest.CaptureFixture[str]) -> None:
    module("othello_partners/tables").main([])
    tables = capsys.readouterr().out.strip()
    assert len(tables.splitlines()) > 30
    assert tables in pages_of("othello_partners")


@pytest.mark.figures
def test_ladders_are_those_of_the_kept_figures() -> None:
    script = module("ladder/run")
    readme = pages_of("ladder")
    kept = json.loads((EXPERIMENTS / "ladder" / "results.json").read_text())
    assert {"tictactoe", "nim", "nim3p"} <= kept.keys()
    for game, rows in kept.items():
        assert "\n".join(script.table(rows)) in readme, game
        asked = script.entrants(RunFolder(Path(), script.run_of(game)))
        assert {row["player"] for row in rows} == {*asked}


@pytest.mark.slow
def test_a_ladder_is_played_and_drawn(run_script) -> None:
    climb = module("ladder/run").Climb(("random", "maxn"), 60, 1, 2, 4)
    results = run_script("ladder/run", "nim", CLIMBS={"nim": climb})
    rows = Section(results, "nim").read()
    assert {row["player"] for row in rows} == {"random", "maxn", "FARL 0", "no FARL 0"}
    assert (results / "nim.png").exists()
