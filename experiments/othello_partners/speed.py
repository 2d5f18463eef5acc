"""Games per second of a perceptron's self-play, ours and the serial one in NumPy, in one run.

    python experiments/othello_partners/speed.py

The serial one is the reference of the tests (tests/reference/mlp_td.py), the same algorithm on the
same network. Each is timed three times in turn, on one core; the medians are kept in speed.json.
"""

import itertools
import json
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))
# Before JAX counts the cores.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

from jaxgbg import preset  # noqa: E402
from jaxgbg.training.devices import prepare_jax  # noqa: E402
from jaxgbg.training.train import Training  # noqa: E402
from tests.reference.board_rules import Othello  # noqa: E402
from tests.reference.mlp_td import Network, NetworkParameters, SerialNetworkLearner  # noqa: E402
from tests.reference.rules import ConnectFour, TicTacToe  # noqa: E402

GAMES = {"tictactoe": TicTacToe, "connectfour": ConnectFour, "othello": Othello}
SECONDS, REPEATS = 5.0, 3


def serial(game: str, learner: str) -> SerialNetworkLearner:
    """A network of 50 hidden units, drawn as the paper's."""
    rules, draw = GAMES[game](), np.random.default_rng(0)
    sizes = (rules.num_cells, 50, 1 if learner == "td" else rules.num_actions)
    weights = [draw.uniform(-0.5, 0.5, shape) for shape in itertools.pairwise(sizes)]
    biases = [draw.uniform(-0.5, 0.5, size) for size in sizes[1:]]
    network = Network(sizes, weights=weights, biases=biases)
    settings = {"alpha_start": 0.01, "alpha_end": 0.01, "episodes": 2**31}
    return SerialNetworkLearner(rules, network, NetworkParameters(rule=learner, **settings))


def serial_rate(reference: SerialNetworkLearner) -> float:
    start, games = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        reference.self_play(1, np.random.default_rng(games), 0.1, 0.1, choose_start_01=False)
        games += 1
    return games / (time.perf_counter() - start)


def our_rate(training: Training) -> float:
    before = training.progress()
    while training.seconds - before.seconds < SECONDS:
        training.advance(2**31)
    after = training.progress()
    return (after.episodes - before.episodes) / (after.seconds - before.seconds)


def main() -> None:
    prepare_jax()
    records = []
    for game in GAMES:
        for learner in ("td", "q"):
            config = preset(
                game, value="mlp", learner=learner, farl=("farl",), seeds=(0,), opponents=(),
                hidden=(50,), activation="sigmoid", output="tanh", initializer="uniform",
                episodes=2**31, epsilon_end=0.1, alpha_start=0.01, alpha_end=0.01, opening_plies=0,
            )  # fmt: skip
            training, reference = Training(config), serial(game, learner)
            training.advance(2**31)
            rates = [(our_rate(training), serial_rate(reference)) for _ in range(REPEATS)]
            ours, theirs = (statistics.median(rate) for rate in zip(*rates, strict=True))
            records.append(
                {
                    "game": game,
                    "learner": learner,
                    "games_per_s": round(ours),
                    "numpy_games_per_s": round(theirs, 1),
                    "ratio": round(statistics.median(a / b for a, b in rates), 1),
                    "batch": config.batch,
                }
            )
            print(*records[-1].values())
    (HERE / "speed.json").write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
