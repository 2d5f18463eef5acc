"""The one training loop: lanes of seeds and FARL variants, in chunks, evaluated at milestones."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgbg.arena import Judge
from jaxgbg.games.sampling import compiler_option
from jaxgbg.learners import Hyperparameters, Lane, Learner
from jaxgbg.learners.selection import LANE
from jaxgbg.players import GreedyAgent, Player
from jaxgbg.training.averaging import NEVER, Mean, add_sample, begin_mean
from jaxgbg.training.huge_pages import move_to_huge_pages
from jaxgbg.training.lanes import begin, lanes_sharding, program_of
from jaxgbg.training.memory import TICKS_A_BLOCK
from jaxgbg.training.opponents import judge_by
from jaxgbg.training.run import LaneName, Run
from jaxgbg.values import HasGradients

SECONDS_A_CHUNK = 0.5


class Result(NamedTuple):
    """Mean reward of one agent against one opponent after `episodes` of its training.

    `wins` is the share of the games that brought the agent a positive reward; None in runs of
    before this was kept and where no games are played to their ends.
    """

    seed: int
    variant: str
    episodes: int
    opponent: str
    score: float
    games: int
    wins: float | None = None


class Changing(NamedTuple):
    """All of a training that changes, L lanes: their states and, if there are any, their means."""

    lanes: Lane
    mean: Mean | None


class Progress(NamedTuple):
    """Where a run stands: episodes and moves over all lanes, seconds spent in training chunks."""

    episodes: int
    moves: int
    seconds: float
    total_episodes: int


# Matrix products by Eigen where XLA has both it and YNNPACK on the CPU: they are small and stand in
# a loop between look-ups in large tables, where YNNPACK takes several times as long (jaxlib 0.10.2:
# 2048 and ConnectFour train 1.7 times as fast without it), although not when it is timed alone.
_EIGEN = ("xla_cpu_experimental_ynn_fusion_type", "")


@lru_cache(maxsize=8)
def compile_chunk(learner: Learner, mesh: Mesh, pausing: bool = False) -> Any:
    """The compiled hot path: (lanes, hyperparameters, limits uint32[L], blocks int32[]) -> lanes.

    Each device runs its own lanes, without a word to the others, until `blocks` blocks of ticks are
    done or all its lanes have finished `limits` episodes. The lanes passed in are used up. One that
    is `pausing` takes uint32[L] more, and stops after the block in which one of its lanes has
    finished so many episodes.
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
            return number + 1, learner.between_blocks(lanes, hyper, limit)

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
    # A device of its own would otherwise write its sharding in another way: compiled twice.
    return jax.jit(
        sharded,
        donate_argnums=0,
        out_shardings=NamedSharding(mesh, one),
        compiler_options=compiler_option(*_EIGEN),
    )


