"""Do agents for three players do better than MCTS at equal time a move, in every seat?

    python -m experiments.n_players.equal_time [--labels "sim K6, 3 players" ...] [--out OUT]
    python -m experiments.n_players.equal_time --scale .001 --games 8 --out OUT    # a trial
    python -m experiments.n_players.equal_time --show    # kept figures

One agent of each game is trained with both parts of Final Adaptation. Its greedy move takes some
CPU time, one game at a time, and MCTS gets the iterations for which it takes no less. In each seat
the agent, and MCTS in its place, meet two MCTS players. Results are in OUT/equal_time.json; what
stands there is not made again.
"""

import argparse
import dataclasses
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from scipy import special

from experiments.farl_predictor.run import agents_of, opened
from experiments.n_players.run import SETTINGS, Setting
from experiments.shared import kept_results, make_rows_parser, measure_missing
from jaxgbg import Game, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import no_history, play
from jaxgbg.players import Player, make_player
from jaxgbg.results.statistics import mean_sem

FILE = "equal_time.json"
LABELS = ("sim K6, 3 players", "yavalath side 3, 3 players", "ewn 6x6, three stones, 3 players")
CALLS = 100
"""Moves that are timed."""
FEW, MANY = 20, 200
"""Iterations of MCTS by which the time of one is measured."""


def core_ms(player: Player, game: Game, plies: int = 5) -> float:
    """The median CPU time of a move, one game at a time, in positions after random plies."""
    states = opened(game, plies, CALLS, jax.random.key(7))
    rows = [jax.tree.map(lambda leaf, at=at: leaf[at : at + 1], states) for at in range(CALLS)]
    keys = jax.random.split(jax.random.key(8), CALLS)
    jax.block_until_ready(player.act(rows[0], keys[0]))
    times = []
    for row, key in zip(rows, keys, strict=True):
        begun = time.process_time()
        jax.block_until_ready(player.act(row, key))
        times.append(time.process_time() - begun)
    return 1000 * statistics.median(times)


def matched(game: Game, agent: float) -> tuple[int, float]:
    """(iterations for which MCTS takes as long as `agent` ms or longer, its own ms)."""
    few, many = (core_ms(make_player(f"mcts-{n}", game), game) for n in (FEW, MANY))
    iteration = (many - few) / (MANY - FEW)
    iterations = max(1, math.ceil(FEW + (agent - few) / iteration))
    while (own := core_ms(make_player(f"mcts-{iterations}", game), game)) < agent:
        iterations += max(1, iterations // 4)
    return iterations, own


def rewards(game: Game, players: Sequence[Player], setting: Setting, games: int) -> np.ndarray:
    """float64[seats, games]: of the first player in each seat, the second in all others."""
    seats = np.repeat(1 - np.eye(game.num_players, dtype=int), games, 0)
    start, moves = jax.random.split(jax.random.key(9))
    states = opened(game, setting.opening, len(seats), start)
    found = play(game, seats, players, states, no_history(len(seats)), moves)
    return np.asarray(found, np.float64)[seats == 0].reshape(game.num_players, games)


def welch(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Mean and 95% interval of the difference of the means of independent values."""
    (one, error), (other, other_error) = mean_sem(first), mean_sem(second)
    squares = error**2, other_error**2
    sizes = len(first), len(second)
    freedom = sum(squares) ** 2 / sum(s**2 / (n - 1) for s, n in zip(squares, sizes, strict=True))
    reach = float(special.stdtrit(freedom, 0.975)) * sum(squares) ** 0.5
    return [one - other, one - other - reach, one - other + reach]


def more(own: np.ndarray, others: np.ndarray) -> list[float]:
    """The difference of the means of rewards [games], with its 95% interval.

    The difference alone if the games of each player are all equal: they bound nothing.
    """
    if np.ptp(own) == np.ptp(others) == 0:
        return [float(own[0] - others[0])]
    return welch([*own], [*others])


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Time the agent and MCTS, and let them play."""
    run = dataclasses.replace(setting.run(options.scale, 1), variants=("farl",))
    agent = agents_of(train(run, options.out / "runs"), "farl")
    game = run.game
    of_agent = core_ms(agent, game)
    iterations, of_mcts = matched(game, of_agent)
    mcts = make_player(f"mcts-{iterations}", game)
    begun = time.perf_counter()
    own, others = (
        rewards(game, players, setting, options.games) for players in ((agent, mcts), (mcts, mcts))
    )
    return {
        "label": setting.label,
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "iterations": iterations,
        "agent_core_ms": round(of_agent, 3),
        "mcts_core_ms": round(of_mcts, 3),
        "games": options.games,
        "agent": own.mean(1).round(4).tolist(),
        "mcts": others.mean(1).round(4).tolist(),
        "more": [np.round(more(*pair), 4).tolist() for pair in zip(own, others, strict=True)],
        "matches_s": round(time.perf_counter() - begun, 1),
    }


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """By seat: the mean reward of the agent and of MCTS, and the difference with its interval."""
    yield "| game | iterations | ms: agent | ms: MCTS | seat | agent | MCTS | more |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in results:
        for seat, (mean, *ends) in enumerate(one["more"]):
            times = f"{one['agent_core_ms']:.2f}", f"{one['mcts_core_ms']:.2f}"
            first = [one["label"], str(one["iterations"]), *times] if seat == 0 else [""] * 4
            means = f"{one['agent'][seat]:+.2f}", f"{one['mcts'][seat]:+.2f}"
            spread = " ({:+.2f} to {:+.2f})".format(*ends) if ends else ""
            cells = [*first, str(seat), *means, f"{mean:+.2f}{spread}"]
            yield f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_rows_parser(__file__, __doc__, LABELS)
    parser.add_argument("--scale", type=float, default=1.0, help="times the episodes")
    parser.add_argument("--games", type=int, default=200, help="games from each seat")
    options = parser.parse_args(arguments)
    if options.show:
        print("\n".join(table(kept_results(options.results / FILE))))
        return
    if options.scale <= 0 or options.games < 2:
        parser.error("--scale must be positive, and --games 2 or more")
    settings = {setting.label: setting for setting in SETTINGS}
    measure_missing(
        options.out / FILE,
        "label",
        {label: partial(measured, settings[label], options) for label in options.labels},
    )


if __name__ == "__main__":
    end_in_a_line(main)
