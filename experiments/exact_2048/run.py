"""How far do agents of small 2048 boards stay below best play, computed without sampled games?

    python -m experiments.exact_2048.run [--labels "2x2, td" ...] [--out OUT]
    python -m experiments.exact_2048.run --scale .01 --seeds 2 --out OUT    # a trial
    python -m experiments.exact_2048.run --show                             # the kept figures

Results are in OUT/results.json; what stands there is not made again.
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from experiments.exact_2048.solve import Board, expected
from experiments.shared import kept_results, make_rows_parser, measure_missing
from jaxgbg import GreedyAgent, Run, make, preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games.game2048 import MAX_SCORE, Game2048State
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs import LaneName

FILE = "results.json"
SEEDS = 10
LEAST = 64
"""Fewest boards that are valued at once, so that few programs are compiled."""

DECAYING: Mapping[str, Any] = {"tcl": "none", "alpha": 1.0, "alpha_end": 0.01}
"""The counters of TCL begin at 1e-4, above the rewards of whole games on these boards."""
EXPLORING: Mapping[str, Any] = {"epsilon": 0.1, "learn_from_random": True}
# Label, learner, variant and changes of the preset, which never explores. With one player FARL
# changes nothing for SARSA and Q-learning.
LEARNERS: Sequence[tuple[str, str, str, Mapping[str, Any]]] = (
    ("td, step size of the preset", "td", "farl", {"tcl": "id", "alpha_end": None}),
    ("td", "td", "farl", {}),
    ("td, without FARL", "td", "none", {}),
    ("td, exploring", "td", "farl", EXPLORING),
    ("td, exploring, without FARL", "td", "none", EXPLORING),
    ("sarsa", "sarsa", "farl", {}),
    ("sarsa, exploring", "sarsa", "farl", EXPLORING),
    ("q", "q", "farl", {}),
    ("q, exploring", "q", "farl", EXPLORING),
)
OPTIMISTIC = {(2, 2): 100, (2, 3): 600}
"""Initial values of the optimistic rows, in points: above the score of best play."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A board and a learner; the value function is a table of whole boards."""

    rows: int
    columns: int
    words: str
    learner: str
    variant: str
    changes: Mapping[str, Any]
    episodes: int

    @property
    def label(self) -> str:
        """The name of its row."""
        return f"{self.rows}x{self.columns}, {self.words}"

    def run(self, scale: float, seeds: int) -> Run:
        """The training, without any evaluation."""
        game = make("2048", rows=self.rows, columns=self.columns, digits=self.cells + 2)
        episodes = max(1, round(scale * self.episodes))
        return preset(
            game,
            learner=self.learner,
            variants=(self.variant,),
            layout=[range(self.cells)],
            episodes=episodes,
            eval_every=episodes,
            opponents=(),
            seeds=range(seeds),
            **{**DECAYING, **self.changes},
        )

    @property
    def cells(self) -> int:
        return self.rows * self.columns


EPISODES = {(2, 2): 20_000, (2, 3): 100_000}


def rows_of(rows: int, columns: int, episodes: int) -> Iterator[Setting]:
    """All settings of a board."""
    for words, learner, variant, changes in LEARNERS:
        yield Setting(rows, columns, words, learner, variant, changes, episodes)
    first = {"initial_value": OPTIMISTIC[rows, columns] / MAX_SCORE}
    for learner in ("td", "sarsa", "q"):
        words = f"{learner}, optimistic"
        yield Setting(rows, columns, words, learner, "farl", first, episodes)


SETTINGS = tuple(
    setting for board, episodes in EPISODES.items() for setting in rows_of(*board, episodes)
)


SOLVED = ("2x4", "3x3")
"""Boards without agents."""


