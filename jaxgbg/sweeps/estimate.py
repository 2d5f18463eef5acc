"""How long a unit will take, by a second of its own training."""

from jaxgbg.sweeps.spec import Unit
from jaxgbg.training.loop import Training

PILOT_SECONDS = 1.0


def expected_seconds(unit: Unit) -> float:
    """Seconds of training of a unit on this machine, compiling and evaluations left out.

    The rate of the first second stands for all: first games are random, and may be longer or
    shorter than later ones.
    """
    training = Training(*unit.runs)
    # The first chunk compiles.
    training.advance(unit.runs[0].schedule.episodes)
    before = training.progress()
    while training.progress().episodes < before.total_episodes:
        training.advance(unit.runs[0].schedule.episodes)
        if training.seconds - before.seconds >= PILOT_SECONDS:
            break
    after = training.progress()
    if after.episodes == before.episodes:
        return before.seconds
    rate = (after.episodes - before.episodes) / (after.seconds - before.seconds)
    return after.total_episodes / rate
