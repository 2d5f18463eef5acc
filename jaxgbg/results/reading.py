"""The files of a run as they are found on disk: damage is named, and the rest is read."""

import json
import os
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from jaxgbg.training import Result

Complain = Callable[[str], None]
"""What is told of a defect, in one line."""

UNREADABLE = (OSError, ValueError, RecursionError)
"""What reading a damaged file raises; `defect` says it in words."""

NUMBER = (int, float)
_GREATEST = 2**63 - 1
_TYPES: dict[str, set[type]] = {
    "seed": {int},
    "variant": {str},
    "episodes": {int},
    "opponent": {str},
    "games": {int},
    "score": {int, float},
    "wins": {int, float, type(None)},
}
# A defect in every line of a long file would bury everything else that is said.
_RANGES_SHOWN = 8


def run_folders(folder: Path, complain: Complain) -> Iterator[Path]:
    """What may be a run: `folder` and all below it with a config or evaluations in it."""

    def unreadable(error: OSError) -> None:
        complain(f"{error.filename}: {error.strerror}; left out")

    for path, below, files in os.walk(folder, onerror=unreadable):
        below.sort()
        if "config.json" in files or "metrics.jsonl" in files:
            yield Path(path)


def is_number(value: Any) -> bool:
    """Whether `value` is a number, and no greater than tables hold."""
    return type(value) in NUMBER and abs(value) <= _GREATEST


def evaluation_columns(path: Path, complain: Complain) -> list[list[Any]]:
    """The columns of a metrics.jsonl: the number of the line, then the fields of `Result`."""
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
    columns: list[list[Any]] = [[] for _ in range(1 + len(Result._fields))]
    damaged: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        try:
            parsed = [[number], *_columns([json.loads(line)])]
        except (TypeError, ValueError, RecursionError) as error:
            damaged[number] = _reason(error)
        else:
            for column, more in zip(columns, parsed, strict=True):
                column += more
    if damaged:
        where = "line" if len(damaged) == 1 else f"{len(damaged)} lines,"
        reason = next(iter(damaged.values()))
        complain(f"{path}, {where} {_ranges(list(damaged))}: {reason}; left out")
    return columns


def _columns(objects: list[Any]) -> list[list[Any]]:
    """The fields of evaluations, a column each; raises ValueError if one of them is none."""
    needed = Result._fields[: -len(Result._field_defaults)]
    if not all(isinstance(one, dict) for one in objects):
        raise ValueError("no JSON object")
    try:
        columns = {name: [one[name] for one in objects] for name in needed}
    except KeyError as error:
        raise ValueError(f"no {error.args[0]}") from None
    for name, default in Result._field_defaults.items():
        columns[name] = [one.get(name, default) for one in objects]
    for name, column in columns.items():
        if not set(map(type, column)) <= _TYPES[name]:
            raise ValueError(f"{name} is of another kind")
        if _TYPES[name] == {int} and not 0 <= min(column) <= max(column) <= _GREATEST:
            raise ValueError(f"{name} is out of range")
    if not all(map(isfinite, columns["score"])):
        raise ValueError("score is no finite number")
    return list(columns.values())


def json_object(path: Path) -> dict[str, Any]:
    """The content of a file; raises one of UNREADABLE where it is not what it should be."""
    content = json.loads(path.read_bytes())
    if not isinstance(content, dict):
        raise ValueError("no JSON object")
    return content


def defect(path: Path, error: Exception) -> str:
    """The file, the line where that is known, and what is wrong there."""
    where = str(path)
    if isinstance(error, json.JSONDecodeError):
        where += f", line {error.lineno}"
    if isinstance(error, UnicodeDecodeError):
        where += f", line {error.object[: error.start].count(10) + 1}"
    return f"{where}: {_reason(error)}"


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
    words = [f"{a}" if a == b else f"{a} to {b}" for a, b in ranges[:_RANGES_SHOWN]]
    more = f" and on to {numbers[-1]}" if len(ranges) > _RANGES_SHOWN else ""
    return ", ".join(words) + more
