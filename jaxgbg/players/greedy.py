"""The learned player: the best move by its own value function."""

from typing import Any

import jax

from jaxgbg.games.core import Game
from jaxgbg.learners.selection import action_values, choose_action
from jaxgbg.values.ntuple import NTuple, NTupleParams


class GreedyAgent:
    """Plays the action of the greatest value, ties uniformly at random; never explores.

    `params` are the tables of one agent, or of L agents with a leading axis: then the first B / L
    states of a batch are the first agent's, and so on. `zero_terminal` as in `Hyperparameters`: it
    should be what the agent was trained with.
    """

    name = "agent"

    def __init__(
        self, game: Game, value: NTuple, params: NTupleParams, zero_terminal: bool = True
    ) -> None:
        self.game = game
        self.value = value
        self.params = params
        self.zero_terminal = zero_terminal

    @property
    def copies(self) -> int:
        """L, or 1 for the tables of one agent."""
        return self.params.weights.shape[0] if self.params.weights.ndim == 2 else 1

    def act(self, states: Any, key: jax.Array) -> jax.Array:
        """states[B] -> int32[B], all moves in one compiled call; a terminal state: any action."""
        params = self.params
        if params.weights.ndim == 1:
            params = jax.tree.map(lambda leaf: leaf[None], params)
        return _act(self.game, self.value, params, states, key, zero_terminal=self.zero_terminal)

    def action_values(self, state: Any) -> jax.Array:
        """float32[A] of one state: reward of the move plus V of its afterstate; illegal -inf."""
        return _masked_values(self.game, self.value, self.params, state, self.zero_terminal)


def _masked_values(
    game: Game, value: NTuple, params: NTupleParams, state: Any, zero_terminal: bool
) -> jax.Array:
    features = value.features(game.cells(state))
    worth, _ = action_values(game, value, params, state, features, zero_terminal)
    return jax.numpy.where(game.legal_actions(state), worth, -jax.numpy.inf)


@jax.jit(static_argnums=(0, 1), static_argnames="zero_terminal")
def _act(
    game: Game,
    value: NTuple,
    params: NTupleParams,
    states: Any,
    key: jax.Array,
    zero_terminal: bool,
) -> jax.Array:
    def one(params: NTupleParams, state: Any, draw: jax.Array) -> jax.Array:
        worth = _masked_values(game, value, params, state, zero_terminal)
        return choose_action(worth, game.legal_actions(state), draw)

    agents = params.weights.shape[0]
    by_agent = jax.tree.map(lambda leaf: leaf.reshape(agents, -1, *leaf.shape[1:]), states)
    draws = jax.random.uniform(key, by_agent.terminal.shape)
    each_state = jax.vmap(one, in_axes=(None, 0, 0))
    return jax.vmap(each_state)(params, by_agent, draws).reshape(-1)
