"""Replay: play some episodes with fixed values, then learn all their transitions in random order.

A transition is what one update of TD needs: the board that a player remembers, the next board of
the same player or none, and the rewards between them. Targets are computed from the current
values.
Source: Sasso & van Lohuizen 2018 (500 games a round, three passes).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jaxgbg.games.core import of_player
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.rule import Rule
from jaxgbg.learners.state import Games, Hyperparameters, Lane, Move, NextBoards, Transition
from jaxgbg.types import Params, PyTree, State
from jaxgbg.values.core import HasAuxiliary, HasInputs, Updates

if TYPE_CHECKING:
    from jaxgbg.learners.tick import Learner

_KEY_OF_ORDER = np.uint32(2**32 - 3)
# The number of steps whose boards are read together.
_STEPS_TOGETHER = 64
# The number of steps in one round of a loop; a round itself takes as long as a small step.
_UNROLLED = 4
# The largest size of the boards of a round, in bytes.
_MAX_BYTES = 2**28


class ReplayBuffer(NamedTuple):
    """The transitions of a round so far; R places for boards and as many for transitions.

    `boards` int[R, D] are the value function's observations. A transition has the number of the
    learned board `last` int32[R], the number of the player's next board `next` int32[R] (-1 for
    none), `player` int8[R], its rewards between them `gain` float32[R], and `bootstrap` bool[R],
    whether the next board's value counts; that of a final board does not. `remembered` int32[B, N]
    are the numbers of the boards in the players' memories. `rounds` uint32[] is the number of
    earlier rounds.
    """

    boards: jax.Array
    num_boards: jax.Array
    last: jax.Array
    next: jax.Array
    player: jax.Array
    gain: jax.Array
    bootstrap: jax.Array
    num_transitions: jax.Array
    remembered: jax.Array
    rounds: jax.Array


@dataclasses.dataclass(frozen=True)
class Replay:
    """The settings of a rule made by `replayed`.

    `base` is the rule of the episodes, `transition` (learner, games, states, choice, hyper) -> the
    `Transition` of each game's update. After `episodes` episodes their transitions are learned
    `passes` times, in steps of `minibatch`.
    """

    base: Rule
    transition: Callable[..., Transition]
    episodes: int
    passes: int
    minibatch: int


def replayed(
    base: Rule,
    transition: Callable[..., Transition],
    episodes: int,
    passes: int = 1,
    minibatch: int = 1,
) -> Rule:
    """Return `base` with replay instead of an update in each tick; see `Replay`."""
    return dataclasses.replace(
        base,
        init=_empty,
        learn=_store,
        remember=_remember,
        last_episode=_round_end,
        after_block=_learn_round,
        settings=Replay(base, transition, episodes, passes, minibatch),
    )


def capacity(learner: Learner) -> int:
    """R: the largest number of boards or transitions of a round."""
    game, settings = learner.game, learner.rule.settings
    return int(settings.episodes * (game.max_plies + game.num_players))


def board_shape(learner: Learner) -> jax.ShapeDtypeStruct:
    """Shape and dtype of a stored board."""
    game = learner.game
    state = jax.eval_shape(game.init, jax.random.key(0))
    found = jax.eval_shape(partial(learner.value.observe, game), state)
    return jax.ShapeDtypeStruct(found.shape, found.dtype)


def check_capacity(learner: Learner) -> None:
    """Raise ValueError if the boards of a round need too much memory."""
    board, game = board_shape(learner), learner.game
    needed = capacity(learner) * board.size * board.dtype.itemsize
    if needed > _MAX_BYTES:
        raise ValueError(
            f"replay_episodes {learner.rule.settings.episodes} of {game.name}, at most"
            f" {game.max_plies:,} plies each, need {needed / 1e6:,.0f} MB; at most"
            f" {_MAX_BYTES / 1e6:,.0f} MB are kept"
        )


def _empty(learner: Learner) -> ReplayBuffer:
    places, zero, board = capacity(learner), jnp.int32(0), board_shape(learner)
    return ReplayBuffer(
        boards=jnp.zeros((places, *board.shape), board.dtype),
        num_boards=zero,
        last=jnp.zeros(places, jnp.int32),
        next=jnp.zeros(places, jnp.int32),
        player=jnp.zeros(places, jnp.int8),
        gain=jnp.zeros(places, jnp.float32),
        bootstrap=jnp.zeros(places, bool),
        num_transitions=zero,
        remembered=jnp.zeros((learner.batch, learner.game.num_players), jnp.int32),
        rounds=jnp.uint32(0),
    )


def _end_of_round(learner: Learner, buffer: ReplayBuffer) -> jax.Array:
    """The number uint32[...] of episodes after which the round is learned."""
    return (buffer.rounds + 1) * np.uint32(learner.rule.settings.episodes)


def _round_end(learner: Learner, lane: Lane, limit: jax.Array) -> jax.Array:
    return jnp.minimum(limit, _end_of_round(learner, lane.games.rule))


def _store(
    learner: Learner, lane: Lane, move: Move, alpha: jax.Array, hyper: Hyperparameters
) -> Lane:
    """Store the transition of each game's update instead of making it."""
    games, settings = lane.games, learner.rule.settings
    buffer, playing, places = games.rule, games.stage == 0, capacity(learner)
    step = settings.transition(learner, games, move.next_states, move.choice, hyper)
    live, _ = learner.live(lane, step.player, step.skipped, hyper)
    number = buffer.num_boards + jnp.cumsum(playing, dtype=jnp.int32) - 1
    # After the end the last mover remembers the final board, which has no next board.
    final = of_player(buffer.remembered, games.mover)
    nothing = games.stage == learner.game.num_players
    coming = jnp.where(nothing, -1, jnp.where(playing, number, final))
    place = _places(buffer.num_transitions, live, places)
    buffer = buffer._replace(
        last=buffer.last.at[place].set(of_player(buffer.remembered, step.player), mode="drop"),
        next=buffer.next.at[place].set(coming, mode="drop"),
        player=buffer.player.at[place].set(step.player, mode="drop"),
        gain=buffer.gain.at[place].set(step.gain, mode="drop"),
        bootstrap=buffer.bootstrap.at[place].set(step.bootstrap, mode="drop"),
        num_transitions=buffer.num_transitions + live.sum(dtype=jnp.int32),
    )
    return lane._replace(games=games._replace(rule=buffer))


