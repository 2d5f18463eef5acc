"""The folder of a run on disk: `<out>/<game>-<hash>/`.

- config.json: all settings, enough to repeat the run
- metrics.jsonl: a line for each evaluation, appended during the training
- provenance.json: versions, devices, revision
- checkpoints/: until the run is finished
- histograms.json: of weights and TC factors
- agents/: the trained agents
- summary.json: totals, written last; a folder with it is finished and not run again
- stopped.json: why the run was stopped early, until it is resumed
"""

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import jax
import jax.numpy as jnp

from jaxgbg.contents import check_regular_file, defect, open_file, read_json, read_object
from jaxgbg.games.fingerprint import fingerprint
from jaxgbg.games.precision import in_32_bits
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.loop import Result
from jaxgbg.runs.run import LaneName, RulesChanged, Run
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.files import (
    NO_ROOM,
    NoRoom,
    cannot_write,
    leftovers,
    set_aside,
    were_set_aside,
    write_json,
)
from jaxgbg.runs.storage.metrics import MetricsFile, evaluation_columns
from jaxgbg.runs.storage.provenance import provenance, resumed
from jaxgbg.runs.storage.schemas import Provenance, Summary, validate
from jaxgbg.specs import pluralize, shown
from jaxgbg.types import JSON

_FILES = (
    "config.json",
    "provenance.json",
    "metrics.jsonl",
    "histograms.json",
    "stopped.json",
    "summary.json",
)


