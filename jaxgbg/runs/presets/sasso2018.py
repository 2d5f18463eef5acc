"""Sasso & van Lohuizen 2018, "Reinforcement Learning in the game Lines of Action".

What the thesis leaves open and is chosen here: biases start at 0, the steps are plain gradient
descent one pair at a time, targets are made from the network as it stands, a winning afterstate
counts as its reward. Games in lockstep change nothing: values are fixed while a round is played.
"""

import dataclasses
import functools
from typing import NamedTuple

from jaxgbg.evaluation import Protocol
from jaxgbg.games import Game
from jaxgbg.learners import Schedule, TDSpec
from jaxgbg.runs.play import Play
from jaxgbg.runs.presets.core import Preset
from jaxgbg.runs.run import Evaluation
from jaxgbg.types import SettingValue
from jaxgbg.values import MLPSpec

NAME = "lines_of_action"

PROTOCOLS = {(NAME, "*"): Protocol("default", repeats=500)}
"""How agents are judged, by game and opponent: from both seats in equal shares."""

Cell = tuple[float, float]
"""A mean over sessions and what stands behind its ±."""

AVERAGES: dict[str, dict[str, Cell]] = {
    "random": {
        "centre-of-mass": (0.711, 0.031),
        "random": (0.968, 0.017),
        "self": (0.326, 0.032),
    },
    "centre-of-mass": {
        "centre-of-mass": (0.799, 0.025),
        "random": (0.974, 0.018),
        "self": (0.304, 0.018),
    },
    "self": {
        "centre-of-mass": (0.843, 0.023),
        "random": (0.980, 0.019),
        "self": (0.450, 0.018),
    },
}
"""Table 5.1: win rates against each opponent by training partner, means over 51 sessions, with
standard errors over these sessions: the t of its appendix A.1 follow from them.
"""

AVERAGES_LOOKING_AHEAD: dict[str, dict[str, Cell]] = {
    "random": {
        "centre-of-mass": (0.722, 0.031),
        "random": (0.964, 0.018),
        "self": (0.370, 0.034),
    },
    "centre-of-mass": {
        "centre-of-mass": (0.850, 0.023),
        "random": (0.973, 0.018),
        "self": (0.321, 0.008),
    },
    "self": {
        "centre-of-mass": (0.854, 0.023),
        "random": (0.980, 0.018),
        "self": (0.503, 0.014),
    },
}
"""Table 5.2: the same with the look-ahead in the test games."""

SESSIONS = 51
"""Of Tables 5.1 and 5.2: one before the first game, and one after every 5 000."""

FEATURES: dict[str, dict[str, dict[str, Cell]]] = {
    "centre-of-mass": {
        "none": {"centre-of-mass": (0.823, 0.139), "random": (0.992, 0.016)},
        "immobility": {"centre-of-mass": (0.879, 0.162), "random": (0.994, 0.012)},
        "freedom": {"centre-of-mass": (0.933, 0.075), "random": (0.997, 0.007)},
        "concentration": {"centre-of-mass": (0.126, 0.093), "random": (0.340, 0.172)},
        "cluster": {"centre-of-mass": (0.821, 0.167), "random": (0.986, 0.038)},
    },
    "random": {
        "none": {"centre-of-mass": (0.693, 0.199), "random": (0.984, 0.023)},
        "immobility": {"centre-of-mass": (0.884, 0.175), "random": (0.999, 0.001)},
        "freedom": {"centre-of-mass": (0.880, 0.109), "random": (0.999, 0.004)},
        "concentration": {"centre-of-mass": (0.004, 0.013), "random": (0.115, 0.041)},
        "cluster": {"centre-of-mass": (0.855, 0.074), "random": (1.000, 0.002)},
    },
    "self": {
        "none": {"centre-of-mass": (0.827, 0.071), "random": (0.997, 0.012)},
        "immobility": {"centre-of-mass": (0.838, 0.101), "random": (0.999, 0.003)},
        "freedom": {"centre-of-mass": (0.826, 0.108), "random": (0.998, 0.008)},
        "concentration": {"centre-of-mass": (0.819, 0.129), "random": (0.999, 0.003)},
        "cluster": {"centre-of-mass": (0.852, 0.078), "random": (0.999, 0.005)},
    },
}
"""Tables 5.3 to 5.5: by partner, meta-feature and opponent, means over 50 sessions with standard
deviations over these. For their third opponent see `CLUSTER_AGAINST_SELF`.
"""

