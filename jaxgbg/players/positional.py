"""Othello players that add up the values of squares: BENCH and HEUR."""

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Othello
from jaxgbg.players.core import choose_uniformly

# Van der Ree & Wiering 2013, Fig. 3a: the same in all eight symmetries. (A copy read by machine has
# -100 at the end of the first row.)
_HEUR_CORNER = ((100, -25, 10, 5), (-25, -25, 2, 2), (10, 2, 5, 1), (5, 2, 1, 2))
# The same, Fig. 3b: found by co-evolution, without symmetry.
_BENCH = (
    (80, -26, 24, -1, -5, 28, -18, 76),
    (-23, -39, -18, -9, -6, -8, -39, -1),
    (46, -16, 4, 1, -3, 6, -20, 52),
    (-13, -5, 2, -1, 4, 3, -12, -2),
    (-5, -6, 1, -2, -3, 0, -9, -5),
    (48, -13, 12, 5, 0, 5, -24, 41),
    (-27, -53, -11, -1, -11, -16, -58, -15),
    (87, -25, 27, -1, 5, 36, -3, 100),
)


def _mirrored(corner: tuple[tuple[int, ...], ...]) -> np.ndarray:
    upper = np.concatenate([np.array(corner), np.array(corner)[:, ::-1]], 1)
    return np.concatenate([upper, upper[::-1]])


TABLES = {
    "bench": np.array(_BENCH, np.float32).ravel(),
    "heur": _mirrored(_HEUR_CORNER).astype(np.float32).ravel(),
}
"""Values float32[64] of the squares, row-major from the top left."""


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Positional:
    """Plays the move after which its own discs are worth most, less the opponent's; ties at random.

    `table` is "bench" or "heur". With `sign_slip` a move that makes the opponent pass counts with
    the wrong sign, as in GBG, which takes the opponent of the player to move for itself.
    Raises ValueError for an unknown table and for a board other than 8x8.
    """

    game: Othello
    table: str
    sign_slip: bool = False
    traceable = True

    def __post_init__(self) -> None:
        if self.table not in TABLES:
            raise ValueError(f"table must be one of {', '.join(TABLES)}, not {self.table!r}")
        if not isinstance(self.game, Othello) or self.game.size != 8:
            raise ValueError(f"{self.table} plays othello on 8x8 squares only")

    @property
    def name(self) -> str:
        return self.table

    def act(self, states: Any, key: jax.Array) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0."""
        return _act(self, states, key)

    def best_actions(self, states: Any) -> jax.Array:
        """states[B] -> bool[B, 64]: the moves that `act` chooses from."""
        return _best_actions(self, states)


@partial(jax.jit, static_argnums=0)
def _best_actions(player: Positional, states: Any) -> jax.Array:
    game, table = player.game, TABLES[player.table]

    def worth(state: Any, action: jax.Array) -> jax.Array:
        after = game.afterstate(state, action)
        cells = game.cells(after)
        lead = ((cells == 0).astype(jnp.float32) - (cells == 1).astype(jnp.float32)) @ table
        mine = jnp.where(state.player == 0, lead, -lead)
        slip = (after.player == state.player) & player.sign_slip
        return jnp.where(slip, -mine, mine)

    actions = jnp.arange(game.num_actions)
    values = jax.vmap(jax.vmap(worth, (None, 0)), (0, None))(states, actions)
    legal = jax.vmap(game.legal_actions)(states)
    values = jnp.where(legal, values, -jnp.inf)
    return legal & (values == values.max(1, keepdims=True))


@partial(jax.jit, static_argnums=0)
def _act(player: Positional, states: Any, key: jax.Array) -> jax.Array:
    return choose_uniformly(_best_actions(player, states), key)
