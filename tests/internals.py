"""What tests use of JAX and XLA that neither documents, each in one place."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
import pytest
from jax._src import compiler

NO_DEVICE_STARTED = """
from jax._src import xla_bridge
assert not xla_bridge.backends_are_initialized()
"""
"""Lines of a program that fail where JAX has started a device."""


def compile_with(monkeypatch: pytest.MonkeyPatch, options: Mapping[str, Any]) -> Callable[[], int]:
    """Compile everything with these options of XLA; returns how many programs were, so far."""
    made, count = compiler.get_compile_options, 0

    def get_compile_options(*arguments: Any, **settings: Any) -> Any:
        nonlocal count
        count += 1
        own = settings.pop("env_options_overrides", None) or {}
        overrides = {**options, **own}
        return made(*arguments, **settings, env_options_overrides=overrides)

    monkeypatch.setattr(compiler, "get_compile_options", get_compile_options)
    return lambda: count


def times_compiled(function: Any) -> int:
    """For how many kinds of arguments a function of `jax.jit` is compiled."""
    return function._cache_size()


def copied_sizes(compiled: Any, dtype: str = r"\w+", fusions: bool = True) -> list[int]:
    """The size of each array that a compiled program copies, in fusions too if so asked."""
    found, fused = [], False
    for line in compiled.as_text().splitlines():
        if line.endswith("{"):
            fused = not fusions and line.startswith("%fused_computation")
        match = re.search(rf"= {dtype}\[([\d,]+)\]\S* copy\(", line)
        if match and not fused:
            found.append(int(np.prod([int(size) for size in match[1].split(",")])))
    return found


def entry_of(compiled: Any) -> str:
    """The text of the computation that a compiled program begins with."""
    text: str = compiled.as_text()
    return text[text.index("\nENTRY") :]


def is_one_kernel(compiled: Any) -> bool:
    """Whether the loop that a compiled program begins with is one kernel on the CPU."""
    entry = entry_of(compiled)
    return bool(re.search(r"\bcall\(.*xla_cpu_small_call", entry)) and " while(" not in entry


def setting(name: str) -> Any:
    """The value of a setting of JAX."""
    return jax.config.values[name]
