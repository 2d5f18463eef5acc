"""The experiments that are sweep files: what they ask for, and that kept figures are of it."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import jaxgbg
from experiments.archive import unpack
from experiments.shared import archived_runs
from jaxgbg import Run, with_changes
from jaxgbg.results.groups import read_table
from jaxgbg.results.rows import Row, as_records, group, source_of
from jaxgbg.results.table import in_figures
from jaxgbg.runs import Result
from jaxgbg.sweeps import read_spec
from tests.experiments.pages import kept_records, pages_of

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FILES = sorted(path.relative_to(EXPERIMENTS) for path in EXPERIMENTS.glob("*/*.toml"))
RUNS = {
    "discount/connectfour.toml": 3,
    "discount/hex.toml": 5,
    "discount/nim.toml": 5,
    "discount/tictactoe.toml": 10,
    "lines_of_action/tuples.toml": 9,
    "lockstep/connectfour.toml": 16,
    "lockstep/hex.toml": 16,
    "lockstep/nim.toml": 2,
    "lockstep/nim3p.toml": 16,
    "lockstep/tictactoe.toml": 2,
    "networks/boards.toml": 9,
    "networks/small.toml": 9,
    "ralpha/connectfour.toml": 54,
    "ralpha/connectfour_best.toml": 1,
    "ralpha/tictactoe.toml": 42,
    "readings/connectfour.toml": 10,
    "readings/nim3p.toml": 10,
    "readings/tictactoe.toml": 12,
    "search/training.toml": 2,
    "sweeps/nim3p_lambda.toml": 5,
    "sweeps/thousand_seeds.toml": 8,
    "sweeps/tictactoe.toml": 200,
    "td_sarsa/tictactoe.toml": 4,
}
# Which figures are of which files, told apart by what, and whether of games won.
KEPT: dict[str, tuple[list[str], list[str], bool]] = {
    "discount/connectfour": (["discount/connectfour.toml"], ["discount", "variant"], False),
    "discount/nim": (["discount/nim.toml"], ["discount", "variant"], False),
    "discount/tictactoe": (
        ["discount/tictactoe.toml"],
        ["value", "discount", "variant"],
        False,
    ),
    "lockstep/nim": (["lockstep/nim.toml"], ["batch", "variant"], False),
    "lockstep/tictactoe": (["lockstep/tictactoe.toml"], ["batch", "variant"], False),
    "lockstep/nim3p": (["lockstep/nim3p.toml"], ["batch", "combine"], False),
    "networks/networks.json": (["networks/small.toml", "networks/boards.toml"], [], False),
    "ralpha/connectfour": (["ralpha/connectfour.toml"], [], True),
    "ralpha/tictactoe": (["ralpha/tictactoe.toml"], [], True),
    "search/training": (["search/training.toml"], ["learner", "train_search"], False),
    "sweeps/nim3p_lambda.json": (["sweeps/nim3p_lambda.toml"], [], False),
    "td_sarsa/results.json": (["td_sarsa/tictactoe.toml"], [], False),
}
# Where the figures stand, if not in the README next to them.
PAGES = {"sweeps/nim3p_lambda.json": EXPERIMENTS.parent / "docs" / "question.md"}


def runs_of(file: Path | str) -> list[Run]:
    return [run for unit in read_spec(EXPERIMENTS / file).units for run in unit.runs]


@pytest.mark.parametrize("file", FILES, ids=str)
def test_every_file_is_read_and_its_command_documented(file: Path) -> None:
    assert len(runs_of(file)) == RUNS[str(file)]
    command = f"jaxgbg sweep experiments/{file}"
    assert command in (EXPERIMENTS / file).read_text()
    if (EXPERIMENTS / file.parent / "README.md").exists():
        assert command in pages_of(file.parent.name)


def rows_asked_for(files: list[str], by: list[str], wins: bool) -> list[Row]:
    """The rows that `jaxgbg results` would have, of agents that score nothing."""
    sources = []
    for run in (run for file in files for run in runs_of(file)):
        results = [
            Result(seed, variant, run.schedule.episodes, opponent, 0.0, 1, 0.0)
            for seed, variant in run.lanes
            for opponent in run.evaluation.opponents
        ]
        sources.append(source_of(run, results)._replace(wins=wins))
    return group(sources, by).rows


@pytest.mark.figures
@pytest.mark.parametrize("file", KEPT)
def test_kept_rows_are_those_that_the_file_asks_for(file: str) -> None:
    rows = rows_asked_for(*KEPT[file])
    readme = PAGES[file].read_text() if file in PAGES else pages_of(Path(file).parent.name)
    names = ("game", "opponent", *rows[0].settings)

    def settings(record) -> list[str]:
        return [str(record[name]) for name in names]

    kept = sorted(kept_records(file), key=settings)
    pairs = zip(rows, as_records(rows), strict=True)
    in_order = sorted(pairs, key=lambda pair: settings(pair[1]))
    for record, (row, asked) in zip(kept, in_order, strict=True):
        same = ("game", "opponent", *row.settings, "unit", "n", "episodes", "paper_mean")
        assert {name: record[name] for name in same} == {name: asked[name] for name in same}
        assert len(record["per_seed"]) == row.n
        # Every figure of the table stands in the text, to the five digits that a record has.
        errors = (-1e-5, 0, 1e-5)
        sems = [None] if row.n == 1 else [record["sem"] + two for two in errors]
        near = [(record["mean"] + one, sem) for one in errors for sem in sems]
        written = [in_figures(row, *figures) for figures in near]
        lines = [line for line in readme.splitlines() if any(each in line for each in written)]
        assert lines
        # A table in a box has the interval, the last evaluation, n and the difference too.
        if boxes := [line for line in lines if not line.startswith("|") and line.count("  ") > 2]:
            names = ("low", "high", "last", "n", *(("difference",) if record["pairs"] else ()))
            assert any(stand_in([record[name] for name in names], line) for line in boxes)


def stand_in(figures: list[float], line: str) -> bool:
    """Whether a line has all these figures, rounded, in their order."""
    texts = iter(re.findall(r"[-+]?\d[\d,]*(?:\.\d+)?", line))
    numbers = ((float(text.replace(",", "")), len(text.partition(".")[2])) for text in texts)
    return all(
        any(abs(number - each) <= 0.5 * 10.0**-digits + 1e-4 for number, digits in numbers)
        for each in figures
    )


@pytest.mark.parametrize(
    ("kept", "folder"),
    [
        ("discount/metrics.sha256", "discount"),
        ("ralpha/metrics.sha256", ("ralpha/connectfour.toml", "ralpha/tictactoe.toml")),
        ("td_sarsa/metrics.sha256", "td_sarsa"),
    ],
)
def test_every_run_of_the_files_has_its_hash(kept: str, folder: str | tuple[str, ...]) -> None:
    files = [file for file in map(str, FILES) if file.startswith(folder)]
    assert files
    lines = (EXPERIMENTS / kept).read_text().splitlines()
    named = [Path(line.split()[1]).parent.name for line in lines]
    assert sorted(named) == sorted(run.name for file in files for run in runs_of(file))
    assert all(len(line.split()[0]) == 64 for line in lines)


@pytest.mark.figures
def test_figures_of_networks_are_those_of_the_archived_runs(tmp_path: Path) -> None:
    unpack(archived_runs(EXPERIMENTS / "networks"), tmp_path)
    rows = read_table(tmp_path).rows
    assert as_records(rows) == kept_records("networks/networks.json")


@pytest.mark.parametrize("game", ["hex", "connectfour"])
def test_figures_of_the_script_of_old_are_of_the_same_settings(game: str) -> None:
    asked = {
        (run.schedule.batch, "serial" if run.schedule.batch == 1 else run.value.combine): run
        for run in runs_of(f"lockstep/{game}.toml")
    }
    kept = kept_records(f"lockstep/{game}")
    assert {(row["batch"], row["rule"]) for row in kept} == asked.keys()
    for row in kept:
        run = asked[row["batch"], row["rule"]]
        # Met once at the end, by `eval --keep`.
        assert row["opponent"] in (*run.evaluation.opponents, "mcts-1000")
        assert row["episodes"] == run.schedule.episodes
        assert len(row["per_seed"]) == len(run.seeds)
        times = row["episodes"] // run.evaluation.every
        assert len(row["curve"]) == (1 if row["opponent"] == "mcts-1000" else times)


def test_the_network_of_old_is_of_the_same_config() -> None:
    (row,) = kept_records("ralpha/connectfour-100-shallow-0.9-0.2")
    (run,) = runs_of("ralpha/connectfour_best.toml")
    assert run.schedule.last_epsilon == run.schedule.epsilon
    assert run.schedule.last_alpha == pytest.approx(0.05 * 0.1, rel=1e-12)
    # Said in another way then: no last exploration rate is the first one.
    before = {"epsilon_end": None, "alpha_end": 0.05 * 0.1}
    assert row["config"] == with_changes(run, before).digest


def tiny(file: Path | str, **settings: Any) -> dict[str, Any]:
    """The sweep of a file with the first values of its axes, two seeds at most, a few episodes, and
    of ConnectFour's 70 n-tuples 4: what is kept of millions of weights takes longer than training.
    """
    fields = tomllib.loads((EXPERIMENTS / file).read_text())
    given = fields.get("axes", {})
    tables = given if isinstance(given, list) else [given]
    fields["axes"] = [{name: values[:1] for name, values in table.items()} for table in tables]
    few = {"episodes": 20, "eval_every": 20, **settings}
    # Ticks cost more than compiling where many games are in lockstep.
    if not any("batch" in table for table in (fields.get("settings", {}), *tables)):
        few["batch"] = 4
    fields["settings"] = fields.get("settings", {}) | few
    if fields.get("game") == "connectfour" and "value" not in fields["settings"]:
        listed = fields["settings"].get("layout")
        fields["settings"] |= {"layout": listed[:4]} if listed else {"walks": [4, 8]}
    seeds = fields.get("seeds", "0:10")
    return fields | {"seeds": seeds[:2] if isinstance(seeds, list) else [0, 1]}


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=str)
def test_every_file_trains_with_a_tiny_budget(file: Path, tmp_path: Path) -> None:
    done = jaxgbg.sweep(tiny(file, opponents=[], protocols=[]), tmp_path, progress=False)
    assert not done.failures
    assert done.runs
    assert all(run.finished for run in done.runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "options", "rows"),
    [
        ("td_sarsa/tictactoe.toml", [], 4),
        ("ralpha/tictactoe.toml", ["--wins", "--by", "trace_decay", "hidden", "discount"], 4),
        ("lockstep/nim3p.toml", ["--by", "batch", "combine"], 2),
    ],
    ids=["td_sarsa", "ralpha", "lockstep"],
)
def test_the_commands_tabulate_and_draw_it(
    jaxgbg: Any, tmp_path: Path, file: str, options: list[str], rows: int
) -> None:
    fields = tiny(file)
    lines = [f"game = {fields['game']!r}", "seeds = [0, 1]", "[settings]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in fields["settings"].items()]
    for table in fields["axes"]:
        lines += ["[[axes]]", *(f"{name} = {json.dumps(value)}" for name, value in table.items())]
    (tmp_path / "few.toml").write_text("\n".join(lines))
    out, made = tmp_path / "runs", tmp_path / "rows.json"
    assert jaxgbg("sweep", tmp_path / "few.toml", "--out", out)[0] == 0
    assert jaxgbg("results", out, *options, "--json", made)[0] == 0
    assert len(json.loads(made.read_text())) == rows
    assert jaxgbg("plot", out, *options, "--out", tmp_path / "curves.png")[0] == 0
    assert (tmp_path / "curves.png").stat().st_size > 10_000
