"""What XLA makes of a training for an H100, asked of a machine without one.

    pip install --no-deps jax-cuda13-plugin==JAX jax-cuda13-pjrt==JAX nvidia-cuda-nvcc nvidia-nvvm
    JAX_PLATFORMS=cpu python -m experiments.gpu.programs --games connectfour 2048

with JAX the version of jax (and `nvidia-cuda-crt` where that is asked for). Of each game: MB a lane
of the tables and all else that goes in, MB a lane that the program needs in addition, how many
kernels a tick starts, and which arrays as large as a table it copies. What a GPU then takes for it,
only a GPU tells.
"""

import argparse
import math
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from unittest import mock

import jax
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.chunks import compile_chunk
from jaxgbg.runs.lanes import begin
from jaxgbg.runs.placement import LanePlacement, lane_mesh
from jaxgbg.runs.presets import GAMES, preset

# What the compiler asks of a device, as NVIDIA states it of the H100 SXM.
H100 = """
gpu_device_info {
  cuda_compute_capability { major: 9 }
  core_count: 132
  fpus_per_core: 128
  clock_rate_ghz: 1.98
  threads_per_warp: 32
  threads_per_block_limit: 1024
  threads_per_core_limit: 2048
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  shared_memory_per_block: 49152
  shared_memory_per_block_optin: 232448
  shared_memory_per_core: 233472
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  l2_cache_size: 52428800
  memory_bandwidth: 3352320000000
  device_memory_size: 84942979072
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 10 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
# A smaller array is no burden, be it as large as a small game's table.
_LARGE = 10**6
_OPERATION = re.compile(r"\s+(?:ROOT )?%?[\w.\-]+ = (.*?) ([\w\-]+)\(")
_NO_KERNEL = ("parameter", "get-tuple-element", "tuple", "bitcast", "constant", "while")


class Program(NamedTuple):
    """Of one compiled chunk; megabytes are those of a lane."""

    arguments_mb: float
    beside_mb: float
    kernels: int
    copied: tuple[str, ...]


def compiled(game: str, batch: int, seeds: int, mesh: Mesh) -> Program:
    """The chunk of a published training, compiled for the device of `mesh`."""
    run = preset(game, batch=batch, seeds=range(seeds))
    lanes, learner = len(run.lanes), run.make_learner()
    # The shapes are those of one lane; so many tables need not be made here.
    one = preset(game, batch=batch, seeds=(0,), variants=("farl",))
    (state,), (hyper,), _ = begin([one], LanePlacement(1, 1, lane_mesh(1)))
    each, every = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in (("lanes",), ()))

    def of_all(leaf: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((lanes, *leaf.shape[1:]), leaf.dtype, sharding=each)

    with mock.patch.object(jax, "default_backend", return_value="gpu"):
        traced = compile_chunk(learner, mesh).trace(
            jax.tree.map(of_all, state),
            jax.tree.map(of_all, hyper),
            jax.ShapeDtypeStruct((lanes,), np.uint32, sharding=each),
            jax.ShapeDtypeStruct((), np.int32, sharding=every),
        )
        program = traced.lower(lowering_platforms=("cuda",)).compile()
    memory, text = program.memory_analysis(), program.as_text()
    return Program(
        memory.argument_size_in_bytes / lanes / 1e6,
        memory.temp_size_in_bytes / lanes / 1e6,
        kernels(text),
        copies(text, max(lanes * learner.value.num_weights, _LARGE)),
    )


def _operations(text: str) -> Iterator[tuple[str, str, str]]:
    """(computation, shape, operation) of each line of a compiled program."""
    computation = ""
    for line in text.splitlines():
        if header := re.match(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{$", line):
            computation = header[1]
        elif found := _OPERATION.match(line):
            yield computation, found[1], found[2]


def kernels(text: str) -> int:
    """How many operations that take a kernel the innermost large loop has, inner loops once."""
    bodies = re.findall(r"body=%?([\w.\-]+)", text)
    counts = dict.fromkeys(bodies, 0)
    for computation, _, operation in _operations(text):
        if computation in counts and operation not in _NO_KERNEL:
            counts[computation] += 1
    return max(counts.values(), default=0)


def copies(text: str, least: int) -> tuple[str, ...]:
    """The shapes of all copies within loops of arrays with at least so many numbers."""
    bodies = set(re.findall(r"body=%?([\w.\-]+)", text))
    return tuple(
        shape.split("{")[0]
        for computation, shape, operation in _operations(text)
        if operation in ("copy", "copy-start")
        and computation in bodies
        and max(_sizes(shape), default=0) >= least
    )


def _sizes(shape: str) -> list[int]:
    return [math.prod(map(int, axes.split(","))) for axes in re.findall(r"\w\[([\d,]+)\]", shape)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES), metavar="GAME")
    parser.add_argument("--batch", type=int, default=256, help="games in lockstep")
    parser.add_argument("--seeds", type=int, default=5, help="each with and without FARL")
    options = parser.parse_args(arguments)
    # Plugins are looked for when JAX starts.
    jax.devices()
    try:
        described = topologies.get_topology_desc(
            platform="cuda", target_config=H100, topology="1x1x1"
        )
    except (NotImplementedError, RuntimeError) as error:
        parser.exit(2, f"error: no compiler for CUDA here ({error}): see --help\n")
    mesh = Mesh(np.array(described.devices), ("lanes",))
    copied = 0
    for game in options.games:
        found = compiled(game, options.batch, options.seeds, mesh)
        copied += len(found.copied)
        print(
            f"{game}: {found.arguments_mb:.1f} MB a lane go in, {found.beside_mb:.1f} MB are needed"
            f" in addition, {found.kernels} kernels a tick;"
            f" table-sized copies in loops: {', '.join(found.copied) or 'none'}",
            flush=True,
        )
    sys.exit(1 if copied else 0)


if __name__ == "__main__":
    end_in_a_line(main)
