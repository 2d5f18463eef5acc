"""Sweeps that suggest what to train next: what they draw, train, resume and say."""

import itertools

import pytest

from jaxgbg.runs import Result
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.sweeps.executors import ExecutorSettings, Failure
from jaxgbg.sweeps.running import check
from jaxgbg.sweeps.spec import plan
from jaxgbg.sweeps.suggest import run_trials, suggestions, trial_records

pytest.importorskip("optuna", reason="optuna is not installed: pip install 'jaxgbg[adaptive]'")
FIELDS = {
    "game": "nim",
    "seeds": "0:2",
    "chunk": 1,
    "trials": 12,
    "settings": {"episodes": 100, "eval_every": 100, "opponents": ["random"], "variants": "farl"},
    "axes": {
        "alpha": [round(0.1 * at, 1) for at in range(20, 0, -1)],
        "epsilon": [0.1, 0.2, 0.3],
        "game.size": [3],
    },
}


def score_of(run) -> float:
    """Best at alpha 1.5, and a little worse with more epsilon."""
    return -abs(run.schedule.alpha - 1.5) - run.schedule.epsilon / 10 + 0.01 * run.seeds[0]


class Worker:
    """Leaves folders as after a training, with `score_of` each run; fails for some runs."""

    def __init__(self, fails=lambda run: False) -> None:
        self.done, self.fails = [], fails

    def __call__(self, units, settings, report):
        failures = []
        for unit in units:
            (run,) = unit.runs
            self.done.append(run)
            if self.fails(run):
                failures.append(Failure(unit, "broken"))
                continue
            folder = RunFolder(settings.out, run)
            folder.begin()
            folder.append(Result(run.seeds[0], "farl", 100, "random", score_of(run), 20))
            write_json(folder.path / "summary.json", {})
            report(unit)
        return failures


def go(sweep, worker, out):
    dropped = []
    settings = ExecutorSettings(out, 60.0, 1)
    trials, failures = run_trials(sweep, worker, settings, lambda _: None, dropped.extend)
    return trials, failures, dropped


def test_it_trains_all_seeds_of_some_settings_and_a_second_start_trains_none_again(tmp_path):
    sweep, worker = plan(FIELDS, "tpe"), Worker()
    trials, failures, dropped = go(sweep, worker, tmp_path)
    assert failures == []
    assert len(trials) == 12
    assert len(worker.done) == 2 * 12
    assert len(dropped) == len(sweep.units) - len(worker.done)
    assert len({tuple(trial.values.items()) for trial in trials}) == 12
    for trial in trials:
        alpha, epsilon, size = trial.values.values()
        assert size == 3
        assert trial.score == pytest.approx(-abs(alpha - 1.5) - epsilon / 10 + 0.005)
    again = Worker()
    assert go(sweep, again, tmp_path) == (trials, [], dropped)
    assert again.done == []
    # With more trials, it goes on from there.
    more, _, _ = go(plan(FIELDS | {"trials": 16}, "tpe"), again, tmp_path)
    assert more[:12] == trials
    assert len(again.done) == 2 * 4
    record = trial_records(more)[0]
    assert list(record) == ["trial", "alpha", "epsilon", "game.size", "agents", "score"]


def test_later_suggestions_are_better_than_random_ones():
    space = {f"{x}-{y}": {"x": x, "y": y} for x, y in itertools.product(range(20), range(20))}

    def score(name):
        return -abs(space[name]["x"] - 15) - abs(space[name]["y"] - 4)

    tried = {}
    while len(tried) < 60:
        names = suggestions(space, tried, {"x": 20, "y": 20}, 4)
        assert len(set(names) - set(tried)) == 4
        tried |= {name: score(name) for name in names}
    scores = list(tried.values())
    # Of random ones the mean is -13.3 and the best of 60 is about -2.
    assert sum(scores[40:]) / 20 > sum(scores[:8]) / 8 + 4
    assert max(scores) >= -1


def test_all_settings_are_trained_if_there_are_no_more_and_failed_ones_do_not_guide(tmp_path):
    fields = FIELDS | {"axes": {"alpha": [0.5, 1.0, 2.0], "variants": ["farl", "none"]}}
    settings = {name: value for name, value in FIELDS["settings"].items() if name != "variants"}
    sweep = plan(fields | {"settings": settings, "trials": 50}, "tpe")
    worker = Worker(fails=lambda run: run.schedule.alpha == 1.0)
    trials, failures, dropped = go(sweep, worker, tmp_path)
    assert (len(trials), len(failures), dropped) == (6, 4, [])
    records = trial_records(trials)
    assert [record["score"] is None for record in records].count(True) == 2
    assert {record["variants"] for record in records} == {"farl", "none"}


def test_axes_that_go_only_with_some_values_are_suggested_together(tmp_path):
    tables = [{"alpha": [0.5, 1.0]}, {"alpha": [2.0], "epsilon": [0.1, 0.2]}]
    trials, _, _ = go(plan(FIELDS | {"axes": tables, "trials": 4}, "tpe"), Worker(), tmp_path)
    assert sorted(map(len, (trial.values for trial in trials))) == [1, 1, 2, 2]


def test_mistakes_are_refused_in_one_line(tmp_path):
    for wrong, line in (
        ({"trials": 0}, "trials must lie in"),
        ({"axes": {}}, "chooses values of the axes"),
        ({"settings": {**FIELDS["settings"], "opponents": []}}, "name opponents"),
    ):
        with pytest.raises(ValueError, match=line):
            plan(FIELDS | wrong, "tpe")
    check(plan(FIELDS, "tpe"), tmp_path)
