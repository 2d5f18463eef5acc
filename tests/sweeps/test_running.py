"""A sweep from its plan to its end: how far it is, what it will take, what it stops early."""

import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from jaxgbg.players import MissingExtra
from jaxgbg.runs import LaneName, Result, StopTraining
from jaxgbg.runs import progress_bar as bars
from jaxgbg.runs.chunks import compile_chunk
from jaxgbg.runs.execution import _checkpoints
from jaxgbg.runs.lanes import program_of
from jaxgbg.runs.storage.checkpoints import Checkpoint, begun_together
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.sweeps import adaptive
from jaxgbg.sweeps import progress as watching
from jaxgbg.sweeps.adaptive import run_rungs, saved_share, survivors
from jaxgbg.sweeps.estimate import expected_seconds, sample
from jaxgbg.sweeps.executors import EXECUTORS, ExecutorSettings
from jaxgbg.sweeps.running import run_plan
from jaxgbg.sweeps.spec import plan, read_spec, units
from tests.internals import setting

FIELDS = {
    "game": "nim",
    "seeds": "0:2",
    "settings": {
        "episodes": 640,
        "eval_every": 80,
        "opponents": ["random"],
        "variants": "farl",
        "batch": 16,
    },
    "axes": {"alpha": [0.25, 0.5, 1.0, 2.0], "game.heaps": [2], "game.size": [3]},
}


def begin(out, run, episodes, score=0.0):
    """A folder as a worker leaves it after some episodes."""
    folder = RunFolder(out, run)
    folder.begin()
    for lane in run.lanes:
        folder.append(Result(lane.seed, lane.variant, episodes, "random", score, 20))
    return folder


class Recorded:
    """A bar that keeps what it was shown."""

    def __init__(self):
        self.shown = []

    def show(self, share, text="", before=0.0, overhead=0.0):
        self.shown.append((share, text, before, overhead))

    def close(self):
        self.shown.append("closed")


def test_the_folders_say_how_far_a_sweep_is(tmp_path):
    many = units(FIELDS | {"lanes": 2})
    assert len(many) == 4
    begin(tmp_path, many[0].runs[0], 320)
    bar = Recorded()
    watch = watching.SweepProgress(many, tmp_path, bar)
    write_json(begin(tmp_path, many[1].runs[0], 640).path / "summary.json", {})
    begin(tmp_path, many[2].runs[0], 160)
    watch.show()
    # A quarter of a half was there before; a sweep is its episodes, whatever of them is whose.
    assert bar.shown == [((0.5 + 1 + 0.25) / 4, "1 of 4 units", 0.125, 0.0)]
    watch.drop([many[2], many[3]])
    # Nothing more is to be done of these two than what there is of them.
    assert watch.share() == ((0.5 + 1 + 0.25) / 2.25, 3)


def test_compilation_stands_apart_and_is_expected_of_each_program_to_come(tmp_path):
    # The width of a network makes a program.
    many = units(FIELDS | {"axes": {"value": ["mlp"], "hidden": [[4], [8]]}})
    assert len({program_of(unit.runs[0]) for unit in many}) == len(many) == 2
    bar = Recorded()
    watch = watching.SweepProgress(many, tmp_path, bar)
    compiling, elapsed = 30.0, 70.0
    watch._compiling = SimpleNamespace(
        seconds=lambda: compiling, text=lambda: "30 s of compilation"
    )
    write_json(begin(tmp_path, many[0].runs[0], 640).path / "summary.json", {})
    watch.show()
    ((share, text, before, overhead),) = bar.shown
    assert (share, text, before) == (0.5, "1 of 2 units, 30 s of compilation", 0.0)
    # The other half takes as long to train, and its program as long to compile.
    remaining = (elapsed - overhead) * (1 - share) / (share - before)
    assert remaining == pytest.approx((elapsed - compiling) + compiling)
    begin(tmp_path, many[1].runs[0], 320)
    watch.show()
    # No program is left to compile.
    assert bar.shown[-1][3] == compiling


