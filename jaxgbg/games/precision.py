"""The same bits whether or not a program has switched on JAX's numbers of 64 bits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from jaxgbg.lazy import jax

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def in_32_bits(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Let `function` compute with numbers of 32 bits, as JAX does by default.

    With jax_enable_x64 other random numbers are drawn, and sums have other dtypes. A mode that the
    program has switched on is there again afterwards.
    """

    @functools.wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        if not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
            return function(*args, **kwargs)
        with jax.enable_x64(False):
            return function(*args, **kwargs)

    return call
