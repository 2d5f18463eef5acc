"""Sasso & van Lohuizen 2018, "Reinforcement Learning in the game Lines of Action".

What the thesis leaves open and is chosen here: biases start at 0, the steps are plain gradient
descent one pair at a time, targets are made from the network as it stands, a winning afterstate
counts as its reward. Games in lockstep change nothing: values are fixed while a round is played.
"""

from collections.abc import Mapping
from typing import Any

from jaxgbg.arena import Protocol
from jaxgbg.games import Game

NAME = "lines_of_action"

NETWORK: dict[str, Any] = {
    "value": "mlp",
    "hidden": (50,),
    "activation": "sigmoid",
    "output": "tanh",
    "initializer": "xavier",
    "batch": 125,
    "alpha": 0.001,
    "epsilon": 1.0,
    "epsilon_end": 0.0,
    "epsilon_share": 0.8,
    "round_games": 500,
    "passes": 3,
    "learn_from_random": True,
    "zero_terminal": True,
    "variants": ("part1",),
}
"""The network and its learning, sections 3 and 4."""

_ROUNDS = {"round_games", "passes"}

EVALUATION: dict[str, Any] = {
    "episodes": 250_000,
    "eval_every": 5_000,
    "opponents": ("centre-of-mass", "random"),
    "play_ranks": (0.6, 0.3, 0.1),
}
"""1 000 games against each opponent, the three best moves with fixed probabilities."""

PROTOCOLS = {(NAME, "*"): Protocol("default", repeats=500)}
"""How agents are judged, by game and opponent: from both seats in equal shares."""

AVERAGES = {
    "random": {"centre-of-mass": 0.711, "random": 0.968, "self": 0.326},
    "centre-of-mass": {"centre-of-mass": 0.799, "random": 0.974, "self": 0.304},
    "self": {"centre-of-mass": 0.843, "random": 0.980, "self": 0.450},
}
"""Table 5.1: win rates against each opponent by training partner, means over 51 sessions."""

AVERAGES_LOOKING_AHEAD = {
    "random": {"centre-of-mass": 0.722, "random": 0.964, "self": 0.370},
    "centre-of-mass": {"centre-of-mass": 0.850, "random": 0.973, "self": 0.321},
    "self": {"centre-of-mass": 0.854, "random": 0.980, "self": 0.503},
}
"""Table 5.2: the same with the look-ahead in the test games."""


def network(game: Game, changes: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings of the thesis for its game, on a board of any size, None for other games.

    What belongs to its learning by rounds is left out where `changes` ask for something else.
    """
    if game.name != NAME:
        return None
    fields = NETWORK | EVALUATION
    if changes.get("learner", "td") != "td":
        return {name: fields[name] for name in fields if name not in _ROUNDS | {"variants"}}
    if changes.get("round_games") == 0:
        return {name: fields[name] for name in fields if name not in _ROUNDS}
    return fields
