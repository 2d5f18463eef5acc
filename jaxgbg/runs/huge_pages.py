"""Large tables on huge pages, where Linux has them: look-ups at random miss the TLB less often."""

import contextlib
import functools
import sys
from collections.abc import Callable

import jax

from jaxgbg.types import PyTree

PAGE = 2 << 20
"""Bytes of a huge page where it matters: on x86-64, and with 4 kB pages on ARM."""
# linux/mman.h; of the second one Linux before 6.1 knows nothing.
_MADV_HUGEPAGE, _MADV_COLLAPSE = 14, 25


def move_to_huge_pages(tree: PyTree) -> None:
    """Ask Linux for huge pages under the arrays of `tree` on the CPU, at once if it can.

    Nothing that is computed changes. Other systems, and kernels that do without, are left alone.
    """
    advise = _madvise()
    if advise is None:
        return
    for leaf in (leaf for leaf in jax.tree.leaves(tree) if leaf.nbytes >= PAGE):
        # The kernel collapses only pages that exist, and a page exists once it is written.
        jax.block_until_ready(leaf)
        for shard in leaf.addressable_shards:
            if shard.device.platform == "cpu":
                first, end = whole_pages(shard.data)
                if first < end and advise(first, end - first, _MADV_HUGEPAGE) == 0:
                    advise(first, end - first, _MADV_COLLAPSE)


def whole_pages(array: jax.Array) -> tuple[int, int]:
    """Addresses of the huge pages that lie within an array: the first one, and their end."""
    address = getattr(array, "unsafe_buffer_pointer", None)
    if address is None:
        # JAX does not document it: without it arrays lie where they are.
        return 0, 0
    start = address()
    return -(-start // PAGE) * PAGE, (start + array.nbytes) // PAGE * PAGE


@functools.cache
def _madvise() -> Callable[[int, int, int], int] | None:
    """The C library's madvise; None where it has none."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        return madvise
    return None
