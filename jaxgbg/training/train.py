"""The one training loop: lanes of seeds and FARL variants, in chunks, evaluated at milestones."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgbg.arena import MatchJudge, Protocol, Solver, compete, make_judge
from jaxgbg.learners import Hyperparameters, Lane, Learner
from jaxgbg.players import GreedyAgent, Player
from jaxgbg.training.config import Config, protocol_for
from jaxgbg.training.lanes import begin, lanes_sharding, program_of

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
    """Runs in progress, lanes of one program: iterate `rounds()` or `evaluations()` to the end.

    All lanes reach a milestone before any goes on: they are evaluated together, and what a run
    draws does not depend on how fast it was. Several `configs` must agree in `program_of`.
    """

    def __init__(self, *configs: Config) -> None:
        if len({program_of(config) for config in configs}) != 1:
            raise ValueError("runs can be trained together only as lanes of one program")
        self.configs = configs
        self.config = configs[0]
        self.lanes = tuple(lane for config in configs for lane in config.lanes)
        self.owners = tuple(run for run, config in enumerate(configs) for _ in config.lanes)
        self._sharding = lanes_sharding(len(self.lanes))
        self.state, self._hyper, self.learner = begin(configs, self._sharding)
        self.opponents: dict[str, Any] = {
            name: judge.opponent if isinstance(judge, MatchJudge) else judge
            for name in self.config.opponents
            for judge in [make_judge(name, self.learner.game)]
        }
        self._chunk = compile_chunk(self.learner, self._sharding.mesh)
        self._blocks = 1
        self.seconds = 0.0
        self.reached = 0
        """Milestones evaluated."""
        self.evaluating = False
        self.diverged: list[int] = []
        """Lanes whose networks are past repair."""

    @property
    def milestones(self) -> tuple[int, ...]:
        """Numbers of episodes after which all lanes are evaluated."""
        total, every = self.config.episodes, self.config.eval_every
        return *range(every, total, every), total

    def progress(self) -> Progress:
        live = len(self.lanes)
        episodes = int(np.asarray(self.state.finished)[:live].sum())
        moves = int(np.asarray(self.state.moves, np.uint64)[:live].sum())
        return Progress(episodes, moves, self.seconds, self.config.episodes * live)

    def advance(self, limit: int) -> None:
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
        self.diverged = np.flatnonzero(~np.all(finite, 0)).tolist()
        if len(self.diverged) == len(self.lanes):
            raise ValueError(
                "training has diverged: no network has finite weights any more;"
                " use a smaller --alpha, or --output tanh"
            )

    def rounds(
        self, on_chunk: Callable[[Progress], None] = lambda _: None
    ) -> Iterator[list[tuple[int, Evaluation]]]:
        """Train to the end, yielding the evaluations of each milestone, each with its run's number.

        `on_chunk` is told after each chunk; between chunks the state may be kept or replaced.
        """
        live = len(self.lanes)
        for episodes in self.milestones[self.reached :]:
            while np.asarray(self.state.finished)[:live].min() < episodes:
                self.advance(episodes)
                on_chunk(self.progress())
            self.evaluating = True
            found = list(self._evaluate(episodes))
            self.evaluating = False
            self.reached += 1
            yield found

    def evaluations(
        self, on_chunk: Callable[[Progress], None] = lambda _: None
    ) -> Iterator[Evaluation]:
        """Train to the end, yielding every evaluation."""
        for found in self.rounds(on_chunk):
            yield from (one for _, one in found)

    def agents(self, run: int = 0) -> dict[tuple[int, str], Any]:
        """The parameters of every lane of one run as they stand, on the host."""
        return {
            lane: jax.device_get(jax.tree.map(lambda leaf, at=at: leaf[at], self.state.params))
            for at, (lane, owner) in enumerate(zip(self.lanes, self.owners, strict=True))
            if owner == run
        }

    def changing(self) -> Lane:
        """What a checkpoint holds of the lanes: plain arrays, without what never changes."""
        key = jax.random.key_data(self.state.key)
        return self.state._replace(key=key, partner=None)

    def restore(self, leaves: Sequence[np.ndarray], reached: int, seconds: float) -> None:
        """Go on from the leaves of what was `changing` once."""
        placed = jax.device_put(list(leaves), self._sharding)
        state = jax.tree.unflatten(jax.tree.structure(self.changing()), placed)
        self.state = state._replace(
            key=jax.random.wrap_key_data(state.key), partner=self.state.partner
        )
        self.reached, self.seconds = reached, seconds

    def _evaluate(self, episodes: int) -> Iterator[tuple[int, Evaluation]]:
        game, value = self.learner.game, self.learner.value
        zero_terminal = self.config.zero_terminal
        agent = GreedyAgent(game, value, self.state.params, zero_terminal, several=True)
        for number, (name, opponent) in enumerate(self.opponents.items()):
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), number), episodes)
            protocol = protocol_for(game.name, name)
            if self.config.starts:
                protocol = dataclasses.replace(protocol, starts=self.config.starts)
            found = evaluate(agent, name, opponent, episodes, self.lanes, key, protocol)
            yield from zip(self.owners, found, strict=True)


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
    protocol: Protocol | None = None,
) -> Iterator[Evaluation]:
    """One evaluation of each copy of `agent`, by the published protocol if no other is given.

    `lanes` names the seed and FARL variant of every copy, `name` the opponent.
    """
    if isinstance(opponent, Solver):
        played, scores = False, opponent.scores(agent, key)
    else:
        protocol = protocol or protocol_for(agent.game.name, name)
        played, scores = True, compete(agent.game, agent, opponent, protocol, key)
    # Copies beyond the lanes only fill up a device.
    for (seed, farl), found in zip(lanes, scores, strict=False):
        wins = float((found > 0).mean()) if played else None
        yield Evaluation(seed, farl, episodes, name, float(found.mean()), found.size, wins)
