"""The one training loop: lanes of seeds and FARL variants, in chunks, evaluated at milestones."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.evaluation import Judge
from jaxgbg.games.precision import in_32_bits
from jaxgbg.learners import Hyperparameters, Lane
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.players import GreedyAgent, Player
from jaxgbg.runs.averaging import NEVER, Mean, add_sample, begin_mean
from jaxgbg.runs.chunks import compile_chunk
from jaxgbg.runs.huge_pages import move_to_huge_pages
from jaxgbg.runs.lanes import begin, program_of
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.result import Result
from jaxgbg.runs.run import LaneName, Run
from jaxgbg.types import Params
from jaxgbg.values import HasGradients

SECONDS_A_CHUNK = 0.5


class Changing(NamedTuple):
    """The parts of a lane that a training changes: its state and, if there is one, its mean."""

    lane: Lane
    mean: Mean | None


class Progress(NamedTuple):
    """Progress of a run: episodes and moves of all lanes, seconds spent in training chunks."""

    episodes: int
    moves: int
    seconds: float
    total_episodes: int


class Training:
    """Runs in progress, lanes of one program: iterate `rounds()` or `evaluations()` to the end.

    All lanes reach a milestone before any of them continues. So they are evaluated together, and
    random draws do not depend on speed. Several `runs` must have the same `program_of`.
    """

    @in_32_bits
    def __init__(self, *runs: Run) -> None:
        if len({program_of(run) for run in runs}) != 1:
            raise ValueError("runs can be trained together only as lanes of one program")
        self.runs = runs
        self.lanes = tuple(lane for run in runs for lane in run.lanes)
        self.owners = tuple(number for number, run in enumerate(runs) for _ in run.lanes)
        self.groups, self._hypers, self.placement = begin(runs)
        """The states of the lanes, group by group, each an array [S, ...] for S lanes at once."""
        self.learner = runs[0].make_learner()
        evaluation = runs[0].evaluation
        self.judges: list[Judge] = [
            judge_by(name, self.learner.game, evaluation.protocol_of(name))
            for name in evaluation.opponents
        ]
        averaging = runs[0].averaging
        self._points = averaging.points(self.episodes)
        value, sharding = self.learner.value, self.placement.sharding
        self.means_so_far: list[Mean] = []
        if averaging.on:
            self.means_so_far = [begin_mean(value, each.params, sharding) for each in self.groups]
        self._chunk = compile_chunk(self.learner, sharding.mesh, pausing=averaging.on)
        self._settled: set[int] = set()
        self._blocks = 1
        self._wraps = np.zeros(len(self.lanes), np.uint64)
        self.seconds = 0.0
        self.reached = 0
        """Milestones evaluated."""
        self.evaluating = False
        self.starting = False
        """Whether a chunk is about to start, and may have to be compiled first."""
        self.diverged: list[int] = []
        """Lanes whose networks have diverged."""

    @property
    def episodes(self) -> int:
        """The budget of each lane."""
        return self.runs[0].schedule.episodes

    def _milestones(self) -> Iterator[int]:
        """The remaining numbers of episodes after which all lanes are evaluated."""
        every = self.runs[0].evaluation.every
        # There may be too many of them for a list.
        before_last = range(every, self.episodes, every)
        last = [self.episodes] if self.reached <= len(before_last) else []
        return itertools.chain(before_last[self.reached :], last)

    @property
    def milestones(self) -> int:
        """The total number of evaluations of each lane."""
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
        """The progress of all lanes together."""
        episodes, moves = (int(each.sum(dtype=np.uint64)) for each in (self.finished, self.moves))
        return Progress(episodes, moves, self.seconds, self.episodes * len(self.lanes))

    @property
    def finished(self) -> np.ndarray:
        """uint32[L]: the episodes that each lane has finished."""
        return self.placement.by_lane([group.finished for group in self.groups])

    @property
    def moves(self) -> np.ndarray:
        """uint64[L]: the moves that each lane has made; modulo 2^32 before it was resumed."""
        return self._counted_moves() + (self._wraps << np.uint64(32))

    def _counted_moves(self) -> np.ndarray:
        """uint32[L]: the moves of each lane modulo 2^32."""
        return self.placement.by_lane([group.moves for group in self.groups])

    @in_32_bits
    def advance(self, limit: int) -> None:
        """Train the lanes that are furthest from `limit` episodes for one chunk."""
        number, sharding = self._furthest(), self.placement.sharding
        limits = np.where(self.placement.live(number), limit, 0).astype(np.uint32)
        pauses = [self._next_points(number)] if self.means_so_far else []
        moves_before = self._counted_moves()
        start = time.perf_counter()
        self.starting = True
        self.groups[number] = group = self._chunk(
            self.groups[number],
            self._hypers[number],
            jax.device_put(limits, sharding),
            np.int32(self._blocks),
            *(jax.device_put(pause, sharding) for pause in pauses),
        )
        self.starting = False
        jax.block_until_ready(group.finished)
        sampled = any(self._sample(number, pause) for pause in pauses)
        seconds = time.perf_counter() - start
        self.seconds += seconds
        self._wraps += self._counted_moves() < moves_before
        if number not in self._settled:
            # All later chunks use the memory that the first one has written to.
            move_to_huge_pages(group)
            self._settled.add(number)
        self._check_finite()
        # A chunk that a sample has shortened does not show how long others take.
        if seconds < SECONDS_A_CHUNK / 2 and self._blocks < 2**20 and not sampled:
            self._blocks *= 2
        elif seconds > SECONDS_A_CHUNK and self._blocks > 1:
            self._blocks //= 2

    def _furthest(self) -> int:
        """The group with the lane that has finished the fewest episodes."""
        finished, placement = self.finished, self.placement
        own = (placement.members(group)[placement.live(group)] for group in range(placement.groups))
        return int(np.argmin([finished[lanes].min() for lanes in own]))

    def _next_points(self, number: int) -> np.ndarray:
        """uint32[S]: the number of episodes at which each lane of a group has its next sample."""
        finished = np.asarray(self.groups[number].finished)
        return np.append(self._points, NEVER)[np.searchsorted(self._points, finished, "right")]

    def _sample(self, number: int, points: np.ndarray) -> bool:
        """Sample each lane of a group that has reached its point; return whether one has."""
        group, mean = self.groups[number], self.means_so_far[number]
        due = np.asarray(group.finished) >= points
        if due.any():
            averaging = self.runs[0].averaging
            mean = add_sample(self.learner.value, mean, group.params, due, averaging)
            jax.block_until_ready(mean.params)
            self.means_so_far[number] = mean
        return bool(due.any())

    def _check_finite(self) -> None:
        """Note which agents have diverged; raise ValueError once all have.

        n-tuple tables cannot diverge. A network without finite weights plays at random, so that
        the other seeds can go on.
        """
        if not isinstance(self.learner.value, HasGradients):
            return
        found = [_finite(self.learner.value.for_player(group.params)) for group in self.groups]
        self.diverged = np.flatnonzero(~self.placement.by_lane(found)).tolist()
        if len(self.diverged) == len(self.lanes):
            raise ValueError(
                "training has diverged: no network has finite weights any more;"
                " use a smaller --alpha, or --output tanh"
            )

    def rounds(
        self, on_chunk: Callable[[Progress], None] = lambda _: None
    ) -> Iterator[list[tuple[int, Result]]]:
        """Train to the end, yielding the evaluations of each milestone, each with its run's number.

        `on_chunk` is called after each chunk. Between chunks the state may be saved or replaced.
        """
        for episodes in self._milestones():
            while self.finished.min() < episodes:
                self.advance(episodes)
                on_chunk(self.progress())
            self.evaluating = True
            evaluations = in_32_bits(list)(self.evaluate(episodes))
            self.evaluating = False
            self.reached += 1
            yield evaluations

    def evaluations(self) -> Iterator[Result]:
        """Train to the end, yielding every evaluation."""
        for evaluations in self.rounds():
            yield from (one for _, one in evaluations)

    def agents(self, run: int = 0) -> dict[LaneName, Params]:
        """The current parameters of every lane of one run, on the host."""
        return self._of_lanes([group.params for group in self.groups], run)

    def means(self, run: int = 0) -> dict[LaneName, Params]:
        """The parameters of the agents of averaged weights, if any, as a player needs them."""
        if not self.means_so_far:
            return {}
        means = self._of_lanes([mean.params for mean in self.means_so_far], run)
        return {lane.mean: own for lane, own in means.items()}

    def _of_lanes(self, groups: Sequence[Params], run: int) -> dict[LaneName, Params]:
        """The parameters of the lanes of one run, on the host."""
        return {
            lane: jax.tree.map(np.array, self.placement.lane_of(groups, at))
            for at, (lane, owner) in enumerate(zip(self.lanes, self.owners, strict=True))
            if owner == run
        }

    def _changing(self) -> list[Changing]:
        """The changing parts of each group, plain arrays [S, ...]."""
        means: list[Mean | None] = [*self.means_so_far] or [None] * len(self.groups)
        return [
            Changing(group._replace(key=jax.random.key_data(group.key), partner=None), mean)
            for group, mean in zip(self.groups, means, strict=True)
        ]

    def changing(self, *lanes: int) -> list[Changing]:
        """The changing parts of each of these lanes, on the host."""
        groups = self._changing()
        return [self.placement.lane_of(groups, lane) for lane in lanes]

    def leaves(self) -> list[np.ndarray]:
        """The content of a checkpoint: each array of `changing`, lane after lane."""
        each = [jax.tree.leaves(one) for one in self.changing(*range(len(self.lanes)))]
        return list(itertools.chain(*zip(*each, strict=True)))

    @in_32_bits
    def restore(self, leaves: Sequence[np.ndarray], reached: int, seconds: float) -> None:
        """Resume from the result of `leaves`."""
        lanes, sharding = len(self.lanes), self.placement.sharding
        for number, (group, old) in enumerate(zip(self.groups, self._changing(), strict=True)):
            members = self.placement.members(number)
            own = [
                np.stack([leaves[first + at] for at in members])
                for first in range(0, len(leaves), lanes)
            ]
            new, mean = jax.tree.unflatten(jax.tree.structure(old), own)
            new = jax.device_put(new, sharding)
            self.groups[number] = new._replace(
                key=jax.random.wrap_key_data(new.key), partner=group.partner
            )
            if mean is not None:
                params = jax.device_put(mean.params, sharding)
                self.means_so_far[number] = Mean(params, mean.samples)
        self.reached, self.seconds = reached, seconds
        self._settled.clear()
        self._check_finite()

    def evaluate(self, episodes: int) -> Iterator[tuple[int, Result]]:
        """Evaluate every lane after `episodes`; return each result with its run's number.

        The mean of its weights, once there is one, is evaluated from the same starts.
        """
        players = {self.lanes: self._player([group.params for group in self.groups])}
        means = self.means_so_far
        if means and self.placement.by_lane([mean.samples for mean in means]).all():
            names = tuple(lane.mean for lane in self.lanes)
            players[names] = self._player([mean.params for mean in means])
        for number, judge in enumerate(self.judges):
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), number), episodes)
            for names, player in players.items():
                evaluations = evaluate(player, judge, episodes, names, key)
                # A judge with several scores gives one result of every lane for each of them.
                yield from zip(itertools.cycle(self.owners), evaluations, strict=False)

    def _player(self, groups: Sequence[Params]) -> Player:
        """The agents with the parameters of all groups, playing as in evaluations."""
        value, bootstraps = self.learner.value, [self._bootstrap(hyper) for hyper in self._hypers]
        params = self.placement.joined([value.for_player(each) for each in groups])
        bootstrap = self.placement.joined(bootstraps)
        agent = GreedyAgent(self.learner.game, value, params, bootstrap, several=True)
        return self.runs[0].play.player(agent)

    def _bootstrap(self, hyper: Hyperparameters) -> BootstrapRule:
        """The rule of the learner, arrays [S] of the lanes of a group."""
        rule, lanes = self.learner.rule.bootstrap(self.learner, hyper), hyper.discount.shape
        return jax.tree.map(lambda leaf: jnp.broadcast_to(jnp.asarray(leaf), lanes), rule)


@jax.jit
def _finite(params: Params) -> jax.Array:
    """bool[S]: whether all numbers of each lane are finite."""
    each = [
        jnp.isfinite(leaf).reshape(leaf.shape[0], -1).all(1) for leaf in jax.tree.leaves(params)
    ]
    return jnp.stack(each).all(0)


def evaluate(
    agents: Player,
    judge: Judge,
    episodes: int,
    lanes: Sequence[LaneName],
    key: jax.Array,
) -> Iterator[Result]:
    """One evaluation of each copy of `agents` after `episodes`; `lanes` names the copies.

    Agents of the same seed, with any variant, play from the same random starts.
    """
    # Copies beyond the lanes only fill up a device.
    seeds = [seed for seed, _ in lanes] + [lanes[0][0]] * (agents.copies - len(lanes))
    for name, scores in judge.scores(agents, key, seeds).items():
        wins = judge.wins(scores)
        for number, (seed, variant) in enumerate(lanes):
            own = scores[number]
            share = None if wins is None else float(wins[number])
            yield Result(seed, variant, episodes, name, float(own.mean()), own.size, share)
