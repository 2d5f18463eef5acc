"""What networks are made of: activations, initial weights and optimizers by their names."""

import functools
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

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
