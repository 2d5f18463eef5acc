"""Runs: a learner times seeds times devices, in chunks, with results on disk."""

from typing import TYPE_CHECKING

from jaxgbg import lazy

if TYPE_CHECKING:
    from jaxgbg.runs.execution import train, train_together
    from jaxgbg.runs.loop import Progress, Training
    from jaxgbg.runs.result import Result
    from jaxgbg.runs.run import Evaluation, LaneName, Run
    from jaxgbg.runs.settings import with_changes
    from jaxgbg.runs.stopping import StopTraining
    from jaxgbg.runs.storage.agents import SavedAgent, load_agent, save_agent
    from jaxgbg.runs.storage.run_folder import RunFolder
else:
    __getattr__, __dir__ = lazy.attributes(
        __name__,
        {
            "Evaluation": "jaxgbg.runs.run",
            "LaneName": "jaxgbg.runs.run",
            "Progress": "jaxgbg.runs.loop",
            "Result": "jaxgbg.runs.result",
            "Run": "jaxgbg.runs.run",
            "RunFolder": "jaxgbg.runs.storage.run_folder",
            "SavedAgent": "jaxgbg.runs.storage.agents",
            "StopTraining": "jaxgbg.runs.stopping",
            "Training": "jaxgbg.runs.loop",
            "load_agent": "jaxgbg.runs.storage.agents",
            "save_agent": "jaxgbg.runs.storage.agents",
            "train": "jaxgbg.runs.execution",
            "train_together": "jaxgbg.runs.execution",
            "with_changes": "jaxgbg.runs.settings",
        },
    )

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
