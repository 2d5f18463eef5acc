"""D'Ambra's Benchmark Player for ConnectFour: sees one ply ahead for either side."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp

from jaxgbg.games import ConnectFour
from jaxgbg.games.connectfour import ConnectFourState
from jaxgbg.players.core import UniformPlayer


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Blocker(UniformPlayer[ConnectFourState]):
    """Wins if it can; else takes a cell where the opponent would win; else avoids to offer one.

    A move offers a win where the opponent could then win on top of it. Among equals it chooses
    uniformly, which is what going through the moves in random order comes to. Raises ValueError for
    another game than ConnectFour.
    Source: D'Ambra, "Reinforcement learning techniques in board games", Algorithm 2.
    """

    game: ConnectFour
    name = "blocker"

    def __post_init__(self) -> None:
        if not isinstance(self.game, ConnectFour):
            raise ValueError(f"blocker plays connectfour only, not {self.game.name}")

    def best_actions(self, states: ConnectFourState) -> jax.Array:
        return jax.vmap(partial(_best_actions, self.game))(states)


def _wins(game: ConnectFour, state: ConnectFourState) -> jax.Array:
    """bool[7]: the moves that win the game at once."""
    reward, _ = game.outcomes(state)
    return reward > 0


def _best_actions(game: ConnectFour, state: ConnectFourState) -> jax.Array:
    legal = game.legal_actions(state)
    winning = _wins(game, state)
    blocking = _wins(game, state._replace(player=1 - state.player))

    def offers(action: jax.Array) -> jax.Array:
        return _wins(game, game.afterstate(state, action))[action]

    safe = legal & ~jax.vmap(offers)(jnp.arange(game.num_actions))
    # Each rule, where any move follows it, overrules those before.
    best = legal
    for rule in (safe, blocking, winning):
        best = jnp.where(rule.any(), rule, best)
    return best
