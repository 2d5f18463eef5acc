"""Players that search: any registered search, and PUCT with statistics, devices and reuse."""

import dataclasses
from collections.abc import Callable
from functools import cached_property, partial, singledispatch
from operator import itemgetter
from typing import ClassVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgbg.games.core import Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.states import check_state
from jaxgbg.jaxprs import is_traced
from jaxgbg.learners.action_values import UNDISCOUNTED, BootstrapRule
from jaxgbg.learners.masks import LANE
from jaxgbg.players.core import History, Player, PytreePlayer
from jaxgbg.players.greedy import GreedyAgent, in_batch
from jaxgbg.search.devices import mesh_of, on_devices
from jaxgbg.search.puct import PUCT, PUCTSpec, most_visited
from jaxgbg.search.reuse import no_trees, search_on
from jaxgbg.search.simulation import simulate
from jaxgbg.search.solver import SolvedStatistics
from jaxgbg.search.spec import Search, SearchSpec
from jaxgbg.search.tree import RootStatistics
from jaxgbg.specs import shown
from jaxgbg.types import Memory, Params, PyTree, State
from jaxgbg.values.constant import Zero

Statistics = RootStatistics | SolvedStatistics


@singledispatch
def search_player(spec: SearchSpec, game: Game, agent: GreedyAgent | None = None) -> Player:
    """Return the player that moves by a search, guided by an agent's values if one is given.

    A search with a player of its own registers a function here. Raises ValueError if the search
    does not support this game or agent.
    """
    return SearchPlayer(game, spec, agent)


