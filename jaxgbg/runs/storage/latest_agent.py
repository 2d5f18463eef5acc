"""Read the latest agent of a run while it trains: nothing is written, deleted or locked."""

import functools
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from jaxgbg.contents import reason
from jaxgbg.learners import Learner
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.averaging import Mean
from jaxgbg.runs.loop import Changing
from jaxgbg.runs.memory import available_memory
from jaxgbg.runs.run import LaneName, Run
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.checkpoints import (
    Damaged,
    numbers_in,
    open_checkpoint,
    path_of,
    read_about,
)
from jaxgbg.types import AnyArray, Params, PyTree

_PIECE = 2**22


class LatestAgent(NamedTuple):
    """An agent, its seed and variant, and where it was read, at `written` (seconds, as files have
    it) after `episodes` of its training; moves of all agents `moves_per_second`, None if not told.
    `counters` float32[R, 2] as `tc_counters`, where they were asked for and are kept.
    """

    agent: GreedyAgent
    lane: LaneName
    file: Path
    written: float
    episodes: int
    moves_per_second: float | None
    counters: np.ndarray | None = None


class _State(NamedTuple):
    """The leaves of a lane in a checkpoint, and a Lane that has their numbers in their places.

    The leaves of the mean of its weights, where there is one, are the last ones.
    """

    leaves: list["_Leaf"]
    places: PyTree

    @property
    def lane_bytes(self) -> int:
        return sum(leaf.nbytes for leaf in self.leaves)


def latest_file(folder: Path, run: Run) -> Path | None:
    """The file that has the latest agent of a run: an agent's, else a checkpoint, None without."""
    agent = folder / "agents" / _first(run).file
    if agent.exists():
        return agent
    numbers = numbers_in(folder / "checkpoints")
    return path_of(folder / "checkpoints", numbers[-1]) if numbers else None


def read_latest(file: Path, run: Run, counters: bool = False) -> LatestAgent:
    """The agent of the first seed, with FARL if one is, from what `latest_file` gives.

    Of a checkpoint no more is kept in memory than this agent's weights, and its `counters` if they
    are asked for; an agent's file has none. Raises ValueError or
    OSError in one line where it cannot be read, as when it has just made room for a newer one.
    """
    lane = _first(run)
    written = file.stat().st_mtime
    if file.suffix == ".agent":
        agent = load_agent(file, run.game.name).player()
        return LatestAgent(agent, lane, file, written, run.schedule.episodes, None)
    try:
        return _of_checkpoint(file, run, lane, counters)
    except Damaged as error:
        raise ValueError(f"checkpoint {file.name} is damaged: {reason(error)}") from error


def untrained(run: Run) -> tuple[GreedyAgent, LaneName]:
    """The latest agent of a run as it was before its training, and its lane.

    Raises ValueError where its weights need too much memory.
    """
    lane, learner = _first(run), run.make_learner()
    needed = sum(
        leaf.size * leaf.dtype.itemsize
        for leaf in jax.tree.leaves(jax.eval_shape(lambda: _begun(run, learner, lane)))
    )
    # A lane has counters and games in addition to its weights.
    if 6 * needed > available_memory():
        raise ValueError(f"its agents have {needed / 1e9:.1f} GB of weights, too many to play here")
    params = _begun(run, learner, lane)
    return GreedyAgent(learner.game, learner.value, params, run.learner.bootstrap), lane


def _begun(run: Run, learner: Learner, lane: LaneName) -> Params:
    drawn: AnyArray = run.value.drawn(run.game, lane.seed)
    partner = None if run.partner == "self" else object()
    begun = learner.init(jax.random.key(lane.seed), drawn, partner)
    return learner.value.for_player(begun.params)


def _first(run: Run) -> LaneName:
    """The lane whose agent is shown."""
    return min(run.lanes, key=lambda lane: lane.variant != "farl")


