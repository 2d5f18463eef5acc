"""Sweeps that suggest which settings to train next, by a tree-structured Parzen estimator (TPE).

The settings are the combinations of the axes. The first ones are drawn at random; later ones are
those that the sampler of optuna prefers, by the mean scores of all settings before. Seeds and
variants of a setting are replicates: its score is the mean over them. Nothing is kept but the runs:
suggestions depend on earlier scores alone, so a second start suggests the same settings and trains
what is missing. Source: Bergstra et al. 2011; done by optuna.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxgbg.sweeps.adaptive import contests, lane_scores, quiet_optuna, require_optuna
from jaxgbg.sweeps.executors import ExecutorSettings, Failure
from jaxgbg.sweeps.spec import Plan, Unit
from jaxgbg.types import JSON, SettingValue

TOGETHER = 4
"""Settings that are suggested at once, so that several workers have something to do.

It does not depend on their number, so that all executors train the same settings.
"""
_RANDOM = 2 * TOGETHER
_ATTEMPTS = 100

Point = Mapping[str, int]
"""A setting as the number of its value on each axis; the number after the last for none."""


class Trial(NamedTuple):
    """A setting that was trained: its values on the axes, and the score of each of its agents."""

    values: Mapping[str, SettingValue]
    scores: tuple[float, ...]

    @property
    def score(self) -> float:
        """The mean score; NaN if it failed."""
        return float(np.mean(self.scores)) if self.scores else math.nan


def run_trials(
    plan: Plan,
    execute: Callable[[Sequence[Unit], ExecutorSettings, Callable[[Unit], None]], list[Failure]],
    settings: ExecutorSettings,
    report: Callable[[Unit], None],
    drop: Callable[[Sequence[Unit]], None],
) -> tuple[list[Trial], list[Failure]]:
    """Train `plan.trials` settings of each game and its opponents; returns (them, failures).

    `drop` receives the units of all other settings.
    """
    trials, failures = list[Trial](), list[Failure]()
    for contest in contests(plan.units).values():
        space = {name: _point(plan, units[0]) for name, units in contest.items()}
        tried: dict[str, Trial] = {}
        while len(tried) < min(plan.trials, len(space)):
            names = suggestions(
                space,
                {name: trial.score for name, trial in tried.items()},
                _ordered(plan),
                min(TOGETHER, plan.trials - len(tried)),
            )
            due = [unit for name in names for unit in contest[name]]
            due = [unit for unit in due if not unit.finished(settings.out)]
            failures += execute(due, settings, report) if due else []
            tried |= {name: _trial(plan, contest[name], settings.out) for name in names}
        trials += tried.values()
        drop([unit for name in contest if name not in tried for unit in contest[name]])
    return trials, failures


def suggestions(
    space: Mapping[str, Point], tried: Mapping[str, float], ordered: Mapping[str, int], count: int
) -> list[str]:
    """The names of up to `count` settings to train next.

    `space` has all settings, `tried` the scores of those before, NaN if they failed. `ordered` has
    the number of values of each axis whose values are ordered.
    """
    optuna = require_optuna()
    kinds = {}
    for axis in next(iter(space.values())):
        most = max(point[axis] for point in space.values())
        if most < ordered.get(axis, 0):
            kinds[axis] = optuna.distributions.IntDistribution(0, most)
        else:
            kinds[axis] = optuna.distributions.CategoricalDistribution(range(most + 1))
    names = {tuple(point.values()): name for name, point in space.items()}
    known = {name: score for name, score in tried.items() if not math.isnan(score)}
    chosen: list[str] = []
    with quiet_optuna():
        sampler = optuna.samplers.TPESampler(seed=len(tried), n_startup_trials=_RANDOM)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for name, score in known.items():
            study.add_trial(
                optuna.trial.create_trial(
                    params=dict(space[name]), distributions=kinds, value=score
                )
            )
        for _ in range(_ATTEMPTS):
            if len(chosen) < count:
                params = study.ask(kinds).params
                name = names.get(tuple(params[axis] for axis in kinds), "")
                chosen += [name] if name and name not in tried and name not in chosen else []
    rest = [name for name in space if name not in tried and name not in chosen]
    if known:
        # If it suggests nothing new, take what is nearest to the best so far.
        best = space[max(known, key=lambda name: known[name])]
        rest.sort(key=lambda name: sum(abs(space[name][axis] - best[axis]) for axis in best))
    return chosen + rest[: count - len(chosen)]


def trial_records(trials: Sequence[Trial]) -> list[dict[str, JSON]]:
    """A record of each trial, in the order in which they were trained: values and score."""
    axes = dict.fromkeys(axis for trial in trials for axis in trial.values)
    return [
        {
            "trial": number,
            **{axis: _shown(trial.values.get(axis)) for axis in axes},
            "agents": len(trial.scores),
            "score": None if math.isnan(trial.score) else round(trial.score, 4),
        }
        for number, trial in enumerate(trials, 1)
    ]


def _shown(value: JSON) -> JSON:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _point(plan: Plan, unit: Unit) -> Point:
    """The number of a unit's value on each axis."""
    values = plan.values[unit.runs[0].digest]
    return {
        axis: every.index(values[axis]) if axis in values else len(every)
        for axis, every in _sorted_axes(plan).items()
    }


def _sorted_axes(plan: Plan) -> dict[str, list[SettingValue]]:
    """The values of each axis; numbers in their order."""
    return {axis: _in_order(values) or list(values) for axis, values in plan.axes.items()}


def _ordered(plan: Plan) -> dict[str, int]:
    return {axis: len(values) for axis, values in plan.axes.items() if _in_order(values)}


def _in_order(values: Sequence[SettingValue]) -> list[SettingValue] | None:
    """Numbers in their order; None for other values."""
    numbers = [value for value in values if type(value) in (int, float)]
    return sorted(numbers) if len(numbers) == len(values) else None


def _trial(plan: Plan, units: Sequence[Unit], out: Path) -> Trial:
    values = plan.values[units[0].runs[0].digest]
    return Trial(values, tuple(lane_scores(units, out, 1.0).values()))
