"""The learned player that looks ahead, or that plays the best moves by their ranks."""

from functools import partial
from typing import Any

import jax

from jaxgbg.games.core import Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.learners.selection import (
    LANE,
    BootstrapRule,
    check_ranks,
    choose_action,
    choose_ranked,
)
from jaxgbg.players.core import History, PlayerBase
from jaxgbg.players.greedy import GreedyAgent, in_batch
from jaxgbg.search.lookahead import LookAhead, Reply


@jax.tree_util.register_pytree_node_class
class LookAheadAgent(PlayerBase):
    """Plays the action of the greatest value at the end of a look-ahead, or one of the best.

    `ranks` are the probabilities of the best, the second best ... move, made to sum to 1 over the
    moves there are; without them the best is played, ties at random. Other settings as in
    `LookAhead`; the agent's copies search side by side. One ply is the agent's own choice.
    """

    name = "agent"
    traceable = True

    def __init__(
        self,
        agent: GreedyAgent,
        plies: int = 1,
        width: int | tuple[int, ...] | None = None,
        reply: Reply = "own",
        ranks: tuple[float, ...] = (),
        *,
        samples: int = LookAhead.samples,
        max_spawns: int = LookAhead.max_spawns,
        megabytes: int = LookAhead.megabytes,
    ) -> None:
        widths = () if width is None else (width,) if isinstance(width, int) else tuple(width)
        self.agent = agent
        self.ranks = check_ranks(tuple(ranks))
        # How values count is the agent's own, for every move.
        self.search = LookAhead(
            agent.game,
            agent.value,
            plies,
            widths,
            reply,
            samples=samples,
            max_spawns=max_spawns,
            megabytes=megabytes,
        )

    def tree_flatten(self) -> tuple[tuple[GreedyAgent], tuple[Any, ...]]:
        return (self.agent,), (self.search, self.ranks)

    @classmethod
    def tree_unflatten(cls, fixed: tuple[Any, ...], leaves: tuple[GreedyAgent]) -> "LookAheadAgent":
        player = object.__new__(cls)
        player.search, player.ranks = fixed
        (player.agent,) = leaves
        return player

    @property
    def game(self) -> Game:
        return self.agent.game

    @property
    def copies(self) -> int:
        return self.agent.copies

    @in_32_bits
    def act(self, states: Any, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B], all moves in one compiled call; a terminal state: any action."""
        if self.search.plies == 1 and not self.ranks:
            return self.agent.act(states, key)
        return _act(self, states, key)

    @in_32_bits
    def action_values(self, state: Any, key: jax.Array | None = None) -> jax.Array:
        """float32[A] of one state, [B, A] of states[B]; -inf for what is not looked at.

        Those of the first agent, where there are several. `key` draws what chance is sampled by.
        """
        if self.search.plies == 1:
            return self.agent.action_values(state)
        key = jax.random.key(0) if key is None else key
        return in_batch(partial(_action_values, key=key), self, state)


@jax.jit
def _action_values(player: LookAheadAgent, states: Any, key: jax.Array) -> jax.Array:
    agent = player.agent
    params, valuation = jax.tree.map(lambda leaf: leaf[0], (agent.params, agent.valuation))
    return player.search.counting(valuation).action_values(params, states, key)


@jax.jit
def _act(player: LookAheadAgent, states: Any, key: jax.Array) -> jax.Array:
    search, agent, ranks = player.search, player.agent, player.ranks

    def one(
        params: Any, valuation: BootstrapRule, states: Any, draws: jax.Array, keys: jax.Array
    ) -> jax.Array:
        q = search.counting(valuation).action_values(params, states, keys[0])
        legal = jax.vmap(search.game.legal_actions)(states)
        if not ranks:
            return jax.vmap(choose_action)(q, legal, draws)
        # A move that the beam has left out is no move of any rank.
        words = jax.random.bits(keys[1], (len(draws), 2), jax.numpy.uint32)
        return jax.vmap(partial(choose_ranked, ranks=ranks))(q, legal & (q > -jax.numpy.inf), words)

    by_copy = agent.by_copy(states)
    draws = jax.random.uniform(key, by_copy.terminal.shape, jax.numpy.float32)
    keys = jax.random.split(jax.random.fold_in(key, 1), (agent.copies, 2))
    every = jax.vmap(one, axis_name=LANE)
    return every(agent.params, agent.valuation, by_copy, draws, keys).reshape(-1)
