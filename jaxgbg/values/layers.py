"""What networks are made of: activations, initial weights and optimizers by their names."""

import functools
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

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


def uniform(key: jax.Array, shape: tuple[int, ...], dtype: Any = jnp.float32) -> jax.Array:
    """Weights from -0.5 to 0.5."""
    return jax.random.uniform(key, shape, dtype, -0.5, 0.5)


INITIALIZERS: dict[str, Any] = {
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
