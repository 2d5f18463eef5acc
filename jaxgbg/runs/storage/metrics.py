"""metrics.jsonl, a line an evaluation: lines are only added; a damaged one is named when read."""

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from jaxgbg.contents import Readable, defect, open_file, open_own, parse_json, read_bytes, reason
from jaxgbg.runs.result import Result
from jaxgbg.runs.storage.schemas import GREATEST
from jaxgbg.types import JSON

Complain = Callable[[str], None]
"""A callback that receives a defect, in one line."""

_MOST_BYTES = 2**29
_PIECE = 2**20
_LONGEST_LINE = 4096
# A defect in every line of a long file would bury everything else that is said.
_RANGES_SHOWN = 8


class MetricsMark(NamedTuple):
    """How far a metrics.jsonl was written at some time: its size in bytes, and their SHA-256."""

    size: int
    sha256: str


class MetricsFile(NamedTuple):
    """The metrics.jsonl of a run, which grows by lines; its methods raise OSError."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def mark(self) -> MetricsMark:
        """How far it is written now: so far it survives a loss of power, if the disk allows it."""
        with contextlib.suppress(OSError), open_file(self.path, sys.maxsize) as file:
            os.fsync(file.fileno())
        return MetricsMark(self.size, self._digest(self.size))

    def begins_with(self, mark: MetricsMark) -> bool:
        """Whether what was there at a `mark` is still its beginning."""
        return self.size >= mark.size and self._digest(mark.size) == mark.sha256

    def _digest(self, size: int) -> str:
        digest = hashlib.sha256()
        if size:
            with open_file(self.path, sys.maxsize) as file:
                while size and (piece := file.read(min(size, _PIECE))):
                    digest.update(piece)
                    size -= len(piece)
        return digest.hexdigest()

    def append(self, result: Result) -> None:
        """Add a line, whole or not at all."""
        before = self.size
        try:
            with open_own(self.path) as file:
                file.write(json.dumps(result._asdict()).encode() + b"\n")
        except OSError:
            # The beginning of the line may have been written.
            with contextlib.suppress(OSError):
                os.truncate(self.path, before)
            raise

    def cut(self, size: int) -> None:
        """Remove what lies beyond the first `size` bytes."""
        if self.size > size:
            os.truncate(self.path, size)


class _Column(NamedTuple):
    """The type of a field of an evaluation; numbers lie from `low` to `high`."""

    types: set[type]
    low: float = 0
    high: float = GREATEST


_COLUMNS = {
    "seed": _Column({int}),
    "variant": _Column({str}),
    "episodes": _Column({int}),
    "opponent": _Column({str}),
    "games": _Column({int}),
    "score": _Column({int, float}, low=-GREATEST),
    "wins": _Column({int, float, type(None)}, high=1),
}


def last_episodes(path: Path) -> int:
    """Episodes of the last evaluation in a metrics.jsonl, read from its end; 0 where none is."""
    try:
        with open_file(path, sys.maxsize) as file:
            file.seek(-min(_LONGEST_LINE, path.stat().st_size), os.SEEK_END)
            last = file.read(_LONGEST_LINE).rstrip(b"\n").rpartition(b"\n")[2]
        return int(parse_json(last)["episodes"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def evaluation_columns(path: Readable, complain: Complain) -> list[list[JSON]]:
    """The columns of a metrics.jsonl: the number of the line, then the fields of `Result`."""
    try:
        # What is no UTF-8 becomes a replacement sign: damage of its line, not of the file.
        text = read_bytes(path, _MOST_BYTES).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        complain(defect(path, error))
        return []
    if not text.strip():
        # The file comes with its first line.
        complain(f"{path}: the file is empty, its evaluations are lost")
        return []
    # The end of the last line is no line.
    lines = text.removesuffix("\n").split("\n")
    try:
        # Whole where nothing is wrong: several times as fast.
        objects = parse_json(f"[{','.join(lines)}]")
        if len(objects) == len(lines):
            return [list(range(1, len(lines) + 1)), *_columns(objects)]
    except ValueError:
        pass
    columns: list[list[JSON]] = [[] for _ in range(1 + len(Result._fields))]
    damaged: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        try:
            parsed = [[number], *_columns([parse_json(line)])]
        except ValueError as error:
            damaged[number] = reason(error)
        else:
            for column, more in zip(columns, parsed, strict=True):
                column += more
    if damaged:
        where = "line" if len(damaged) == 1 else f"{len(damaged)} lines,"
        complain(f"{path}, {where} {_ranges(list(damaged))}: {next(iter(damaged.values()))}")
    return columns


def _columns(objects: list[JSON]) -> list[list[JSON]]:
    """The fields of evaluations, a column each; raises ValueError if one of them is none."""
    needed = Result._fields[: -len(Result._field_defaults)]
    if not all(isinstance(one, dict) for one in objects):
        raise ValueError("not a JSON object")
    try:
        columns = {name: [one[name] for one in objects] for name in needed}
    except KeyError as error:
        raise ValueError(f"no {error.args[0]}") from None
    for name, default in Result._field_defaults.items():
        columns[name] = [one.get(name, default) for one in objects]
    for name, column in columns.items():
        types, low, high = _COLUMNS[name]
        if not set(map(type, column)) <= types:
            raise ValueError(f"{name} has the wrong type")
        numbers = [each for each in column if each is not None] if str not in types else []
        if numbers and not (low <= min(numbers) <= max(numbers) <= high):
            raise ValueError(f"{name} is out of range")
    return list(columns.values())


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