def test_a_torn_line_at_the_end_of_metrics_is_no_progress(tmp_path):
    (unit,) = units(FIELDS | {"axes": {}})
    folder = begin(tmp_path, unit.runs[0], 320)
    with (folder.path / "metrics.jsonl").open("a") as file:
        file.write('{"episodes": 64')
    assert watching.reached(tmp_path, unit.runs[0]) == 0


def test_a_sweep_says_where_it_is_whoever_does_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bars, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(watching, "_POLL_SECONDS", 0.01)
    shown, show = threading.Semaphore(0), watching.SweepProgress.show
    monkeypatch.setattr(
        watching.SweepProgress, "show", lambda watch: (show(watch), shown.release())
    )
    sweep = plan(FIELDS | {"lanes": 2})

    def elsewhere(units, settings, report):
        # A worker on another machine is known by its folders alone.
        for unit in units:
            folder = begin(settings.out, unit.runs[0], 640)
            write_json(folder.path / "summary.json", {})
            report(unit)
            while shown.acquire(blocking=False):
                pass
            # The first may have looked before this unit was done.
            assert shown.acquire(timeout=60)
            assert shown.acquire(timeout=60)
        return []

    monkeypatch.setitem(EXECUTORS, "ray", elsewhere)
    outcome = run_plan(sweep, "ray", ExecutorSettings(tmp_path, 60.0, 1))
    assert outcome == ([], [], 0.0, [])
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"sweep: 100%, 4 of 4 units, \d+ s elapsed", lines[-1])
    assert any(re.search(r"\b[123] of 4 units, .* remaining", line) for line in lines)


@pytest.fixture
def nothing_kept() -> Iterator[None]:
    """Nothing that is compiled is kept on disk for the next time."""
    name = "jax_persistent_cache_min_compile_time_secs"
    before = setting(name)
    jax.config.update(name, 1e9)
    yield
    jax.config.update(name, before)


@pytest.mark.slow
def test_the_estimate_is_within_a_factor_and_shorter_than_the_sweep(
    tmp_path, full_optimization, nothing_kept, processor_time
):
    # One program in two units, many evaluations: all that takes time.
    fields = FIELDS | {"settings": FIELDS["settings"] | {"episodes": 4_000}, "lanes": 4}
    two = units(fields)
    start = time.perf_counter()
    expected = sum(expected_seconds(two))
    pilot = time.perf_counter() - start
    # A dry run is another process than the sweep, which compiles for itself.
    jax.clear_caches()
    compile_chunk.cache_clear()
    start = time.perf_counter()
    assert EXECUTORS["inline"](two, ExecutorSettings(tmp_path, 60.0, 1), lambda _: None) == []
    took = time.perf_counter() - start
    # Wider than what is promised: this process has compiled some of it before.
    assert took / 4 < expected < 4 * took
    assert pilot < 4 * took


def test_programs_are_compiled_once_for_each_number_of_lanes(monkeypatch):
    from jaxgbg.sweeps import estimate

    monkeypatch.setattr(estimate, "_pilot", lambda unit: estimate.Cost(10.0, 0.5, 0.25))
    sizes = FIELDS | {"lanes": 6, "settings": FIELDS["settings"]}
    found = units(sizes)
    assert [unit.lanes for unit in found] == [6, 2]
    assert expected_seconds([found[0], found[0], found[1]]) == [13.75, 3.75, 11.25]
    # No program is begun after the time is over.
    assert expected_seconds(found, within=0) == [None, None]


