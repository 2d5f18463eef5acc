"""Everything that is here because of XLA: compiler options, the cache of compiled programs.

XLA does not promise the names of its options: an option that this version lacks is left out.
"""

import contextlib
from collections.abc import Iterator
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

# Matrix products by Eigen where XLA has both it and YNNPACK on the CPU: they are small and stand in
# a loop between look-ups in large tables, where YNNPACK takes several times as long (jaxlib 0.10.2:
# 2048 and ConnectFour train 1.7 times as fast without it), although not when it is timed alone.
_EIGEN = ("xla_cpu_experimental_ynn_fusion_type", "")
_UNOPTIMIZED = ("xla_backend_optimization_level", 0)
_CACHE_SETTING = "jax_enable_compilation_cache"


@cache
def compiler_option(name: str, value: int | str) -> dict[str, int | str]:
    """An option of XLA as `jax.jit` takes it; nothing where this version has no such option."""
    try:
        jax.jit(jnp.negative, compiler_options={name: value})(np.float32(0))
    except jax.errors.JaxRuntimeError:
        return {}
    return {name: value}


def hasty() -> dict[str, int | str]:
    """Compiler options for code that runs once: optimize compile time over run time."""
    return compiler_option(*_UNOPTIMIZED)


def training_compile_options() -> dict[str, int | str]:
    """Compiler options for the loop that trains."""
    return compiler_option(*_EIGEN)


@contextlib.contextmanager
def without_compilation_cache() -> Iterator[None]:
    """Compile anew within this context, whatever the cache on disk holds."""
    before = getattr(jax.config, _CACHE_SETTING)
    jax.config.update(_CACHE_SETTING, False)
    try:
        yield
    finally:
        jax.config.update(_CACHE_SETTING, before)
