"""The state of a lane, and the values that the steps of a tick pass to one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.learners.parameter_traces import ParameterTraces
from jaxgbg.learners.traces import Traces
from jaxgbg.types import Params, PyTree, State

IDLE = -1


class Hyperparameters(NamedTuple):
    """Traced scalars, one set for each lane: an ablation over them is one compiled program.

    `Schedule`, `LearnerSpec` and `NTupleSpec` describe their settings. `alpha_factors` float32[32]
    are the changes of alpha after 1, 2, 4, ... episodes (`schedules.decayed`). `final_others` and
    `final_zero` switch parts 1 and 2 of FARL. The paper's runs of 2020 had `terminal_value_zero`
    False; its mode RESET has `reset_traces`, its mode ET does not. `value` and `rule` hold the
    numbers of one kind of value function and of one learner: the `lane_numbers` of its spec, by
    name.
    """

    episodes: jax.Array
    alpha: jax.Array
    alpha_factors: jax.Array
    epsilon: jax.Array
    epsilon_end: jax.Array
    epsilon_share: jax.Array
    trace_decay: jax.Array
    value: Mapping[str, jax.Array]
    discount: jax.Array
    learn_from_random: jax.Array
    final_others: jax.Array
    final_zero: jax.Array
    terminal_value_zero: jax.Array
    reset_traces: jax.Array
    learn_from_partner: jax.Array
    rule: Mapping[str, jax.Array]

    @property
    def bootstrap(self) -> BootstrapRule:
        """The bootstrap rule in the choice of moves."""
        return BootstrapRule(self.terminal_value_zero, self.discount)


class Games(NamedTuple):
    """B self-play games of one seed; every leaf has leading axis B. F features.

    Invariant: outside of final updates, `features` are those of `state`'s board.
    `last` int32[N, F], `has_last` bool[N], `last_reward` float32[N] are the memory of every player:
    its last afterstate (or its last state and action), and its own reward at that time. `rule` is
    the state of the learner's `Rule`, with or without an axis B. `seat` int8[] is the seat of a
    learner with a partner, who has all other seats, or of the only player that explores; otherwise
    its shape is [0].
    """

    state: State
    features: jax.Array
    stage: jax.Array
    mover: jax.Array
    last: jax.Array
    has_last: jax.Array
    last_reward: jax.Array
    rule: PyTree
    seat: jax.Array
    traces: Traces | ParameterTraces

    @property
    def player(self) -> jax.Array:
        """int8[B]: the player to move; after the end the one who moved last or would move next."""
        return jnp.where(self.stage == 0, self.state.player, self.mover)

    @property
    def moving(self) -> jax.Array:
        """bool[B, N]: the player who makes a move in this tick, if any."""
        seats = np.arange(self.has_last.shape[1])
        return (seats == self.player[:, None]) & (self.stage == 0)[:, None]


class Lane(NamedTuple):
    """The state of one lane: parameters, games, random key and counts.

    The counts are uint32[]: `ticks` done, episodes `started` and `finished`, `moves` made.
    `partner` is a traceable player, or None for self-play.
    """

    params: Params
    games: Games
    key: jax.Array
    ticks: jax.Array
    started: jax.Array
    finished: jax.Array
    moves: jax.Array
    partner: PyTree = None


class Record(NamedTuple):
    """The events of a tick, leading axis B: enough to replay it elsewhere.

    `opening` int32[B, opening_plies] are the opening actions before a newly started episode, -1
    where none was made. `foreseen` int32[B] is the action in the update's target: the one made,
    unless that was chosen again.
    """

    moved: jax.Array
    foreseen: jax.Array
    action: jax.Array
    random: jax.Array
    started: jax.Array
    opening: jax.Array


class Words(NamedTuple):
    """The random words uint32[B, ...] of one tick, by their purpose.

    `select` [B, 2]: whether a move is random, and which one is made; it uses the upper 24 bits and
    leaves the lower ones for the first opening ply. `spawn`: chance after the move. `opening`: two
    plies for each word. `start`: the start position. `replan`: as `select`. `opening_spawn`: chance
    after each opening ply.
    """

    select: jax.Array
    spawn: jax.Array
    opening: jax.Array
    start: jax.Array
    replan: jax.Array
    opening_spawn: jax.Array


def split_words(bits: jax.Array, batch: int, counts: Sequence[int]) -> Words:
    """The words uint32[batch, sum(counts)] of one tick, `counts` of them for each decision."""
    import chex

    chex.assert_shape(bits, (batch, sum(counts)))
    chex.assert_type(bits, jnp.uint32)
    return Words(*jnp.split(bits, np.cumsum(counts)[:-1].tolist(), axis=1))


def check_scalars(hyper: Hyperparameters, limit: jax.Array) -> None:
    """Refuse the hyperparameters of several lanes, which would be broadcast over the games."""
    import chex

    chex.assert_shape(hyper.alpha_factors, (32,))
    chex.assert_rank([limit, *jax.tree.leaves(hyper._replace(alpha_factors=limit))], 0)


class Choice(NamedTuple):
    """A policy's choice in each game; leading axis B.

    `action` int32[B], and whether it explores (`explored` bool[B]). `value` float32[B] is the value
    that the update bootstraps from, that of `bootstrap_action` int32[B]: the action made or, with
    an off-policy policy, the best one. `extra` is passed from the policy to its own rule.
    """

    action: jax.Array
    explored: jax.Array
    value: jax.Array
    bootstrap_action: jax.Array
    extra: PyTree = ()


class Target(NamedTuple):
    """The one update of each game in a tick: the memory of `player` int8[B] moves towards `value`.

    `value` float32[B]. `skipped` bool[B]: left out, because of a random move.
    """

    player: jax.Array
    value: jax.Array
    skipped: jax.Array


class Transition(NamedTuple):
    """The parts of a target: `gain` float32[B], the rewards of `player` since its memory.

    Where `bootstrap` bool[B], the discounted value of the next board is added. `player` and
    `skipped` as in `Target`.
    """

    player: jax.Array
    gain: jax.Array
    bootstrap: jax.Array
    skipped: jax.Array


class NextBoards(NamedTuple):
    """The boards before the next moves, and where episodes begin.

    `features` int32[B, F]; `start` are the start positions [B] where `restart` bool[B].
    """

    features: jax.Array
    start: State
    restart: jax.Array


class Move(NamedTuple):
    """The choice in each game, and the states after it, before and after chance.

    Where values of actions are learned, before the move is made, both are the states before it.
    """

    choice: Choice
    afterstates: State
    next_states: State
