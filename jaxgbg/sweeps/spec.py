"""What a sweep is: a TOML file, the runs that it asks for, and the units of work they make.

game = "tictactoe"
seeds = "0:64"              # or a list; "0:64" is 0 to 63
chunk = 16                  # seeds of one run, all of them where not given

[settings]                  # any field of Config, for all runs
episodes = 20_000

[axes]                      # each combination is a run; "game" may be an axis too
alpha_start = [0.5, 1.0]
farl = ["farl", "none"]
"""

import dataclasses
import hashlib
import itertools
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgbg.training.config import Config, preset
from jaxgbg.training.lanes import program_of
from jaxgbg.training.store import RunFolder

_KEYS = ("game", "seeds", "chunk", "lanes", "memory_gb", "settings", "axes")
# Constants, and not this machine's memory: which runs share a program must not depend on where a
# sweep is started, for a lane's last bits may depend on its program.
_LANES, _MEMORY_GB = 256, 4.0


class Unit(NamedTuple):
    """Runs that are lanes of one program: what a worker does at one go. `memory` in bytes."""

    configs: tuple[Config, ...]
    lanes: int
    memory: int

    @property
    def name(self) -> str:
        """Eight hexadecimal digits that change with any of its runs."""
        text = "-".join(config.digest for config in self.configs)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def finished(self, out: Path) -> bool:
        """Whether all its runs are done."""
        return all(RunFolder(out, config).finished for config in self.configs)


def read_spec(path: Path) -> list[Unit]:
    """The units of the sweep that a TOML file describes; ValueError in one line if it is wrong."""
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"sweep file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"sweep file {path} is no TOML: {error}") from error
    try:
        return units(fields)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sweep file {path}: {error}") from error


def units(fields: dict[str, Any]) -> list[Unit]:
    """The units of a sweep given as in its file; ValueError for what is wrong in it."""
    unknown = sorted(set(fields) - set(_KEYS))
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(_KEYS)}")
    lanes, memory_gb = fields.get("lanes", _LANES), fields.get("memory_gb", _MEMORY_GB)
    if not isinstance(lanes, int) or lanes < 1:
        raise ValueError(f"lanes must be a number, 1 or more, not {lanes!r}")
    if not isinstance(memory_gb, int | float) or memory_gb <= 0:
        raise ValueError(f"memory_gb must be a positive number, not {memory_gb!r}")
    programs: dict[Any, list[Config]] = {}
    seen: set[str] = set()
    for config in _configs(fields):
        # Two combinations may come to the same run.
        if config.digest not in seen:
            seen.add(config.digest)
            programs.setdefault(program_of(config), []).append(config)
    return [
        unit
        for configs in programs.values()
        for unit in _portions(configs, lanes, int(memory_gb * 1e9))
    ]


def _configs(fields: dict[str, Any]) -> Iterator[Config]:
    """Every run: the product of the axes, and of each the chunks of seeds."""
    settings, axes = fields.get("settings", {}), fields.get("axes", {})
    for name, table in (("settings", settings), ("axes", axes)):
        if not isinstance(table, dict):
            raise ValueError(f"{name} must be a table, [{name}]")
    known = {field.name for field in dataclasses.fields(Config)} - {"seeds"}
    for name in (*settings, *axes):
        if name not in known:
            raise ValueError(f"no run has a setting {name!r}; known are {', '.join(sorted(known))}")
    for name, values in axes.items():
        if not isinstance(values, list) or not values:
            raise ValueError(f"axis {name} must be a list with at least one value")
        if name in settings or (name == "game" and "game" in fields):
            raise ValueError(f"{name} is set for all runs and an axis too: leave one of them out")
    if "game" not in {*fields, *axes}:
        raise ValueError('name the game: game = "tictactoe"')
    seeds = _seeds(fields.get("seeds", "0:10"))
    chunk = fields.get("chunk", len(seeds))
    if not isinstance(chunk, int) or chunk < 1:
        raise ValueError(f"chunk must be a number, 1 or more, not {chunk!r}")
    for values in itertools.product(*axes.values()):
        changes = {**settings, **dict(zip(axes, values, strict=True))}
        changes = {name: _fixed(name, value) for name, value in changes.items()}
        game = changes.pop("game", fields.get("game"))
        for first in range(0, len(seeds), chunk):
            yield preset(game, **changes, seeds=seeds[first : first + chunk])


def _seeds(text: Any) -> tuple[int, ...]:
    """Read "0:64", "3" or a list of numbers."""
    if isinstance(text, list) and all(isinstance(seed, int) for seed in text):
        return tuple(text)
    if isinstance(text, int):
        return (text,)
    first, _, end = str(text).partition(":")
    try:
        seeds = tuple(range(int(first), int(end))) if end else (int(first),)
    except ValueError:
        raise ValueError(f'seeds must be like "0:64" or [3, 5], not {text!r}') from None
    if not seeds:
        raise ValueError(f"seeds {text!r} are none: name at least one")
    return seeds


def _fixed(name: str, value: Any) -> Any:
    """A value of TOML as a field of Config: tuples for lists, and for a single variant."""
    if name in ("farl", "opponents") and isinstance(value, str):
        return (value,)
    if name == "game_parameters" and isinstance(value, dict):
        return tuple(value.items())
    if isinstance(value, list):
        return tuple(_fixed("", item) for item in value)
    return value


def _portions(configs: Sequence[Config], most_lanes: int, memory: int) -> Iterator[Unit]:
    """Units of one program, none with more lanes or memory than it may have; one run at least."""
    a_lane = lane_memory(configs[0])
    most = max(1, min(most_lanes, memory // a_lane))
    portion: list[Config] = []
    for config in configs:
        if portion and sum(len(c.lanes) for c in portion) + len(config.lanes) > most:
            yield _unit(portion, a_lane)
            portion = []
        portion.append(config)
    yield _unit(portion, a_lane)


def _unit(configs: Sequence[Config], a_lane: int) -> Unit:
    lanes = sum(len(config.lanes) for config in configs)
    return Unit(tuple(configs), lanes, lanes * a_lane)


def lane_memory(config: Config) -> int:
    """Bytes of one lane's tables, counters and games."""
    learner = config.make_learner()
    layout = None
    if learner.value.varied:
        layout = jax.ShapeDtypeStruct(np.shape(config.layout(config.seeds[0])), np.int32)
    lane = jax.eval_shape(learner.init, jax.eval_shape(lambda: jax.random.key(0)), layout)
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(lane))
