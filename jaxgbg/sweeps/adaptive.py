"""Sweeps that stop the settings which fall behind: successive halving, and racing.

All settings are trained to an eighth, a quarter and a half of their episodes, and compared there,
by the evaluations of the last fifth until then, as tables do. Halving keeps the better half; racing
stops those that a signed-rank test over their agents, paired by seed and variant, finds worse than
the best one (5 % each, not corrected for their number). Settings of other variants are paired by
seed, with the mean of its agents. What is stopped keeps a checkpoint, and
says so in stopped.json. Source: Jamieson & Talwalkar 2016; Maron & Moore 1994; Wilcoxon 1945; done
by the pruners of optuna.
"""

import contextlib
import dataclasses
import itertools
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from jaxgbg.evaluation import ranks_agents
from jaxgbg.players import MissingExtra
from jaxgbg.runs.run import MEAN, LaneName, Run
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.sweeps.executors import ExecutorSettings, Failure
from jaxgbg.sweeps.progress import reached
from jaxgbg.sweeps.spec import Plan, Unit

RUNGS = (0.125, 0.25, 0.5)
"""Shares of the episodes after which settings are compared."""
LEVEL = 0.05
"""Racing stops what would be so much worse by chance this often."""
_LEAST_PAIRS = 5  # Of fewer, no signed-rank test is ever sure at that level.

Scores = Mapping[LaneName, float]
"""The mean score of each agent of a setting."""


def check(plan: Plan) -> None:
    """Raise MissingExtra without optuna, ValueError where there are too few agents to race."""
    require_optuna()
    if plan.adaptive == "racing":
        for settings in contests(plan.units).values():
            for units in settings.values():
                agents = sum(unit.lanes for unit in units)
                if agents < _LEAST_PAIRS:
                    raise ValueError(
                        f"racing needs {_LEAST_PAIRS} agents of each setting, not {agents}: name"
                        ' more seeds, or take adaptive = "halving"'
                    )


def run_rungs(
    plan: Plan,
    execute: Callable[[Sequence[Unit], ExecutorSettings, Callable[[Unit], None]], list[Failure]],
    settings: ExecutorSettings,
    drop: Callable[[Sequence[Unit]], None],
) -> tuple[list[Unit], list[Failure]]:
    """Train as far as settings are compared; returns (the units to be trained to the end, those
    that failed). `drop` receives those that are stopped.
    """
    alive, failures = list(plan.units), []
    for before, share in itertools.pairwise((0.0, *RUNGS)):
        if all(_rung(unit.runs[0], share) == _rung(unit.runs[0], before) for unit in alive):
            # There is no new evaluation to compare by.
            continue
        due = [unit for unit in alive if not _at(unit, settings.out, share)]
        failed = execute(due, settings._replace(until=share), lambda _: None) if due else []
        failures += failed
        lost = {failure.unit.name for failure in failed}
        alive = [unit for unit in alive if unit.name not in lost]
        stopped = _behind(plan.adaptive, alive, settings.out, share)
        drop(stopped)
        names = {unit.name for unit in stopped}
        alive = [unit for unit in alive if unit.name not in names]
    return alive, failures


def saved_share(units: Sequence[Unit], out: Path) -> float:
    """The share of all episodes that has not been trained."""
    lanes = [(len(run.lanes), run) for unit in units for run in unit.runs]
    total = sum(number * run.schedule.episodes for number, run in lanes)
    return 1 - sum(number * reached(out, run) for number, run in lanes) / total


def _behind(kind: str, units: Sequence[Unit], out: Path, share: float) -> list[Unit]:
    """The units of the settings that go no further than `share`, which their folders then say."""
    stopped = []
    for settings in contests(units).values():
        scores = {name: lane_scores(of, out, share) for name, of in settings.items()}
        kept = survivors(kind, {name: each for name, each in scores.items() if each})
        for name in (name for name in settings if name not in kept):
            for unit in settings[name]:
                folder = RunFolder(out, unit.runs[0])
                # What an earlier sweep has finished is not stopped any more.
                if not folder.finished:
                    folder.stop_early(f"{kind}, at {share:.1%} of the episodes")
            stopped += settings[name]
    return stopped


