"""Setting JAX up before it starts: devices, compiled programs kept between calls, known faults."""

import os
import sys
import warnings

from jaxgbg.system import cache_folder, core_numbers, memory_limit

# Builds whose float32 scatter-add with colliding indices is a compare-and-swap loop on CUDA,
# hundreds of times as slow (jax#38806, xla#46225).
_SLOW_SCATTER = ("0.10.2", "0.11.0")
_REMEDY = "-nvptx-allow-ftz-atomics"

LEAST_MEMORY = 2_000_000_000
"""Bytes of address space below which JAX and its compiler end in an abort or a segmentation fault.

Measured with `ulimit -v` on two cores; large tables need more.
"""


def prepare_jax(devices: int | None = None) -> None:
    """One CPU device for each core, or as many as `devices`, and a cache of compiled programs.

    Loops become one kernel where they can. All this has to be asked for before JAX has started.

    Raises ValueError where this process may not have the memory that JAX needs to start, and for
    settings of JAX with which nothing can be trained.
    """
    check_memory_limit(memory_limit())
    import jax

    from jaxgbg.runs.environment import (
        check_compiled,
        check_xla_flags,
        pass_on_xla_flags,
    )
    from jaxgbg.xla import ask_for_whole_loops

    check_compiled()
    # All our numbers have 32 bits.
    jax.config.update("jax_enable_x64", False)
    check_xla_flags()
    ask_for_whole_loops()
    pass_on_xla_flags()

    # What cannot be kept, on a full disk for one, is compiled again.
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation cache entry")
    jax.config.update("jax_num_cpu_devices", devices or len(core_numbers()))
    _prepare_cache()


def _prepare_cache() -> None:
    """Keep compiled programs in the user's cache, if there is one and no other is asked for."""
    import jax

    # A variable that is empty asks for none.
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    if (cache := cache_folder()) is not None:
        jax.config.update("jax_compilation_cache_dir", str(cache))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)


def check_memory_limit(limit: int | None) -> None:
    """Refuse a limit on address space, in bytes, under which the runtime would abort."""
    if limit is not None and limit < LEAST_MEMORY:
        raise ValueError(
            f"{limit / 1e9:.1f} GB of memory are allowed (ulimit -v) and JAX needs"
            f" {LEAST_MEMORY / 1e9:.0f} GB to start: raise the limit"
        )


def warn_of_known_faults() -> None:
    """Say so where this build of JAX is known to train slowly on this device."""
    import jax
    import jaxlib

    warning = known_fault(
        jaxlib.__version__, jax.devices()[0].platform, os.environ.get("XLA_FLAGS", "")
    )
    if warning:
        print(f"jaxgbg: {warning}", file=sys.stderr)


def known_fault(version: str, platform: str, flags: str) -> str | None:
    """A warning about jaxlib `version` on `platform` with these XLA_FLAGS, if there is one."""
    if platform not in ("gpu", "cuda") or version not in _SLOW_SCATTER or _REMEDY in flags:
        return None
    return (
        f"jaxlib {version} adds to tables on CUDA by compare-and-swap, hundreds of times slower"
        f" than it could: update jaxlib to 0.12 or newer, or set XLA_FLAGS={_REMEDY}"
    )