def test_a_pilot_has_the_lanes_that_are_trained_at_once():
    many = units(FIELDS | {"seeds": "0:1000", "lanes": 4000, "axes": {}})
    (unit,) = many
    (run,) = sample(unit).runs
    devices = len(jax.devices())
    assert len(run.lanes) == sample(unit).lanes == devices * (64 // 16)
    assert run.seeds == tuple(range(devices * 4))
    # Of runs of a seed each, as many runs.
    (unit,) = units(FIELDS | {"seeds": "0:1000", "chunk": 1, "lanes": 4000, "axes": {}})
    assert sample(unit).runs == unit.runs[: devices * 4]
    (unit,) = units(FIELDS | {"seeds": [7], "axes": {}})
    assert sample(unit).runs == unit.runs


def test_without_optuna_an_adaptive_sweep_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtra, match=r"jaxgbg\[adaptive\]"):
        run_plan(plan(FIELDS, "halving"), "inline", ExecutorSettings(tmp_path, 60.0, 1))
    assert list(tmp_path.iterdir()) == []


def test_what_an_adaptive_sweep_cannot_do_is_told(monkeypatch):
    with pytest.raises(ValueError, match="one of halving, racing, tpe, none, not 'x'"):
        plan(FIELDS | {"adaptive": "x"})
    settings = FIELDS["settings"] | {"opponents": []}
    with pytest.raises(ValueError, match="name opponents"):
        plan(FIELDS | {"adaptive": "halving", "settings": settings})
    monkeypatch.setattr(adaptive, "require_optuna", lambda: None)
    with pytest.raises(ValueError, match="racing needs 5 agents of each setting, not 2"):
        adaptive.check(plan(FIELDS | {"chunk": 1}, "racing"))
    adaptive.check(plan(FIELDS | {"seeds": "0:5", "chunk": 3}, "racing"))