class Training:
    """Runs in progress, lanes of one program: iterate `rounds()` or `evaluations()` to the end.

    All lanes reach a milestone before any goes on: they are evaluated together, and what a run
    draws does not depend on how fast it was. Several `runs` must agree in `program_of`.
    """

    def __init__(self, *runs: Run) -> None:
        if len({program_of(run) for run in runs}) != 1:
            raise ValueError("runs can be trained together only as lanes of one program")
        self.runs = runs
        self.lanes = tuple(lane for run in runs for lane in run.lanes)
        self.owners = tuple(number for number, run in enumerate(runs) for _ in run.lanes)
        self._sharding = lanes_sharding(len(self.lanes))
        self.state, self._hyper, self.learner = begin(runs, self._sharding)
        evaluation = runs[0].evaluation
        self.judges: list[Judge] = [
            judge_by(name, self.learner.game, evaluation.protocol_of(name))
            for name in evaluation.opponents
        ]
        averaging = runs[0].averaging
        self._points = averaging.points(self.episodes)
        self.mean: Mean | None = None
        if averaging.on:
            self.mean = begin_mean(self.learner.value, self.state.params, self._sharding)
        self._chunk = compile_chunk(self.learner, self._sharding.mesh, pausing=averaging.on)
        self._settled = False
        self._blocks = 1
        self.seconds = 0.0
        self.reached = 0
        """Milestones evaluated."""
        self.evaluating = False
        self.diverged: list[int] = []
        """Lanes whose networks are past repair."""

    @property
    def episodes(self) -> int:
        """The budget of each lane."""
        return self.runs[0].schedule.episodes

    def _milestones(self) -> Iterator[int]:
        """Numbers of episodes after which all lanes are evaluated, those to come."""
        every = self.runs[0].evaluation.every
        # There may be too many of them for a list.
        before_last = range(every, self.episodes, every)
        last = [self.episodes] if self.reached <= len(before_last) else []
        return itertools.chain(before_last[self.reached :], last)

    @property
    def milestones(self) -> int:
        """How many evaluations there are of each lane, all in all."""
        every = self.runs[0].evaluation.every
        return len(range(every, self.episodes, every)) + 1

    @property
    def milestones_of_means(self) -> int:
        """After how many of these evaluations there is a mean of the weights to be judged too."""
        if not len(self._points):
            return 0
        every, first = self.runs[0].evaluation.every, int(self._points[0])
        return len(range(-(-first // every) * every, self.episodes, every)) + 1

    def progress(self) -> Progress:
        """Where all lanes stand together."""
        live = len(self.lanes)
        episodes = int(np.asarray(self.state.finished)[:live].sum())
        moves = int(np.asarray(self.state.moves, np.uint64)[:live].sum())
        return Progress(episodes, moves, self.seconds, self.episodes * live)

    def advance(self, limit: int) -> None:
        """One chunk of every lane on its way to `limit` episodes."""
        limits = np.zeros(self.state.finished.shape, np.uint32)
        limits[: len(self.lanes)] = limit
        pauses = [self._next_points()] if self.mean is not None else []
        start = time.perf_counter()
        self.state = self._chunk(
            self.state,
            self._hyper,
            jax.device_put(limits, self._sharding),
            np.int32(self._blocks),
            *(jax.device_put(pause, self._sharding) for pause in pauses),
        )
        jax.block_until_ready(self.state.finished)
        sampled = any(self._sample(pause) for pause in pauses)
        seconds = time.perf_counter() - start
        self.seconds += seconds
        if not self._settled:
            # From here on all chunks work in the memory that the first one has written to.
            move_to_huge_pages(self.state)
            self._settled = True
        self._check_finite()
        # A chunk that was cut short by a sample says nothing of how long others take.
        if seconds < SECONDS_A_CHUNK / 2 and self._blocks < 2**20 and not sampled:
            self._blocks *= 2
        elif seconds > SECONDS_A_CHUNK and self._blocks > 1:
            self._blocks //= 2

    def _next_points(self) -> np.ndarray:
        """uint32[L]: after how many episodes each lane gives its next sample."""
        finished = np.asarray(self.state.finished)
        return np.append(self._points, NEVER)[np.searchsorted(self._points, finished, "right")]

    def _sample(self, points: np.ndarray) -> bool:
        """Take a sample of each lane that has come to its point of uint32[L]; whether one has."""
        due = np.asarray(self.state.finished) >= points
        if self.mean is not None and due.any():
            value, averaging = self.learner.value, self.runs[0].averaging
            self.mean = add_sample(value, self.mean, self.state.params, due, averaging)
            jax.block_until_ready(self.mean.params)
        return bool(due.any())

    def _check_finite(self) -> None:
        """Note which agents are past repair; ValueError once all are.

        n-tuples' steps cannot run away. A network without finite weights plays at random, so that
        the other seeds can go on beside it.
        """
        if not isinstance(self.learner.value, HasGradients):
            return
        leaves = jax.tree.leaves(self.learner.value.for_player(self.state.params))
        finite = [np.asarray(_finite(leaf))[: len(self.lanes)] for leaf in leaves]
        self.diverged = np.flatnonzero(~np.all(finite, 0)).tolist()
        if len(self.diverged) == len(self.lanes):
            raise ValueError(
                "training has diverged: no network has finite weights any more;"
                " use a smaller --alpha, or --output tanh"
            )

    def rounds(
        self, on_chunk: Callable[[Progress], None] = lambda _: None
    ) -> Iterator[list[tuple[int, Result]]]:
        """Train to the end, yielding the evaluations of each milestone, each with its run's number.

        `on_chunk` is told after each chunk; between chunks the state may be kept or replaced.
        """
        live = len(self.lanes)
        for episodes in self._milestones():
            while np.asarray(self.state.finished)[:live].min() < episodes:
                self.advance(episodes)
                on_chunk(self.progress())
            self.evaluating = True
            evaluations = list(self.evaluate(episodes))
            self.evaluating = False
            self.reached += 1
            yield evaluations

    def evaluations(
        self, on_chunk: Callable[[Progress], None] = lambda _: None
    ) -> Iterator[Result]:
        """Train to the end, yielding every evaluation."""
        for evaluations in self.rounds(on_chunk):
            yield from (one for _, one in evaluations)

    def agents(self, run: int = 0) -> dict[LaneName, Any]:
        """The parameters of every lane of one run as they stand, on the host."""
        return self._of_lanes(self.state.params, run)

    def means(self, run: int = 0) -> dict[LaneName, Any]:
        """Those of the agents of averaged weights, if any: what a player needs of them."""
        if self.mean is None:
            return {}
        return {lane.mean: own for lane, own in self._of_lanes(self.mean.params, run).items()}

    def _of_lanes(self, params: Any, run: int) -> dict[LaneName, Any]:
        """One lane after the other of parameters [L, ...], on the host: those of one run."""
        return {
            lane: jax.device_get(jax.tree.map(lambda leaf, at=at: leaf[at], params))
            for at, (lane, owner) in enumerate(zip(self.lanes, self.owners, strict=True))
            if owner == run
        }

    def changing(self) -> Changing:
        """What a checkpoint holds: plain arrays, without what never changes."""
        key = jax.random.key_data(self.state.key)
        return Changing(self.state._replace(key=key, partner=None), self.mean)

    def restore(self, leaves: Sequence[np.ndarray], reached: int, seconds: float) -> None:
        """Go on from the leaves of what was `changing` once."""
        placed = jax.device_put(list(leaves), self._sharding)
        state, mean = jax.tree.unflatten(jax.tree.structure(self.changing()), placed)
        self.state = state._replace(
            key=jax.random.wrap_key_data(state.key), partner=self.state.partner
        )
        self.mean = mean and mean._replace(samples=np.asarray(mean.samples))
        self.reached, self.seconds = reached, seconds
        self._settled = False

    def evaluate(self, episodes: int) -> Iterator[tuple[int, Result]]:
        """Evaluate every lane as it stands, after `episodes`, each result with its run's number.

        So is the mean of its weights, once there is one, from the same starts.
        """
        agents = {self.lanes: self.state.params}
        if self.mean is not None and self.mean.samples[: len(self.lanes)].all():
            agents[tuple(lane.mean for lane in self.lanes)] = self.mean.params
        players = {names: self._player(params) for names, params in agents.items()}
        for number, judge in enumerate(self.judges):
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), number), episodes)
            for names, player in players.items():
                evaluations = evaluate(player, judge, episodes, names, key)
                yield from zip(self.owners, evaluations, strict=True)

    def _player(self, params: Any) -> Player:
        """The agents of parameters [L, ...], playing as they are to be judged."""
        learner, valuation = self.learner, self._hyper.valuation
        agent = GreedyAgent(learner.game, learner.value, params, valuation, several=True)
        return self.runs[0].play.player(agent)


@jax.jit
def _finite(leaf: jax.Array) -> jax.Array:
    """bool[L]: whether all numbers of each lane are finite."""
    return jnp.isfinite(leaf).reshape(leaf.shape[0], -1).all(1)


def evaluate(
    agents: Player,
    judge: Judge,
    episodes: int,
    lanes: Sequence[LaneName],
    key: jax.Array,
) -> Iterator[Result]:
    """One evaluation of each copy of `agents` after `episodes`; `lanes` names the copies.

    Those of one seed, whatever the variant, meet the same drawn starts.
    """
    # Copies beyond the lanes only fill up a device.
    seeds = [seed for seed, _ in lanes] + [lanes[0][0]] * (agents.copies - len(lanes))
    scores = judge.scores(agents, key, seeds)
    wins = judge.wins(scores)
    for number, (seed, variant) in enumerate(lanes):
        own = scores[number]
        share = None if wins is None else float(wins[number])
        yield Result(seed, variant, episodes, judge.name, float(own.mean()), own.size, share)
