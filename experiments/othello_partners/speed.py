"""Games per second of a perceptron's self-play, ours and the serial one in NumPy, in one run.

    python -m experiments.othello_partners.speed

The serial one is the reference of the tests (tests/reference/mlp_td.py), the same algorithm on the
same network. Each is timed three times in turn, on one core; the medians are kept in results.json.
"""

import itertools
import os
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.shared import Section, make_parser
from jaxgbg import Run, preset
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs import Training
from jaxgbg.runs.devices import prepare_jax
from tests.reference.board_rules import Othello
from tests.reference.mlp_td import Network, NetworkParameters, SerialNetworkLearner
from tests.reference.rules import ConnectFour, TicTacToe

GAMES = {"tictactoe": TicTacToe, "connectfour": ConnectFour, "othello": Othello}
REPEATS = 3


def serial(game: str, learner: str) -> SerialNetworkLearner:
    """A network of 50 hidden units, drawn as the paper's."""
    rules, draw = GAMES[game](), np.random.default_rng(0)
    sizes = (rules.num_cells, 50, 1 if learner == "td" else rules.num_actions)
    weights = [draw.uniform(-0.5, 0.5, shape) for shape in itertools.pairwise(sizes)]
    biases = [draw.uniform(-0.5, 0.5, size) for size in sizes[1:]]
    network = Network(sizes, weights=weights, biases=biases)
    parameters = NetworkParameters(rule=learner, alpha_start=0.01, alpha_end=0.01, episodes=2**31)
    return SerialNetworkLearner(rules, network, parameters)


def serial_rate(reference: SerialNetworkLearner, seconds: float) -> float:
    start, games = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        reference.self_play(1, np.random.default_rng(games), 0.1, 0.1, choose_start_01=False)
        games += 1
    return games / (time.perf_counter() - start)


def our_rate(training: Training, seconds: float) -> float:
    before = training.progress()
    while training.seconds - before.seconds < seconds:
        training.advance(2**31)
    after = training.progress()
    return (after.episodes - before.episodes) / (after.seconds - before.seconds)


def run_of(game: str, learner: str) -> Run:
    """The same for us, without an end."""
    return preset(
        game,
        value="mlp",
        learner=learner,
        variants=("farl",),
        seeds=(0,),
        opponents=(),
        hidden=(50,),
        activation="sigmoid",
        output="tanh",
        initializer="uniform",
        episodes=2**31,
        epsilon_end=None,
        alpha=0.01,
        opening_plies=0,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    options = parser.parse_args(arguments)
    # Before JAX counts the cores.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    prepare_jax()
    records: list[dict[str, Any]] = []
    for game in GAMES:
        for learner in ("td", "q"):
            run = run_of(game, learner)
            training, reference = Training(run), serial(game, learner)
            training.advance(2**31)
            rates = [
                (our_rate(training, options.seconds), serial_rate(reference, options.seconds))
                for _ in range(REPEATS)
            ]
            ours, theirs = (statistics.median(rate) for rate in zip(*rates, strict=True))
            records.append(
                {
                    "game": game,
                    "learner": learner,
                    "games_per_s": round(ours),
                    "numpy_games_per_s": round(theirs, 1),
                    "ratio": round(statistics.median(a / b for a, b in rates), 1),
                    "batch": run.schedule.batch,
                }
            )
            print(*records[-1].values())
    Section(options.results, "speed").write(records)


if __name__ == "__main__":
    end_in_a_line(main)
