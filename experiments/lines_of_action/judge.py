"""The kept networks of `study` play: 51 sessions side by side against COM, RAND and SELF.

    python -m experiments.lines_of_action.judge --fix-self
    python -m experiments.lines_of_action.judge --plays noise look-ahead look-ahead-noise

Fewer games than the 1 000 a session of the thesis: what is compared are means over 51 sessions and
over networks, and those differ far more than games do. What has been judged is not judged again.
SELF, one network of self-play, is that of --fix-self: of a seed that stands in no table the session
in the second half whose share against COM is nearest to the .88 of the thesis' Table 4.1.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.lines_of_action.study import (
    NOISE,
    SETTINGS,
    Sessions,
    load,
    path_of,
    study_parser,
)
from experiments.shared import WRITTEN_WITH, Section, written_with
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.contents import parse_json
from jaxgbg.evaluation import Protocol
from jaxgbg.players import GreedyAgent
from jaxgbg.results.statistics import confidence_interval, mean_sem
from jaxgbg.runs import SavedAgent, save_agent
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.play import Play
from jaxgbg.runs.storage.files import write_json

BEAM = Play(look_ahead=3, width=(3, 1), reply="value")
"""Three own moves, the enemy's reply of the lowest value to each, all own moves after it."""
PLAYS = {
    "noise": Play(ranks=NOISE),
    "best": Play(),
    "look-ahead-noise": dataclasses.replace(BEAM, ranks=NOISE),
    "look-ahead": BEAM,
}
GAMES = {"noise": 100, "best": 100, "look-ahead-noise": 40, "look-ahead": 40}
"""Of every session against each opponent, half from each seat."""
SELF_SEED = 100
_SELF_SHARE = 0.88


def self_path(results: Path) -> Path:
    """Where the network SELF is kept."""
    return results / "SELF.agent"


def opponents(results: Path) -> dict[str, str]:
    """COM, RAND and, once it is fixed, SELF, who all but RAND play with noise."""
    known = {"COM": "centre-of-mass", "RAND": "random"}
    if self_path(results).exists():
        shares = ",".join(map(str, NOISE))
        known["SELF"] = f"{self_path(results)}:ranks={shares}"
    return known


def agents(sessions: Sessions) -> GreedyAgent:
    """All sessions of a network as copies of one agent."""
    learner = sessions.run.make_learner()
    params = jax.vmap(learner.value.with_weights)(jnp.asarray(sessions.weights))
    bootstrap = sessions.run.learner.bootstrap
    return GreedyAgent(learner.game, learner.value, params, bootstrap, several=True)


