"""The runs below a folder, finished or not, and what is wrong with them."""

import dataclasses
import math
from pathlib import Path
from typing import Any

from jaxgbg.papers.table1 import GAMES
from jaxgbg.results.reading import UNREADABLE, defect, evaluation_columns, json_object, run_folders
from jaxgbg.training import Config, Evaluation, RunFolder


@dataclasses.dataclass
class FoundRun:
    """A run on disk. `name` is its path below the folder searched; what it lacks is None.

    `problems` collects a line for each file that could not be read.
    """

    path: Path
    name: str
    config: Config
    evaluations: list[Evaluation]
    provenance: dict[str, Any] | None
    summary: dict[str, Any] | None
    histograms: dict[str, Any] | None
    problems: list[str]

    @property
    def seconds(self) -> float:
        """Those of the training; not a number while it is unfinished."""
        return self.summary["training_seconds"] if self.summary else math.nan

    @property
    def agent_files(self) -> list[Path]:
        """The agents, those with FARL first, in the order of their seeds."""
        order = {f"seed{seed}-{farl}.agent": (farl, seed) for seed, farl in self.config.lanes}
        files = [path for path in (self.path / "agents").glob("*.agent") if path.name in order]
        return sorted(files, key=lambda path: order[path.name])


def find_runs(root: Path) -> tuple[list[FoundRun], list[str]]:
    """All runs below `root`, in the order of Table 1, and a line for each that cannot be read.

    Raises ValueError in one line where there is no run at all.
    """
    if not root.is_dir():
        raise ValueError(f"{root} is no folder; give the one that holds the runs, such as runs")
    runs: list[FoundRun] = []
    problems: list[str] = []
    for path in run_folders(root, problems.append):
        # Others keep a config.json too: only a run has this beside it.
        if not (path / "provenance.json").exists():
            continue
        try:
            runs.append(_read(path, root))
        except ValueError as error:
            problems.append(f"{error}: this run is left out")
    if not runs and not problems:
        raise ValueError(
            f"{root} holds no runs; `jaxgbg train`, `ablate` and `table1` leave them in --out"
        )
    order = (*GAMES, *sorted({run.config.game for run in runs} - set(GAMES)))
    runs.sort(key=lambda run: (order.index(run.config.game), run.name))
    return runs, problems


def _read(path: Path, root: Path) -> FoundRun:
    """Raises ValueError where the config is damaged; other damage is noted."""
    config = RunFolder.open(path).config
    problems: list[str] = []
    columns = evaluation_columns(path / "metrics.jsonl", problems.append)
    evaluations = [Evaluation(*fields) for fields in zip(*columns[1:], strict=True)]

    def content(name: str) -> dict[str, Any] | None:
        try:
            return json_object(path / name)
        except FileNotFoundError:
            return None
        except UNREADABLE as error:
            problems.append(defect(path / name, error))
            return None

    return FoundRun(
        path=path,
        name=str(path.relative_to(root)) if path != root else path.name,
        config=config,
        evaluations=evaluations,
        provenance=content("provenance.json"),
        summary=content("summary.json"),
        histograms=content("histograms.json"),
        problems=problems,
    )