def _remember(learner: Learner, games: Games, move: Move, boards: NextBoards) -> Games:
    """Remember as the base does, and store the boards by number."""
    buffer = _with_boards(learner, games.rule, move.afterstates, games.stage == 0, games.moving)
    buffer = _with_boards(learner, buffer, boards.start, boards.restart, boards.restart[:, None])
    games = learner.rule.settings.base.remember(learner, games, move, boards)
    return games._replace(rule=buffer)


def _with_boards(
    learner: Learner, buffer: ReplayBuffer, states: State, new: jax.Array, mine: jax.Array
) -> ReplayBuffer:
    """Add the boards of `states` where `new` bool[B] to the memories of players `mine`."""
    place = _places(buffer.num_boards, new, capacity(learner))
    boards = learner.observe(states)
    return buffer._replace(
        boards=buffer.boards.at[place].set(boards, mode="drop"),
        num_boards=buffer.num_boards + new.sum(dtype=jnp.int32),
        remembered=jnp.where(mine, place[:, None], buffer.remembered),
    )


def _learn_round(learner: Learner, lanes: Lane, hyper: Hyperparameters, limits: jax.Array) -> Lane:
    """Learn the transitions of all lanes once all have finished their rounds."""
    buffer = lanes.games.rule
    ended = lanes.finished >= _end_of_round(learner, buffer)
    ended |= lanes.finished == hyper.episodes
    # A round may have boards but no transitions, if its random moves are not learned from.
    due = ended & (buffer.num_boards > 0)
    # Lanes that only fill up a device never play.
    ready = (due | (limits == 0)).all() & due.any()
    return jax.lax.cond(ready, partial(_learned, learner), lambda lanes, _: lanes, lanes, hyper)


def _learned(learner: Learner, lanes: Lane, hyper: Hyperparameters) -> Lane:
    buffer = lanes.games.rule
    if isinstance(learner.value, HasInputs):
        # Networks are small, and their matrix products are faster for one lane than for several.
        params = jax.lax.map(lambda one: _lane_learned(learner, *one), (lanes, hyper))
    else:
        params = _lanes_learned(learner, lanes, hyper)
    none = jnp.zeros_like(buffer.num_transitions)
    emptied = buffer._replace(num_boards=none, num_transitions=none, rounds=buffer.rounds + 1)
    return lanes._replace(params=params, games=lanes.games._replace(rule=emptied))


