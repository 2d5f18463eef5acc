"""What a move brings into a network's first layer: the few cells that it alters."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.values.indices import look_up


def entering(
    game: Game,
    views: Sequence[tuple[int, ...]],
    kernel: jax.Array,
    player: jax.Array,
    altered: tuple[jax.Array, jax.Array],
) -> jax.Array:
    """float32[..., H] to be added to what enters the first hidden layer from the old board.

    `kernel` float32[I, H] holds the weights of the inputs that `MLP` describes, `views` are the
    cells as each player sees them, () where all see the same; `altered` are cells int32[..., K] and
    digits int32[..., K, 2] as `Game.altered` has them.
    """
    cells, digits = altered
    player = player.astype(jnp.int32)
    total = jnp.float32(0)
    for number in range(cells.shape[-1]):
        place = cell = jnp.maximum(cells[..., number], 0)
        old, new = digits[..., number, 0], digits[..., number, 1]
        if views:
            places = np.argsort(views, axis=1).reshape(-1)
            place = look_up(places, player * game.num_cells + cell)
        gained = _weights(game, kernel, place, new, player)
        lost = _weights(game, kernel, place, old, player)
        total += jnp.where((cells[..., number] < 0)[..., None], 0, gained - lost)
    return total


def _weights(
    game: Game, kernel: jax.Array, place: jax.Array, digit: jax.Array, player: jax.Array
) -> jax.Array:
    """float32[..., H]: what a digit at a place brings in."""
    if not game.piece_digits:
        return look_up(kernel, place * game.num_cell_values + digit)
    owners = np.array(game.piece_digits)
    mine = digit == look_up(owners, player)
    piece = (digit[..., None] == owners).any(-1)
    sign = jnp.where(piece, jnp.where(mine, 1.0, -1.0), 0.0)
    return sign[..., None] * look_up(kernel, place)
