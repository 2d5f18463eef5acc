"""Sweeps: a TOML file, the runs that it describes, and their units of work.

game = "tictactoe"
seeds = "0:64"              # or a list; "0:64" is 0 to 63
chunk = 16                  # seeds of one run, all of them where not given
adaptive = "racing"         # or "halving": stop settings that fall behind, see sweeps.adaptive
                            # or "tpe": train `trials` of the settings, see sweeps.suggest
trials = 20

[settings]                  # any setting of a run, by its short form or its path
episodes = 20_000

[axes]                      # each combination is a run; "game" may be an axis too
alpha = [0.5, 1.0]          # or schedule.alpha; game.heaps is a parameter of the game
variants = ["farl", "none"]

Several tables [[axes]] give the combinations of each table, for values that only go together.
"""

import dataclasses
import hashlib
import itertools
import math
import tomllib
import typing
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from jaxgbg.arguments import Adaptive
from jaxgbg.contents import check_depth, defect, read_bytes, too_deep
from jaxgbg.games import make
from jaxgbg.runs.lanes import program_of
from jaxgbg.runs.memory import lane_memory
from jaxgbg.runs.presets import preset
from jaxgbg.runs.run import MOST_SEEDS, Run
from jaxgbg.runs.settings import find, variant_of
from jaxgbg.runs.settings import settings as settings_of_runs
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.specs import Spec, did_you_mean, setting, shown
from jaxgbg.types import JSON, SettingValue

_DEEPEST = 20
MOST_RUNS = 10_000
"""A sweep of more runs is a mistake: reading it would take minutes."""


@dataclasses.dataclass(frozen=True)
class UnitLimits(Spec):
    """Limits of a unit of work.

    The defaults are constants and do not depend on this machine's memory. The last bits of a lane
    may depend on its program, so which runs share a program must be the same on all machines.

    Attributes:
      chunk: Seeds of one run; all of them if not given.
      lanes: Largest number of lanes of a unit.
      memory_gb: Largest memory of a unit's lanes, in 10^9 bytes.
    """

    chunk: int | None = setting(None, low=1, high=MOST_SEEDS)
    lanes: int = setting(256, low=1, high=MOST_SEEDS)
    memory_gb: float = setting(4.0, above=0, high=1_000_000)


_LIMITS = tuple(field.name for field in dataclasses.fields(UnitLimits))
_KEYS = ("game", "seeds", "adaptive", "trials", *_LIMITS, "settings", "axes")


class Unit(NamedTuple):
    """Runs that are lanes of one program, trained together by one worker. `memory` in bytes."""

    runs: tuple[Run, ...]
    lanes: int
    memory: int

    @property
    def name(self) -> str:
        """Eight hexadecimal digits that change with any of its runs."""
        text = "-".join(run.digest for run in self.runs)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def finished(self, out: Path) -> bool:
        """Whether all its runs are done."""
        return all(RunFolder(out, run).finished for run in self.runs)

    def apart(self, out: Path, begun: Sequence[tuple[str, ...]]) -> "list[Unit]":
        """Split off runs that were begun alone, and groups that were `begun` together, the latest
        first (their digests): they resume from their own checkpoints.
        """
        if len(self.runs) == 1:
            return [self]
        left = {run.digest: run for run in self.runs}
        alone = [(run.digest,) for run in self.runs if RunFolder(out, run).begun_alone]
        groups = []
        for group in (*alone, *begun):
            runs = [left[digest] for digest in group if digest in left]
            # A process that was killed at its end has left the checkpoints of finished runs.
            if len(runs) == len(group) and not all(RunFolder(out, run).finished for run in runs):
                groups.append(runs)
                left = {digest: run for digest, run in left.items() if digest not in group}
        parts = [*groups, [*left.values()]]
        return [_unit(part, self.memory // self.lanes) for part in parts if part]


class Plan(NamedTuple):
    """A sweep: its units of work, its axes as in the file, and how it saves episodes.

    `values` are the values on the axes of each run, by its digest; `trials` is the number of
    settings that "tpe" trains of each game and its opponents.
    """

    units: list[Unit]
    axes: dict[str, tuple[SettingValue, ...]]
    adaptive: Adaptive = "none"
    values: Mapping[str, Mapping[str, SettingValue]] = MappingProxyType({})
    trials: int = 0


@dataclasses.dataclass(frozen=True)
class Suggesting(Spec):
    """How many settings a suggesting sweep trains.

    Attributes:
      trials: Settings of each game and its opponents.
    """

    trials: int = setting(20, low=1, high=MOST_RUNS)


def read_spec(path: Path, adaptive: Adaptive | None = None) -> Plan:
    """Read a sweep from a TOML file; `adaptive`, if given, replaces that of the file.

    Raises ValueError in one line if it is wrong.
    """
    try:
        text = read_bytes(path).decode()
        if text.startswith("\ufeff"):
            raise ValueError("starts with a byte-order mark: save it as UTF-8 without one (no BOM)")
        fields = tomllib.loads(text)
        check_depth(fields, _DEEPEST)
    except RecursionError as error:
        raise ValueError(f"sweep file {path}: {too_deep(_DEEPEST)}") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"sweep file {path} is not valid TOML: {error}") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"sweep file {defect(path, error)}") from error
    try:
        return plan(fields, adaptive)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sweep file {path}: {error}") from error


