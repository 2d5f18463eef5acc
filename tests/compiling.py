"""How the tests compile: quickly, but as for users where they speak of speed or of the last bit."""

import os
from importlib.metadata import version
from typing import Any

# XLA's newer way from fused operations to machine code, the only one from jaxlib 0.11 on. Without
# optimisations it takes twice as long as the older one; with them it is the faster one.
_EMITTERS = "xla_cpu_use_fusion_emitters"
_BOTH_WAYS = version("jaxlib").startswith("0.10.")

INSTRUCTIONS_FOR_USERS: dict[str, Any] = {_EMITTERS: True} if _BOTH_WAYS else {}
"""Options of the compiler with which the text of a program and its memory are those that users get.

The machine code is made in half the time, and may round otherwise.
"""

FULL_OPTIMISATION: dict[str, Any] = INSTRUCTIONS_FOR_USERS | {"xla_backend_optimization_level": 3}
"""Options of the compiler with which a program is the one that users get."""

# Machine code in one piece instead of 32 that are compiled at the same time: each of these has
# costs of its own, and the other cores have other tests to run.
_QUICK_FLAGS = ["--xla_cpu_parallel_codegen_split_count=1"]
if _BOTH_WAYS:
    _QUICK_FLAGS.append(f"--{_EMITTERS}=false")


def ask_for_quick_compiling() -> None:
    """What most tests say is the same however well a program is compiled, and compiling takes
    longer than running: let JAX, here and in the processes that tests start, do little of it.
    """
    if os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1") == "1":
        os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *_QUICK_FLAGS]).strip()


def flags_for_users() -> str:
    """The XLA_FLAGS of this process without those of the tests."""
    return " ".join(f for f in os.environ.get("XLA_FLAGS", "").split() if f not in _QUICK_FLAGS)
