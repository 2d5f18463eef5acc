"""JAX in a command: set up when it is first needed, so that mistakes are found without it."""

import contextlib
from collections.abc import Iterator

from jaxgbg import lazy

_open: list[contextlib.ExitStack] = []


@contextlib.contextmanager
def command() -> Iterator[None]:
    """Within the block, `start_jax` comes before the first use of JAX; what it opens is closed."""
    try:
        with lazy.before_first_use(start_jax):
            yield
    finally:
        while _open:
            _open.pop().close()


def start_jax() -> None:
    """Set JAX up unless this command has: devices, cache, signals while XLA compiles.

    To be called before a module is imported that imports JAX itself. Raises as `prepare_jax`.
    """
    if _open:
        return
    _open.append(contextlib.ExitStack())
    from jaxgbg.runs import devices

    devices.prepare_jax()
    from jaxgbg.runs.compilation import visible_compilation

    _open[0].enter_context(visible_compilation())
