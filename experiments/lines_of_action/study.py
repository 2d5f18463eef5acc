"""The trainings of Sasso & van Lohuizen (2018), and what it leaves open, network by network.

    python -m experiments.lines_of_action.study --settings itself COM RAND --seeds 0 1 2
    python -m experiments.lines_of_action.study --settings itself --seeds 0 --games 2000 --out try

One network for each setting and seed, kept after every fiftieth of its games and untrained, 51
sessions as in the thesis; a finished one is not trained again, so the command can be repeated and
several may run side by side, each with other seeds. `judge` has the networks play, `tables` counts.
"""

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments.shared import make_parser
from jaxgbg import Run, make, preset
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs import Training
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import check_writable, written_whole

GAMES = 250_000
SESSIONS = 50
PARTNERS = {"COM": "centre-of-mass", "RAND": "random", "itself": "self"}
FEATURES = ("immobility", "freedom", "concentration", "cluster")
NOISE = (0.6, 0.3, 0.1)
ADAM = {"optimizer": "adam", "minibatch": 32, "combine": "mean"}
ONLINE = {"variants": ("farl",), "epsilon_end": 0.05}
"""Learned move by move, for the leaves of a look-ahead cannot wait for the end of a round."""
LEARNERS: dict[str, dict[str, Any]] = {
    "move by move": {"replay_episodes": 0},
    "TD-Leaf": {"learner": "td-leaf", "train_plies": 2, "train_width": (3,)},
}

SETTINGS: dict[str, dict[str, Any]] = {
    # Tables 5.1 and 5.2.
    **{partner: {"partner": name} for partner, name in PARTNERS.items()},
    # The thesis names no optimizer: gradient descent, pair by pair, is a choice, and this another.
    **{f"{partner}, Adam": {"partner": name} | ADAM for partner, name in PARTNERS.items()},
    # Tables 5.3 to 5.5.
    **{
        f"{partner}{optimizer}, {feature}": {"partner": name, "extras": (feature,)} | steps
        for optimizer, steps in {"": {}, ", Adam": ADAM}.items()
        for partner, name in PARTNERS.items()
        for feature in FEATURES
    },
    # Does greedy self-play unlearn?
    "itself, noise": {"ranks": NOISE},
    "itself, epsilon .05": {"epsilon_end": 0.05},
    "itself, noise, epsilon .05": {"epsilon_end": 0.05, "ranks": NOISE},
    # What the learner knows of the end: the thesis has part 1 alone.
    "itself, FARL": {"variants": ("farl",)},
    "itself, no FARL": {"variants": ("none",)},
    # Features as inputs or outputs alone: the thesis has both.
    **{
        f"itself, {feature} as {role}": {"extras": (feature,), "extras_as": role}
        for feature in FEATURES
        for role in ("inputs", "outputs")
    },
    # Leaves of a look-ahead learned, against a look-ahead in play alone; by equal seconds.
    **{f"itself, {name}": ONLINE | learner for name, learner in LEARNERS.items()},
}
SLOWER = {"itself, TD-Leaf": 10}
"""Of these a network has a fraction of the games: they take about so many times as long."""


@dataclasses.dataclass(frozen=True)
class Sessions:
    """One network's weights float32[T, R] after each of `games` int[T], and what it took."""

    run: Run
    games: np.ndarray
    weights: np.ndarray
    moves: int
    seconds: float


def run_of(setting: str, seed: int, games: int = GAMES, size: int = 8) -> Run:
    """The training of one network; of a slower setting the games are fewer."""
    games //= SLOWER.get(setting, 1)
    return preset(
        make("lines_of_action", size=size),
        value="mlp",
        seeds=(seed,),
        episodes=games,
        eval_every=max(1, games // SESSIONS),
        opponents=(),
        # How many are played side by side alters no rule of the thesis: values are fixed meanwhile.
        batch=250,
        **SETTINGS[setting],
    )


def path_of(out: Path, setting: str, seed: int) -> Path:
    """Where a network's sessions are kept."""
    return out / setting.replace(", ", "-").replace(" ", "-") / f"seed{seed}.npz"


def train(run: Run) -> Sessions:
    """All sessions of the network of a run of one lane, the first one untrained."""
    training = Training(run)

    def weights() -> np.ndarray:
        (params,) = training.agents().values()
        return training.learner.value.weights_of(params)

    kept, games = [weights()], [0]
    for _ in training.rounds():
        kept.append(weights())
        games.append(training.progress().episodes)
    progress = training.progress()
    return Sessions(run, np.array(games), np.stack(kept), progress.moves, progress.seconds)


def keep(path: Path, sessions: Sessions) -> None:
    """Write the sessions, whole or not at all."""
    about = {"run": sessions.run.plain(), "moves": sessions.moves, "seconds": sessions.seconds}
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file, games=sessions.games, weights=sessions.weights, about=json.dumps(about)
        )


def load(path: Path) -> Sessions:
    """What `keep` has written; raises RulesChanged where the rules are others today."""
    with np.load(path) as kept:
        about = json.loads(str(kept["about"]))
        run = Run.read(about["run"])
        return Sessions(run, kept["games"], kept["weights"], about["moves"], about["seconds"])


def study_parser(script: str, doc: str | None) -> argparse.ArgumentParser:
    """The options that `study` and `judge` share: which networks."""
    parser = make_parser(script, doc)
    partners = list(PARTNERS)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=partners)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)))
    return parser


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(__file__, __doc__)
    parser.add_argument("--games", type=int, default=GAMES)
    parser.add_argument("--size", type=int, default=8)
    options = parser.parse_args(arguments)
    # Every setting has its first network before any has its second.
    for seed in options.seeds:
        for setting in options.settings:
            path = path_of(options.out, setting, seed)
            if path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            check_writable(path)
            sessions = train(run_of(setting, seed, options.games, options.size))
            keep(path, sessions)
            rate = sessions.moves / sessions.seconds
            print(
                f"{setting}, seed {seed}: {sessions.moves:,} moves in {sessions.seconds:.0f} s,"
                f" {rate:,.0f} a second",
                flush=True,
            )


if __name__ == "__main__":
    prepare_jax()
    end_in_a_line(main)
