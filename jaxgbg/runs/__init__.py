"""Runs: a learner times seeds times devices, in chunks, with results on disk."""

from jaxgbg.runs.execution import train, train_together
from jaxgbg.runs.loop import Progress, Result, Training
from jaxgbg.runs.run import Evaluation, LaneName, Run
from jaxgbg.runs.settings import with_changes
from jaxgbg.runs.stopping import StopTraining
from jaxgbg.runs.storage.agents import SavedAgent, load_agent, save_agent
from jaxgbg.runs.storage.run_folder import RunFolder

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
