"""What is known of the networks of the study: what each won in every session, and means of it."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lines_of_action.judge import read_judged
from experiments.lines_of_action.study import SETTINGS, load, path_of
from jaxgbg.contents import parse_json
from jaxgbg.results.statistics import confidence_interval, mean_sem


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