class RunFolder:
    """The folder of one run; raises ValueError if it cannot be written."""

    def __init__(self, out: str | Path, run: Run) -> None:
        self.run = run
        self.path = Path(out) / run.name

    @classmethod
    def open(cls, path: str | Path) -> "RunFolder":
        """Open the folder `path` of a run, with any name; raises ValueError if it is not one."""
        path = Path(path)
        try:
            run = Run.read(read_json(path / "config.json"))
        except OSError as error:
            raise ValueError(
                f"{path} is not the folder of a run: config.json: {error.strerror}"
            ) from error
        except RulesChanged as error:
            raise ValueError(f"{path} was {error}") from error
        except ValueError as error:
            raise ValueError(
                f"{path / 'config.json'} is damaged or not readable by this version"
                f" ({defect(path / 'config.json', error)})"
            ) from error
        folder = cls(path.parent, run)
        folder.path = path
        return folder

    def __repr__(self) -> str:
        run = self.run
        known = (self.path / "summary.json", "finished"), (self.path / "stopped.json", "stopped")
        state = next((word for path, word in known if path.exists()), "unfinished")
        lanes = f"{pluralize(len(run.seeds), 'seed')} of {' and '.join(run.variants)}"
        how = f"{run.value.kind}, {run.learner.kind}, {run.schedule.episodes:,} episodes, {lanes}"
        return f"<{type(self).__name__} {self.path} of {shown(run.game)}: {how}, {state}>"

    @property
    def finished(self) -> bool:
        """Whether the run is finished; raises ValueError if it was made under other rules."""
        if not (self.path / "summary.json").exists():
            return False
        self._check_config()
        return True

    def _check_config(self) -> None:
        """Refuse a folder of another run, or one that was made when the game had other rules."""
        try:
            stored = read_object(self.path / "config.json")
        except FileNotFoundError:
            return
        except ValueError as error:
            raise ValueError(f"{error}; choose another --out, or delete the folder") from error
        if stored.get("fingerprint") != fingerprint(self.run.game):
            raise ValueError(
                f"{self.path} was made under other rules of {self.run.game.name}:"
                " choose another --out, or delete it"
            )
        other = _differing(stored, self.run.plain())
        if other:
            raise ValueError(
                f"{self.path / 'config.json'} is of another run than its folder: {other} differs;"
                " choose another --out, or delete the folder"
            )

    def begin(self) -> None:
        """Make the folder; keep the files of an unfinished run."""
        try:
            self._check_place()
            # The folder is locked, so the processes that left these files have ended.
            for leftover in self._leftovers():
                leftover.unlink()
            # The config comes first, because it says which run the folder belongs to.
            self.path.mkdir(parents=True, exist_ok=True)
            write_json(self.path / "config.json", self.run.plain())
            (self.path / "agents").mkdir(exist_ok=True)
            if not self._provenance.exists():
                write_json(self._provenance, provenance())
            self._stopped.unlink(missing_ok=True)
        except OSError as error:
            raise self.unwritable(error) from error

    def _check_place(self) -> None:
        """Refuse a folder with other content, before anything in it changes."""
        if not (self.path / "config.json").exists():
            if self.path.exists() and {*self.path.iterdir()} - {*self._leftovers()}:
                raise ValueError(f"{self.path} holds something else; choose another --out")
            return
        self._check_config()
        agents = self.path / "agents"
        if agents.is_symlink():
            raise ValueError(f"{agents} is a link, not a folder: choose another --out")
        for path in (*(self.path / name for name in _FILES), *map(self.agent, self.run.agents)):
            check_regular_file(path)

    def _leftovers(self) -> list[Path]:
        """The temporary files that killed processes have left here."""
        names = {lane.file for lane in self.run.agents}
        return [
            *leftovers(self.path, _FILES.__contains__),
            *leftovers(self.path / "agents", names.__contains__),
        ]

    def agent(self, lane: LaneName) -> Path:
        """The file of an agent."""
        return self.path / "agents" / lane.file

    def resume(self, metrics: int | None) -> None:
        """Cut the metrics to the `metrics` bytes that belong to a checkpoint; None starts over."""
        try:
            origin, earlier = provenance(), self._earlier_provenance()
            if metrics is not None and earlier is not None:
                origin = resumed(earlier, self.path).plain()
            write_json(self._provenance, origin)
            self.metrics.cut(metrics or 0)
        except OSError as error:
            raise self.unwritable(error) from error

    def _earlier_provenance(self) -> Provenance | None:
        """The provenance so far; None if it cannot be read; then it is set aside."""
        try:
            return validate(Provenance, read_json(self._provenance))
        except FileNotFoundError:
            return None
        except ValueError:
            set_aside(self._provenance)
            return None

    def set_metrics_aside(self) -> Path:
        """Rename metrics that have been changed; returns their new path."""
        try:
            return set_aside(self.metrics.path)
        except OSError as error:
            raise self.unwritable(error) from error

    def remove_set_aside(self) -> None:
        """Delete what was set aside in this folder, now that the run is finished."""
        with contextlib.suppress(OSError):
            for path in were_set_aside(self.path, _FILES.__contains__):
                path.unlink()

    def sync(self) -> None:
        """Wait until the results are on the disk, where the system can say so."""
        for path in (*map(self.agent, self.run.agents), *(self.path / name for name in _FILES)):
            with contextlib.suppress(OSError, ValueError), open_file(path, sys.maxsize) as file:
                os.fsync(file.fileno())

    def stop_early(self, reason: str) -> None:
        """Write that this run was stopped early on purpose, and why."""
        try:
            write_json(self._stopped, {"reason": reason})
        except OSError as error:
            raise self.unwritable(error) from error

    @property
    def stopped_early(self) -> bool:
        """Whether the run was stopped early on purpose, and not resumed since."""
        return self._stopped.exists() and not self.finished

    @property
    def begun_alone(self) -> bool:
        """Whether the run is unfinished and has its own checkpoints, trained with no other run."""
        return (self.path / "checkpoints").is_dir() and not self.finished

    @property
    def _stopped(self) -> Path:
        return self.path / "stopped.json"

    @property
    def _provenance(self) -> Path:
        return self.path / "provenance.json"

    @property
    def metrics(self) -> MetricsFile:
        """The evaluations so far, on disk."""
        return MetricsFile(self.path / "metrics.jsonl")

    def append(self, result: Result) -> None:
        """Add a line to the metrics; ValueError if there is no space for it."""
        try:
            self.metrics.append(result)
        except OSError as error:
            raise self.unwritable(error) from error

    def unwritable(self, error: OSError) -> ValueError:
        """The error to raise if the folder cannot be written."""
        if error.errno in NO_ROOM:
            return NoRoom(
                f"no space left to write {self.path} ({error.strerror}): make room and start the"
                " same command again, it goes on from the last checkpoint"
            )
        return cannot_write(self.path, error)

    def results(self) -> list[Result]:
        """All evaluations so far, in order."""
        if not self.metrics.size:
            return []
        columns = evaluation_columns(self.metrics.path, _refuse)
        return [Result(*fields) for fields in zip(*columns[1:], strict=True)]

    @in_32_bits
    def agents(self, lanes: Sequence[LaneName]) -> GreedyAgent:
        """Trained agents as one player of several, in the order of `lanes`.

        Raises ValueError where the file of one is missing or damaged.
        """
        run = self.run
        value = run.make_learner().value
        params = [
            value.with_weights(
                load_agent(self.agent(lane), run.game.name).weights,
                run.value.drawn(run.game, lane.seed),
            )
            for lane in lanes
        ]
        together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *params)
        return GreedyAgent(run.game, value, together, run.learner.bootstrap, several=True)

    def summary(self) -> dict[str, JSON]:
        """The content of summary.json; raises ValueError if it is damaged."""
        path = self.path / "summary.json"
        try:
            return validate(Summary, read_json(path)).plain()
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{defect(path, error)}; delete this file, and train again with the same options"
            ) from error


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text}; delete the line, or the folder to make the run again")


def _differing(stored: Mapping[str, JSON], own: Mapping[str, JSON]) -> str:
    """The path of the first setting in which two plain runs differ; else empty."""
    for name in sorted(stored.keys() & own.keys()):
        if isinstance(stored[name], dict) and isinstance(own[name], dict):
            inner = _differing(stored[name], own[name])
            if inner:
                return f"{name}.{inner}"
        elif stored[name] != own[name]:
            return name
    return ""
