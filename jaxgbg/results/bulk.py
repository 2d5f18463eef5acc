"""What makes very many objects at once, without the collector of cycles."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """No search for cycles, of which runs and their evaluations have none.

    It would go through all that is there already again and again: half of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
