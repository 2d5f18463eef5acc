"""The value of every action: its reward and the value of its afterstate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from jaxgbg.games.core import Game, of_player
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.masks import visit_pairs
from jaxgbg.types import Params, State, StateT
from jaxgbg.values.core import (
    BatchedPlacements,
    IncrementalByCells,
    IncrementalByPattern,
    ValueFunction,
    features_of,
    observe_all,
)
from jaxgbg.xla import on_accelerator

if TYPE_CHECKING:
    from jax.typing import ArrayLike

# With more actions than this, those that are not legal are left out of the evaluation.
_FEW_ACTIONS = 16
# Moves evaluated at once: so many for each game on an accelerator, on a CPU one for each, which was
# fastest, but so many at least.
_MOVES_AT_ONCE = 3


class BootstrapRule(NamedTuple):
    """How V of an afterstate counts when a move is chosen: numbers, or arrays of several agents.

    `discount` (gamma) multiplies it, or `loss_discount` one below 0, if there is such; that of a
    terminal afterstate is 0 if `terminal_value_zero`. No values of actions are changed.
    """

    terminal_value_zero: ArrayLike = True
    discount: ArrayLike = 1.0
    loss_discount: ArrayLike | None = None

    def discounted(self, values: jax.Array) -> jax.Array:
        """`values` float32[...] as they count one move earlier."""
        gamma = self.discount
        if self.loss_discount is not None:
            gamma = jnp.where(values < 0, self.loss_discount, gamma)
        return cast(jax.Array, gamma * values)


# Nothing is discounted, and the end of a game is worth its rewards alone.
UNDISCOUNTED = BootstrapRule()


def action_values(
    game: Game,
    value: ValueFunction,
    params: Params,
    states: State,
    features: jax.Array,
    bootstrap: BootstrapRule,
    asked: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """The value q of each action for the player to move, and V(afterstate | player).

    States [B] -> (q float32[B, A], V float32[B, A]). q = the player's reward in this move +
    gamma * V, as `bootstrap` says; V is not discounted. If `value` is one of actions, both are
    Q(state, action | player). What stands for illegal actions is of no use: mask them. `features`
    int32[B, F] are those of the states' boards. `asked` bool[B, A] are the legal actions that
    matter: where `leaves_out` says so only those are evaluated. V is 0 for a player who leaves by
    its move while others play on.
    """
    if value.num_actions > 1:
        q = value.action_values(params, features, states.player)
        return q, q
    if leaves_out(game, value):
        if asked is None:
            asked = jax.vmap(game.legal_actions)(states)
        evaluate = _of_active(game, states, _evaluating(game, value, params, states, features))
        reward, over, values = score_actions(game, states, asked, evaluate)
    else:
        reward, over = jax.vmap(game.outcomes)(states)
        values = _of_all_actions(game, value, params, states, features)
        if game.eliminates:
            values = jnp.where(jax.vmap(partial(_leaves, game))(states), 0.0, values)
    counted = jnp.where(over & bootstrap.terminal_value_zero, 0.0, values)
    return reward + bootstrap.discounted(counted), values


def values_of_players(game: Game, value: ValueFunction, params: Params, states: State) -> jax.Array:
    """float32[B, N]: V(s | player) of states[B] for every player."""
    features, seats = features_of(game, value, params, states), game.num_players
    every = jnp.broadcast_to(jnp.arange(seats), (len(features), seats))
    return value.value(params, jnp.repeat(features[:, None], seats, 1), every)


def _of_active(
    game: Game, states: State, evaluate: Callable[[jax.Array, jax.Array, State], jax.Array]
) -> Callable[[jax.Array, jax.Array, State], jax.Array]:
    """`evaluate`, and 0 for whoever has left by its move while others play on."""
    if not game.eliminates:
        return evaluate

    def look(row: jax.Array, action: jax.Array, after: State) -> jax.Array:
        left = jax.vmap(partial(_has_left, game))(after, states.player[row])
        return jnp.where(left, 0.0, evaluate(row, action, after))

    return look


def _has_left(game: Game, after: State, player: jax.Array) -> jax.Array:
    return ~after.terminal & ~game.active(after)[player]


def _leaves(game: Game, state: State) -> jax.Array:
    """bool[A]: by which actions the player to move leaves while others play on."""
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    after = jax.vmap(game.afterstate, (None, 0))(state, actions)
    return jax.vmap(partial(_has_left, game), (0, None))(after, state.player)


def _evaluating(
    game: Game, value: ValueFunction, params: Params, states: State, features: jax.Array
) -> Callable[[jax.Array, jax.Array, State], jax.Array]:
    """What `score_actions` asks: V of the afterstates for whoever moved."""
    if game.most_altered and isinstance(value, IncrementalByCells):
        accumulator = value.accumulator(params, features, states.player)

        def follow(row: jax.Array, action: jax.Array, after: State) -> jax.Array:
            state, before = jax.tree.map(lambda leaf: leaf[row], (states, accumulator))
            altered = jax.vmap(game.altered)(state, action)
            seen = observe_all(game, value, after)
            return value.value_incremental(params, before, state.player, altered, seen)

        return follow

    def look(row: jax.Array, action: jax.Array, after: State) -> jax.Array:
        del action
        boards = features_of(game, value, params, after)
        return value.value(params, boards, states.player[row])

    return look


def leaves_out(game: Game, value: ValueFunction) -> bool:
    """Whether `action_values` takes less time the fewer actions matter."""
    all_at_once = value.num_actions > 1 or isinstance(
        value, BatchedPlacements | IncrementalByPattern
    )
    return not all_at_once and game.num_actions > _FEW_ACTIONS


def _of_all_actions(
    game: Game, value: ValueFunction, params: Params, states: State, features: jax.Array
) -> jax.Array:
    """V float32[B, A] of all afterstates."""
    if isinstance(value, BatchedPlacements):
        return value.values_with_stone(params, features, states.player)
    every_action = jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None))
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    if isinstance(value, IncrementalByPattern):
        changes = jax.vmap(jax.vmap(game.change, (None, 0)), (0, None))(states, actions)
        return jax.vmap(value.values_after, (None, 0, 0, 0))(
            params, features, changes, states.player
        )
    after = every_action(states, actions)
    boards = value.features(params, jax.vmap(jax.vmap(partial(value.observe, game)))(after))
    player = jnp.broadcast_to(states.player[:, None], boards.shape[:2])
    return value.value(params, boards, player)


def score_actions(
    game: Game[StateT],
    states: StateT,
    asked: jax.Array,
    evaluate: Callable[[jax.Array, jax.Array, StateT], jax.Array],
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(reward, over, score) [B, A] of the legal actions `asked` bool[B, A]; zeros elsewhere.

    `evaluate(rows int32[P], actions int32[P], afterstates[P])` gives float32[P]. Only what is asked
    is made: most squares of a board are illegal most of the time, and no two games have equally
    many moves. A state marked as terminal is skipped, whatever its board.
    """

    def visit(
        source: jax.Array, action: jax.Array, real: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        del real
        state = jax.tree.map(lambda leaf: leaf[source], states)
        after = jax.vmap(game.afterstate)(state, action)
        scores = evaluate(source, action, after)
        gain = of_player(after.rewards - state.rewards, state.player)
        return gain, after.terminal, scores

    asked = asked & ~states.terminal[:, None]
    games = states.terminal.shape[0]
    at_once = _MOVES_AT_ONCE * games if on_accelerator() else max(games, _MOVES_AT_ONCE)
    scored: tuple[jax.Array, jax.Array, jax.Array] = visit_pairs(asked, visit, at_once)
    return scored
