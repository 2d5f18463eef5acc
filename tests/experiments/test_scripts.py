"""The experiments: their scripts run, and their committed figures are those of today's settings."""

import importlib
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from jaxgbg import Protocol, Run, RunFolder
from jaxgbg.papers import preset
from jaxgbg.papers.table1 import table1_run
from jaxgbg.players import GRHINO
from jaxgbg.results.groups import read_table
from jaxgbg.results.rows import as_records
from jaxgbg.results.statistics import mean_sem
from jaxgbg.results.table import in_figures
from tests.internals import NO_DEVICE_STARTED

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "experiments"
SCRIPTS = sorted(path.relative_to(EXPERIMENTS) for path in EXPERIMENTS.glob("*/*.py"))
CONFIGS = sorted(EXPERIMENTS.glob("*/runs/*/config.json"))


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


def half(config: Path) -> object:
    """Runs of small games are in the fast half."""
    small = config.parent.name.startswith(("tictactoe", "nim"))
    return config if small else pytest.param(config, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "config", [half(config) for config in CONFIGS], ids=lambda path: path.parent.name
)
def test_every_kept_run_is_found_again(config: Path) -> None:
    run = Run.read(json.loads(config.read_text()))
    folder = RunFolder(config.parents[1], run)
    assert folder.path == config.parent
    assert folder.finished
    assert run.plain() == json.loads(config.read_text())
    # Those of no opponent have no evaluations.
    lanes = {(one.seed, one.variant) for one in folder.results()}
    assert lanes in (set(run.agents), set())


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
    else:
        for setting in module("farl_predictor/settings").SETTINGS:
            # Table 1 has other runs of these two by now.
            if not setting.published or setting.game.name in ("2048", "connectfour"):
                yield from setting.runs(1.0, None).values()


@pytest.mark.parametrize("experiment", ["table1", "farl_ablation", "farl_predictor"])
def test_the_documented_commands_find_the_kept_runs_finished(experiment: str) -> None:
    kept = {path.parent.name for path in CONFIGS if path.parents[2].name == experiment}
    assert {run.name for run in published_runs(experiment)} == kept