@jax.tree_util.register_pytree_node_class
class SearchPlayer(PytreePlayer):
    """Plays the moves of a search; an agent's copies search in parallel."""

    leaves: ClassVar[tuple[str, ...]] = ("agent",)
    fixed = ("name", "game", "search")

    def __init__(self, game: Game, spec: SearchSpec, agent: GreedyAgent | None = None) -> None:
        self.name, self.game, self.agent = agent.name if agent else spec.kind, game, agent
        self.search: Search = spec.build(game, agent.value if agent else Zero())

    @property
    def traceable(self) -> bool:  # type: ignore[override]
        return self.search.traceable

    def __repr__(self) -> str:
        settings = self._settings
        how = settings.text() if isinstance(settings, SearchSpec) else type(self.search).__name__
        of = shown(self.game) if self.agent is None else repr(self.agent)
        return f"<{type(self).__name__} {how} of {of}>"

    @property
    def _settings(self) -> object:
        """The settings of the search, if it has any."""
        return getattr(self.search, "settings", None)

    @property
    def copies(self) -> int:
        return 1 if self.agent is None else self.agent.copies

    @in_32_bits
    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives any action."""
        return _choose_compiled(self, states, key) if self.traceable else self._choose(states, key)

    def _choose(self, states: State, key: jax.Array) -> jax.Array:
        agent = self.agent
        if agent is None:
            return self.search.choose(states, key, (), UNDISCOUNTED)
        keys = jax.random.split(key, agent.copies)
        given = (agent.by_copy(states), keys, agent.params, agent.bootstrap)
        if self.traceable:
            return jax.vmap(self.search.choose, axis_name=LANE)(*given).reshape(-1)
        every = [
            self.search.choose(*jax.tree.map(itemgetter(copy), given))
            for copy in range(agent.copies)
        ]
        return jax.numpy.concatenate(every)


@jax.jit
def _choose_compiled(player: SearchPlayer, states: State, key: jax.Array) -> jax.Array:
    return player._choose(states, key)


@jax.tree_util.register_pytree_node_class
class SearchAgent(SearchPlayer):
    """Plays the most visited action of a tree search by the agent's own values.

    Ties are broken by the best mean, then at random; with a solver, only among actions that the
    proofs leave. Every move starts a new tree, except in matches with `reuse`, where the subtree of
    the last move is kept (`search.reuse`). The agent's copies search one after the other. Players
    whose iterations round up to the same power of two share one compiled program, unless memory is
    short. Outside of compiled programs, devices share the searches of a batch, chunk by chunk; no
    bit depends on the number of devices. Raises ValueError if the agent cannot search.
    """

    leaves = ("agent", "iterations")
    search: PUCT
    agent: GreedyAgent

    def __init__(self, agent: GreedyAgent, settings: PUCTSpec) -> None:
        self.name, self.game, self.agent = agent.name, agent.game, agent
        self.search = PUCT(agent.game, agent.value, settings).roomy()
        self.iterations: np.int32 | jax.Array = np.int32(settings.iterations)

    @cached_property
    def _placed(self) -> dict[tuple[int, Mesh], PyTree]:
        return {}

    @in_32_bits
    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B], all moves in one compiled call; a terminal state gives 0."""
        given = jax.tree.leaves((self, states, key))
        if is_traced(*given) or not self.shares_devices(len(states.terminal)):
            return _act(self, states, key)
        search_key, choice = jax.random.split(key)
        keys = jax.random.split(search_key, self.copies)
        by_copy = jax.tree.map(np.asarray, self.agent.by_copy(states))
        found = [
            self._on_devices(copy, jax.tree.map(itemgetter(copy), by_copy), keys[copy])
            for copy in range(self.copies)
        ]
        return _most_visited(jax.tree.map(lambda *rows: np.concatenate(rows), *found), choice)

    def shares_devices(self, games: int) -> bool:
        """Whether several devices would choose the moves of `games` games, called by the host."""
        return not self.search.settings.reuse and self._num_devices(games // self.copies) > 1

    def _num_devices(self, batch: int) -> int:
        """The number of devices that search from `batch` positions of an agent, chunk by chunk."""
        size = max(1, self.search.chunk_size(batch))
        # Each additional device needs a copy of the weights, and its own trees.
        room = self.search.settings.megabytes * 10**6 // max(1, self._bytes)
        return min(len(jax.devices()), -(-batch // size), 1 + room, self.search.max_trees // size)

    @property
    def _settings(self) -> object:
        settings = self.search.settings
        # The search has room for more iterations.
        exact = isinstance(self.iterations, np.int32)
        return dataclasses.replace(settings, iterations=int(self.iterations)) if exact else settings

    @property
    def _bytes(self) -> int:
        """The size of the weights of one agent."""
        every: int = sum(leaf.nbytes for leaf in jax.tree.leaves(self.agent.params))
        return every // self.copies

    def _on_devices(self, copy: int, states: State, key: jax.Array) -> Statistics:
        """The statistics of one agent's search from states[B], as arrays on the host."""
        search, batch = self.search, len(states.terminal)
        mesh = mesh_of(self._num_devices(batch))
        size = mesh.size * search.chunk_size(batch)
        nothing, given = search.nothing_of(states), self._weights(copy, mesh)
        found: Statistics = on_devices(
            _simulate, search, given, states, nothing, lambda _: size, self.iterations, key, mesh
        )
        return found

    def _weights(self, copy: int, mesh: Mesh) -> tuple[Params, BootstrapRule]:
        """An agent's weights and bootstrap rule on all devices, cached while there is room."""
        if (copy, mesh) not in self._placed:
            room = self.search.settings.megabytes * 10**6
            if (len(self._placed) + 1) * self._bytes * mesh.size > room:
                self._placed.clear()
            own = jax.tree.map(itemgetter(copy), (self.agent.params, self.agent.bootstrap))
            self._placed[copy, mesh] = jax.device_put(own, NamedSharding(mesh, PartitionSpec()))
        return self._placed[copy, mesh]

    @in_32_bits
    def first_memory(self, states: State) -> Memory:
        """Return empty trees for the games of each copy; None without `reuse`.

        Raises ValueError if they do not fit into memory.
        """
        if not self.search.settings.reuse:
            return None
        nothing = partial(no_trees, self.search, copies=self.copies)
        return jax.vmap(nothing)(self.agent.by_copy(states))

    @in_32_bits
    def act_on(self, memory: Memory, states: State, key: jax.Array) -> tuple[jax.Array, Memory]:
        """As `act`, and the trees for the next move; those of terminal states do not change."""
        return _act_on(self, memory, states, key)

    @in_32_bits
    def statistics(self, state: State, key: jax.Array | None = None) -> Statistics:
        """Visits int32[A] and values float32[A] at the root of one state, [B, A] of states[B].

        With a solver also the bounds, `low` and `high` float32[A]. If there are several agents, of
        the first one. `key` draws chance. Raises ValueError for a state of another game.
        """
        check_state(self.game, state)
        key = jax.random.key(0) if key is None else key
        return in_batch(partial(_statistics, key=key), self, state)


@search_player.register
def _(spec: PUCTSpec, game: Game, agent: GreedyAgent | None = None) -> Player:
    return SearchPlayer(game, spec) if agent is None else SearchAgent(agent, spec)


def _simulate(search: PUCT, given: tuple[Params, BootstrapRule], *where: PyTree) -> Statistics:
    params, bootstrap = given
    found: Statistics = simulate(dataclasses.replace(search, bootstrap=bootstrap), params, *where)
    return found


_most_visited = jax.jit(most_visited)


@jax.jit
def _act(player: SearchAgent, states: State, key: jax.Array) -> jax.Array:
    return _chosen(player, PUCT.search, states, key)[0]


@jax.jit
def _act_on(
    player: SearchAgent, memory: Memory, states: State, key: jax.Array
) -> tuple[jax.Array, Memory]:
    return _chosen(player, partial(search_on, copies=player.copies), states, key, memory)


def _chosen(
    player: SearchAgent,
    search: Callable[..., PyTree],
    states: State,
    key: jax.Array,
    *memory: Memory,
) -> tuple[jax.Array, Memory]:
    """(actions int32[B], the memory of the copies or None), by a search of each copy."""
    agent = player.agent
    search_key, choice = jax.random.split(key)
    words = jax.random.key_data(jax.random.split(search_key, agent.copies))
    alone = partial(_alone, partial(_by_agent, player.search, search), player.iterations)
    found = jax.vmap(alone)(agent.bootstrap, agent.params, agent.by_copy(states), words, *memory)
    roots, kept = found if memory else (found, None)
    rows = jax.tree.map(lambda leaf: leaf.reshape(-1, leaf.shape[-1]), roots)
    return most_visited(rows, choice), kept


def _by_agent(
    settings: PUCT, search: Callable[..., PyTree], bootstrap: BootstrapRule, *given: PyTree
) -> PyTree:
    """The result of `search` by `settings`, with one agent's bootstrap."""
    return search(dataclasses.replace(settings, bootstrap=bootstrap), *given)


def _alone(
    search: Callable[..., PyTree],
    iterations: np.int32 | jax.Array,
    bootstrap: BootstrapRule,
    params: Params,
    states: State,
    words: jax.Array,
    *memory: Memory,
) -> PyTree:
    """A `search` that several agents do one after the other under `vmap`.

    In step they would need the memory of all their trees at once. Instead, each agent's values are
    copied once before its search. `words` are the data of a key.
    """

    @jax.custom_batching.sequential_vmap
    def one(
        bootstrap: BootstrapRule,
        params: Params,
        states: State,
        iterations: np.int32 | jax.Array,
        words: jax.Array,
        *memory: Memory,
    ) -> PyTree:
        # Agents in sequence have no common axis.
        among = jax.vmap(search, in_axes=None, axis_name=LANE, axis_size=1)
        key = jax.random.wrap_key_data(words)
        found = among(bootstrap, params, states, iterations, key, *memory)
        return jax.tree.map(itemgetter(0), found)

    return one(bootstrap, params, states, iterations, words, *memory)


@jax.jit
def _statistics(player: SearchAgent, states: State, key: jax.Array) -> Statistics:
    params, bootstrap = player.agent.first
    search = dataclasses.replace(player.search, bootstrap=bootstrap)
    return search.search(params, states, player.iterations, key)
