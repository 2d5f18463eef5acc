"""Learners: how self-play turns into updates of a value function."""

from jaxgbg.learners.core import Learner
from jaxgbg.learners.qlearning import QLearner
from jaxgbg.learners.sarsa import SarsaLearner
from jaxgbg.learners.schedules import decay_factors, horizon_of
from jaxgbg.learners.state import Hyperparameters, Lane
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
    "decay_factors",
    "horizon_of",
]