def _lanes_learned(learner: Learner, lanes: Lane, hyper: Hyperparameters) -> Params:
    """The parameters of all lanes, which learn step by step together; tables are not copied."""
    settings = learner.rule.settings
    steps = -(-lanes.games.rule.num_transitions.max() // settings.minibatch)

    def one_pass(number: jax.Array, params: Params) -> Params:
        order = jax.vmap(partial(replay_order, learner), (0, None))(lanes, number)
        every = jax.vmap(partial(_step, learner), (0, None, 0, 0, 0))
        return jax.lax.fori_loop(
            0, steps, lambda step, params: every(params, step, order, lanes, hyper), params
        )

    return jax.lax.fori_loop(0, settings.passes, one_pass, lanes.params)


def _lane_learned(learner: Learner, lane: Lane, hyper: Hyperparameters) -> Params:
    """The parameters of one lane, whose value function is a `HasInputs`.

    Finding the transitions and reading their boards takes most of a small step, so it is done for
    many steps together.
    """
    buffer, settings = lane.games.rule, learner.rule.settings
    steps = -(-buffer.num_transitions // settings.minibatch)
    # The cost of an order grows with its length; most rounds need a small part of the capacity.
    rooms = [-(-capacity(learner) >> halvings) for halvings in range(6)]
    room = (buffer.num_transitions <= np.array(rooms)).sum() - 1
    orders = [partial(replay_order, learner, places=places) for places in rooms]

    def one_pass(number: jax.Array, params: Params) -> Params:
        order = jax.lax.switch(room, orders, lane, number)

        def chunk(at: jax.Array, params: Params) -> Params:
            return _steps(learner, params, at * _STEPS_TOGETHER, order, lane, hyper)

        return jax.lax.fori_loop(0, -(-steps // _STEPS_TOGETHER), chunk, params)

    return jax.lax.fori_loop(0, settings.passes, one_pass, lane.params)


def _steps(
    learner: Learner,
    params: Params,
    first: jax.Array,
    order: jax.Array,
    lane: Lane,
    hyper: Hyperparameters,
) -> Params:
    """The parameters after several minibatches, from number `first` on; see `_step`."""
    buffer, value = lane.games.rule, learner.value
    assert isinstance(value, HasInputs)
    shape = (_STEPS_TOGETHER, minibatch := learner.rule.settings.minibatch)
    numbers = first * minibatch + np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    chosen = order[jnp.minimum(numbers, capacity(learner) - 1)]
    live, player = numbers < buffer.num_transitions, buffer.player[chosen]
    here, after = (
        value.inputs_of(value.features(params, buffer.boards[board]), player)
        for board in (buffer.last[chosen], buffer.next[chosen])
    )
    extra = _extra(learner, params, buffer, chosen)
    gain = buffer.gain[chosen]
    discount = jnp.where(buffer.bootstrap[chosen], hyper.discount, 0)
    alpha = learner.step_size(lane, hyper)

    def step(at: jax.Array, params: Params) -> Params:
        now = value.value_of_inputs(params, here[at])
        ahead = value.value_of_inputs(params, after[at])
        change = (gain[at] + discount[at] * ahead - now) * learner.value.slope(now)
        mine = jax.tree.map(lambda leaf: leaf[at], extra)
        return value.update_from_inputs(params, here[at], change, live[at], alpha, mine)

    return jax.lax.fori_loop(0, _STEPS_TOGETHER, step, params, unroll=_UNROLLED)


def _extra(learner: Learner, params: Params, buffer: ReplayBuffer, chosen: jax.Array) -> PyTree:
    """`Updates.extra` of the transitions `chosen` int32[...]."""
    value, board = learner.value, buffer.next[chosen]
    if not isinstance(value, HasAuxiliary):
        return ()
    features = value.features(params, buffer.boards[board])
    following = jnp.where(board[..., None] < 0, -1, features)
    return value.auxiliary_targets(following, buffer.player[chosen])


def replay_order(
    learner: Learner, lane: Lane, number: jax.Array, places: int | None = None
) -> jax.Array:
    """Return the transitions of one lane in an order drawn for pass `number`, int32[R].

    Empty places come last. It is faster if all transitions are in the first `places`.
    """
    buffer, room = lane.games.rule, capacity(learner)
    key = jax.random.fold_in(lane.key, _KEY_OF_ORDER)
    key = jax.random.fold_in(key, buffer.rounds * np.uint32(learner.rule.settings.passes) + number)
    places = room if places is None else places
    draws = jax.random.uniform(key, (room,), jnp.float32)[:places]
    order = jnp.argsort(jnp.where(np.arange(places) < buffer.num_transitions, draws, 2.0))
    return jnp.pad(order, (0, room - places))


def _step(
    learner: Learner,
    params: Params,
    step: jax.Array,
    order: jax.Array,
    lane: Lane,
    hyper: Hyperparameters,
) -> Params:
    """The parameters after one minibatch of transitions."""
    buffer, value, minibatch = lane.games.rule, learner.value, learner.rule.settings.minibatch
    numbers = step * minibatch + np.arange(minibatch, dtype=np.int32)
    chosen = order[jnp.minimum(numbers, capacity(learner) - 1)]
    live, player = numbers < buffer.num_transitions, buffer.player[chosen]
    features = value.features(params, buffer.boards[buffer.last[chosen]])
    after = value.features(params, buffer.boards[buffer.next[chosen]])
    ahead = hyper.discount * value.value(params, after, player)
    target = buffer.gain[chosen] + jnp.where(buffer.bootstrap[chosen], ahead, 0)
    now = value.value(params, features, player)
    change = jnp.where(live, (target - now) * value.slope(now), 0)
    alpha = learner.step_size(lane, hyper)
    extra = _extra(learner, params, buffer, chosen)
    updates = Updates(features, player, change, jnp.abs(change), live, extra)
    return value.update(params, updates, alpha, hyper.value)


def _places(count: jax.Array, new: jax.Array, room: int) -> jax.Array:
    """int32[B]: consecutive places from `count` on where `new`; `room`, beyond all, elsewhere."""
    return jnp.where(new, count + jnp.cumsum(new, dtype=jnp.int32) - 1, room)
