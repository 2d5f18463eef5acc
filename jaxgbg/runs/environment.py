"""Settings of JAX in the environment that prevent a training or change its bits."""

import os
import subprocess
import sys

import jax

_CHECKED = "JAXGBG_CHECKED_XLA_FLAGS"
# XLA reads its flags for the first options that are made, and aborts at one that it does not know.
_READ_FLAGS = "from jaxlib import _jax; _jax.CompileOptions()"


def check_compiled() -> None:
    """Raises ValueError where JAX is told to compile nothing: no training would come to its end."""
    if jax.config.jax_disable_jit:  # type: ignore[attr-defined]
        raise ValueError(
            "JAX_DISABLE_JIT is set: unset it, because programs that are not compiled would take"
            " forever"
        )


def check_xla_flags() -> None:
    """Raises ValueError where XLA does not know the flags of XLA_FLAGS, at which it would abort.

    Another process tries them, unless one that has started this one has done so.
    """
    flags = os.environ.get("XLA_FLAGS", "").strip()
    if not flags or os.environ.get(_CHECKED) == flags:
        return
    tried = subprocess.run(
        [sys.executable, "-I", "-c", _READ_FLAGS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    lines = [line for line in tried.stderr.splitlines() if "XLA_FLAGS" in line]
    if tried.returncode and lines:
        reason = lines[0].rpartition("] ")[2]
        raise ValueError(f"XLA rejects XLA_FLAGS={flags} ({reason}): correct or unset it")


def pass_on_xla_flags() -> None:
    """Let processes that this one starts take its XLA_FLAGS without trying them again."""
    os.environ[_CHECKED] = os.environ.get("XLA_FLAGS", "").strip()


def drawing_settings() -> dict[str, str]:
    """Settings of JAX that change what a seed draws."""
    names = ("jax_threefry_partitionable", "jax_default_prng_impl")
    return {name: str(getattr(jax.config, name)) for name in names}