def main(arguments: Sequence[str] | None = None) -> None:
    settings = {setting.label: setting for setting in SETTINGS}
    parser = make_rows_parser(__file__, __doc__, [*settings, *SOLVED])
    parser.add_argument("--scale", type=float, default=1.0, help="times the episodes")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="agents of each row")
    options = parser.parse_args(arguments)
    if options.show:
        results = kept_results(options.results / FILE)
        print("\n".join([*boards(results), "", *table(results)]))
        return
    if options.scale <= 0 or options.seeds < 1:
        parser.error("--scale and --seeds must be positive")
    measures = {
        label: partial(measured, settings[label], options)
        if label in settings
        else partial(solved, label)
        for label in options.labels
    }
    measure_missing(options.out / FILE, "label", measures)


def solved(label: str) -> dict[str, Any]:
    """The score of best play on a board."""
    best, positions = expected(Board(*map(int, label.split("x"))), None)
    return {"label": label, "positions": positions, "best": round(float(best[0]), 6)}


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Train a setting; the score of best play and the expected score of each agent."""
    run = setting.run(options.scale, options.seeds)
    begun = time.process_time()
    folder = train(run, options.out / "runs")
    trained = time.process_time() - begun
    board = Board(setting.rows, setting.columns)
    agents = [folder.agents([LaneName(seed, setting.variant)]) for seed in run.seeds]
    best, positions = expected(board, None)
    scores, _ = expected(board, lambda *boards: np.stack([shares(a, *boards) for a in agents], 1))
    return {
        "label": setting.label,
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "positions": positions,
        "best": round(float(best[0]), 6),
        "scores": np.round(scores, 6).tolist(),
        "training_cpu_s": round(trained, 1),
    }


def shares(agent: GreedyAgent, boards: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """float64[n, 4]: how often the agent makes each move; of equal values it draws evenly."""
    count = len(boards)
    padded = np.zeros((max(LEAST, 1 << (count - 1).bit_length()), boards.shape[1]), np.int8)
    padded[:count] = boards
    values = np.asarray(agent.action_values(states_of(padded)))[:count]
    values = np.where(legal, values, -np.inf)
    chosen = legal & (values == values.max(1, keepdims=True))
    return chosen / np.maximum(chosen.sum(1, keepdims=True), 1)


def states_of(boards: np.ndarray) -> Game2048State:
    """Positions before a move with a score of 0."""
    zeros = jnp.zeros(len(boards), jnp.float32)
    return Game2048State(
        tiles=jnp.asarray(boards),
        score=zeros,
        slid=zeros > 0,
        player=zeros.astype(jnp.int8),
        terminal=zeros > 0,
        rewards=zeros[:, None],
    )


def boards(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The score of best play on each board."""
    yield "| board | positions | best play |"
    yield "|---|---|---|"
    solved = {one["label"].partition(",")[0]: (one["positions"], one["best"]) for one in results}
    for board, (positions, best) in sorted(solved.items()):
        yield f"| {board} | {positions:,} | {best:,.2f} |"


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The score of best play, and how much less the agents reach."""
    yield "| board and learner | episodes | agents | best play | less: mean | the most | reached |"
    yield "|---|---|---|---|---|---|---|"
    order = [setting.label for setting in SETTINGS]
    judged = [one for one in results if "scores" in one]
    for one in sorted(judged, key=lambda one: order.index(one["label"])):
        less = one["best"] - np.array(one["scores"])
        mean = f"{less.mean():.2f}"
        if less.max() >= 0.005:
            low, high = confidence_interval(less.tolist())
            mean += "" if np.isnan(low) else f" ({low:.2f} to {high:.2f})"
        cells = [one["label"], f"{one['episodes']:,}", str(len(less)), f"{one['best']:.2f}"]
        cells += [mean, f"{less.max():.2f}"]
        cells.append(f"{100 * (1 - less.mean() / one['best']):.1f}%")
        yield f"| {' | '.join(cells)} |".replace("-0.00", "0.00")


if __name__ == "__main__":
    end_in_a_line(main)