CLUSTER_AGAINST_SELF: dict[str, dict[str, Cell]] = {
    "centre-of-mass": {"none": (0.503, 0.004), "cluster": (0.516, 0.013)},
    "random": {"none": (0.504, 0.004), "cluster": (0.542, 0.018)},
    "self": {"none": (0.505, 0.005), "cluster": (0.511, 0.005)},
}
"""The third opponent of Tables 5.3 to 5.5, for the features that appendix A.3 compares.

The thesis calls it SELF. All of its cells lie between .502 and .542 for all trained agents, so it
is probably the agent itself and not the SELF of Table 5.1. Here SELF is one fixed network.
"""

FEATURE_SESSIONS = 50
"""Of Tables 5.3 to 5.5, which leave out the untrained network."""


class Claim(NamedTuple):
    """A difference that the thesis calls significant, with its t and degrees of freedom.

    `better` and `worse` are (partner, feature or "none", with look-ahead), met by `opponent`.
    """

    table: str
    better: tuple[str, str, bool]
    worse: tuple[str, str, bool]
    opponent: str
    t: float
    freedom: int


_RANDOM, _COM, _SELF = (
    (partner, "none", False) for partner in ("random", "centre-of-mass", "self")
)

CLAIMS = (
    Claim("A.1", _SELF, _RANDOM, "centre-of-mass", 3.42, 93),
    Claim("A.1", _SELF, _RANDOM, "self", 3.40, 78),
    Claim("A.1", _COM, _RANDOM, "centre-of-mass", 2.20, 96),
    Claim("A.1", _SELF, _COM, "self", 5.89, 100),
    Claim("A.2", ("centre-of-mass", "none", True), _COM, "centre-of-mass", 2.00, 99),
    Claim("A.2", ("self", "none", True), _SELF, "self", 2.03, 100),
    Claim("A.3", ("centre-of-mass", "freedom", False), _COM, "centre-of-mass", 4.91, 75),
    Claim("A.3", ("random", "immobility", False), _RANDOM, "centre-of-mass", 5.10, 96),
    Claim("A.3", ("random", "cluster", False), _RANDOM, "random", 4.92, 49),
    Claim("A.3", ("centre-of-mass", "cluster", False), _COM, "self", 6.47, 59),
    Claim("A.3", ("random", "cluster", False), _RANDOM, "self", 14.6, 55),
    Claim("A.3", ("self", "cluster", False), _SELF, "self", 5.87, 98),
)
"""All twelve claims of appendix A."""


def reported(claim: Claim) -> tuple[tuple[Cell, Cell], int]:
    """The two cells of the thesis' tables that a claim compares, ± standard errors, and sessions.

    Source: Tables 5.1 and 5.2 for A.1 and A.2, Tables 5.3 to 5.5 for A.3.
    """

    def cell(partner: str, feature: str, looks_ahead: bool) -> Cell:
        if claim.table != "A.3":
            return (AVERAGES_LOOKING_AHEAD if looks_ahead else AVERAGES)[partner][claim.opponent]
        cells = CLUSTER_AGAINST_SELF if claim.opponent == "self" else None
        mean, deviation = (
            cells[partner][feature] if cells else FEATURES[partner][feature][claim.opponent]
        )
        return mean, deviation / FEATURE_SESSIONS**0.5

    sessions = FEATURE_SESSIONS if claim.table == "A.3" else SESSIONS
    return (cell(*claim.better), cell(*claim.worse)), sessions


@functools.cache
def _preset() -> Preset:
    """The network, its learning and its evaluation, sections 3 and 4.

    Agents choose among their three best moves with fixed probabilities.
    """
    # Not made when this is imported: a spec of a network starts JAX.
    return Preset(
        "Sasso & van Lohuizen 2018",
        MLPSpec(hidden=(50,), activation="sigmoid", output="tanh", initializer="xavier"),
        TDSpec(replay_episodes=500, passes=3, learn_from_random=True, terminal_value_zero=True),
        Schedule(
            episodes=250_000,
            batch=125,
            alpha=0.001,
            epsilon=1.0,
            epsilon_end=0.0,
            epsilon_share=0.8,
        ),
        Evaluation(every=5_000, opponents=("centre-of-mass", "random")),
        Play(ranks=(0.6, 0.3, 0.1)),
        variants=("part1",),
    )


def preset_of(game: Game, learner: SettingValue, replay_episodes: SettingValue) -> Preset | None:
    """The settings of the thesis for its game, on a board of any size, None for other games.

    Another `learner` than TD, or 0 `replay_episodes`, goes without its learning by rounds.
    """
    if game.name != NAME:
        return None
    by_moves = dataclasses.replace(_preset(), learner=TDSpec(terminal_value_zero=True))
    if learner != TDSpec.kind:
        return dataclasses.replace(by_moves, variants=Preset().variants)
    return by_moves if replay_episodes == 0 else _preset()
