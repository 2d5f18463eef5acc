"""Speed of our random play and training next to random play of OpenSpiel, in one run.

    python -m experiments.n_players.speeds [GAME ...] [--results FOLDER]
    python -m experiments.n_players.speeds --show

A loop in Python plays OpenSpiel's games. Rates are moves/s; a move of OpenSpiel's backgammon counts
as the checkers that it moves. Training is that of the preset, two agents (with FARL and without),
64 games in lockstep. Our programs may use all cores, the loop uses one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.gpu.records import machine
from experiments.shared import kept_results, make_parser
from jaxgbg.cli.benchmarks.rules import bench_rules, openspiel_games
from jaxgbg.cli.benchmarks.training import bench
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import Game
from jaxgbg.games.fingerprint import changed_parameters
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json

BATCH = 64
FILE = "speeds.json"


def measured(game: Game, seconds: float) -> dict[str, Any]:
    """The rates of one game; training is timed after random play."""
    rules = bench_rules(game)
    (training,) = bench(game, seeds=1, batches=(BATCH,), seconds=seconds)
    theirs = rules.openspiel_moves_per_s
    assert theirs is not None, "OpenSpiel is not installed"
    return {
        "game": " ".join([game.name, *(f"{k}={v}" for k, v in changed_parameters(game).items())]),
        "openspiel": theirs,
        "random": rules.moves_per_s,
        "training": round(training.moves_per_s),
        "times_random": round(rules.moves_per_s / theirs, 1),
        "times_training": round(training.moves_per_s / theirs, 2),
        "value": training.value,
        "mb_a_lane": training.peak_mb,
    }


def table(rows: list[dict[str, Any]]) -> str:
    heads = ["game", "OpenSpiel, random", "random", "times", "training", "times", "MB a lane"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        lines.append(
            f"| {row['game']} | {row['openspiel']:,} | {row['random']:,} | {row['times_random']}"
            f" | {row['training']:,} | {row['times_training']} | {row['mb_a_lane']} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="all if none is named")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each timing of training")
    parser.add_argument("--show", action="store_true", help="print the kept figures")
    options = parser.parse_args(arguments)
    file: Path = options.results / FILE
    if options.show:
        print(table(kept_results(file)))
        return
    prepare_jax()
    rows = []
    for game in openspiel_games():
        if not options.games or game.name in options.games:
            rows.append(measured(game, options.seconds))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
            write_json(file, {"machines": [machine()], "results": rows})


if __name__ == "__main__":
    end_in_a_line(main)
