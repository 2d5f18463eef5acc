"""Expectimax without an evaluation: "expectimax", or "expectimax-N" for N plies."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxgbg.games import Game
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.players.core import History, Opponent, PlayerBase
from jaxgbg.search.lookahead import MOST_PLIES, LookAhead
from jaxgbg.values.constant import Zero


@jax.tree_util.register_pytree_node_class
class Expectimax(PlayerBase):
    """Plays for the greatest expected reward of the next `plies` moves, ties at random.

    Michie (1966): the value of a chance node is the mean of its outcomes, weighted by their
    probabilities; players maximise their own reward (Max-N). It is `search.LookAhead` where every
    position at the end of the look-ahead is worth 0. Outcomes of chance that the game lists are all
    looked at, up to 64 of them; otherwise 16 are drawn. Where nothing is paid within `plies` moves
    all moves are equal.
    """

    name = "expectimax"
    traceable = True

    def __init__(self, game: Game, plies: int = 2) -> None:
        self.search = LookAhead(game, Zero(), plies)

    def tree_flatten(self) -> tuple[tuple[()], LookAhead]:
        return (), self.search

    @classmethod
    def tree_unflatten(cls, search: LookAhead, leaves: tuple[()]) -> "Expectimax":
        player = object.__new__(cls)
        player.search = search
        return player

    def act(self, states: Any, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0."""
        return _act(self, states, key)

    def action_values(self, states: Any, key: jax.Array) -> jax.Array:
        """states[B] -> float32[B, A]: expected rewards of the mover; -inf for illegal actions."""
        return self.search.action_values((), states, key)


@jax.jit
def _act(player: Expectimax, states: Any, key: jax.Array) -> jax.Array:
    chance, choice = jax.random.split(key)
    values = player.action_values(states, chance)
    legal = jax.vmap(player.search.game.legal_actions)(states)
    best = legal & (values == jnp.where(legal, values, -jnp.inf).max(1, keepdims=True))
    return choose_uniformly(best, choice)


def _build(game: Game, plies: str = "2") -> Expectimax:
    if not (plies.isdecimal() and plies.isascii() and len(plies) < 3):
        raise ValueError(f"expectimax-{plies[:20]}: expected 1 to {MOST_PLIES} plies, as in"
                         " expectimax-2")  # fmt: skip
    return Expectimax(game, int(plies))


OPPONENTS = {
    "expectimax": Opponent(
        "any game, by the rewards of the next 2 moves; expectimax-3 for 3", _build, "N", "plies"
    )
}
