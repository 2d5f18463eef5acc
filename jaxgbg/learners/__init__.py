"""Learners: how self-play turns into updates of a value function."""

from jaxgbg.learners.core import Learner
from jaxgbg.learners.policy import EpsilonGreedy, Exploration
from jaxgbg.learners.sarsa import QSpec, SarsaLearner, SarsaSpec
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.spec import FARL_PARTS, LearnerSpec
from jaxgbg.learners.state import Hyperparameters, Lane
from jaxgbg.learners.td import TDLearner
from jaxgbg.learners.td_off_policy import OffPolicyTDLearner, TDOffPolicySpec
from jaxgbg.learners.td_spec import TDSpec

__all__ = [
    "FARL_PARTS",
    "EpsilonGreedy",
    "Exploration",
    "Hyperparameters",
    "Lane",
    "Learner",
    "LearnerSpec",
    "OffPolicyTDLearner",
    "QSpec",
    "SarsaLearner",
    "SarsaSpec",
    "Schedule",
    "TDLearner",
    "TDOffPolicySpec",
    "TDSpec",
]
