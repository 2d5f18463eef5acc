"""How often do agents of EinStein on 3x3 win against MCTS in a game of chance?

    python -m experiments.exact_n_players.against_mcts [--labels "ewn 3x3" ...] [--out OUT]
    python -m experiments.exact_n_players.against_mcts --show    # the kept figures

The agents are those of `run`, trained here if OUT has none. Every roll after a move has a node of
its own in the tree of MCTS, as in GBG's MCTS-expectimax. Results are in OUT/against_mcts.json; what
stands there is not made again.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.exact_n_players.run import SETTINGS, Setting
from experiments.farl_predictor.run import agents_of
from experiments.n_players.equal_time import rewards
from experiments.shared import SCALE, Number, measure_rows
from jaxgbg import train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.players import make_player
from jaxgbg.results.statistics import confidence_interval

FILE = "against_mcts.json"
OPPONENT = "mcts-1000"
LABELS = ("ewn 3x3", "ewn 3x3, by stones")


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Let the agents of a setting play from both seats: how often each of them wins."""
    run = setting.run(options.scale)
    agents = agents_of(train(run, options.out / "runs"), "farl")
    mcts = make_player(OPPONENT, run.game)
    begun, used = time.perf_counter(), time.process_time()
    found = rewards(run.game, agents, mcts, options.games * agents.copies)
    won = (found.reshape(2, agents.copies, -1).mean(2).T + 1) / 2
    return {
        "label": setting.label,
        "opponent": OPPONENT,
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "games": options.games,
        "wins": won.round(4).tolist(),
        "cpu_s": round(time.process_time() - used, 1),
        "wall_s": round(time.perf_counter() - begun, 1),
    }


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """How often agents win in each seat and in both, with the interval of the mean over agents."""
    yield "| game | against | agents | games of each in a seat | seat 0 | seat 1 | both |"
    yield "|---|---|---|---|---|---|---|"
    for one in results:
        won = np.array(one["wins"])
        columns = (*won.T, won.mean(1))
        cells = [one["label"], one["opponent"], str(len(won)), str(one["games"])]
        for column in columns:
            low, high = confidence_interval([*column])
            cells.append(f"{column.mean():.3f} ({low:.3f} to {high:.3f})")
        yield f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    settings = {setting.label: setting for setting in SETTINGS if setting.label in LABELS}
    games = Number(200, "of each agent from each seat")
    measure_rows(
        arguments, __file__, __doc__, FILE, settings, measured, table, scale=SCALE, games=games
    )


if __name__ == "__main__":
    end_in_a_line(main)
