"""Lanes: one for each seed and FARL variant of a run, or of several runs that share a program."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgbg.learners import FARL_PARTS, Hyperparameters, Lane, Learner
from jaxgbg.players import Player
from jaxgbg.search.devices import mesh_of
from jaxgbg.training.memory import check_memory
from jaxgbg.training.opponents import make_opponent
from jaxgbg.training.run import LaneName, Run


def hyperparameters(run: Run, lanes: Sequence[LaneName]) -> Hyperparameters:
    """The traced scalars of `lanes`, each with a leading axis over them."""
    schedule = run.schedule
    numbers: dict[str, Any] = {"beta": 0.0}
    for spec in (run.value, run.learner):
        numbers |= {name: getattr(spec, name) for name in spec.lane_numbers}
    numbers |= {
        "alpha": schedule.alpha,
        "epsilon": schedule.epsilon,
        "epsilon_end": schedule.last_epsilon,
        "epsilon_share": schedule.epsilon_share,
    }
    kinds = {bool: bool, float: jnp.float32}
    traced = {
        name: jnp.full(len(lanes), value, kinds[type(value)]) for name, value in numbers.items()
    }
    parts = np.array([FARL_PARTS[variant] for _, variant in lanes])
    return Hyperparameters(
        **traced,
        episodes=jnp.full(len(lanes), schedule.episodes, jnp.uint32),
        alpha_factors=jnp.tile(schedule.alpha_factors, (len(lanes), 1)),
        final_others=jnp.array(parts[:, 0]),
        final_zero=jnp.array(parts[:, 1]),
    )


def begin(runs: Sequence[Run], sharding: NamedSharding) -> tuple[Lane, Hyperparameters, Learner]:
    """All lanes of `runs`, one after the other, before their first tick.

    Lanes that never start an episode fill up the last device. The runs have one program. Raises
    ValueError where the memory of this machine does not hold them.
    """
    check_memory(runs)
    learner = runs[0].make_learner()
    seeds = [lane.seed for run in runs for lane in run.lanes]
    drawn = np.stack([run.value.drawn(run.game, seed) for run in runs for seed, _ in run.lanes])
    made = [(make_partner(run), len(run.lanes)) for run in runs]
    partners = [partner for partner, lanes in made for _ in range(lanes)]
    partner = jax.tree.map(lambda *leaves: jnp.stack([*map(jnp.asarray, leaves)]), *partners)
    every = [hyperparameters(run, run.lanes) for run in runs]
    hyper = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *every)

    filled = np.r_[: len(seeds), np.zeros(-len(seeds) % sharding.mesh.size, int)]
    drawn, partner, hyper = jax.tree.map(lambda leaf: leaf[filled], (drawn, partner, hyper))
    keys = jax.vmap(jax.random.key)(np.array(seeds, np.uint32)[filled])
    start = jax.jit(jax.vmap(learner.init), out_shardings=sharding)
    return start(keys, drawn, partner), jax.device_put(hyper, sharding), learner


def make_partner(run: Run) -> Player | None:
    """Whom a run trains against: nobody but itself, a player by name, or a saved agent.

    Raises ValueError for an unknown player, one that only plays on the host, or another game's.
    """
    if run.partner == "self":
        return None
    player = make_opponent(run.partner, run.game)
    if not player.traceable:
        raise ValueError(f"{run.partner} is too slow to train against: it plays on the host")
    return player


def program_of(run: Run) -> tuple[Any, ...]:
    """What runs must have in common to be lanes of one program, evaluated at the same times."""
    return (
        run.make_learner(),
        run.schedule.episodes,
        run.evaluation,
        run.averaging,
        jax.tree.structure(make_partner(run)),
    )


def lane_mesh(num_lanes: int) -> Mesh:
    """The devices that share `num_lanes` lanes."""
    return mesh_of(num_lanes, "lanes")


def lanes_sharding(num_lanes: int) -> NamedSharding:
    """Lanes one after the other over all devices."""
    return NamedSharding(lane_mesh(num_lanes), PartitionSpec("lanes"))
