"""The compiled hot path: a chunk of the training of some lanes, without host communication."""

from functools import lru_cache

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgbg.learners import Hyperparameters, Lane, Learner
from jaxgbg.learners.masks import LANE
from jaxgbg.runs.memory import TICKS_A_BLOCK
from jaxgbg.xla import training_compile_options


@lru_cache(maxsize=8)
def compile_chunk(learner: Learner, mesh: Mesh, pausing: bool = False) -> jax.stages.Wrapped:
    """The compiled hot path: (lanes, hyperparameters, limits uint32[L], blocks int32[]) -> lanes.

    Each device runs its own lanes, without communication, until `blocks` blocks of ticks are done
    or all its lanes have finished `limits` episodes. The lanes passed in are donated. A `pausing`
    chunk takes one more argument uint32[L], and stops after the block in which one of its lanes has
    finished that number of episodes.
    """
    one, every = PartitionSpec("lanes"), PartitionSpec()

    def chunk(
        lanes: Lane,
        hyper: Hyperparameters,
        limit: jax.Array,
        blocks: jax.Array,
        *pause: jax.Array,
    ) -> Lane:
        def block(carry: tuple[jax.Array, Lane]) -> tuple[jax.Array, Lane]:
            number, lanes = carry
            lanes, _ = jax.vmap(
                lambda lane, hyper, limit: learner.advance(lane, hyper, limit, TICKS_A_BLOCK),
                axis_name=LANE,
            )(lanes, hyper, limit)
            return number + 1, learner.after_block(lanes, hyper, limit)

        def busy(carry: tuple[jax.Array, Lane]) -> jax.Array:
            going = (carry[0] < blocks) & (carry[1].finished < limit).any()
            return going & (carry[1].finished < pause[0]).all() if pausing else going

        return jax.lax.while_loop(busy, block, (jnp.int32(0), lanes))[1]

    sharded = jax.shard_map(
        chunk,
        mesh=mesh,
        in_specs=(one, one, one, every, *[one] * pausing),
        out_specs=one,
        check_vma=False,
    )
    # Otherwise a single device would have another sharding, and the chunk would compile twice.
    return jax.jit(
        sharded,
        donate_argnums=0,
        out_shardings=NamedSharding(mesh, one),
        compiler_options=training_compile_options(),
    )
