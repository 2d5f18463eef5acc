"""Learners: how self-play turns into updates of a value function."""

from jaxgbg.learners.policy import EpsilonGreedy, Exploration
from jaxgbg.learners.rule import Rule
from jaxgbg.learners.sarsa import SARSA, QSpec, SarsaSpec
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.spec import FARL_PARTS, LearnerSpec
from jaxgbg.learners.state import Hyperparameters, Lane
from jaxgbg.learners.td import TD, TDSpec
from jaxgbg.learners.td_off_policy import TDOffPolicySpec, td_off_policy
from jaxgbg.learners.td_one_ply import TDOnePlySpec
from jaxgbg.learners.tick import Learner

__all__ = [
    "FARL_PARTS",
    "SARSA",
    "TD",
    "EpsilonGreedy",
    "Exploration",
    "Hyperparameters",
    "Lane",
    "Learner",
    "LearnerSpec",
    "QSpec",
    "Rule",
    "SarsaSpec",
    "Schedule",
    "TDOffPolicySpec",
    "TDOnePlySpec",
    "TDSpec",
    "td_off_policy",
]
