"""Evaluating agents: start positions, matches, evaluators, and judges made of them."""

from jaxgbg.evaluation.evaluators import Evaluator, EvaluatorSpec
from jaxgbg.evaluation.judges import (
    DEFAULT_PROTOCOL,
    Judge,
    MatchJudge,
    in_words,
    judge_names,
    judges_alone,
    make_judge,
    ranks_agents,
    scale_of,
)
from jaxgbg.evaluation.matches import compete, play
from jaxgbg.evaluation.protocol import Protocol, no_history, start_states
from jaxgbg.evaluation.solved_positions import SolvedPositions, SolvedPositionsSpec

__all__ = [
    "DEFAULT_PROTOCOL",
    "Evaluator",
    "EvaluatorSpec",
    "Judge",
    "MatchJudge",
    "Protocol",
    "SolvedPositions",
    "SolvedPositionsSpec",
    "compete",
    "in_words",
    "judge_names",
    "judges_alone",
    "make_judge",
    "no_history",
    "play",
    "ranks_agents",
    "scale_of",
    "start_states",
]