def survivors(kind: str, scores: Mapping[str, Scores]) -> set[str]:
    """Of settings, by any names, those that go on: the better half ("halving"), or all that are not
    surely worse than the best ("racing").
    """
    if len(scores) < 2:
        return set(scores)
    optuna = require_optuna()
    if kind == "racing" and not set.intersection(*(set(each) for each in scores.values())):
        scores = {name: _by_seed(each) for name, each in scores.items()}
    means = {name: float(np.mean(list(each.values()))) for name, each in scores.items()}
    best = max(means, key=lambda name: means[name])
    numbers = {lane: number for number, lane in enumerate(sorted(scores[best]))}
    with quiet_optuna():
        if kind == "halving":
            pruner = optuna.pruners.PercentilePruner(50.0, n_startup_trials=0)
            values = {name: {0: mean} for name, mean in means.items()}
            rivals = list(scores)
        else:
            pruner = optuna.pruners.WilcoxonPruner(p_threshold=LEVEL, n_startup_steps=_LEAST_PAIRS)
            values = {
                name: {numbers[lane]: score for lane, score in each.items() if lane in numbers}
                for name, each in scores.items()
            }
            rivals = [best]
        study = optuna.create_study(direction="maximize", pruner=pruner)
        for name in rivals:
            study.add_trial(
                optuna.trial.create_trial(value=means[name], intermediate_values=values[name])
            )
        return {name for name in scores if name == best or not _pruned(study, values[name])}


def _by_seed(scores: Scores) -> Scores:
    """The mean of the agents of each seed, as of one agent."""
    seeds: dict[int, list[float]] = defaultdict(list)
    for lane, score in scores.items():
        seeds[lane.seed].append(score)
    return {LaneName(seed, ""): float(np.mean(each)) for seed, each in seeds.items()}


def _pruned(study: Any, values: Mapping[int, float]) -> bool:
    """Whether the study stops a trial that has these intermediate values."""
    trial = study.ask()
    for step, value in values.items():
        trial.report(value, step)
    return bool(trial.should_prune())


@contextlib.contextmanager
def quiet_optuna() -> Iterator[None]:
    """Without warnings: optuna calls a pruner experimental, and SciPy calls few pairs few."""
    with warnings.catch_warnings():
        for category in (require_optuna().exceptions.ExperimentalWarning, UserWarning):
            warnings.simplefilter("ignore", category)
        yield


def require_optuna() -> ModuleType:
    """The module, or MissingExtra."""
    try:
        import optuna
    except ImportError as error:
        raise MissingExtra(
            "an adaptive sweep needs optuna: pip install 'jaxgbg[adaptive]'"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def contests(units: Sequence[Unit]) -> dict[str, dict[str, list[Unit]]]:
    """Games and opponents -> settings -> their units, which differ in their seeds."""
    contests: dict[str, dict[str, list[Unit]]] = defaultdict(lambda: defaultdict(list))
    for unit in units:
        run = unit.runs[0]
        opponents = dataclasses.replace(run.evaluation, every=1)
        setting = dataclasses.replace(run, seeds=(0,))
        contests[f"{run.game.name} {run.game} {opponents}"][setting.digest].append(unit)
    return contests


def _rung(run: Run, share: float) -> int:
    """Episodes of the evaluation at which a run is compared: the first after `share` of them."""
    every, episodes = run.evaluation.every, run.schedule.episodes
    return min(max(1, math.ceil(share * episodes / every)) * every, episodes) if share else 0


def _at(unit: Unit, out: Path, share: float) -> bool:
    """Whether a unit has been evaluated as far as it is compared, and wholly."""
    run, rung = unit.runs[0], _rung(unit.runs[0], share)
    # One that was killed may have written only some of the last evaluations.
    whole = RunFolder(out, run).stopped_early
    return reached(out, run) >= (rung if whole else rung + 1) or unit.finished(out)


def lane_scores(units: Sequence[Unit], out: Path, share: float) -> dict[LaneName, float]:
    """The mean score of each lane of a setting, by the last fifth until it is compared.

    Those of averaged weights are of the same training, and do not count. Of an evaluator with
    several scores the first one counts.
    """
    scores: dict[LaneName, list[float]] = defaultdict(list)
    for run in (run for unit in units for run in unit.runs):
        rung = _rung(run, share)
        for result in RunFolder(out, run).results():
            due = 0.8 * rung < result.episodes <= rung and not result.variant.endswith(MEAN)
            if due and ranks_agents(result.opponent):
                scores[LaneName(result.seed, result.variant)].append(result.score)
    return {lane: float(np.mean(each)) for lane, each in scores.items()}
