"""A budget of time instead of episodes: measure the pace of a run, and set its episodes by it."""

import time
from typing import NamedTuple

from jaxgbg.games.sampling import sample_games
from jaxgbg.runs.loop import Progress, Training
from jaxgbg.runs.run import Run
from jaxgbg.runs.settings import with_changes

STRETCH_SHARE = 0.1
"""Share of the time in which the pace is measured; a second at least."""
_FEW_EPISODES = 2


class TrainingPace(NamedTuple):
    """Episodes and moves that a run trains in a second, all lanes together, without compiling."""

    episodes: float
    moves: float


def with_episodes(run: Run, episodes: int, evaluations: int = 10) -> Run:
    """The run with another budget and so many evaluations."""
    every = max(1, -(-episodes // evaluations))
    return with_changes(run, {"episodes": episodes, "eval_every": every})


def measured_pace(run: Run, seconds: float) -> TrainingPace:
    """Compile the program of a run and train it for a stretch, which is then thrown away.

    The pace is that of the second half: agents soon play games of another length than beginners. If
    hardly any episode ends there, their length is that of random games. Later games may be longer
    or shorter than these.
    """
    # As at the beginning of a long training, when exploration is as bold as it will ever be.
    training = Training(with_episodes(run, 10**8))
    training.advance(training.episodes)
    half = max(1.0, seconds) / 2
    before, after = (_trained_for(training, half) for _ in range(2))
    elapsed = after.seconds - before.seconds
    moves = (after.moves - before.moves) / elapsed
    episodes = after.episodes - before.episodes
    if episodes >= _FEW_EPISODES * run.schedule.batch:
        return TrainingPace(episodes / elapsed, moves)
    return TrainingPace(moves / float(sample_games(run.game).plies.mean()), moves)


def _trained_for(training: Training, seconds: float) -> Progress:
    """The progress after some more seconds of training."""
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        training.advance(training.episodes)
    return training.progress()


def within(run: Run, minutes: float) -> Run:
    """The run with as many episodes as it is expected to train in `minutes` here.

    Compiling and a stretch of a tenth of the time, which measures the pace, are part of them.
    """
    start, seconds = time.monotonic(), 60 * minutes
    pace = measured_pace(run, STRETCH_SHARE * seconds)
    left = max(seconds - (time.monotonic() - start), 0.0)
    return with_episodes(run, episodes_in(left, pace, len(run.lanes), run.schedule.batch))


def episodes_in(seconds: float, pace: TrainingPace, lanes: int = 1, batch: int = 1) -> int:
    """The episodes of each lane, one of each game in lockstep at least."""
    return min(max(int(seconds * pace.episodes / lanes), batch), 2**31 - 1)
