"""Monte Carlo tree search as an opponent: "mcts", or "mcts-N" for N iterations."""

import dataclasses
from typing import Any

import jax

from jaxgbg.games import Game
from jaxgbg.players.core import History, Opponent, PlayerBase
from jaxgbg.search.mcts import MCTS


@dataclasses.dataclass(frozen=True)
class MCTSPlayer(PlayerBase):
    """Plays what a new search for every move chooses; on the host, which bounds its memory."""

    search: MCTS
    name = "mcts"

    def act(self, states: Any, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0 and is not searched."""
        return self.search.choose(states, key)


def _build(game: Game, iterations: str = "10000") -> MCTSPlayer:
    if not iterations.isascii() or not iterations.isdecimal() or len(iterations) > 20:
        raise ValueError(f"mcts-{iterations[:20]}: expected a number of iterations, as in mcts-100")
    # GBG takes it that the rewards of any game may lie anywhere from -1 to 1.
    low, high = game.reward_range
    return MCTSPlayer(MCTS(game, int(iterations), reward_range=(min(low, -1.0), max(high, 1.0))))


OPPONENTS = {
    "mcts": Opponent(
        "any game without chance; mcts-100 for 100 iterations instead of 10,000", _build, "N"
    )
}
