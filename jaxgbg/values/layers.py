"""Parts of networks: activations, initial weights and optimizers, by name."""

import functools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import DTypeLike

from jaxgbg.games.core import Game
from jaxgbg.values.indices import look_up
from jaxgbg.xla import kernel_by_kernel

LARGE = 2**19, 2**14
"""From how many multiplications on a first and a later layer get the kernels that XLA has for them.

Measured with 19 networks, of 1 to 86 thousand weights, in five games: below, loops that are one
kernel train up to four times as fast; above, they may take forty times as long.
"""

ACTIVATIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
    "relu": jax.nn.relu,
    "identity": lambda total: total,
}


def uniform(key: jax.Array, shape: tuple[int, ...], dtype: DTypeLike = jnp.float32) -> jax.Array:
    """Weights from -0.5 to 0.5."""
    return jax.random.uniform(key, shape, dtype, -0.5, 0.5)


INITIALIZERS: dict[str, nn.initializers.Initializer] = {
    "uniform": uniform,
    "xavier": nn.initializers.xavier_uniform(),
    "truncated": nn.initializers.truncated_normal(0.1),
}


@functools.lru_cache(maxsize=16)
def optimizer(name: str) -> optax.GradientTransformation:
    """The optimizer of optax by its name, at step size 1: alpha scales what it moves.

    Raises ValueError where there is none that takes a step size and gradients alone.
    """
    try:
        made = getattr(optax, name)(learning_rate=1.0)
        point = jnp.zeros(1)
        jax.eval_shape(lambda: made.update(point, made.init(point), point))
    except (AttributeError, TypeError) as error:
        raise ValueError(
            f"optax has no optimizer {name!r} that takes a step size alone:"
            " choose one such as sgd, adam or rmsprop"
        ) from error
    return made


class Layers(nn.Module):
    """Layers of `sizes`, each the last one's weighted sums, all but the last activated.

    `activation` and `initializer` are names from the tables above; biases start at `bias`, but
    "uniform" draws them like the weights.
    """

    sizes: tuple[int, ...]
    activation: str
    initializer: str
    bias: float

    @nn.compact
    def __call__(self, inputs: jax.Array, entered: bool = False) -> jax.Array:
        """float32[..., O] of inputs float32[..., I], or of the first layer's sums if `entered`."""
        drawn = self.initializer == "uniform"
        layer = functools.partial(
            nn.Dense,
            kernel_init=INITIALIZERS[self.initializer],
            bias_init=uniform if drawn else nn.initializers.constant(self.bias),
        )
        rows = math.prod(inputs.shape[:-1])
        first, *later = (rows * a * b for a, b in pairwise((inputs.shape[-1], *self.sizes)))
        if (not entered and first > LARGE[0]) or any(each > LARGE[1] for each in later):
            inputs = kernel_by_kernel(inputs)
        for number, size in enumerate(self.sizes):
            if number:
                inputs = ACTIVATIONS[self.activation](inputs)
            if number or not entered:
                inputs = layer(size, name=f"Dense_{number}")(inputs)
        return inputs


def first_layer_delta(
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
