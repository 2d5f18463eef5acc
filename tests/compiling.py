"""How the tests compile: quickly, but as for users where they speak of speed or of the last bit."""

import os
from importlib.metadata import version
from typing import Any

# XLA's newer way from fused operations to machine code, the only one from jaxlib 0.11 on. Without
# optimisations it takes twice as long as the older one; with them it is the faster one.
_EMITTERS = "xla_cpu_use_fusion_emitters"
_BOTH_WAYS = version("jaxlib").startswith("0.10.")

FULL_OPTIMISATION: dict[str, Any] = {"xla_backend_optimization_level": 3}
"""Options of the compiler with which a program is the one that users get."""
if _BOTH_WAYS:
    FULL_OPTIMISATION[_EMITTERS] = True

_QUICK_FLAG = f"--{_EMITTERS}=false"


def ask_for_quick_compiling() -> None:
    """What most tests say is the same however well a program is compiled, and compiling takes
    longer than running: let JAX, here and in the processes that tests start, do little of it.
    """
    if os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1") == "1" and _BOTH_WAYS:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_QUICK_FLAG}".strip()


def flags_for_users() -> str:
    """The XLA_FLAGS of this process without those of the tests."""
    return os.environ.get("XLA_FLAGS", "").replace(_QUICK_FLAG, "").strip()
