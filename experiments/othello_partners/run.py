"""Othello with a perceptron, trained against whom: van der Ree & Wiering 2013, Tables I to IV.

    python experiments/othello_partners/run.py td --games 200000 --seeds 3
    python experiments/othello_partners/run.py q --games 100000 --seeds 2
    python experiments/othello_partners/run.py sarsa --games 100000 --seeds 2
    python experiments/othello_partners/run.py td --games 2000000 --seeds 1 --only self
    python experiments/othello_partners/run.py td --games 1000000 --seeds 1 --only self --step 4
    python experiments/othello_partners/run.py players

Runs that are finished in the output folder are not made again. Writes LEARNER-GAMES.json (or
players.json, Table I) beside this file and prints the rows beside the published ones. Source: van
der Ree & Wiering, "Reinforcement learning in the game of Othello: learning against a fixed opponent
and learning from self-play", ADPRL 2013.
"""

import argparse
import json
from pathlib import Path

import jax
import numpy as np

from jaxgbg import make, preset
from jaxgbg.arena import Protocol, compete
from jaxgbg.players import make_player
from jaxgbg.training import RunFolder
from jaxgbg.training.config import Config
from jaxgbg.training.devices import prepare_jax
from jaxgbg.training.execution import run_together

STARTS = "four_ply_positions"
OPPONENTS = ("bench", "heur", "random")
PARTNERS = {
    "itself": ("self", False),
    "BENCH": ("bench", False),
    "BENCH-LRN": ("bench", True),
    "HEUR": ("heur", False),
    "HEUR-LRN": ("heur", True),
    "RAND": ("random", False),
    "RAND-LRN": ("random", True),
}
# Best test session, per cent of the points, a draw counting half: columns Q, SARSA, TD.
PAPER = {
    "bench": {
        "BENCH": (87.1, 85.9, 70.0),
        "BENCH-LRN": (78.0, 81.6, 62.8),
        "itself": (72.1, 69.9, 72.3),
        "HEUR": (58.2, 57.4, 52.2),
        "HEUR-LRN": (56.3, 42.7, 35.5),
        "RAND": (33.0, 30.7, 35.6),
        "RAND-LRN": (41.8, 30.0, 33.2),
    },
    "heur": {
        "HEUR": (81.0, 80.9, 77.5),
        "HEUR-LRN": (65.1, 72.8, 66.6),
        "itself": (64.1, 63.1, 76.7),
        "BENCH-LRN": (47.6, 36.1, 72.5),
        "BENCH": (39.7, 44.0, 70.8),
        "RAND-LRN": (35.6, 49.8, 61.0),
        "RAND": (42.6, 42.8, 64.4),
    },
    "random": {
        "itself": (94.9, 94.6, 97.5),
        "RAND": (89.3, 90.6, 92.8),
        "BENCH-LRN": (89.3, 89.6, 92.4),
        "RAND-LRN": (89.2, 88.5, 91.7),
        "HEUR-LRN": (91.4, 83.7, 81.4),
        "HEUR": (85.0, 82.7, 91.2),
        "BENCH": (79.2, 78.3, 87.9),
    },
}
PAPER_PLAYERS = {"heur-bench": 55.0, "bench-random": 80.0, "heur-random": 83.0}
COLUMN = {"q": 0, "sarsa": 1, "td": 2}
# The paper's network answers in [0, 1], ours stretches the same sigmoid over [-1, 1]: error and
# slope are both twice as large, so a quarter of the step is the same step.
ALPHA = {"q": 0.01 / 4, "sarsa": 0.01 / 4, "td": 0.001 / 4}


def config_of(learner: str, partner: str, games: int, seeds: int, step: float = 1) -> Config:
    """One cell's training: `seeds` networks, their step size `step` times the paper's."""
    name, learns = PARTNERS[partner]
    return preset(
        "othello",
        value="mlp",
        learner=learner,
        partner=name,
        learn_from_partner=learns,
        hidden=(50,),
        activation="sigmoid",
        output="sigmoid",
        initializer="uniform",
        # The paper's players learn their last move's reward and know nothing of part 2.
        farl=("part1" if learner == "td" else "farl",),
        seeds=tuple(range(seeds)),
        episodes=games,
        eval_every=20_000,
        alpha_start=step * ALPHA[learner],
        alpha_end=step * ALPHA[learner],
        epsilon_start=0.1,
        epsilon_end=0.0,
        opening_plies=4,
        opening_share=1.0,
        opponents=OPPONENTS,
        starts=STARTS,
    )


