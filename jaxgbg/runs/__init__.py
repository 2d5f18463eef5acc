"""Runs: a learner times seeds times devices, in chunks, with results on disk."""

from jaxgbg.runs.agents import SavedAgent, load_agent, save_agent
from jaxgbg.runs.config import Config, preset, protocol_for
from jaxgbg.runs.execution import run
from jaxgbg.runs.store import RunFolder
from jaxgbg.runs.train import Evaluation, Progress, Training

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
