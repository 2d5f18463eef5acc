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
            "jaxgbg.runs.execution": "train train_together",
            "jaxgbg.runs.loop": "Progress Training",
            "jaxgbg.runs.result": "Result",
            "jaxgbg.runs.run": "Evaluation LaneName Run",
            "jaxgbg.runs.settings": "with_changes",
            "jaxgbg.runs.stopping": "StopTraining",
            "jaxgbg.runs.storage.agents": "SavedAgent load_agent save_agent",
            "jaxgbg.runs.storage.run_folder": "RunFolder",
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