def plan(fields: dict[str, JSON], adaptive: Adaptive | None = None) -> Plan:
    """A sweep given as in its file; ValueError for what is wrong in it."""
    made = units(fields)
    trials = Suggesting(**{name: fields[name] for name in ("trials",) if name in fields}).trials
    chosen = adaptive or fields.get("adaptive", "none")
    if chosen not in typing.get_args(Adaptive):
        known = ", ".join(typing.get_args(Adaptive))
        raise ValueError(f"adaptive must be one of {known}, not {shown(chosen)}")
    if "trials" in fields and "tpe" not in (chosen, fields.get("adaptive")):
        raise ValueError('trials needs adaptive = "tpe"')
    if chosen != "none":
        # Each of them stops when it has to.
        made = [_unit([run], unit.memory // unit.lanes) for unit in made for run in unit.runs]
        if not all(run.evaluation.opponents for unit in made for run in unit.runs):
            raise ValueError("an adaptive sweep compares evaluations: name opponents")
    axes: dict[str, list[SettingValue]] = {}
    for table in _grids(fields):
        for name, values in table.items():
            of_axis = axes.setdefault(name, [])
            of_axis += [value for value in values if value not in of_axis]
    by_axis = {name: tuple(values) for name, values in axes.items()}
    if chosen != "tpe":
        return Plan(made, by_axis, chosen)
    if not by_axis:
        raise ValueError("adaptive tpe chooses values of the axes: name at least one, under [axes]")
    # As in `units`, the last of equal runs counts.
    values = {run.digest: each for each, run in _runs(fields, fields.get("chunk"))}
    return Plan(made, by_axis, chosen, values, min(trials, len(values)))


def units(fields: dict[str, JSON]) -> list[Unit]:
    """Return the units of a sweep with the fields of a file; ValueError for a mistake in them."""
    unknown = sorted(set(fields) - set(_KEYS))
    if unknown:
        of_runs = unknown[0] in (*settings_of_runs(), "farl")
        near = ": it belongs under [settings]" if of_runs else did_you_mean(unknown[0], _KEYS)
        raise ValueError(f"unknown key {shown(unknown[0])}{near}; known are {', '.join(_KEYS)}")
    limits = UnitLimits(**{name: fields[name] for name in _LIMITS if name in fields})
    # Two combinations may give the same run. Digests are too short: ten thousand of them may agree.
    runs = {run: run for _, run in _runs(fields, limits.chunk)}
    programs: dict[Hashable, list[Run]] = {}
    for run in runs.values():
        programs.setdefault(program_of(run), []).append(run)
    return [unit for together in programs.values() for unit in _units_of(together, limits)]


def _runs(
    fields: dict[str, JSON], chunk: int | None
) -> Iterator[tuple[dict[str, SettingValue], Run]]:
    """Every run with its values on the axes: their combinations, each in chunks of seeds."""
    settings = fields.get("settings", {})
    if not isinstance(settings, dict):
        raise ValueError("settings must be a table, [settings]")
    settings = _by_short_forms(settings)
    grids = _grids(fields)
    for axes in grids:
        _check_axes(axes, settings, fields)
    seeds = _seeds(fields.get("seeds", "0:10"))
    chunk = chunk or len(seeds)
    combinations = sum(math.prod(map(len, axes.values())) for axes in grids)
    runs = combinations * -(-len(seeds) // chunk)
    if runs > MOST_RUNS:
        raise ValueError(
            f"axes and seeds make {shown(runs)} runs, of which a sweep has at most {MOST_RUNS:,}:"
            " leave out values, or take a larger chunk"
        )
    chosen = (
        dict(zip(axes, values, strict=True))
        for axes in grids
        for values in itertools.product(*axes.values())
    )
    for values in chosen:
        changes = {**settings, **values}
        name = changes.pop("game", fields.get("game"))
        parameters = {n: changes.pop(n) for n in list(changes) if n.startswith("game.")}
        game = make(name, **{path[5:]: value for path, value in parameters.items()})
        for first in range(0, len(seeds), chunk):
            yield values, preset(game, **changes, seeds=seeds[first : first + chunk])


def _grids(fields: dict[str, JSON]) -> list[dict[str, JSON]]:
    """The table of axes, or each of several, by short forms."""
    given = fields.get("axes", {})
    tables = given if isinstance(given, list) and given else [given]
    if not all(isinstance(table, dict) for table in tables):
        raise ValueError("axes must be a table, [axes], or several, [[axes]]")
    return [_by_short_forms(table) for table in tables]


def _check_axes(axes: dict[str, JSON], settings: dict[str, JSON], fields: dict[str, JSON]) -> None:
    """Raise ValueError for what is no axis, or is set for all runs too."""
    if "seeds" in {*settings, *axes}:
        raise ValueError("seeds belong at the top of the file")
    for name, values in axes.items():
        if not isinstance(values, list) or not values:
            raise ValueError(f"axis {name} must be a list with at least one value")
        if name in settings or (name == "game" and "game" in fields):
            raise ValueError(f"{name} is set for all runs and an axis too: leave one of them out")
    if "game" not in {*fields, *axes}:
        raise ValueError('name the game: game = "tictactoe"')


def _by_short_forms(table: dict[str, JSON]) -> dict[str, JSON]:
    """The settings of a table by their short forms; the game and its parameters unchanged.

    Raises ValueError for what no run has, or what is given by its path and its short form too.
    """
    given: dict[str, JSON] = {}
    for path, value in _flat(table):
        name = path
        if path.partition(".")[0] != "game":
            setting = find(path)
            name, value = setting.short, _whole(value) if setting.hint is int else value
            if path == "farl":
                value = (
                    [variant_of(v) for v in value] if isinstance(value, list) else variant_of(value)
                )
        if name in given:
            raise ValueError(f"{name} is given twice")
        given[name] = value
    return given


def _whole(value: JSON) -> JSON:
    """5e3 as 5000, alone or in the list of an axis: TOML has no other numbers with an exponent."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _flat(table: dict[str, JSON], path: str = "") -> Iterator[tuple[str, JSON]]:
    """Tables within tables as paths: schedule.alpha."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _seeds(text: JSON) -> tuple[int, ...]:
    """Read "0:64", "3" or a list of numbers; they are as many and as large as a run has them."""
    seeds: JSON = text if isinstance(text, list) else [text]
    if isinstance(text, str):
        first, _, end = text.partition(":")
        try:
            seeds = range(int(first), int(end)) if end else [int(first)]
        except ValueError:
            seeds = [text]
    if not all(type(seed) is int for seed in seeds[:1]) or isinstance(text, dict):
        raise ValueError(f'seeds must be like "0:64" or [3, 5], not {shown(text)}')
    if not seeds:
        raise ValueError(f"seeds must have at least one entry, not {shown(text)}")
    return tuple(Run.check("seeds", seeds))


def _units_of(runs: Sequence[Run], limits: UnitLimits) -> Iterator[Unit]:
    """Units of one program within the limits of lanes and memory, each with at least one run."""
    a_lane = lane_memory(runs[0])
    most = max(1, min(limits.lanes, int(limits.memory_gb * 1e9) // a_lane))
    together: list[Run] = []
    for run in runs:
        if together and sum(len(each.lanes) for each in together) + len(run.lanes) > most:
            yield _unit(together, a_lane)
            together = []
        together.append(run)
    yield _unit(together, a_lane)


def _unit(runs: Sequence[Run], a_lane: int) -> Unit:
    lanes = sum(len(run.lanes) for run in runs)
    return Unit(tuple(runs), lanes, lanes * a_lane)
