"""The learned player: the best move by its own value function."""

from collections.abc import Callable
from operator import itemgetter
from typing import TypeVar

import jax
import numpy as np
from jax.typing import ArrayLike, DTypeLike

from jaxgbg.games.core import Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.states import check_state
from jaxgbg.learners.action_values import (
    UNDISCOUNTED,
    BootstrapRule,
    action_values,
    values_of_players,
)
from jaxgbg.learners.masks import LANE
from jaxgbg.learners.selection import choose_action
from jaxgbg.players.core import History, PytreePlayer
from jaxgbg.types import Params, State
from jaxgbg.values.core import ValueFunction, features_of

_P = TypeVar("_P")
_R = TypeVar("_R")


@jax.tree_util.register_pytree_node_class
class GreedyAgent(PytreePlayer):
    """Plays the action of the greatest value, ties uniformly at random; never explores.

    `params` are those of one agent or, with a leading axis, of `several`, L: then the first B / L
    states of a batch are the first agent's, and so on. `bootstrap`, of
    all or with a leading axis L, should be what they were trained with.
    """

    name = "agent"
    leaves = ("params", "bootstrap")
    fixed = ("game", "value")

    def __init__(
        self,
        game: Game,
        value: ValueFunction,
        params: Params,
        bootstrap: BootstrapRule = UNDISCOUNTED,
        several: bool = False,
    ) -> None:
        self.game = game
        self.value = value
        params = value.for_player(params)
        self.params = params if several else jax.tree.map(lambda leaf: leaf[None], params)

        def of_each(number: ArrayLike, dtype: DTypeLike) -> np.ndarray:
            return np.broadcast_to(np.asarray(number, dtype), self.copies)

        loss_discount = bootstrap.loss_discount
        self.bootstrap = BootstrapRule(
            of_each(bootstrap.terminal_value_zero, bool),
            of_each(bootstrap.discount, np.float32),
            None if loss_discount is None else of_each(loss_discount, np.float32),
        )

    @property
    def copies(self) -> int:
        """L: how many agents these are."""
        return jax.tree.leaves(self.params)[0].shape[0]

    @property
    def first(self) -> tuple[Params, BootstrapRule]:
        """The parameters and the bootstrap rule of the first agent."""
        first: tuple[Params, BootstrapRule] = jax.tree.map(
            itemgetter(0), (self.params, self.bootstrap)
        )
        return first

    @in_32_bits
    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B], all moves in one compiled call; a terminal state: any action."""
        return _act(self, states, key)

    def by_copy(self, states: State) -> State:
        """states[B] -> states[L, B / L]: those that each of the agents plays."""
        import chex

        chex.assert_rank(states.terminal, 1)
        chex.assert_is_divisible(len(states.terminal), self.copies)
        return jax.tree.map(lambda leaf: leaf.reshape(self.copies, -1, *leaf.shape[1:]), states)

    @in_32_bits
    def action_values(self, state: State) -> jax.Array:
        """float32[A] of one state, [B, A] of states[B]: reward + gamma * V; illegal -inf.

        Those of the first agent, where there are several. Raises ValueError for a state of another
        game.
        """
        check_state(self.game, state)
        return in_batch(_action_values, self, state)

    def _masked_values(self, params: Params, bootstrap: BootstrapRule, states: State) -> jax.Array:
        """float32[B, A] of states[B] by the agent of `params`; illegal -inf."""
        features = features_of(self.game, self.value, params, states)
        q, _ = action_values(self.game, self.value, params, states, features, bootstrap)
        return jax.numpy.where(jax.vmap(self.game.legal_actions)(states), q, -jax.numpy.inf)

    @in_32_bits
    def values(self, states: State) -> jax.Array:
        """states[B] -> float32[B, N]: V(state | player) by the first agent, for every player.

        Afterstates of a player are what V is learned on. Raises ValueError where the agent has
        learned values of actions, and for states of another game.
        """
        check_state(self.game, states)
        if self.value.num_actions > 1:
            raise ValueError("this agent has learned values of actions: ask its action_values")
        return values_of_players(self.game, self.value, self.first[0], states)


def in_batch(function: Callable[[_P, State], _R], player: _P, state: State) -> _R:
    """`function(player, states[B])`, of which one state takes the only row."""
    if state.terminal.ndim:
        return function(player, state)
    one = jax.tree.map(itemgetter(None), state)
    found: _R = jax.tree.map(itemgetter(0), function(player, one))
    return found


@jax.jit
def _action_values(agent: GreedyAgent, states: State) -> jax.Array:
    return agent._masked_values(*agent.first, states)


@jax.jit
def _act(agent: GreedyAgent, states: State, key: jax.Array) -> jax.Array:
    def one(params: Params, bootstrap: BootstrapRule, states: State, draws: jax.Array) -> jax.Array:
        q = agent._masked_values(params, bootstrap, states)
        return jax.vmap(choose_action)(q, jax.vmap(agent.game.legal_actions)(states), draws)

    by_copy = agent.by_copy(states)
    draws = jax.random.uniform(key, by_copy.terminal.shape, jax.numpy.float32)
    every = jax.vmap(one, axis_name=LANE)
    return every(agent.params, agent.bootstrap, by_copy, draws).reshape(-1)
