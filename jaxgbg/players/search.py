"""The learned player that searches: PUCT led by the agent's own values."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.learners.selection import LANE
from jaxgbg.players.core import History, PlayerBase
from jaxgbg.players.greedy import GreedyAgent
from jaxgbg.search.puct import PUCT, PUCTSpec, most_visited
from jaxgbg.search.reuse import no_trees, search_on
from jaxgbg.search.solver import SolvedStatistics
from jaxgbg.search.tree import RootStatistics

Statistics = RootStatistics | SolvedStatistics


@jax.tree_util.register_pytree_node_class
class SearchAgent(PlayerBase):
    """Plays the action that a tree search by the agent's own values has tried most often.

    Among equals the one of the best mean, then any; with a solver, of those that what is proved
    leaves over. Every move grows a new tree, but with `reuse` in matches, where what the last one
    knows of the position is kept (`search.reuse`); the agent's copies search one after the other.
    Players whose iterations round up to the same power of two share one compiled program, unless
    memory is short. Raises ValueError where the agent cannot search.
    """

    name = "agent"
    traceable = True

    def __init__(self, agent: GreedyAgent, settings: PUCTSpec) -> None:
        self.agent = agent
        self.search = PUCT(agent.game, agent.value, settings, agent.zero_terminal).roomy()
        self.iterations: Any = np.int32(settings.iterations)

    def tree_flatten(self) -> tuple[tuple[GreedyAgent, Any], PUCT]:
        return (self.agent, self.iterations), self.search

    @classmethod
    def tree_unflatten(cls, search: PUCT, leaves: tuple[GreedyAgent, Any]) -> "SearchAgent":
        player = object.__new__(cls)
        player.search = search
        player.agent, player.iterations = leaves
        return player

    @property
    def game(self) -> Game:
        return self.agent.game

    @property
    def copies(self) -> int:
        return self.agent.copies

    def act(self, states: Any, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B], all moves in one compiled call; a terminal state gives 0."""
        return _act(self, states, key)

    def first_memory(self, states: Any) -> Any:
        """Trees that know nothing, for each copy those of its games; None without `reuse`.

        Raises ValueError where they do not fit into memory.
        """
        if not self.search.settings.reuse:
            return None
        nothing = partial(no_trees, self.search, copies=self.copies)
        return jax.vmap(nothing)(self.agent.by_copy(states))

    def act_on(self, memory: Any, states: Any, key: jax.Array) -> tuple[jax.Array, Any]:
        """As `act`, and the trees to go on from; those of terminal states stay as they are."""
        return _act_on(self, memory, states, key)

    def statistics(self, state: Any, key: jax.Array | None = None) -> Statistics:
        """Visits int32[A] and values float32[A] at the root of one state, [B, A] of states[B].

        With a solver also the bounds, `low` and `high` float32[A]. Those of the first agent, where
        there are several. `key` draws what chance brings.
        """
        key = jax.random.key(0) if key is None else key
        if state.terminal.ndim:
            return _statistics(self, state, key)
        one = jax.tree.map(lambda leaf: leaf[None], state)
        return jax.tree.map(lambda leaf: leaf[0], _statistics(self, one, key))


@jax.jit
def _act(player: SearchAgent, states: Any, key: jax.Array) -> jax.Array:
    return _chosen(player, player.search.search, states, key)[0]


@jax.jit
def _act_on(player: SearchAgent, memory: Any, states: Any, key: jax.Array) -> tuple[jax.Array, Any]:
    one = partial(search_on, player.search, copies=player.copies)
    return _chosen(player, one, states, key, memory)


def _chosen(
    player: SearchAgent, search: Callable[..., Any], states: Any, key: jax.Array, *memory: Any
) -> tuple[jax.Array, Any]:
    """(actions int32[B], what the copies keep, if anything), by a search of each copy."""
    agent = player.agent
    search_key, choice = jax.random.split(key)
    words = jax.random.key_data(jax.random.split(search_key, agent.copies))
    alone = jax.vmap(partial(_alone, search), in_axes=(0, 0, None, 0, *[0] * len(memory)))
    found = alone(agent.params, agent.by_copy(states), player.iterations, words, *memory)
    roots, kept = found if memory else (found, None)
    rows = jax.tree.map(lambda leaf: leaf.reshape(-1, leaf.shape[-1]), roots)
    return most_visited(rows, choice), kept


def _alone(
    search: Callable[..., Any],
    params: Any,
    states: Any,
    iterations: Any,
    words: jax.Array,
    *memory: Any,
) -> Any:
    """A `search` that several agents do one after the other under `vmap`.

    In step they would need the memory of all their trees at once; so each agent's values are copied
    once, before it searches. `words` are the data of a key.
    """

    @jax.custom_batching.sequential_vmap
    def one(params: Any, states: Any, iterations: Any, words: Any, *memory: Any) -> Any:
        # Agents in sequence share no axis to agree upon.
        among = jax.vmap(search, in_axes=None, axis_name=LANE, axis_size=1)
        found = among(params, states, iterations, jax.random.wrap_key_data(words), *memory)
        return jax.tree.map(lambda leaf: leaf[0], found)

    return one(params, states, iterations, words, *memory)


@jax.jit
def _statistics(player: SearchAgent, states: Any, key: jax.Array) -> Statistics:
    params = jax.tree.map(lambda leaf: leaf[0], player.agent.params)
    return player.search.search(params, states, player.iterations, key)
