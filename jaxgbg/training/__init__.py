"""Runs: a learner times seeds times devices, in chunks, with results on disk."""

from jaxgbg.training.agents import SavedAgent, load_agent, save_agent
from jaxgbg.training.execution import train, train_together
from jaxgbg.training.loop import Progress, Result, Training
from jaxgbg.training.run import Evaluation, LaneName, Run
from jaxgbg.training.settings import with_changes
from jaxgbg.training.stopping import StopTraining
from jaxgbg.training.store import RunFolder

__all__ = [
    "Evaluation",
    "LaneName",
    "Progress",
    "Result",
    "Run",
    "RunFolder",
    "SavedAgent",
    "StopTraining",
    "Training",
    "load_agent",
    "save_agent",
    "train",
    "train_together",
    "with_changes",
]
