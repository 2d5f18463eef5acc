"""What all runs below a folder have left on disk; what cannot be read is named and left out."""

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from jaxgbg.games import GAMES
from jaxgbg.runs import Config, Evaluation
from jaxgbg.runs.config import digest_of

# Fields that had another name once, with values that still mean the same.
_RENAMED = {"choose_start": "opening_plies"}
_LISTS = {"farl": "variants", "seeds": "seeds", "tuples": "tuples"}
_NUMBER = (int, float)
_GREATEST = 2**63 - 1
_TYPES: dict[str, set[type]] = {
    "seed": {int},
    "farl": {str},
    "episodes": {int},
    "opponent": {str},
    "games": {int},
    "score": {int, float},
    "wins": {int, float, type(None)},
}
_DEFAULTS: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(Config)}
# A defect in every line of a long file would bury everything else that is said.
_RANGES_SHOWN = 8


class Collection(NamedTuple):
    """`runs`, a flat record a run; `evaluations`, a column each, of all runs together.

    The columns of `evaluations` are `run`, an index into `runs`, `line`, from 1, in metrics.jsonl,
    and the fields of `Evaluation`.
    """

    runs: list[dict[str, Any]]
    evaluations: dict[str, list[Any]]


def collect(folder: Path, complain: Callable[[str], None]) -> Collection:
    """Read every run below `folder`, however deep, and itself; `complain` is told of each defect.

    Raises ValueError where there is no folder, or no run in it.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; give one with runs below it, such as runs")
    runs: list[dict[str, Any]] = []
    names = ("run", "line", *Evaluation._fields)
    columns: list[list[Any]] = [[] for _ in names]
    strange: dict[str, list[Path]] = {}
    seen = 0
    for path in _run_folders(folder, complain):
        seen += 1
        fields = _config(path, complain, strange)
        if fields is None:
            continue
        number = len(runs)
        runs.append(
            {"folder": path.relative_to(folder).as_posix(), **fields, **_summary(path, complain)}
        )
        found = _evaluations(path / "metrics.jsonl", complain)
        if found:
            for column, more in zip(columns, [[number] * len(found[0]), *found], strict=True):
                column += more
    for name, paths in strange.items():
        others = f" and in {len(paths) - 1} more" if len(paths) > 1 else ""
        complain(f"{paths[0]}: field {name!r} is not known here and left out{others}")
    if not seen:
        raise ValueError(f"{folder} holds no runs: no config.json, no metrics.jsonl below it")
    return Collection(runs, dict(zip(names, columns, strict=True)))


def _run_folders(folder: Path, complain: Callable[[str], None]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        complain(f"{error.filename}: {error.strerror}; left out")

    for path, below, files in os.walk(folder, onerror=unreadable):
        below.sort()
        if "config.json" in files or "metrics.jsonl" in files:
            yield Path(path)


def _config(
    folder: Path, complain: Callable[[str], None], strange: dict[str, list[Path]]
) -> dict[str, Any] | None:
    """A run's config, flattened and completed with defaults; None where nothing can be made of it.

    Config itself would draw every layout anew to check it, and refuse the fields of old versions.
    """
    path = folder / "config.json"
    try:
        stored = _json_object(path)
        _check(stored)
    except FileNotFoundError:
        complain(f"{folder}: metrics.jsonl without config.json; the run is left out")
        return None
    except (OSError, ValueError, RecursionError) as error:
        complain(f"{_place(path, error)}: {_reason(error)}; the run is left out")
        return None
    fields = dict(_DEFAULTS)
    for name, value in stored.items():
        if _RENAMED.get(name, name) in _DEFAULTS:
            fields[_RENAMED.get(name, name)] = value
        else:
            strange.setdefault(name, []).append(path)
    flat = {name: _flat(name, value) for name, value in fields.items() if name not in _LISTS}
    return {
        **flat,
        "digest": digest_of(stored),
        "variants": ", ".join(fields["farl"]),
        "seeds": len(fields["seeds"]),
        "tuples": len(fields["tuples"]),
    }


def _check(stored: dict[str, Any]) -> None:
    """Raise ValueError where `stored` is no config: no game, or a value of another kind."""
    game = stored.get("game")
    if not isinstance(game, str) or game not in GAMES:
        raise ValueError(f"no game that we know: {game!r}")
    for name, value in stored.items():
        default = _DEFAULTS.get(name)
        if isinstance(default, bool):
            fits = isinstance(value, bool)
        elif isinstance(default, _NUMBER):
            fits = _is_number(value) and isinstance(value, type(default) | int)
        elif isinstance(default, tuple):
            fits = isinstance(value, list)
        else:
            fits = not isinstance(default, str) or isinstance(value, str)
        if not fits:
            raise ValueError(f"{name} cannot be {value!r}")
    if not all(isinstance(name, str) for name in stored.get("farl", ())):
        raise ValueError(f"farl cannot be {stored['farl']!r}")
    parameters = stored.get("game_parameters", ())
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in parameters):
        raise ValueError(f"game_parameters cannot be {parameters!r}")


def _is_number(value: Any) -> bool:
    return type(value) in _NUMBER and abs(value) <= _GREATEST


def _flat(name: str, value: Any) -> Any:
    """Lists as text: 100 50, size=6."""
    if name == "game_parameters":
        return " ".join("=".join(map(str, pair)) for pair in value)
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    # A whole number may stand where the field has fractions, and what was renamed is a switch.
    return type(_DEFAULTS[name])(value) if isinstance(_DEFAULTS[name], _NUMBER) else value


def _summary(folder: Path, complain: Callable[[str], None]) -> dict[str, Any]:
    """What summary.json adds; a run without one is not finished."""
    path = folder / "summary.json"
    found: dict[str, Any] = {}
    try:
        found = _json_object(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError) as error:
        complain(f"{_place(path, error)}: {_reason(error)}; its figures are left out")
    numbers: dict[str, Any] = {"finished": path.exists()}
    for name in ("moves", "training_seconds", "moves_per_second"):
        value = found.get(name)
        if value is not None and not _is_number(value):
            complain(f"{path}: {name} cannot be {value!r}; left out")
            value = None
        numbers[name] = value
    return {**numbers, "diverged": len(found.get("diverged") or ())}


def _evaluations(path: Path, complain: Callable[[str], None]) -> list[list[Any]]:
    """The columns of a metrics.jsonl: the number of the line, then the fields of `Evaluation`."""
    try:
        # What is no UTF-8 becomes a replacement sign: damage of its line, not of the file.
        text = path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        complain(f"{path}: {error.strerror}; left out")
        return []
    if not text.strip():
        # The file comes with its first line.
        complain(f"{path}: the file is empty, its evaluations are lost")
        return []
    # The end of the last line is no line.
    lines = text.removesuffix("\n").split("\n")
    try:
        # Whole where nothing is wrong: several times as fast.
        objects = json.loads(f"[{','.join(lines)}]")
        if len(objects) == len(lines):
            return [list(range(1, len(lines) + 1)), *_columns(objects)]
    except (TypeError, ValueError, RecursionError):
        pass
    columns: list[list[Any]] = [[] for _ in range(1 + len(Evaluation._fields))]
    damaged: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        try:
            found = [[number], *_columns([json.loads(line)])]
        except (TypeError, ValueError, RecursionError) as error:
            damaged[number] = _reason(error)
        else:
            for column, more in zip(columns, found, strict=True):
                column += more
    if damaged:
        where = "line" if len(damaged) == 1 else f"{len(damaged)} lines,"
        reason = next(iter(damaged.values()))
        complain(f"{path}, {where} {_ranges(list(damaged))}: {reason}; left out")
    return columns


def _columns(objects: list[Any]) -> list[list[Any]]:
    """The fields of evaluations, a column each; raises ValueError if one of them is none."""
    needed = Evaluation._fields[: -len(Evaluation._field_defaults)]
    if not all(isinstance(one, dict) for one in objects):
        raise ValueError("no JSON object")
    try:
        columns = {name: [one[name] for one in objects] for name in needed}
    except KeyError as error:
        raise ValueError(f"no {error.args[0]}") from None
    for name, default in Evaluation._field_defaults.items():
        columns[name] = [one.get(name, default) for one in objects]
    for name, column in columns.items():
        if not set(map(type, column)) <= _TYPES[name]:
            raise ValueError(f"{name} is of another kind")
        if _TYPES[name] == {int} and not 0 <= min(column) <= max(column) <= _GREATEST:
            raise ValueError(f"{name} is out of range")
    if not all(map(isfinite, columns["score"])):
        raise ValueError("score is no finite number")
    return list(columns.values())


def _json_object(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_bytes())
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
    return found


def _place(path: Path, error: Exception) -> str:
    """The file, and the line where that is known."""
    if isinstance(error, json.JSONDecodeError):
        return f"{path}, line {error.lineno}"
    if isinstance(error, UnicodeDecodeError):
        return f"{path}, line {error.object[: error.start].count(10) + 1}"
    return str(path)


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON, {error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "no UTF-8"
    if isinstance(error, RecursionError):
        return "nested too deep"
    return str(error.strerror if isinstance(error, OSError) else error)


def _ranges(numbers: list[int]) -> str:
    """3, 7 to 9, of ascending numbers; of many ranges the first."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [f"{a}" if a == b else f"{a} to {b}" for a, b in ranges[:_RANGES_SHOWN]]
    more = f" and on to {numbers[-1]}" if len(ranges) > _RANGES_SHOWN else ""
    return ", ".join(shown) + more
