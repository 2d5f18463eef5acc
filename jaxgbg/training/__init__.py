"""Runs: a learner times seeds times devices, in chunks, with results on disk."""

from jaxgbg.training.agents import SavedAgent, load_agent, save_agent
from jaxgbg.training.config import Config, preset, protocol_for
from jaxgbg.training.execution import run
from jaxgbg.training.store import RunFolder
from jaxgbg.training.train import Evaluation, Progress, Training

__all__ = [
    "Config",
    "Evaluation",
    "Progress",
    "RunFolder",
    "SavedAgent",
    "Training",
    "load_agent",
    "preset",
    "protocol_for",
    "run",
    "save_agent",
]
