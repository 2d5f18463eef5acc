"""TD(lambda) with traces over all parameters, on TicTacToe and ConnectFour: D'Ambra's study.

    python -m experiments.ralpha.run tictactoe [--seeds 5]
    python -m experiments.ralpha.run connectfour [--rounds 20]
    python -m experiments.ralpha.run connectfour --rounds 100 --only shallow 0.9 0.2

A round is 300 (TicTacToe) or 10 000 (ConnectFour) training games and 200 test games. Settings that
are finished in the output folder are not run again. Writes GAME-ROUNDS.json and .png beside this
file, and prints the figures beside the published ones. Source: D'Ambra, "Reinforcement learning
techniques in board games", slides of a thesis at Sapienza.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.shared import make_parser, new_figure, save_figure, sessions, standard_error
from jaxgbg import Run, RunFolder, preset, train
from jaxgbg.training import Result
from jaxgbg.training.devices import prepare_jax
from jaxgbg.training.files import write_json

GAMMAS, LAMBDAS, ROUNDS = (1.0, 0.9, 0.8), (0.0, 0.2, 0.5, 0.8), 100
GAMES_A_ROUND = {"tictactoe": 300, "connectfour": 10_000}
OPPONENT = {"tictactoe": "random", "connectfour": "blocker"}
HIDDEN = {
    ("tictactoe", "shallow"): (100,),
    ("tictactoe", "deep"): (30, 22),
    ("connectfour", "shallow"): (300, 243),
    ("connectfour", "deep"): (250, 250, 50),
}
# Not said in the slides. ReLU goes with their biases of 0.1 and truncated normal weights, and the
# last step size is a tenth of the first. ConnectFour's networks diverge without tanh.
OUTPUT = {"tictactoe": "identity", "connectfour": "tanh"}
FALL = 0.1
# Average percentage of wins in the last 20 test phases: lines lambda, columns gamma.
PAPER = {
    ("tictactoe", "shallow"): (
        (93.1, 93.62, 93.57),
        (89.22, 90.72, 91.67),
        (74.4, 37.7, 90.42),
        (57.52, 55.22, 81.7),
    ),
    ("tictactoe", "deep"): (
        (93.82, 91.5, 93.1),
        (90.85, 92.15, 92.82),
        (71.8, 88.52, 91.45),
        (58.05, 56.07, 75.8),
    ),
    ("connectfour", "shallow"): (
        (66.92, 78.22, 66.97),
        (23.3, 80.77, 78.3),
        (71.17, 54.07, 72.7),
        (1.47, 59.4, 68.8),
    ),
    ("connectfour", "deep"): (
        (75.95, 73.07, 73.02),
        (75.3, 69.8, 70.67),
        (67.37, 69.17, 61.52),
        (9.07, 0.65, 30.52),
    ),
}


def settings(game: str, rounds: int, seeds: int) -> Iterator[tuple[str, Run]]:
    """(shape of the network, run) in the order in which a run that is stopped wants them."""
    games = GAMES_A_ROUND[game]
    # Fewer rounds are the first ones of the hundred: step sizes fall as they would there.
    last = 0.05 * FALL ** (rounds / ROUNDS)
    cells = [(shape, gamma, decay) for shape in ("shallow", "deep") for gamma in (0.9, 1.0, 0.8)
             for decay in LAMBDAS]  # fmt: skip
    for shape, gamma, decay in sorted(cells, key=lambda cell: cell[0] == "deep" and cell[1] != 0.9):
        yield (
            shape,
            preset(
                game,
                value="mlp",
                hidden=HIDDEN[game, shape],
                activation="relu",
                output=OUTPUT[game],
                initializer="truncated",
                bias=0.1,
                variants=("farl",),
                seeds=range(seeds),
                episodes=rounds * games,
                eval_every=games,
                opponents=(OPPONENT[game],),
                batch=1,
                alpha=0.05,
                alpha_end=last,
                epsilon=0.1,
                epsilon_end=None,
                discount=gamma,
                trace_decay=decay,
                # Without decay nothing is remembered, and the traces would only cost time.
                parameter_traces=decay > 0,
            ),
        )


def record_of(shape: str, run: Run, folder: RunFolder | None) -> dict[str, Any]:
    """What is kept of one setting; `folder` is None where every network diverged."""
    game, schedule, learner = run.game.name, run.schedule, run.learner
    paper = PAPER[game, shape][LAMBDAS.index(learner.trace_decay)]
    rounds = schedule.episodes // run.evaluation.every
    record = {
        "game": game,
        "shape": shape,
        "gamma": learner.discount,
        "lambda": learner.trace_decay,
        "paper": paper[GAMMAS.index(learner.discount)],
        "rounds": rounds,
        "seeds": len(run.seeds),
        "config": run.digest,
    }
    if folder is None:
        return record | {"diverged": len(run.seeds)}
    _, wins = sessions(folder, OPPONENT[game], figure=_percent_won)
    # The last 20 test phases of a hundred rounds; of fewer rounds the last quarter.
    late = wins[-max(1, min(20, rounds // 4)) :].mean(0)
    summary = folder.summary() if folder.finished else {}
    return record | {
        "diverged": len(summary.get("diverged", ())),
        "wins": round(float(late.mean()), 2),
        "sem": standard_error(late),
        "best": round(float(wins.max(0).mean()), 2),
        "per_seed": [round(float(one), 2) for one in late],
        "curve": [round(float(one), 2) for one in wins.mean(1)],
        "rounds_done": len(wins),
        "seconds": summary.get("training_seconds"),
    }


def _percent_won(result: Result) -> float:
    return math.nan if result.wins is None else 100 * result.wins


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("game", choices=sorted(GAMES_A_ROUND))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", nargs=3, metavar=("SHAPE", "GAMMA", "LAMBDA"))
    parser.add_argument("--finished", action="store_true", help="train nothing, use what there is")
    options = parser.parse_args(arguments)
    prepare_jax()
    records = []
    for shape, run in settings(options.game, options.rounds, options.seeds):
        named = [shape, str(run.learner.discount), str(run.learner.trace_decay)]
        folder = RunFolder(options.out, run)
        missing = options.finished and not folder.metrics_size()
        if missing or (options.only and options.only != named):
            continue
        try:
            if not options.finished:
                folder = train(run, options.out)
            records.append(record_of(shape, run, folder))
        except ValueError as error:
            if "diverged" not in str(error):
                raise
            records.append(record_of(shape, run, None))
        shown = ("paper", "wins", "sem", "diverged", "seconds")
        print(*named, *(records[-1].get(name) for name in shown), flush=True)
    if not records:
        parser.error("no such setting, or nothing trained yet")
    only = f"-{'-'.join(options.only)}" if options.only else ""
    path = options.results / f"{options.game}-{options.rounds}{only}.json"
    write_json(path, records)
    draw(records, path.with_suffix(".png"))


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """A panel for each network and gamma: wins by rounds, the slides' averages dashed."""
    shapes = [name for name in ("shallow", "deep") if any(r["shape"] == name for r in records)]
    gammas = [gamma for gamma in GAMMAS if any(r["gamma"] == gamma for r in records)]
    figure = new_figure(max(4 * len(gammas), 8), 3 * max(len(shapes), 1.3))
    axes = figure.subplots(len(shapes), len(gammas), sharex=True, sharey=True, squeeze=False)
    colours = dict(zip(LAMBDAS, ("#0072B2", "#009E73", "#E69F00", "#D55E00"), strict=True))
    for line, shape in zip(axes, shapes, strict=True):
        for axis, gamma in zip(line, gammas, strict=True):
            for record in records:
                if (record["shape"], record["gamma"]) == (shape, gamma) and "curve" in record:
                    colour = colours[record["lambda"]]
                    rounds = np.arange(1, len(record["curve"]) + 1)
                    axis.plot(rounds, record["curve"], color=colour, lw=1.2)
                    axis.axhline(record["paper"], color=colour, lw=0.8, ls="--")
            if not axis.lines:
                axis.text(0.5, 0.5, "not run", transform=axis.transAxes, ha="center", color="grey")
            axis.set(title=f"{shape}, gamma {gamma:g}", ylim=(0, 100))
            axis.grid(alpha=0.25)
    for axis in axes[-1]:
        axis.set_xlabel("rounds")
    for line in axes:
        line[0].set_ylabel("games won, %")
    for decay, colour in colours.items():
        axes[0][0].plot([], [], color=colour, label=f"lambda {decay:g}")
    axes[0][0].plot([], [], color="grey", lw=0.8, ls="--", label="slides, last 20 of 100 rounds")
    figure.legend(loc="outside lower center", ncols=len(LAMBDAS) + 1, fontsize=9)
    save_figure(figure, path)


if __name__ == "__main__":
    main()
