"""Weights in a few bits: whole numbers times a step, weights of 0 left out."""

from typing import Literal, NamedTuple

import numpy as np

Bits = Literal[8, 16]
BLOCK = 256
"""Consecutive weights that share a step."""


class Quantized(NamedTuple):
    """Weights w[i] = steps[i // BLOCK] * code, or 0 where there is no code.

    `steps` float32[ceil(R / BLOCK)]; `active` uint8[ceil(R / 8)] has a bit for each weight, the
    first one highest; `codes` int8 or int16 has the codes of these weights in their order.
    """

    steps: np.ndarray
    active: np.ndarray
    codes: np.ndarray


def quantize(weights: np.ndarray, bits: Bits) -> Quantized:
    """Round float32[R] to `bits` bits; the greatest weight of each block keeps its value.

    The error of a weight is at most half a step: 1 / (2^bits - 2) of its block's greatest one.
    """
    most = 2 ** (bits - 1) - 1
    blocks = np.zeros((number_of_blocks(weights.size), BLOCK), np.float32)
    blocks.reshape(-1)[: weights.size] = weights
    steps = np.abs(blocks).max(axis=1) / np.float32(most)
    # A block of weights near the smallest float has a step of 0: it becomes 0.
    codes = np.rint(blocks / np.where(steps > 0, steps, np.inf)[:, None]).reshape(-1)
    active = codes[: weights.size] != 0
    kind = np.int8 if bits == 8 else np.int16
    return Quantized(steps, np.packbits(active), codes[: weights.size][active].astype(kind))


def dequantize(stored: Quantized, size: int) -> np.ndarray:
    """float32[size]; raises ValueError where the codes are not one for each active weight."""
    active = np.flatnonzero(np.unpackbits(stored.active, count=size))
    if len(active) != len(stored.codes):
        raise ValueError(f"{len(stored.codes):,} codes of {len(active):,} active weights")
    weights = np.zeros(size, np.float32)
    weights[active] = stored.steps[active // BLOCK] * stored.codes
    return weights


def number_of_blocks(size: int) -> int:
    """The number of steps of `size` weights."""
    return -(-size // BLOCK)