@pytest.fixture
def better_half(monkeypatch):
    """Halving by hand, where optuna is not installed."""
    monkeypatch.setattr(adaptive, "require_optuna", lambda: None)
    asked = []

    def half(kind, scores):
        asked.append({name: len(each) for name, each in scores.items()})
        ranked = sorted(scores, key=lambda name: sum(scores[name].values()), reverse=True)
        return set(ranked[: -(-len(ranked) // 2)])

    monkeypatch.setattr(adaptive, "survivors", half)
    return asked


def test_settings_are_stopped_at_the_rungs_and_the_share_saved_is_told(tmp_path, better_half):
    sweep = plan(FIELDS, "halving")
    assert [len(unit.runs) for unit in sweep.units] == [1] * 4
    done = []

    def worker(units, settings, report):
        """Reaches each rung, with a score by the step size."""
        for unit in units:
            run = unit.runs[0]
            rung = round(640 * settings.until)
            done.append((run.schedule.alpha, rung))
            folder = begin(tmp_path, run, rung, run.schedule.alpha / 2)
            folder.stop_early("to be compared")
        return []

    dropped = []
    settings = ExecutorSettings(tmp_path, 60.0, 1)
    alive, failures = run_rungs(sweep, worker, settings, dropped.extend)
    assert failures == []
    assert [unit.runs[0].schedule.alpha for unit in alive] == [2.0]
    assert [unit.runs[0].schedule.alpha for unit in dropped] == [0.25, 0.5, 1.0]
    assert done == [(0.25, 80), (0.5, 80), (1.0, 80), (2.0, 80), (1.0, 160), (2.0, 160), (2.0, 320)]
    assert better_half == [dict.fromkeys(names, 2) for names in map(list, better_half)]
    reasons = [
        json.loads((RunFolder(tmp_path, unit.runs[0]).path / "stopped.json").read_text())
        for unit in dropped
    ]
    assert [one["reason"][:15] for one in reasons] == ["halving, at 12."] * 2 + ["halving, at 25."]
    saved = (7 / 8 + 7 / 8 + 3 / 4 + 1 / 2) / 4
    assert saved_share(sweep.units, tmp_path) == pytest.approx(saved)
    # A second start decides the same, and does nothing again.
    done.clear()
    again: list = []
    assert run_rungs(sweep, worker, settings, again.extend) == (alive, [])
    assert again == dropped
    assert done == []


@pytest.mark.slow
def test_what_was_stopped_goes_on_where_it_stood(tmp_path, better_half):
    settings = ExecutorSettings(tmp_path, 60.0, 1)
    outcome = run_plan(plan(FIELDS, "halving"), "inline", settings, shown=False)
    assert len(outcome.stopped) == 3
    assert outcome.saved == pytest.approx((7 / 8 + 7 / 8 + 3 / 4) / 4)
    stopped = [RunFolder(tmp_path, unit.runs[0]) for unit in outcome.stopped]
    before = [(folder.path / "metrics.jsonl").read_bytes() for folder in stopped]
    # Not adaptive any more: the file's units would hold them together.
    told = []
    later = settings._replace(on_evaluation=lambda run, result: told.append((run, result)))
    assert run_plan(plan(FIELDS), "inline", later, shown=False) == ([], [], 0.0, [])
    for folder, text in zip(stopped, before, strict=True):
        assert folder.finished
        assert (folder.path / "metrics.jsonl").read_bytes().startswith(text)
    assert min(result.episodes for _, result in told) == 160


def test_runs_that_have_a_checkpoint_together_stay_together_whatever_is_finished(tmp_path):
    (unit,) = units(FIELDS)
    folders = [RunFolder(tmp_path, run) for run in unit.runs]
    first, *others = folders

    def train(*folders, finish=()):
        for folder in folders:
            folder.begin()
        state = Checkpoint([np.zeros(1)], 0, 0.0, [folder.metrics.mark() for folder in folders])
        with _checkpoints(folders, 0.0) as checkpoints:
            checkpoints.save(state, wait=True)
        for folder in finish:
            write_json(folder.path / "summary.json", {})

    def parts():
        return [
            [folders[unit.runs.index(run)] for run in part.runs]
            for part in unit.apart(tmp_path, begun_together(tmp_path))
        ]

    assert parts() == [folders]
    train(first)
    assert parts() == [[first], others]
    train(*others)
    assert parts() == [[first], others]
    train(first, finish=[first])
    assert parts() == [others, [first]]
    # One that was killed between its summaries goes on with all of its lanes.
    train(*others, finish=others[:1])
    assert parts() == [others, [first]]
    train(*others, finish=others)
    assert parts() == [folders]
    assert unit.finished(tmp_path)


@pytest.mark.slow
def test_a_callback_stops_a_run_of_a_sweep(tmp_path):
    (unit,) = units(FIELDS | {"axes": {}})

    def enough(run, result):
        assert run == unit.runs[0]
        raise StopTraining("enough")

    settings = ExecutorSettings(tmp_path, 60.0, 1, on_evaluation=enough)
    sweep = plan(FIELDS | {"axes": {}})
    reported: list = []
    assert run_plan(sweep, "inline", settings, reported.append, False) == ([], [], 0.0, [])
    assert reported == []
    assert RunFolder(tmp_path, unit.runs[0]).stopped_early


def scores(*of_agents):
    return {LaneName(seed, "farl"): score for seed, score in enumerate(of_agents)}


def test_halving_keeps_the_better_half_and_racing_what_is_not_surely_worse():
    pytest.importorskip("optuna")
    found = {
        "best": scores(0.9, 0.8, 0.9, 0.8, 0.9),
        "near": scores(0.8, 0.9, 0.8, 0.9, 0.8),
        "worse": scores(0.5, 0.4, 0.6, 0.5, 0.4),
        "worst": scores(0.1, 0.2, 0.1, 0.3, 0.2),
    }
    assert survivors("halving", found) == {"best", "near"}
    assert survivors("racing", found) == {"best", "near"}
    equal = {name: scores(0.5, 0.5, 0.5, 0.5, 0.5) for name in ("a", "b", "c")}
    assert survivors("halving", equal) == survivors("racing", equal) == {"a", "b", "c"}
    # Settings of different variants are paired by seed.
    apart = {
        variant: {LaneName(seed, variant): level + 0.01 * seed for seed in range(10)}
        for variant, level in (("farl", 0.5), ("none", -0.5))
    }
    assert survivors("racing", apart) == {"farl"}
    # Of four seeds nothing is sure.
    few = {name: scores(*list(each.values())[:4]) for name, each in found.items()}
    assert survivors("racing", few) == set(few)


TOML = """game = "nim"
seeds = "0:5"
adaptive = "racing"
[settings]
episodes = 100
eval_every = 10
opponents = ["random"]
[axes]
alpha = [0.25, 0.5, 1.0]
variants = ["farl", "none"]
"""


def test_a_dry_run_names_the_axes_and_what_each_unit_has_of_them(jaxgbg, tmp_path, monkeypatch):

    def untimed(*_):
        raise AssertionError("a plan is told without training anything")

    monkeypatch.setattr("jaxgbg.sweeps.estimate.expected_seconds", untimed)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "x.toml").write_text(TOML)
    arguments = ("sweep", tmp_path / "x.toml", "--dry-run", "--out", tmp_path / "runs")
    code, out, _ = jaxgbg(*arguments, "--json", tmp_path / "units.json")
    assert code == 0
    assert out.splitlines()[:3] == [
        "axis alpha: 0.25, 0.5, 1",
        "axis variants: farl, none",
        "5 seeds of each; racing stops some of them early",
    ]
    # At 80 columns, a row a unit: what is the same for all stands above.
    assert out.splitlines()[3].startswith(
        "6 runs in 6 units of work (0 done), 1 program to compile"
    )
    assert out.splitlines()[4].startswith("each unit: game nim, ")
    assert "expected" not in out
    *parts, total = json.loads((tmp_path / "units.json").read_text())
    assert [(one["alpha"], one["variants"]) for one in parts] == [
        (alpha, variant) for alpha in ("0.25", "0.5", "1") for variant in ("farl", "none")
    ]
    assert (total["runs"], total["lanes"]) == (6, 30)
    monkeypatch.setattr("jaxgbg.sweeps.estimate.expected_seconds", lambda units, _: [2.5, None] * 3)
    code, out, _ = jaxgbg(*arguments, "--time", "--json", tmp_path / "units.json")
    assert out.splitlines()[-1] == (
        "expected in one process here: 8 s and 3 units of programs that were not timed"
    )
    assert json.loads((tmp_path / "units.json").read_text())[-1]["expected_s"] == 7.5
    # Trained to the end they may share programs.
    code, *_ = jaxgbg(*arguments, "--adaptive", "none", "--json", tmp_path / "units.json")
    (part, _) = json.loads((tmp_path / "units.json").read_text())
    assert (part["runs"], part["alpha"]) == (6, "0.25, 0.5, 1")
    assert not (tmp_path / "runs").exists()


def test_the_command_counts_runs_that_were_begun_alone_as_units(jaxgbg, tmp_path, monkeypatch):
    (tmp_path / "x.toml").write_text(TOML.replace('adaptive = "racing"\n', ""))
    (unit,) = read_spec(tmp_path / "x.toml").units
    (begin(tmp_path, unit.runs[0], 10).path / "checkpoints").mkdir()

    def at_once(units, settings, report):
        for unit in units:
            for run in unit.runs:
                write_json(begin(tmp_path, run, 100).path / "summary.json", {})
            report(unit)
        return []

    monkeypatch.setitem(EXECUTORS, "inline", at_once)
    code, _, err = jaxgbg("sweep", tmp_path / "x.toml", "--out", tmp_path)
    assert code == 0
    assert "6 runs in 2 units, 0 of them done before" in err
    assert re.findall(r"done, (\d of \d)", err) == ["1 of 2", "2 of 2"]


def test_the_command_says_what_an_adaptive_sweep_lacks(jaxgbg, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    (tmp_path / "x.toml").write_text(TOML)
    code, _, err = jaxgbg("sweep", tmp_path / "x.toml", "--out", tmp_path / "runs")
    assert code == 2
    assert err.splitlines()[-1].endswith("needs optuna: pip install 'jaxgbg[adaptive]'")
    assert not (tmp_path / "runs").exists()
