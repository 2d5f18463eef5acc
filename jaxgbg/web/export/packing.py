"""Arrays as text: compressed and in base64; of mostly-zero arrays only the other entries."""

import base64
import zlib
from collections.abc import Sequence

import numpy as np

from jaxgbg.types import JSON
from jaxgbg.web.export.elementwise import ARRAYS

DENSE = -1
"""Marks an array that is stored completely."""


def pack(arrays: Sequence[np.ndarray]) -> tuple[list[list[JSON]], str]:
    """Pack arrays: (kind, length and number of stored entries of each array; the text).

    Nothing is rounded. If most entries are 0, only the others are stored, after the gaps between
    them, seven bits a byte, lowest first. Bytes of equal significance are stored together, since
    those of numbers of similar size are alike.
    """
    entries, pieces = [], []
    for array in arrays:
        flat = np.ascontiguousarray(array).ravel()
        # -0.0 is not 0.
        active = np.flatnonzero(flat.view(f"u{flat.dtype.itemsize}"))
        sparse = 2 * len(active) < flat.size
        if sparse:
            pieces.append(_gaps(active))
        pieces.append(_as_bytes(flat[active] if sparse else flat).T.tobytes())
        kind = ARRAYS[flat.dtype.name]
        entries.append([kind, flat.size, len(active) if sparse else DENSE])
    return entries, base64.b64encode(zlib.compress(b"".join(pieces), 9)).decode()


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """uint8[size, bytes of an entry], lowest first."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.view(np.uint8).reshape(array.size, array.dtype.itemsize)


def _gaps(places: np.ndarray) -> bytes:
    """The distances between places, the first from -1."""
    gaps = np.diff(places, prepend=-1).astype(np.uint32)
    lengths = np.ones(gaps.size, np.int64)
    for bits in (7, 14, 21, 28):
        lengths += gaps >> bits > 0
    starts = np.cumsum(lengths) - lengths
    written = np.zeros(int(lengths.sum()), np.uint8)
    for number in range(5):
        there = lengths > number
        more = np.where(lengths[there] > number + 1, 128, 0)
        written[starts[there] + number] = (gaps[there] >> (7 * number)) & 127 | more
    return written.tobytes()
