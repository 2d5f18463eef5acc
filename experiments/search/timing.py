"""What a search takes, as the studies of this folder time it."""

import statistics
import time
from typing import Any

import jax

from jaxgbg.players import Player

REPEATS = 3


def seconds(player: Player, states: Any) -> tuple[float, float]:
    """Of choosing a move in each of states[B], once compiled: by the clock, and CPU time.

    The median of `REPEATS`. CPU time is that of this process, whatever else keeps the cores busy.
    """
    jax.block_until_ready(player.act(states, jax.random.key(0)))
    wall, cpu = [], []
    for key in range(REPEATS):
        begun = time.perf_counter(), time.process_time()
        jax.block_until_ready(player.act(states, jax.random.key(key)))
        wall.append(time.perf_counter() - begun[0])
        cpu.append(time.process_time() - begun[1])
    return statistics.median(wall), statistics.median(cpu)