@pytest.mark.parametrize("game", ["tictactoe", "connectfour"])
def test_the_table_of_traces_is_that_of_the_kept_figures(
    game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module("ralpha/table").main([game])
    table = capsys.readouterr().out
    assert len(table.splitlines()) == 35
    assert table in (EXPERIMENTS / "ralpha" / "README.md").read_text()


def test_what_is_given_away_is_of_the_kept_runs(capsys: pytest.CaptureFixture[str]) -> None:
    script = module("table1/given_away")
    kept = {run.digest: run for run in published_runs("table1")}
    rows = records("table1/given_away.json")
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


def records(pattern: str) -> list[dict]:
    return [row for file in EXPERIMENTS.glob(pattern) for row in json.loads(file.read_text())]


def test_kept_figures_name_the_runs_of_their_scripts() -> None:
    run_of = module("othello_partners/run").run_of
    for row in records("othello_partners/*-*.json"):
        told = ("learner", "partner", "games", "seed", "step", "openings", "loss")
        run = run_of(*(row[name] for name in told))
        assert row["config"] == run.digest


def test_networks_join_those_that_the_file_has_of_other_seeds(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    join = module("othello_partners/run").with_other_seeds
    new = [{"seed": 1, "best": 3}]
    assert join(new, path) == new
    path.write_text(json.dumps([{"seed": 1, "best": 2}, {"seed": 2}, {"seed": 0}]))
    assert join(new, path) == [{"seed": 0}, *new, {"seed": 2}]


def test_kept_figures_of_searches_are_those_of_the_script() -> None:
    script = module("search/run")
    for row in records("search/figures.json"):
        run = script.run_of(row["study"], seeds=row["seeds"])
        assert (row["config"], row["game"]) == (run.digest, run.game.name)
        assert row["opponent"] in script.STUDIES[row["study"]].opponents
        script.play_of(row["play"])
        for mean, (low, high) in zip(row["per agent"], row["intervals"], strict=True):
            assert low <= mean <= high
        assert row["mean"] == pytest.approx(sum(row["per agent"]) / len(row["per agent"]))
    tables = (EXPERIMENTS / "search/tables.md").read_text().splitlines()
    assert script.tables(records("search/figures.json")) == tables


def test_table_1_at_a_glance_is_that_of_the_kept_runs(capsys: pytest.CaptureFixture[str]) -> None:
    module("table1/overview").main([])
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 16
    assert printed in (ROOT / "docs" / "table-1.md").read_text()
    readme = (ROOT / "README.md").read_text().partition("## Results")[2]
    rows = [cells(line) for line in readme.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 9
    kept = [cells(line) for line in printed.splitlines()]
    for game, opponent, *figures in rows:
        (row,) = [each for each in kept if each[:2] == [game, opponent]]
        # Of 2048, which was trained one game at a time, the figures are in brackets there.
        seeds, *scores = (each.partition(" (")[0].strip("()") for each in row[3:])
        assert figures == [seeds, *scores]


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_moves_and_active_weights_are_those_of_the_kept_runs(jaxgbg) -> None:
    readme = (EXPERIMENTS / "table1" / "README.md").read_text()
    (query,) = re.findall(r'--format markdown --sql "(.*?)"\n```', readme, re.DOTALL)
    place = EXPERIMENTS / "table1" / "runs"
    code, printed, _ = jaxgbg("results", place, "--format", "markdown", "--sql", query)
    assert (code, len(printed.splitlines())) == (0, 26)
    assert printed in readme


def test_connectfour_s_draws_and_lists_are_those_of_the_kept_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    readme = (EXPERIMENTS / "table1" / "README.md").read_text()
    for script, lines in (("draws", 13), ("listed", 18)):
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


def test_speed_s_tables_are_those_of_the_kept_figures(capsys: pytest.CaptureFixture[str]) -> None:
    module("table1/speed").main([])
    tables = capsys.readouterr().out.strip().split("\n\n")
    readme = (EXPERIMENTS / "table1" / "README.md").read_text()
    assert [len(table.splitlines()) for table in tables] == [9, 6, 10]
    assert all(table in readme for table in tables)


def test_the_profile_is_that_of_the_kept_figures(capsys: pytest.CaptureFixture[str]) -> None:
    module("table1/profile").main([])
    table = capsys.readouterr().out.strip()
    assert len(table.splitlines()) == 9
    assert table in (EXPERIMENTS / "table1" / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
def test_a_profile_finds_the_parts_of_a_tick(tmp_path: Path) -> None:
    script = module("table1/profile")
    command = [sys.executable, "-m", script.__name__, "--take", "--games", "nim"]
    done = subprocess.run(
        [*command, "--results", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("\n") == 3
    (row,) = json.loads((tmp_path / script.FILE).read_text())
    times = {part: row[part] for part in script.COLUMNS}
    assert sum(times.values()) == pytest.approx(row["microseconds a move"], rel=0.01)
    # Nim has traces, and its moves are made without a look at what they bring.
    for part in ("random words", "choice", "moves", "errors", "tables", "next boards"):
        assert times[part] > 0, part
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


def test_both_kinds_of_ab_dl_are_tabulated_from_the_kept_games() -> None:
    readme = (EXPERIMENTS / "farl_ablation" / "README.md").read_text()
    kept = {name: records(f"farl_ablation/{name}.json") for name in ("ab-dl", "ab-dl-gbg")}
    for variant in ("farl", "part1", "none"):
        cells = [
            "{:.1f} ± {:.1f}".format(
                *mean_sem([row["mean"] for row in rows if row["variant"] == variant])
            )
            for rows in kept.values()
        ]
        assert f"| {variant} | {' | '.join(cells)} |" in readme


@pytest.mark.slow
def test_the_table_is_rebuilt_from_the_kept_runs(tmp_path: Path) -> None:
    module("table1/report").main(["--results", str(tmp_path)])
    for name in ("rows.json", "table.txt"):
        assert (tmp_path / name).read_text() == (EXPERIMENTS / "table1" / name).read_text()
    assert (tmp_path / "curves.png").stat().st_size > 10_000


def test_the_ablation_is_tabulated_from_the_kept_runs() -> None:
    place = EXPERIMENTS / "farl_ablation"
    readme = (place / "README.md").read_text()
    (where,) = re.findall(r'--where "\n(.*?)"', readme, re.DOTALL)
    table = read_table(EXPERIMENTS / "table1" / "runs", where=where)
    assert as_records(table.rows) == json.loads((place / "rows.json").read_text())
    assert len(table.rows) == 12
    for row in table.rows:
        assert in_figures(row, row.mean, row.sem) in readme


def test_active_weights_are_those_of_the_kept_run() -> None:
    place = EXPERIMENTS / "farl_ablation"
    readme = (place / "README.md").read_text()
    kept = json.loads((place / "runs/connectfour-ec8c551a/summary.json").read_text())["agents"]
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
    (figures,) = results.glob("*.json")
    assert len(json.loads(figures.read_text())) == rows
    assert figures.with_suffix(".png").exists() or (results / "curves.png").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "rows"),
    [
        ("hex_openings", ["--seeds", "1", "--episodes", "64", "--plays", "greedy", "puct-2"], 2),
        ("won_starts", ["--repeats", "1", "--episodes", "64", "--plays", "greedy"], 4),
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
    if name == "won_starts":
        pytest.importorskip("bitbully")
    results = run_script(f"search/{name}", *arguments)
    assert len(json.loads((results / f"{name}.json").read_text())) == rows


@pytest.mark.slow
@pytest.mark.skipif(not Path(GRHINO.split()[0]).exists(), reason="GRhino is not installed")
def test_levels_of_an_engine_are_played(run_script, monkeypatch: pytest.MonkeyPatch) -> None:
    script = module("search/othello_levels")
    monkeypatch.setattr(script, "protocol_for", lambda *_: Protocol())
    arguments = ["--levels", "1", "2", "--plays", "greedy", "--episodes", "16"]
    results = run_script("search/othello_levels", *arguments)
    rows = json.loads((results / "othello_levels.json").read_text())
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
    rows = json.loads((results / "equal_time.json").read_text())
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
    rates = json.loads((results / "speed.json").read_text())
    assert [rate["learner"] for rate in rates] == ["td", "q"]
    assert all(rate["games_per_s"] > rate["numpy_games_per_s"] > 0 for rate in rates)


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


PARTNERS = [
    "q-2000000-cycled",
    "q-2000000-step4-cycled",
    "q-2000000-step16-cycled",
    "q-2000000-matching-cycled",
    "sarsa-2000000-cycled",
    "sarsa-2000000-step16-cycled",
    "sarsa-2000000-self-matching-cycled",
    "td-2000000-cycled",
    "td-2000000-step4-cycled",
    "td-2000000-fixed-matching-cycled",
    "td-1000000-self-step16",
]


def test_tables_are_those_of_the_kept_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert {path.stem for path in EXPERIMENTS.glob("othello_partners/*-*.json")} == set(PARTNERS)
    module("othello_partners/tables").main(PARTNERS)
    tables = capsys.readouterr().out.strip()
    assert len(tables.splitlines()) > 30
    assert tables in (EXPERIMENTS / "othello_partners" / "README.md").read_text()


def test_ladders_are_those_of_the_kept_figures() -> None:
    script = module("ladder/run")
    readme = (EXPERIMENTS / "ladder" / "README.md").read_text()
    kept = sorted(EXPERIMENTS.glob("ladder/*.json"))
    assert {"tictactoe", "nim", "nim3p"} <= {path.stem for path in kept}
    for path in kept:
        rows = json.loads(path.read_text())
        assert "\n".join(script.table(rows)) in readme, path.stem
        asked = script.entrants(RunFolder(Path(), script.run_of(path.stem)))
        assert {row["player"] for row in rows} == {*asked}


@pytest.mark.slow
def test_a_ladder_is_played_and_drawn(run_script) -> None:
    climb = module("ladder/run").Climb(("random", "maxn"), 60, 1, 2, 4)
    results = run_script("ladder/run", "nim", CLIMBS={"nim": climb})
    rows = json.loads((results / "nim.json").read_text())
    assert {row["player"] for row in rows} == {"random", "maxn", "FARL 0", "no FARL 0"}
    assert (results / "nim.png").exists()
