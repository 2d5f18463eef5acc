"""Lanes: one for each seed and FARL variant of a run, or of several runs that share a program."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from jaxgbg.games import Othello
from jaxgbg.learners import Hyperparameters, Lane, Learner, decay_factors
from jaxgbg.players import Player, Positional, make_player
from jaxgbg.training.agents import load_agent, names_agent_file
from jaxgbg.training.config import FARL_SWITCHES, Config


def hyperparameters(config: Config, lanes: tuple[tuple[int, str], ...]) -> Hyperparameters:
    """The traced scalars of `lanes`, each with a leading axis over them."""

    def number(value: float) -> jax.Array:
        return jnp.full(len(lanes), value, jnp.float32)

    def switch(value: bool) -> jax.Array:
        return jnp.full(len(lanes), value, bool)

    factors = decay_factors(config.alpha_end / config.alpha_start, config.episodes)
    parts = np.array([FARL_SWITCHES[variant] for _, variant in lanes])
    return Hyperparameters(
        episodes=jnp.full(len(lanes), config.episodes, jnp.uint32),
        alpha_start=number(config.alpha_start),
        alpha_factors=jnp.tile(factors, (len(lanes), 1)),
        epsilon_start=number(config.epsilon_start),
        epsilon_end=number(config.epsilon_end),
        trace_decay=number(config.trace_decay),
        beta=number(config.beta),
        discount=number(config.discount),
        learn_from_random=switch(config.learn_from_random),
        final_others=jnp.array(parts[:, 0]),
        final_zero=jnp.array(parts[:, 1]),
        zero_terminal=switch(config.zero_terminal),
        reset_traces=switch(config.reset_traces),
        learn_from_partner=switch(config.learn_from_partner),
    )


def begin(
    configs: Sequence[Config], sharding: NamedSharding
) -> tuple[Lane, Hyperparameters, Learner]:
    """All lanes of `configs`, one after the other, before their first tick.

    Lanes that never start an episode fill up the last device. The configs have one program.
    """
    learner = configs[0].make_learner()
    seeds = [seed for config in configs for seed, _ in config.lanes]
    layouts = np.zeros((len(seeds), 0, 0), np.int32)
    if learner.value.varied:
        drawn = [config.layout(seed) for config in configs for seed, _ in config.lanes]
        layouts = np.array(drawn, np.int32)
    made = [(make_partner(config), len(config.lanes)) for config in configs]
    partners = [partner for partner, lanes in made for _ in range(lanes)]
    partner = jax.tree.map(lambda *leaves: jnp.stack([*map(jnp.asarray, leaves)]), *partners)
    every = [hyperparameters(config, config.lanes) for config in configs]
    hyper = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *every)

    filled = np.r_[: len(seeds), np.zeros(-len(seeds) % sharding.mesh.size, int)]
    layouts, partner, hyper = jax.tree.map(lambda leaf: leaf[filled], (layouts, partner, hyper))
    keys = jax.vmap(jax.random.key)(np.array(seeds, np.uint32)[filled])
    start = jax.jit(jax.vmap(learner.init), out_shardings=sharding)
    return start(keys, layouts, partner), jax.device_put(hyper, sharding), learner


def make_partner(config: Config) -> Player | None:
    """Whom a run trains against: nobody but itself, a player by name, or a saved agent.

    Raises ValueError for an unknown player, one that only plays on the host, or another game's.
    """
    if config.partner == "self":
        return None
    if names_agent_file(config.partner):
        return load_agent(config.partner, config.game).player()
    game = config.make_game()
    if config.partner == "random" and isinstance(game, Othello) and game.size == 8:
        # So that RAND, BENCH and HEUR are one program.
        return Positional(game, "even")
    player = make_player(config.partner, game)
    if not getattr(player, "traceable", False):
        raise ValueError(f"{config.partner} is too slow to train against: it plays on the host")
    return player


def program_of(config: Config) -> tuple[Any, ...]:
    """What runs must have in common to be lanes of one program, evaluated at the same times."""
    return (
        config.make_learner(),
        config.episodes,
        config.eval_every,
        config.opponents,
        config.starts,
        config.zero_terminal,
        jax.tree.structure(make_partner(config)),
    )


def lane_mesh(num_lanes: int) -> Mesh:
    """The devices that share `num_lanes` lanes."""
    devices = jax.devices()[:num_lanes]
    return jax.make_mesh((len(devices),), ("lanes",), (AxisType.Auto,), devices=devices)


def lanes_sharding(num_lanes: int) -> NamedSharding:
    """Lanes one after the other over all devices."""
    return NamedSharding(lane_mesh(num_lanes), PartitionSpec("lanes"))
