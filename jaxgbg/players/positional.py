"""Othello players that add up the values of squares: BENCH and HEUR."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxgbg.games import Game, Othello
from jaxgbg.games.othello import OthelloState
from jaxgbg.learners.action_values import score_actions
from jaxgbg.players.core import PytreePlayer, UniformPlayer

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
    # All squares alike: a random player that shares a program with the others.
    "even": np.zeros(64, np.float32),
}
"""Values float32[64] of the squares, row-major from the top left."""


@jax.tree_util.register_pytree_node_class
class Positional(PytreePlayer, UniformPlayer[OthelloState]):
    """Plays for the greatest value of its own discs less the opponent's; ties at random.

    `table` is "bench", "heur" or "even". The values of the squares are a leaf, float32[64]: one
    program serves all tables. Raises ValueError for an unknown table and for a board other than
    8x8.
    """

    leaves = ("values",)

    def __init__(self, game: Game, table: str) -> None:
        if table not in TABLES:
            raise ValueError(f"table must be one of {', '.join(TABLES)}, not {table!r}")
        if not isinstance(game, Othello):
            raise ValueError(f"{table} plays othello only, not {game.name}")
        if game.size != 8:
            raise ValueError(f"{table} plays othello on 8x8 squares only")
        self.game = game
        self.values: ArrayLike = TABLES[table]

    @property
    def name(self) -> str:
        known = (name for name, table in TABLES.items() if np.array_equal(table, self.values))
        return next(known, "positional")

    def best_actions(self, states: OthelloState) -> jax.Array:
        game, table = self.game, jnp.asarray(self.values)

        def evaluate(rows: jax.Array, actions: jax.Array, after: OthelloState) -> jax.Array:
            del actions
            black, white = jnp.moveaxis(jax.vmap(game.discs)(after).astype(jnp.float32), 1, 0)
            lead = (black - white) @ table
            return jnp.where(states.player[rows] == 0, lead, -lead)

        legal = jax.vmap(game.legal_actions)(states)
        _, _, values = score_actions(game, states, legal, evaluate)
        values = jnp.where(legal, values, -jnp.inf)
        return legal & (values == values.max(1, keepdims=True))
