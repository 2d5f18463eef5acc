"""ConnectFour as far as the time allows: many seeds at once, towards 200-0-0 against AB-DL."""

import contextlib
import dataclasses
import math
import time
from typing import Any

import jax
import numpy as np

from experiments.gpu.records import Records, Task
from jaxgbg import ensemble
from jaxgbg.evaluation import Judge, Protocol
from jaxgbg.players import MissingExtra, Player
from jaxgbg.runs import Run, RunFolder, train
from jaxgbg.runs.loop import Progress, Result, Training
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.presets import preset
from jaxgbg.runs.stopping import StopTraining

KEY = ("what", "budget", "episodes", "seed")
GAMES = 200
BEST: dict[str, Any] = {
    "walks": (140, 8),
    "from_lines": True,
    "opening_plies": 4,
    "opening_share": 0.5,
    "learner": "td-off-policy",
    "epsilon": 0.02,
    "epsilon_end": 0.01,
    "temperature": 0.03,
    "loss_discount": 0.93,
}
MEMBERS = 3
"""Of so many seeds each ensemble is made."""
_POINTS = 12
# Of the time until a part must end, at the pace of its first episodes, which are somewhat shorter
# than later ones: the rest is for compiling, evaluations and matches.
_TRAINING = 0.3
# Seconds of it, a fifth at most, for the checkpoint of a training that does not end.
_TO_KEEP = 90.0
_NEVER, _ENDLESS = 1e9, 2**31


def measure(task: Task, records: Records) -> None:
    """A training that fits the time, its curve by time, then matches of the best seeds."""
    if "connectfour" not in task.games:
        return
    known = [one for one in records.results if one["what"] == "budget"]
    if not known:
        records.add(budget(task))
        known = records.results[-1:]
    run = run_of(known[0]["seeds"], known[0]["batch"], known[0]["budget"])
    begun, to_keep = time.perf_counter(), min(_TO_KEEP, task.left() / 5)
    progress = Progress(0, 0, 0.0, 1)

    def on_chunk(now: Progress) -> None:
        nonlocal progress
        progress = now
        if task.left() < to_keep:
            raise StopTraining("out of time")

    def on_evaluation(result: Result) -> None:
        if result.variant != run.variants[0]:
            return
        scores.setdefault(result.episodes, []).append(result.score)
        if len(scores[result.episodes]) < len(run.lanes):
            return
        records.add(
            {
                "what": "curve",
                "budget": run.schedule.episodes,
                "episodes": result.episodes,
                "training_s": round(progress.seconds, 1),
                "wall_s": round(time.perf_counter() - begun, 1),
                "moves": progress.moves,
                "value_keeping": [round(score, 4) for score in scores[result.episodes]],
                "mean": round(float(np.mean(scores[result.episodes])), 4),
            }
        )

    scores: dict[int, list[float]] = {}
    folder = train(run, task.out / "runs", on_chunk, on_evaluation, _NEVER)
    if folder.finished:
        meet(task, records, folder)


def run_of(seeds: int, batch: int, episodes: int) -> Run:
    """FARL, with all that `experiments.connectfour` found best.

    The mean of the last third is judged too, by the solved positions of the package, which need no
    solver: the curve is that of the last weights, the matches are those of the mean.
    """
    return preset(
        "connectfour",
        seeds=range(seeds),
        variants=("farl",),
        batch=batch,
        episodes=episodes,
        eval_every=max(1, math.ceil(episodes / _POINTS)),
        opponents=("solver",),
        averaging="tail",
        **BEST,
    )


def budget(task: Task) -> dict[str, Any]:
    """How many seeds, and how many episodes each: the published ones, or what the time allows."""
    small = jax.devices()[0].platform == "cpu"
    seeds, batch = (2, 64) if small else (12, 256)
    published = preset("connectfour").schedule.episodes
    rate = episodes_per_s(run_of(seeds, batch, published), task) / seeds
    most = _TRAINING * max(0.0, task.left()) * rate
    episodes = max(_POINTS, int(min(published * task.scale, most)))
    return {
        "what": "budget",
        "budget": episodes,
        "published": published,
        "seeds": seeds,
        "batch": batch,
        "episodes_per_s_a_seed": round(rate),
    }


def episodes_per_s(run: Run, task: Task, least: float = 5.0) -> float:
    """Of all lanes together: measured for some seconds, the compilation left out.

    Above 0; where the time is over, of what there was.
    """
    # As long as the budget lasts, which alters nothing of the program, there is something to do.
    schedule = dataclasses.replace(run.schedule, episodes=_ENDLESS)
    training = Training(dataclasses.replace(run, schedule=schedule))
    training.advance(_ENDLESS)
    before = now = training.progress()
    seconds = least * min(1.0, 100 * task.scale)
    while now.seconds - before.seconds < seconds or now.episodes == before.episodes:
        if task.left() < 0:
            break
        training.advance(_ENDLESS)
        now = training.progress()
    return max(now.episodes - before.episodes, 1) / max(now.seconds - before.seconds, 1e-3)


def meet(task: Task, records: Records, folder: RunFolder) -> None:
    """All seeds, those first that keep the value most often, play against AB-DL, moving first.

    Then ensembles of the seeds as they are numbered do, whatever these have won. Where the solver
    of AB-DL is missing the agents are left in the folder of the run, to play elsewhere.
    """
    run = folder.run
    lanes = {lane.seed: lane.mean for lane in run.lanes}
    variant = run.lanes[0].mean.variant
    shares = {one.seed: one.score for one in folder.results() if one.variant == variant}
    with contextlib.ExitStack() as closing:
        try:
            judge = judge_by("ab-dl", run.game, Protocol("default", repeats=GAMES, seats=(0,)))
            closing.callback(judge.close)
        except MissingExtra as error:
            judge = None
            missing = {"what": "no matches", "reason": str(error), "runs": run.name}
            if missing not in records:
                best = sorted(shares, key=shares.__getitem__)[::-1][:3]
                records.add({**missing, "best_seeds": best})
        for seed in sorted(shares, key=shares.__getitem__, reverse=True):
            about = {"what": "mean weights", "budget": run.schedule.episodes, "seed": seed}
            if about not in records and task.left() > 0:
                told = won(judge, folder.agents((lanes[seed],)))
                records.add({**about, "value_keeping": round(shares[seed], 4), **told})
        solved = judge_by("solver", run.game)
        for first in range(0, len(lanes) - MEMBERS + 1, MEMBERS):
            seeds = run.seeds[first : first + MEMBERS]
            about = {"what": "ensemble", "budget": run.schedule.episodes, "seed": seeds[0]}
            if about not in records and task.left() > 0:
                agent = ensemble(*(folder.path / "agents" / lanes[one].file for one in seeds))
                share = round(float(solved.scores(agent, jax.random.key(0))["solver"].mean()), 4)
                about |= {"members": MEMBERS, "value_keeping": share}
                records.add(about | won(judge, agent))


def won(judge: Judge | None, player: Player) -> dict[str, int]:
    """What a player won, drew and lost against AB-DL, nothing without a judge."""
    if judge is None:
        return {}
    scores = judge.scores(player, jax.random.key(0))[judge.name]
    found = {"won": scores > 0, "drawn": scores == 0, "lost": scores < 0}
    return {name: int(games.sum()) for name, games in found.items()}
