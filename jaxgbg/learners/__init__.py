"""Learners: how self-play turns into updates of a value function."""

from jaxgbg.learners.td import Hyperparameters, Lane, TDLearner, horizon_of

__all__ = ["Hyperparameters", "Lane", "TDLearner", "horizon_of"]