def rows_of(learner: str, partner: str, config: Config, folder: RunFolder) -> list[dict]:
    """Best and final session against each opponent; the best is that of the mean over seeds."""
    found = []
    for opponent in OPPONENTS:
        curve: dict[int, list[float]] = {}
        for one in folder.evaluations():
            if one.opponent == opponent:
                curve.setdefault(one.episodes, []).append(50 * (one.score + 1))
        sessions = np.array([curve[n] for n in sorted(curve)])
        best = sessions[sessions.mean(1).argmax()]
        found.append(
            {
                "learner": learner,
                "partner": partner,
                "opponent": opponent,
                "paper_best": PAPER[opponent][partner][COLUMN[learner]],
                "best": round(float(best.mean()), 2),
                "best_sem": _sem(best),
                "final": round(float(sessions[-1].mean()), 2),
                "final_sem": _sem(sessions[-1]),
                "last_ten": round(float(sessions[-10:].mean()), 2),
                "games": config.episodes,
                "step": config.alpha_start / ALPHA[learner],
                "seeds": len(config.seeds),
                "config": config.digest,
                "seconds": folder.summary()["training_seconds"],
                "curve": [round(float(one), 2) for one in sessions.mean(1)],
            }
        )
    return found


def _sem(scores: np.ndarray) -> float | None:
    if len(scores) < 2:
        return None
    return round(float(scores.std(ddof=1) / np.sqrt(len(scores))), 2)


def fixed_players() -> list[dict]:
    """Table I: the fixed players among themselves over 236 positions, both seats."""
    game, found = make("othello"), []
    for pair, paper in PAPER_PLAYERS.items():
        first, second = (make_player(name, game) for name in pair.split("-"))
        scores = compete(game, first, second, Protocol(STARTS, repeats=20), jax.random.key(0))
        share = round(50 * (float(scores.mean()) + 1), 2)
        found.append({"players": pair, "paper": paper, "share": share, "games": scores.size})
        print(found[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("learner", choices=("td", "q", "sarsa", "players"))
    parser.add_argument("--games", type=int, default=2_000_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--step", type=float, default=1, help="in multiples of the paper's size")
    parser.add_argument("--only", choices=("self", "fixed"), help="self-play or fixed partners")
    parser.add_argument("--out", type=Path, default=Path("runs/othello_partners"))
    options = parser.parse_args()
    prepare_jax()
    here = Path(__file__).parent
    if options.learner == "players":
        (here / "players.json").write_text(json.dumps(fixed_players(), indent=1) + "\n")
        return
    # Self-play asks no partner: a program of its own. All fixed partners are lanes of one.
    fixed = [name for name in PARTNERS if name != "itself"]
    groups = {"self": ["itself"], "fixed": fixed}
    records = []
    for kind, partners in groups.items():
        if options.only in (None, kind):
            configs = [
                config_of(options.learner, partner, options.games, options.seeds, options.step)
                for partner in partners
            ]
            folders = run_together(configs, options.out)
            for partner, config, folder in zip(partners, configs, folders, strict=True):
                records += rows_of(options.learner, partner, config, folder)
    for row in records:
        print(
            f"{row['learner']:6}{row['partner']:10}{row['opponent']:7} paper {row['paper_best']:5}"
            f" best {row['best']:6} final {row['final']:6} ({row['seconds']:.0f} s)"
        )
    parts = [options.learner, str(options.games), options.only or ""]
    parts.append("" if options.step == 1 else f"step{options.step:g}")
    name = "-".join(filter(None, parts)) + ".json"
    (here / name).write_text(json.dumps(records, indent=1) + "\n")
    draw(records, (here / name).with_suffix(".png"))


def draw(records: list[dict], path: Path) -> None:
    """A panel for each test opponent: points by training games, a line for each partner."""
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(OPPONENTS), sharey=True)
    colours = dict(zip(PARTNERS, colormaps["tab10"].colors, strict=False))
    for axis, opponent in zip(axes, OPPONENTS, strict=True):
        for row in records:
            if row["opponent"] == opponent:
                tests = len(row["curve"])
                games = np.arange(1, tests + 1) * row["games"] / tests / 1000
                partner = row["partner"]
                axis.plot(games, row["curve"], color=colours[partner], label=partner, lw=1.3)
        axis.set(title=f"tested against {opponent}", xlabel="thousand training games")
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("points, %")
    axes[0].legend(fontsize=8, title="trained against")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
