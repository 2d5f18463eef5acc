"""Evaluating agents: start positions, matches, judges, and tests of who is stronger."""

from jaxgbg.evaluation.judges import (
    DEFAULT_PROTOCOL,
    Judge,
    MatchJudge,
    judge_names,
    make_judge,
    scale_of,
)
from jaxgbg.evaluation.matches import compete, play
from jaxgbg.evaluation.protocol import Protocol, no_history, start_states
from jaxgbg.evaluation.solved_positions import Solver

__all__ = [
    "DEFAULT_PROTOCOL",
    "Judge",
    "MatchJudge",
    "Protocol",
    "Solver",
    "compete",
    "judge_names",
    "make_judge",
    "no_history",
    "play",
    "scale_of",
    "start_states",
]
