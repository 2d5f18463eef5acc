"""Lanes: one for each seed and FARL variant of a run, or of several runs that share a program."""

from collections.abc import Hashable, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.learners import FARL_PARTS, Hyperparameters, Lane
from jaxgbg.players import Player
from jaxgbg.runs.memory import check_memory
from jaxgbg.runs.opponents import make_opponent
from jaxgbg.runs.placement import LanePlacement, lanes_at_once
from jaxgbg.runs.run import LaneName, Run
from jaxgbg.types import PyTree, SettingValue


def hyperparameters(run: Run, lanes: Sequence[LaneName]) -> Hyperparameters:
    """The traced scalars of `lanes`, each with a leading axis over them."""
    schedule = run.schedule
    numbers: dict[str, SettingValue] = {
        "alpha": schedule.alpha,
        "epsilon": schedule.epsilon,
        "epsilon_end": schedule.last_epsilon,
        "epsilon_share": schedule.epsilon_share,
    }
    parts = np.array([FARL_PARTS[variant] for _, variant in lanes])
    shared: dict[str, SettingValue] = {}
    own: dict[str, SettingValue] = {}
    for name in run.learner.lane_numbers:
        numbers_of = shared if name in Hyperparameters._fields else own
        numbers_of[name] = getattr(run.learner, name)
    traced: dict[str, PyTree] = _full(len(lanes), numbers | shared) | {
        "value": _full(len(lanes), {n: getattr(run.value, n) for n in run.value.lane_numbers}),
        "rule": _full(len(lanes), own),
        "episodes": np.full(len(lanes), schedule.episodes, np.uint32),
        "alpha_factors": np.tile(np.float32(schedule.alpha_factors), (len(lanes), 1)),
        "final_others": parts[:, 0],
        "final_zero": parts[:, 1],
    }
    return Hyperparameters(**traced)


def _full(lanes: int, numbers: Mapping[str, SettingValue]) -> dict[str, np.ndarray]:
    """Each number once for each lane, made on the host, where no array needs a compilation."""
    kinds = {bool: bool, int: np.int32, float: np.float32}
    return {name: np.full(lanes, value, kinds[type(value)]) for name, value in numbers.items()}


def begin(
    runs: Sequence[Run], placement: LanePlacement | None = None
) -> tuple[list[Lane], list[Hyperparameters], LanePlacement]:
    """Return all lanes of `runs` before their first tick, in groups [S, ...], and their placement.

    The runs share one program. Raises ValueError if the lanes do not fit into memory.
    """
    learner = runs[0].make_learner()
    seeds = np.array([lane.seed for run in runs for lane in run.lanes], np.uint32)
    placement = placement or LanePlacement(len(seeds), lanes_at_once(learner, len(seeds)))
    check_memory(runs)
    drawn = np.stack([run.value.drawn(run.game, seed) for run in runs for seed, _ in run.lanes])
    made = [(make_partner(run), len(run.lanes)) for run in runs]
    partners = [partner for partner, lanes in made for _ in range(lanes)]
    every = [hyperparameters(run, run.lanes) for run in runs]
    hyper = jax.tree.map(lambda *leaves: np.concatenate(leaves), *every)

    start = jax.jit(jax.vmap(learner.init), out_shardings=placement.sharding)
    groups, hypers = [], []
    for number in range(placement.groups):
        own = placement.members(number)
        partner = jax.tree.map(
            lambda *leaves: jnp.stack([*map(jnp.asarray, leaves)]), *[partners[at] for at in own]
        )
        groups.append(start(jax.vmap(jax.random.key)(seeds[own]), drawn[own], partner))
        mine = jax.tree.map(lambda leaf, own=own: leaf[own], hyper)
        hypers.append(jax.device_put(mine, placement.sharding))
    return groups, hypers, placement


def make_partner(run: Run) -> Player | None:
    """The training partner: None for self-play, a player by name, or a saved agent.

    Raises ValueError for an unknown player, one that only plays on the host, or another game's.
    """
    if run.partner == "self":
        return None
    player = make_opponent(run.partner, run.game)
    if not player.traceable:
        raise ValueError(f"{run.partner} is too slow to train against: it plays on the host")
    return player


def program_of(run: Run) -> tuple[Hashable, ...]:
    """A key that runs share if they can be lanes of one program, evaluated at the same times."""
    return (
        run.make_learner(),
        run.schedule.episodes,
        run.evaluation,
        run.averaging,
        jax.tree.structure(make_partner(run)),
    )
