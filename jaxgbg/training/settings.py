"""The settings of a run by name: each has one path, `schedule.alpha`, and one short form, `alpha`.

Flags of `train`, axes of sweeps and columns of results are made from this list, which comes from
the specs. Short forms are unique, but for what several value functions share.
"""

import dataclasses
import functools
import typing
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jaxgbg.games import Game, make
from jaxgbg.learners import LearnerSpec, Schedule
from jaxgbg.specs import Spec, limits_of, shown
from jaxgbg.training.run import Evaluation, Run
from jaxgbg.values import ValueSpec

_COMPONENTS: dict[str, type[Spec]] = {"value": ValueSpec, "learner": LearnerSpec}
_PARTS: dict[str, type[Spec]] = {"schedule": Schedule, "evaluation": Evaluation}


class Setting(NamedTuple):
    """One setting: where it stands, what it may be, and which kinds of its component have it.

    `kinds` is empty where all have it.
    """

    path: str
    short: str
    hint: Any
    default: Any
    choices: tuple[str, ...]
    help: str
    kinds: tuple[str, ...]


@functools.cache
def settings() -> dict[str, Setting]:
    """All settings of a run but its game's parameters, by their short forms."""
    return {setting.short: setting for setting in _all_settings()}


def _all_settings() -> Iterator[Setting]:
    for part, component in _COMPONENTS.items():
        text, known = Run.help()[part], component.kinds
        yield Setting(part, part, str, None, tuple(known), text, ())
        owners: dict[str, list[str]] = {}
        for kind, spec in known.items():
            for field in dataclasses.fields(spec):
                owners.setdefault(field.name, []).append(kind)
        for name, kinds in owners.items():
            field = next(f for f in dataclasses.fields(known[kinds[0]]) if f.name == name)
            shared = () if len(kinds) == len(known) else tuple(kinds)
            yield _setting(part, known[kinds[0]], field, shared)
    for part, spec in _PARTS.items():
        for field in dataclasses.fields(spec):
            yield _setting(part, spec, field, ())
    for field in dataclasses.fields(Run):
        if field.name in ("partner", "variants", "seeds"):
            yield _setting("", Run, field, ())


def _setting(
    part: str, spec: type[Spec], field: "dataclasses.Field[Any]", kinds: tuple[str, ...]
) -> Setting:
    return Setting(
        path=f"{part}.{field.name}" if part else field.name,
        short=field.metadata.get("short") or field.name,
        hint=typing.get_type_hints(spec)[field.name],
        default=field.default,
        choices=limits_of(spec, field.name).choices,
        help=spec.help().get(field.name, ""),
        kinds=kinds,
    )


def find(name: str) -> Setting:
    """The setting that a path or a short form names; raises ValueError for none."""
    for setting in settings().values():
        if name in (setting.path, setting.short):
            return setting
    known = ", ".join(sorted(settings()))
    raise ValueError(f"no run has a setting {shown(name)}; known are {known}")


def compose(game: Game, changes: Mapping[str, Any]) -> Run:
    """A run of `game` at the defaults of the specs, but for `changes`; see `with_changes`."""
    defaults = {f.name: f.default for f in dataclasses.fields(Run) if f.name != "game"}
    return _changed({**defaults, "game": game}, changes)


def with_changes(run: Run, changes: Mapping[str, Any]) -> Run:
    """`run` with some settings changed, named by paths or short forms, `game.size` among them.

    A new learner keeps of the old one what both have. A new first step size is the last one too,
    unless that is given. Raises ValueError for what no run has, or none of this value function or
    learner.
    """
    return _changed({f.name: getattr(run, f.name) for f in dataclasses.fields(Run)}, changes)


def _changed(parts: dict[str, Any], changes: Mapping[str, Any]) -> Run:
    chosen: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        path = name if name.startswith("game.") else find(name).path
        part, _, inner = path.partition(".")
        if inner in chosen.setdefault(part, {}):
            raise ValueError(f"{name} is given twice")
        chosen[part][inner] = value
    if "alpha" in chosen.get("schedule", {}):
        chosen["schedule"].setdefault("alpha_end", None)
    for part, changed in chosen.items():
        if part == "game":
            parts["game"] = with_parameters(parts["game"], changed)
        elif isinstance(parts[part], Spec):
            parts[part] = _changed_part(part, parts[part], changed.pop("", None), changed)
        else:
            parts[part] = changed[""]
    return Run(**parts)


def _changed_part(part: str, old: Spec, kind: str | None, changes: dict[str, Any]) -> Spec:
    spec = type(old)
    if kind is not None and kind != old.kind:
        known = _COMPONENTS[part].kinds
        if not isinstance(kind, str) or kind not in known:
            raise ValueError(f"{part} must be one of {', '.join(known)}, not {shown(kind)}")
        spec = known[kind]
    names = {field.name for field in dataclasses.fields(spec)}
    for name in changes:
        if name not in names:
            kinds = " or ".join(find(f"{part}.{name}").kinds)
            raise ValueError(f"{name} is for {part} {kinds}: add {part} {kinds}, or leave it out")
    if part == "evaluation" and "opponents" in changes:
        # How somebody else is met says nothing about new opponents.
        changes = {"protocols": (), **changes}
    shared = next(base for base in type(old).__mro__ if issubclass(spec, base))
    kept = {f.name: getattr(old, f.name) for f in dataclasses.fields(shared)}
    return spec(**{**kept, **changes})


def with_parameters(game: Game, parameters: Mapping[str, Any]) -> Game:
    """`game` with other parameters; raises ValueError for what it does not take."""
    return make(game.name, **{**dataclasses.asdict(game), **parameters})
