"""A separate program that measures how fast a training runs, with the jaxgbg that Python finds.

`against` starts it for two revisions. Its input is lines of JSON: first the game and the settings
of a run, then the seconds of each timing. It answers each with a line: the number of lanes, then
moves/s. So that it works with older revisions, it uses little of jaxgbg.
"""

import json
import sys

# These modules belong to the revision that is timed, which is first in PYTHONPATH.
from jaxgbg.games import make
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.loop import Training
from jaxgbg.runs.presets import preset

_EPISODES = 10**9


def main() -> None:
    content = json.loads(input())
    name = content["game"].pop("name")
    prepare_jax()
    game, seeds = make(name, **content["game"]), range(content["seeds"])
    training = Training(preset(game, **content["settings"], seeds=seeds, episodes=_EPISODES))
    # The first chunk is short and compiles.
    training.advance(_EPISODES)
    print(json.dumps(len(training.lanes)), flush=True)
    for line in sys.stdin:
        print(json.dumps(_moves_a_second(training, json.loads(line))), flush=True)


def _moves_a_second(training: Training, seconds: float) -> float:
    """Moves/s of all lanes together, over at least `seconds` of training."""
    before = training.progress()
    while training.seconds - before.seconds < seconds:
        training.advance(_EPISODES)
    after = training.progress()
    return (after.moves - before.moves) / (after.seconds - before.seconds)


if __name__ == "__main__":
    main()
