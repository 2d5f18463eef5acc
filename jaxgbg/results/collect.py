"""What all runs below a folder have left on disk; what cannot be read is named and left out."""

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

from jaxgbg.games import GAMES
from jaxgbg.results.reading import (
    NUMBER,
    UNREADABLE,
    Complain,
    defect,
    evaluation_columns,
    is_number,
    json_object,
    run_folders,
)
from jaxgbg.training import Config, Evaluation
from jaxgbg.training.config import digest_of

# Fields that had another name once, with values that still mean the same.
_RENAMED = {"choose_start": "opening_plies"}
_LISTS = {"farl": "variants", "seeds": "seeds", "tuples": "tuples"}
_DEFAULTS: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(Config)}


class Collection(NamedTuple):
    """`runs`, a flat record a run; `evaluations`, a column each, of all runs together.

    The columns of `evaluations` are `run`, an index into `runs`, `line`, from 1, in metrics.jsonl,
    and the fields of `Evaluation`.
    """

    runs: list[dict[str, Any]]
    evaluations: dict[str, list[Any]]


def collect(folder: Path, complain: Complain) -> Collection:
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
    for path in run_folders(folder, complain):
        seen += 1
        fields = _config(path, complain, strange)
        if fields is None:
            continue
        number = len(runs)
        runs.append(
            {"folder": path.relative_to(folder).as_posix(), **fields, **_summary(path, complain)}
        )
        found = evaluation_columns(path / "metrics.jsonl", complain)
        if found:
            for column, more in zip(columns, [[number] * len(found[0]), *found], strict=True):
                column += more
    for name, paths in strange.items():
        others = f" and in {len(paths) - 1} more" if len(paths) > 1 else ""
        complain(f"{paths[0]}: field {name!r} is not known here and left out{others}")
    if not seen:
        raise ValueError(f"{folder} holds no runs: no config.json, no metrics.jsonl below it")
    return Collection(runs, dict(zip(names, columns, strict=True)))


def _config(
    folder: Path, complain: Complain, strange: dict[str, list[Path]]
) -> dict[str, Any] | None:
    """A run's config, flattened and completed with defaults; None where nothing can be made of it.

    Config itself would draw every layout anew to check it, and refuse the fields of old versions.
    """
    path = folder / "config.json"
    try:
        stored = json_object(path)
        _check(stored)
    except FileNotFoundError:
        complain(f"{folder}: metrics.jsonl without config.json; the run is left out")
        return None
    except UNREADABLE as error:
        complain(f"{defect(path, error)}; the run is left out")
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
        elif isinstance(default, NUMBER):
            fits = is_number(value) and isinstance(value, type(default) | int)
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


def _flat(name: str, value: Any) -> Any:
    """Lists as text: 100 50, size=6."""
    if name == "game_parameters":
        return " ".join("=".join(map(str, pair)) for pair in value)
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    # A whole number may stand where the field has fractions, and what was renamed is a switch.
    return type(_DEFAULTS[name])(value) if isinstance(_DEFAULTS[name], NUMBER) else value


def _summary(folder: Path, complain: Complain) -> dict[str, Any]:
    """What summary.json adds; a run without one is not finished."""
    path = folder / "summary.json"
    found: dict[str, Any] = {}
    try:
        found = json_object(path)
    except FileNotFoundError:
        pass
    except UNREADABLE as error:
        complain(f"{defect(path, error)}; its figures are left out")
    numbers: dict[str, Any] = {"finished": path.exists()}
    for name in ("moves", "training_seconds", "moves_per_second"):
        value = found.get(name)
        if value is not None and not is_number(value):
            complain(f"{path}: {name} cannot be {value!r}; left out")
            value = None
        numbers[name] = value
    return {**numbers, "diverged": len(found.get("diverged") or ())}
