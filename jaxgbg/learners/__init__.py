"""Learners: how self-play turns into updates of a value function."""

from jaxgbg.learners.core import Hyperparameters, Lane, Learner, horizon_of
from jaxgbg.learners.qlearning import QLearner
from jaxgbg.learners.sarsa import SarsaLearner
from jaxgbg.learners.td import TDLearner

LEARNERS: dict[str, type[Learner]] = {"td": TDLearner, "sarsa": SarsaLearner, "q": QLearner}

__all__ = [
    "LEARNERS",
    "Hyperparameters",
    "Lane",
    "Learner",
    "QLearner",
    "SarsaLearner",
    "TDLearner",
    "horizon_of",
]