def shares(sessions: Sessions, play: Play, opponent: str, games: int) -> np.ndarray:
    """float[T]: what each session won of `games` games, a draw one half."""
    judge = judge_by(opponent, sessions.run.game, Protocol("default", repeats=games // 2))
    scores = judge.scores(play.player(agents(sessions)), jax.random.key(0))[opponent]
    return scores.reshape(len(sessions.games), -1).mean(1) / 2 + 0.5


def fix_self(out: Path, results: Path) -> dict[str, Any]:
    """Write SELF and say which session it is."""
    sessions = load(path_of(out, "itself", SELF_SEED))
    found = shares(sessions, PLAYS["noise"], "centre-of-mass", 1000)
    half = len(found) // 2
    session = half + int(np.abs(found[half:] - _SELF_SHARE).argmin())
    agent = SavedAgent(sessions.run, sessions.run.variants[0], sessions.weights[session])
    save_agent(self_path(results), agent)
    chosen = {
        "seed": SELF_SEED,
        "games": int(sessions.games[session]),
        "share against COM": round(float(found[session]), 3),
        "all sessions": found.round(3).tolist(),
    }
    Section(results, "SELF").write([chosen])
    return chosen


def read_judged(path: Path) -> dict[str, list[float]]:
    """What is known of the network at `path`: for each way of play and opponent all sessions."""
    beside = path.with_suffix(".json")
    return json.loads(beside.read_text()) if beside.exists() else {}


class Judged:
    """All that is known: for each setting and seed the shares of every session."""

    def __init__(self, networks: Iterable[dict[str, Any]]) -> None:
        self.shares: dict[tuple[str, str], dict[int, np.ndarray]] = {}
        self.trained: dict[str, list[dict[str, Any]]] = {}
        self.games: dict[str, np.ndarray] = {}
        for network in networks:
            setting = network["setting"]
            for key, shares in network["shares"].items():
                self.shares.setdefault((setting, key), {})[network["seed"]] = np.array(shares)
            self.games[setting] = np.array(network["games"])
            about = {name: network[name] for name in ("seed", "config", "moves", "seconds")}
            self.trained.setdefault(setting, []).append(about)

    def means(self, setting: str, play: str, opponent: str) -> dict[int, float]:
        """For each seed the mean of all sessions."""
        known = self.shares.get((setting, f"{play} {opponent}"), {})
        return {seed: float(shares.mean()) for seed, shares in known.items()}

    def last(self, setting: str, play: str, opponent: str) -> dict[int, float]:
        """For each seed the last session."""
        known = self.shares.get((setting, f"{play} {opponent}"), {})
        return {seed: float(shares[-1]) for seed, shares in known.items()}


def judged_networks(out: Path) -> Iterator[dict[str, Any]]:
    """What each network in `out` is, and what it won in every session."""
    for setting in SETTINGS:
        for path in sorted(path_of(out, setting, 0).parent.glob("seed*.npz")):
            if found := read_judged(path):
                sessions = load(path)
                yield {
                    "setting": setting,
                    "seed": sessions.run.seeds[0],
                    "config": sessions.run.digest,
                    "moves": sessions.moves,
                    "seconds": round(sessions.seconds, 1),
                    "games": sessions.games.tolist(),
                    "shares": found,
                    WRITTEN_WITH: written_with(),
                }


def kept_networks(path: Path, judged: Iterable[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """All networks of the file at `path`, a line each, where those of `judged` are newer."""
    lines = path.read_text().splitlines() if path.exists() else []
    known = {
        (network["setting"], network["seed"]): network
        for network in (*map(parse_json, lines), *judged)
    }
    order = list(SETTINGS)
    return [known[key] for key in sorted(known, key=lambda key: (order.index(key[0]), key[1]))]


def figure_of(values: Sequence[float]) -> dict[str, Any] | None:
    """Mean, standard error and number of networks; None of none.

    There is no interval where all networks agree: they bound nothing about the next one.
    """
    if not values:
        return None
    mean, error = mean_sem(values)
    about: dict[str, Any] = {"mean": round(mean, 3), "n": len(values)}
    if len(values) > 1:
        about["sem"] = round(error, 3)
        low, high = confidence_interval(values)
        if low == low:
            about["interval"] = [round(low, 3), round(high, 3)]
    return about


def paired(first: dict[int, float], second: dict[int, float]) -> dict[str, Any] | None:
    """What `first` has more than `second`, over the networks of both."""
    return figure_of([first[seed] - second[seed] for seed in first if seed in second])


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(__file__, __doc__)
    parser.add_argument("--plays", nargs="+", choices=PLAYS, default=["noise"])
    parser.add_argument("--fix-self", action="store_true")
    options = parser.parse_args(arguments)
    if options.fix_self:
        print(fix_self(options.out, options.results))
        return
    for seed in options.seeds:
        for setting in options.settings:
            path = path_of(options.out, setting, seed)
            if path.exists():
                judge_network(path, options.results, options.plays)


def judge_network(path: Path, results: Path, plays: list[str]) -> None:
    """Add to the file next to a network what is not yet in it."""
    sessions, beside = load(path), path.with_suffix(".json")
    found = read_judged(path)
    for play in plays:
        for name, opponent in opponents(results).items():
            key = f"{play} {name}"
            if key in found:
                continue
            won = shares(sessions, PLAYS[play], opponent, GAMES[play])
            found[key] = won.round(4).tolist()
            write_json(beside, found)
            print(f"{path.parent.name} {path.stem} {key}: {won.mean():.3f}", flush=True)


if __name__ == "__main__":
    prepare_jax()
    end_in_a_line(main)
