"""The learned player that looks ahead, or that plays the best moves by their ranks."""

from functools import partial

import jax

from jaxgbg.games.core import Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.states import check_state
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.learners.masks import LANE
from jaxgbg.players.core import History, Player
from jaxgbg.players.greedy import GreedyAgent, in_batch
from jaxgbg.players.search import SearchPlayer, search_player
from jaxgbg.search.lookahead import LookAhead, LookAheadSpec
from jaxgbg.types import Params, State


@jax.tree_util.register_pytree_node_class
class LookAheadAgent(SearchPlayer):
    """Plays the action of the greatest value at the end of a look-ahead, or one of the best.

    With `ranks` the best, the second best ... move is played with these probabilities, made to sum
    to 1 over the moves there are; without them the best is played, ties at random. The agent's
    copies search side by side. One ply is the agent's own choice.
    """

    search: LookAhead
    agent: GreedyAgent

    def __init__(self, agent: GreedyAgent, settings: LookAheadSpec) -> None:
        super().__init__(agent.game, settings, agent)

    @in_32_bits
    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B], all moves in one compiled call; a terminal state: any action."""
        if self.search.plies == 1 and not self.search.settings.ranks:
            return self.agent.act(states, key)
        return _act(self, states, key)

    @in_32_bits
    def action_values(self, state: State, key: jax.Array | None = None) -> jax.Array:
        """float32[A] of one state, [B, A] of states[B]; -inf for what is not looked at.

        Those of the first agent, where there are several. `key` draws what chance is sampled by.
        Raises ValueError for a state of another game.
        """
        check_state(self.game, state)
        if self.search.plies == 1:
            return self.agent.action_values(state)
        key = jax.random.key(0) if key is None else key
        return in_batch(partial(_action_values, key=key), self, state)


@jax.jit
def _action_values(player: LookAheadAgent, states: State, key: jax.Array) -> jax.Array:
    params, bootstrap = player.agent.first
    return player.search.counting(bootstrap).action_values(params, states, key)


@search_player.register
def _(spec: LookAheadSpec, game: Game, agent: GreedyAgent | None = None) -> Player:
    return SearchPlayer(game, spec) if agent is None else LookAheadAgent(agent, spec)


@jax.jit
def _act(player: LookAheadAgent, states: State, key: jax.Array) -> jax.Array:
    search, agent = player.search, player.agent

    def one(
        params: Params, bootstrap: BootstrapRule, states: State, draws: jax.Array, keys: jax.Array
    ) -> jax.Array:
        return search.choose_drawn(states, draws, (keys[0], keys[1]), params, bootstrap)

    by_copy = agent.by_copy(states)
    draws = jax.random.uniform(key, by_copy.terminal.shape, jax.numpy.float32)
    keys = jax.random.split(jax.random.fold_in(key, 1), (agent.copies, 2))
    every = jax.vmap(one, axis_name=LANE)
    return every(agent.params, agent.bootstrap, by_copy, draws, keys).reshape(-1)