def _of_checkpoint(path: Path, run: Run, lane: LaneName, counters: bool) -> LatestAgent:
    learner, shapes = run.make_learner(), _state(run)
    weights = jax.tree.leaves(shapes.places.params)
    needed = sum(shapes.leaves[at].nbytes for at in weights)
    # The agent's own, and what plays a game with it.
    if 3 * needed > available_memory():
        raise ValueError(f"its agents have {needed / 1e9:.1f} GB of weights, too many to play here")
    with open_checkpoint(path) as file:
        written = path.stat().st_mtime
        about = read_about(file, path)
        lanes, rest = divmod(about.bytes, shapes.lane_bytes)
        if about.run != run.digest or rest or lanes < len(run.lanes):
            raise ValueError(f"checkpoint {path.name} is not of this run")
        starts = np.cumsum([0, *(lanes * leaf.nbytes for leaf in shapes.leaves)]).tolist()
        own = {at: starts[at] + run.lanes.index(lane) * shapes.leaves[at].nbytes for at in weights}
        counts = (shapes.places.finished, shapes.places.moves)
        parts = {at: (start, shapes.leaves[at].nbytes) for at, start in own.items()}
        parts |= {at: (starts[at], lanes * shapes.leaves[at].nbytes) for at in counts}
        read = _picked(file, parts, about.bytes)
    live = len(run.lanes)
    finished, moves = (np.frombuffer(read[at], shapes.leaves[at].dtype)[:live] for at in counts)
    params = jax.tree.map(
        lambda at: np.frombuffer(read[at], shapes.leaves[at].dtype).reshape(
            shapes.leaves[at].shape
        ),
        shapes.places.params,
    )
    agent = GreedyAgent(learner.game, learner.value, params, run.learner.bootstrap)
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(agent.params)):
        raise ValueError("its network has diverged: its weights are not finite numbers")
    rate = float(moves.astype(np.uint64).sum()) / about.seconds if about.seconds else None
    kept = learner.value.tc_counters(params) if counters else None
    return LatestAgent(agent, lane, path, written, int(finished[run.lanes.index(lane)]), rate, kept)


@functools.lru_cache(maxsize=8)
def _state(run: Run) -> _State:
    """A lane as `Training.changing` has it, of shapes alone."""
    learner = run.make_learner()
    drawn: AnyArray = run.value.drawn(run.game, run.seeds[0])
    # Only that there is one changes what a lane holds.
    partner = None if run.partner == "self" else object()

    def begun() -> Changing:
        lane = learner.init(jax.random.key(0), drawn, partner)
        mean = Mean(learner.value.for_player(lane.params), np.zeros((), np.uint32))
        lane = lane._replace(key=jax.random.key_data(lane.key), partner=None)
        return Changing(lane, mean if run.averaging.on else None)

    leaves, structure = jax.tree.flatten(jax.eval_shape(begun))
    places = jax.tree.unflatten(structure, range(len(leaves))).lane
    return _State([_Leaf(leaf.shape, np.dtype(leaf.dtype)) for leaf in leaves], places)


class _Leaf(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def _picked(
    file: BufferedReader, parts: dict[int, tuple[int, int]], total: int
) -> dict[int, bytearray]:
    """Some parts, (start, size) each, of a state of `total` bytes that `file` has deflated."""
    found = {name: bytearray() for name in parts}
    place = 0
    for piece in _inflated(file):
        for name, (start, size) in parts.items():
            low, high = max(start - place, 0), min(start + size - place, len(piece))
            if low < high:
                found[name] += piece[low:high]
        place += len(piece)
        if place > total:
            break
    if place != total:
        raise Damaged("its state has another size")
    return found


def _inflated(file: BufferedReader) -> Iterator[bytes]:
    """The decompressed rest of a file, in small pieces."""
    inflater = zlib.decompressobj()
    try:
        while deflated := file.read(_PIECE):
            while deflated:
                yield inflater.decompress(deflated, _PIECE)
                deflated = inflater.unconsumed_tail
        while rest := inflater.decompress(inflater.unconsumed_tail, _PIECE):
            yield rest
    except zlib.error as error:
        raise Damaged(str(error)) from error
