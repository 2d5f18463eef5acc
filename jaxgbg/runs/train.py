"""The one training loop: lanes of seeds and FARL variants, in chunks, evaluated at milestones."""

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from jaxgbg.arena import compete
from jaxgbg.learners import Hyperparameters, Lane, TDLearner
from jaxgbg.players import GreedyAgent, Player, Solver, make_opponent
from jaxgbg.runs.config import FARL_SWITCHES, Config, protocol_for
from jaxgbg.values import NTupleParams

TICKS_A_BLOCK = 32
SECONDS_A_CHUNK = 0.5


class Evaluation(NamedTuple):
    """Mean reward of one agent against one opponent after `episodes` of its training."""

    seed: int
    farl: str
    episodes: int
    opponent: str
    score: float
    games: int


class Progress(NamedTuple):
    """Where a run stands: episodes and moves over all lanes, seconds spent in training chunks."""

    episodes: int
    moves: int
    seconds: float
    total_episodes: int


def hyperparameters(config: Config, lanes: tuple[tuple[int, str], ...]) -> Hyperparameters:
    """The traced scalars of `lanes`, each with a leading axis over them."""

    def number(value: float) -> jax.Array:
        return jnp.full(len(lanes), value, jnp.float32)

    def switch(value: bool) -> jax.Array:
        return jnp.full(len(lanes), value, bool)

    parts = np.array([FARL_SWITCHES[variant] for _, variant in lanes])
    return Hyperparameters(
        episodes=jnp.full(len(lanes), config.episodes, jnp.uint32),
        alpha_start=number(config.alpha_start),
        alpha_end=number(config.alpha_end),
        epsilon_start=number(config.epsilon_start),
        epsilon_end=number(config.epsilon_end),
        trace_decay=number(config.trace_decay),
        beta=number(config.beta),
        learn_from_random=switch(config.learn_from_random),
        final_others=jnp.array(parts[:, 0]),
        final_zero=jnp.array(parts[:, 1]),
        zero_terminal=switch(config.zero_terminal),
        reset_traces=switch(config.reset_traces),
    )


def begin(
    config: Config, learner: TDLearner, lanes: tuple[tuple[int, str], ...], sharding: NamedSharding
) -> Lane:
    """The state of `lanes` before their first tick."""
    keys = jax.vmap(jax.random.key)(np.array([seed for seed, _ in lanes], np.uint32))
    layouts = np.zeros((len(lanes), 0, 0), np.int32)
    if learner.value.varied:
        layouts = np.array([config.layout(seed) for seed, _ in lanes], np.int32)
    return jax.jit(jax.vmap(learner.init), out_shardings=sharding)(keys, layouts)


def lane_mesh(num_lanes: int) -> Mesh:
    """The devices that share `num_lanes` lanes."""
    devices = jax.devices()[:num_lanes]
    return jax.make_mesh((len(devices),), ("lanes",), (AxisType.Auto,), devices=devices)


@lru_cache(maxsize=1)
def _compiler_options() -> dict[str, str]:
    """Matrix products by Eigen where XLA has both it and YNNPACK on the CPU.

    The products here are small and stand in a loop between look-ups in large tables; YNNPACK takes
    several times as long there (jaxlib 0.10.2: 2048 and ConnectFour train 1.7 times as fast
    without it), although not when it is timed alone.
    """
    options = {"xla_cpu_experimental_ynn_fusion_type": ""}
    try:
        jax.jit(jnp.negative, compiler_options=options)(np.float32(0))
    except jax.errors.JaxRuntimeError:
        # Another version, without this option.
        return {}
    return options


@lru_cache(maxsize=8)
def compile_chunk(learner: TDLearner, mesh: Mesh) -> Any:
    """The compiled hot path: (lanes, hyperparameters, limits uint32[L], blocks int32[]) -> lanes.

    Each device runs its own lanes, without a word to the others, until `blocks` blocks of ticks are
    done or all its lanes have finished `limits` episodes. The lanes passed in are used up.
    """
    one, every = PartitionSpec("lanes"), PartitionSpec()

    def chunk(lanes: Lane, hyper: Hyperparameters, limit: jax.Array, blocks: jax.Array) -> Lane:
        def block(carry: tuple[jax.Array, Lane]) -> tuple[jax.Array, Lane]:
            number, lanes = carry
            lanes, _ = jax.vmap(
                lambda lane, hyper, limit: learner.advance(lane, hyper, limit, TICKS_A_BLOCK)
            )(lanes, hyper, limit)
            return number + 1, lanes

        def busy(carry: tuple[jax.Array, Lane]) -> jax.Array:
            return (carry[0] < blocks) & (carry[1].finished < limit).any()

        return jax.lax.while_loop(busy, block, (jnp.int32(0), lanes))[1]

    sharded = jax.shard_map(
        chunk, mesh=mesh, in_specs=(one, one, one, every), out_specs=one, check_vma=False
    )
    # A device of its own would otherwise write its sharding in another way: compiled twice.
    return jax.jit(
        sharded,
        donate_argnums=0,
        out_shardings=NamedSharding(mesh, one),
        compiler_options=_compiler_options(),
    )


