"""The one training loop: lanes of seeds and FARL variants, in chunks, evaluated at milestones."""

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from jaxgbg.arena import compete
from jaxgbg.learners import Hyperparameters, Lane, Learner
from jaxgbg.players import GreedyAgent, Player, Solver, make_opponent, make_player
from jaxgbg.runs.agents import load_agent
from jaxgbg.runs.config import FARL_SWITCHES, Config, protocol_for

TICKS_A_BLOCK = 32
SECONDS_A_CHUNK = 0.5


class Evaluation(NamedTuple):
    """Mean reward of one agent against one opponent after `episodes` of its training.

    `wins` is the share of the games that brought the agent a positive reward; None in runs of
    before this was kept and where no games are played to their ends.
    """

    seed: int
    farl: str
    episodes: int
    opponent: str
    score: float
    games: int
    wins: float | None = None


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
        discount=number(config.discount),
        learn_from_random=switch(config.learn_from_random),
        final_others=jnp.array(parts[:, 0]),
        final_zero=jnp.array(parts[:, 1]),
        zero_terminal=switch(config.zero_terminal),
        reset_traces=switch(config.reset_traces),
        learn_from_partner=switch(config.learn_from_partner),
    )


def begin(
    config: Config, learner: Learner, lanes: tuple[tuple[int, str], ...], sharding: NamedSharding
) -> Lane:
    """The state of `lanes` before their first tick."""
    keys = jax.vmap(jax.random.key)(np.array([seed for seed, _ in lanes], np.uint32))
    layouts = np.zeros((len(lanes), 0, 0), np.int32)
    if learner.value.varied:
        layouts = np.array([config.layout(seed) for seed, _ in lanes], np.int32)
    start = jax.vmap(learner.init, in_axes=(0, 0, None))
    return jax.jit(start, out_shardings=sharding)(keys, layouts, make_partner(config))


def make_partner(config: Config) -> Player | None:
    """Whom a run trains against: nobody but itself, a player by name, or a saved agent.

    Raises ValueError for an unknown player, one that only plays on the host, or another game's.
    """
    if config.partner == "self":
        return None
    if Path(config.partner).suffix == ".agent" or Path(config.partner).is_file():
        return load_agent(config.partner, config.game).player()
    player = make_player(config.partner, config.make_game())
    if not getattr(player, "traceable", False):
        raise ValueError(f"{config.partner} is too slow to train against: it plays on the host")
    return player


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
def compile_chunk(learner: Learner, mesh: Mesh) -> Any:
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
    """A run in progress: iterate `evaluations()` to its end, read `agents()` at any time.

    All lanes reach a milestone before any goes on: they are evaluated together, and what a run
    draws does not depend on how fast it was.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.learner = config.make_learner()
        self.opponents: dict[str, Player | Solver | None] = {
            name: make_opponent(name, self.learner.game) for name in config.opponents
        }
        self.lanes = config.lanes
        self.seconds = 0.0
        self._blocks = 1
        self.diverged: list[tuple[int, str]] = []
        mesh = lane_mesh(len(self.lanes))
        self._sharding = NamedSharding(mesh, PartitionSpec("lanes"))
        # Lanes that never start an episode fill up the last device.
        filled = self.lanes + self.lanes[:1] * (-len(self.lanes) % mesh.size)
        self.state = begin(config, self.learner, filled, self._sharding)
        self._chunk = compile_chunk(self.learner, mesh)
        self._hyper = jax.device_put(hyperparameters(config, filled), self._sharding)

    def progress(self) -> Progress:
        live = len(self.lanes)
        episodes = int(np.asarray(self.state.finished)[:live].sum())
        moves = int(np.asarray(self.state.moves, np.uint64)[:live].sum())
        return Progress(episodes, moves, self.seconds, self.config.episodes * live)

    def _advance(self, limit: int) -> None:
        """One chunk of every lane on its way to `limit` episodes."""
        limits = np.zeros(self.state.finished.shape, np.uint32)
        limits[: len(self.lanes)] = limit
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
        self._check_finite()
        if seconds < SECONDS_A_CHUNK / 2 and self._blocks < 2**20:
            self._blocks *= 2
        elif seconds > SECONDS_A_CHUNK and self._blocks > 1:
            self._blocks //= 2

    def _check_finite(self) -> None:
        """Note which networks are past repair; ValueError once all are.

        n-tuples' steps cannot run away. A network without finite weights plays at random, so that
        the other seeds can go on beside it.
        """
        if self.config.value != "mlp":
            return
        leaves = jax.tree.leaves(self.state.params.network)
        finite = [np.asarray(_finite(leaf))[: len(self.lanes)] for leaf in leaves]
        self.diverged = [
            lane for lane, fine in zip(self.lanes, np.all(finite, 0), strict=True) if not fine
        ]
        if len(self.diverged) == len(self.lanes):
            raise ValueError(
                "training has diverged: no network has finite weights any more;"
                " use a smaller --alpha, or --output tanh"
            )

    def evaluations(
        self, on_chunk: Callable[[Progress], None] = lambda _: None
    ) -> Iterator[Evaluation]:
        """Train to the end, yielding every evaluation; `on_chunk` is told after each chunk."""
        total, live = self.config.episodes, len(self.lanes)
        milestones = *range(self.config.eval_every, total, self.config.eval_every), total
        for episodes in milestones:
            while np.asarray(self.state.finished)[:live].min() < episodes:
                self._advance(episodes)
                on_chunk(self.progress())
            yield from self._evaluate(episodes)

    def agents(self) -> dict[tuple[int, str], Any]:
        """The parameters of every lane as they stand, on the host."""
        return {
            lane: jax.device_get(jax.tree.map(lambda leaf, at=at: leaf[at], self.state.params))
            for at, lane in enumerate(self.lanes)
        }

    def _evaluate(self, episodes: int) -> Iterator[Evaluation]:
        game, value = self.learner.game, self.learner.value
        zero_terminal = self.config.zero_terminal
        agent = GreedyAgent(game, value, self.state.params, zero_terminal, several=True)
        for number, (name, opponent) in enumerate(self.opponents.items()):
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), number), episodes)
            yield from evaluate(agent, name, opponent, episodes, self.lanes, key)


@jax.jit
def _finite(leaf: jax.Array) -> jax.Array:
    """bool[L]: whether all numbers of each lane are finite."""
    return jnp.isfinite(leaf).reshape(leaf.shape[0], -1).all(1)


def evaluate(
    agent: GreedyAgent,
    name: str,
    opponent: Player | Solver | None,
    episodes: int,
    lanes: tuple[tuple[int, str], ...],
    key: jax.Array,
) -> Iterator[Evaluation]:
    """One evaluation of each copy of `agent` by Table 1's protocol.

    `lanes` names the seed and FARL variant of every copy, `name` the opponent.
    """
    if isinstance(opponent, Solver):
        played, scores = False, opponent.judge(agent, key)
    else:
        protocol = protocol_for(agent.game.name, name)
        played, scores = True, compete(agent.game, agent, opponent, protocol, key)
    # Copies beyond the lanes only fill up a device.
    for (seed, farl), found in zip(lanes, scores, strict=False):
        wins = float((found > 0).mean()) if played else None
        yield Evaluation(seed, farl, episodes, name, float(found.mean()), found.size, wins)
