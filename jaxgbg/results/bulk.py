"""Create very many objects without the garbage collector."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Turn off the garbage collector: runs and their evaluations have no reference cycles.

    It would scan all existing objects again and again, which takes half of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