class Training:
    """A run in progress: iterate `evaluations()` to its end, read `agents()` at any time."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.learner = config.make_learner()
        self.opponents: dict[str, Player | Solver | None] = {
            name: make_opponent(name, self.learner.game) for name in config.opponents
        }
        self._finished: dict[tuple[int, str], NTupleParams] = {}
        self.seconds = 0.0
        self._done = (0, 0)
        self.lanes: tuple[tuple[int, str], ...] = ()
        self._blocks = 1
        self._limits = np.full(len(config.lanes), min(config.eval_every, config.episodes))
        self._place(config.lanes, None)

    def _place(self, lanes: tuple[tuple[int, str], ...], old: Lane | None) -> None:
        """Lay `lanes` out over the devices, taken from the present state `old` or begun anew.

        Lanes beyond them, which never start an episode, fill up the last device.
        """
        mesh = lane_mesh(len(lanes))
        sharding = NamedSharding(mesh, PartitionSpec("lanes"))
        filled = lanes + lanes[:1] * (-len(lanes) % mesh.size)
        if old is None:
            state = begin(self.config, self.learner, filled, sharding)
        else:
            rows = np.array([self.lanes.index(lane) for lane in filled])
            self._limits = self._limits[rows[: len(lanes)]]
            state = jax.device_put(jax.tree.map(lambda leaf: leaf[rows], old), sharding)
        self.lanes, self._filled, self._sharding, self.state = lanes, filled, sharding, state
        self._chunk = compile_chunk(self.learner, mesh)
        self._hyper = jax.device_put(hyperparameters(self.config, filled), sharding)

    def progress(self) -> Progress:
        live = len(self.lanes)
        episodes = int(np.asarray(self.state.finished)[:live].sum()) + self._done[0]
        moves = int(np.asarray(self.state.moves, np.uint64)[:live].sum()) + self._done[1]
        total = self.config.episodes * len(self.config.lanes)
        return Progress(episodes, moves, self.seconds, total)

    def _advance(self) -> None:
        idle = np.zeros(len(self._filled) - len(self.lanes))
        limits = np.concatenate([self._limits, idle]).astype(np.uint32)
        start = time.perf_counter()
        self.state = self._chunk(
            self.state,
            self._hyper,
            jax.device_put(limits, self._sharding),
            np.int32(self._blocks),
        )
        jax.block_until_ready(self.state.finished)
        seconds = time.perf_counter() - start
        self.seconds += seconds
        if seconds < SECONDS_A_CHUNK / 2 and self._blocks < 2**20:
            self._blocks *= 2
        elif seconds > SECONDS_A_CHUNK and self._blocks > 1:
            self._blocks //= 2

    def evaluations(
        self, on_chunk: Callable[[Progress], None] = lambda _: None
    ) -> Iterator[Evaluation]:
        """Train to the end, yielding every evaluation; `on_chunk` is told after each chunk."""
        while self.lanes:
            self._advance()
            on_chunk(self.progress())
            ready = np.asarray(self.state.finished)[: len(self.lanes)] >= self._limits
            ready &= np.array([lane not in self._finished for lane in self.lanes])
            if not ready.any():
                continue
            yield from self._evaluate(ready)
            over = ready & (self._limits >= self.config.episodes)
            for number in np.flatnonzero(over):
                self._finished.setdefault(self.lanes[number], self._params(int(number)))
            raised = np.minimum(self._limits + self.config.eval_every, self.config.episodes)
            self._limits = np.where(ready, raised, self._limits)
            rest = tuple(lane for lane in self.lanes if lane not in self._finished)
            if not rest:
                return
            # Finished lanes cost as much as busy ones; a new layout costs a compilation.
            if len(rest) <= len(self.lanes) // 2:
                before = self.progress()
                self._place(rest, self.state)
                now = self.progress()
                self._done = (
                    self._done[0] + before.episodes - now.episodes,
                    self._done[1] + before.moves - now.moves,
                )

    def _params(self, number: int) -> NTupleParams:
        return jax.device_get(NTupleParams(*(leaf[number] for leaf in self.state.params)))

    def agents(self) -> dict[tuple[int, str], NTupleParams]:
        """The tables of every lane as they stand, on the host."""
        running = {lane: number for number, lane in enumerate(self.lanes)}
        return {
            lane: self._finished[lane] if lane in self._finished else self._params(running[lane])
            for lane in self.config.lanes
        }

    def _evaluate(self, ready: np.ndarray) -> Iterator[Evaluation]:
        game = self.learner.game
        limits = np.zeros(len(self._filled), int)
        limits[: len(ready)] = np.where(ready, self._limits, 0)
        agent = GreedyAgent(game, self.learner.value, self.state.params, self.config.zero_terminal)
        for episodes in sorted({int(limit) for limit in self._limits[ready]}):
            there = limits == episodes
            for number, (name, opponent) in enumerate(self.opponents.items()):
                key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), number), episodes)
                yield from evaluate(agent, name, opponent, episodes, self._filled, there, key)


def evaluate(
    agent: GreedyAgent,
    name: str,
    opponent: Player | Solver | None,
    episodes: int,
    lanes: tuple[tuple[int, str], ...],
    playing: np.ndarray,
    key: jax.Array,
) -> Iterator[Evaluation]:
    """One evaluation of each copy of `agent` that is `playing` bool[copies], by Table 1's protocol.

    `lanes` names the seed and FARL variant of every copy, `name` the opponent.
    """
    if isinstance(opponent, Solver):
        scores = opponent.judge(agent, key)
    else:
        protocol = protocol_for(agent.game.name, name)
        scores = compete(agent.game, agent, opponent, protocol, key, playing)
    for lane in np.flatnonzero(playing):
        seed, farl = lanes[lane]
        found = float(scores[lane].mean())
        yield Evaluation(seed, farl, episodes, name, found, scores[lane].size)
