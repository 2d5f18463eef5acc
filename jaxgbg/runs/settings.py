"""The settings of a run by name: each has one path, `schedule.alpha`, and one short form, `alpha`.

Flags of `train`, axes of sweeps and columns of results are made from this list, which comes from
the specs. Short forms are unique, but for what several value functions share.
"""

import dataclasses
import difflib
import functools
import numbers
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from jaxgbg.extensions import import_installed
from jaxgbg.games import Game, make
from jaxgbg.players import is_player
from jaxgbg.runs.run import Run
from jaxgbg.specs import Spec, kind_of, limits_of, shown
from jaxgbg.types import SettingValue, TypeHint

_OTHER_WORDS = {
    "lambda": "trace_decay",
    "lamda": "trace_decay",
    "lambda_": "trace_decay",
    "lr": "alpha",
    "learning_rate": "alpha",
    "step_size": "alpha",
    "exploration": "epsilon",
    "batch_size": "batch",
    "iterations": "episodes",
    "hidden_sizes": "hidden",
    "layers": "hidden",
    "algorithm": "learner",
    "network": "value",
}
"""What others call a setting -> its short form here."""
# One opponent is a list of one.
_SAME = {"opponent": "opponents", "variant": "variants", "farl": "variants"}


class Setting(NamedTuple):
    """One setting: where it stands, what it may be, and which kinds of its component have it.

    `hint` is its type where it is not None; `kinds` is empty where all have it. `help` says what it
    is, for each group of kinds in which it means the same.
    """

    path: str
    short: str
    hint: TypeHint
    choices: tuple[str, ...]
    help: str
    kinds: tuple[str, ...]


def settings() -> dict[str, Setting]:
    """All settings of a run but its game's parameters, by their short forms.

    Those of learners and value functions that a user's module has registered are among them.
    """
    parts = [Run.part(field.name) for field in dataclasses.fields(Run)[1:]]
    return _settings(*(tuple(getattr(part, "kinds", {}).values()) for part in parts))


@functools.cache
def _settings(*kinds: tuple[type[Spec], ...]) -> dict[str, Setting]:
    """The settings as long as these are all kinds of components."""
    return {setting.short: setting for setting in _all_settings()}


def _all_settings() -> Iterator[Setting]:
    for part in dataclasses.fields(Run)[1:]:
        component = Run.part(part.name)
        if component is None:
            yield _setting("", Run, part, (), Run.help().get(part.name, ""))
            continue
        known = getattr(component, "kinds", {"": component})
        if known != {"": component}:
            text = Run.help().get(part.name, "")
            yield Setting(part.name, part.name, str, tuple(known), text, ())
        owners: dict[str, list[str]] = {}
        for kind, spec in known.items():
            for field in dataclasses.fields(spec):
                owners.setdefault(field.name, []).append(kind)
        for name, kinds in owners.items():
            spec = known[kinds[0]]
            shared = () if len(kinds) == len(known) else tuple(kinds)
            own = [known[kind] for kind in kinds]
            text = _help(dict(zip(kinds, own, strict=True)), name, named=bool(shared))
            setting = _setting(part.name, spec, spec.__dataclass_fields__[name], shared, text)
            # What one of them accepts is a choice.
            choices = (choice for each in own for choice in limits_of(each, name).choices)
            yield setting._replace(choices=tuple(dict.fromkeys(choices)))


def _help(specs: Mapping[str, type[Spec]], name: str, *, named: bool) -> str:
    """The text of a setting; with the kinds if they are `named` or their texts differ."""
    texts = {kind: spec.help().get(name, "") for kind, spec in specs.items()}
    # A kind without a text of its own has that of the first.
    first = next(filter(None, texts.values()), "")
    groups: dict[str, list[str]] = {}
    for kind, text in texts.items():
        groups.setdefault(text or first, []).append(kind)
    if not named and len(groups) == 1:
        return next(iter(groups))
    return " ".join(f"{', '.join(kinds)}: {text}" for text, kinds in groups.items())


def _setting(
    part: str,
    spec: type[Spec],
    field: "dataclasses.Field[SettingValue]",
    kinds: tuple[str, ...],
    text: str,
) -> Setting:
    return Setting(
        path=f"{part}.{field.name}" if part else field.name,
        short=field.metadata.get("short") or field.name,
        hint=kind_of(typing.get_type_hints(spec)[field.name]),
        choices=limits_of(spec, field.name).choices,
        help=text,
        kinds=kinds,
    )


def find(name: str) -> Setting:
    """The setting that a path or a short form names; raises ValueError for none."""
    name = _SAME.get(name, name)
    for setting in settings().values():
        if name in (setting.path, setting.short):
            return setting
    if not import_installed.cache_info().currsize:
        import_installed()
        return find(name)
    meant = suggestion(name)
    if meant is not None:
        raise ValueError(f"no run has a setting {shown(name)}: here it is {meant}")
    known = ", ".join(sorted(settings()))
    raise ValueError(f"no run has a setting {shown(name)}; known are {known}")


def suggestion(name: str) -> str | None:
    """The short form of the setting that was probably meant, if there is one.

    What others call it, its name with another path, or one that is spelt nearly so.
    """
    word = name.rpartition(".")[2].replace("-", "_").lower()
    word = _SAME.get(word, _OTHER_WORDS.get(word, word))
    names = {
        each: s.short for s in settings().values() for each in (s.path.rpartition(".")[2], s.short)
    }
    near = difflib.get_close_matches(word, names, 1, 0.75)
    return names[near[0]] if near else None


def compose(
    game: Game, parts: Mapping[str, SettingValue], changes: Mapping[str, SettingValue]
) -> Run:
    """A run of `game` with these parts and the defaults for the others, but for `changes`.

    See `with_changes`. Only the run that results is checked as a whole: the parts alone need not
    fit the game.
    """
    defaults = {f.name: f.default for f in dataclasses.fields(Run) if f.name != "game"}
    return _changed({**defaults, **parts, "game": game}, changes)


def with_changes(
    run: Run, changes: Mapping[str, SettingValue] | None = None, **settings: SettingValue
) -> Run:
    """`run` with some settings changed, by paths or short forms: `with_changes(run, alpha=0.5)`.

    `changes` takes paths too: `{"schedule.alpha": 0.5, "game.size": 5}`. Values may have the forms
    of `preset`. A new learner keeps of the old one what both have. A new first step size is the
    last one too, and walks take the place of a layout, unless both are set. Raises ValueError for
    what no run has, or none of this value function or learner, and for a setting with two values.
    """
    if not isinstance(run, Run):
        raise ValueError(f"run must be a Run, such as preset(...) returns, not {shown(run)}")
    changes = dict(changes or {})
    if twice := changes.keys() & settings:
        raise ValueError(f"{min(twice)} is given twice")
    parts = {f.name: getattr(run, f.name) for f in dataclasses.fields(run)}
    return compose(run.game, parts, changes | settings)


def short_forms(game: Game, changes: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """`changes` by short forms, each value as the setting holds it; parameters by `game.NAME`.

    A whole number may be written 1e4, and a list of one entry as the entry alone. Raises ValueError
    for an unknown setting and for one with two values.
    """
    short: dict[str, SettingValue] = {}
    for name, value in with_variants(changes).items():
        if name.startswith("game."):
            known = name
        elif name in {field.name for field in dataclasses.fields(game)} - settings().keys():
            raise ValueError(
                f"{name} is a parameter of {game.name}: choose it with the game,"
                f" make({game.name!r}, {name}=...), or as game.{name}"
            )
        else:
            setting = find(name)
            known, value = setting.short, _in_form(setting, value)
        if known in short:
            raise ValueError(f"{known} is given twice")
        short[known] = value
    return short


def _in_form(setting: Setting, value: SettingValue) -> SettingValue:
    """A value as the setting holds it, if it is written as on the command line."""
    whole, single = setting.hint is int, False
    if typing.get_origin(setting.hint) is tuple and setting.short != "seeds":
        first, *rest = typing.get_args(setting.hint)
        whole, single = first is int, rest == [...] and first in (int, float, str)
    if whole and isinstance(value, list | tuple):
        return type(value)(map(_whole, value))
    value = _whole(value) if whole else value
    alone = isinstance(value, str | Path | numbers.Real) or is_player(value)
    return (value,) if single and alone and not isinstance(value, bool) else value


def _whole(value: SettingValue) -> SettingValue:
    """1e4 as 10000; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _changed(parts: dict[str, SettingValue], changes: Mapping[str, SettingValue]) -> Run:
    chosen: dict[str, dict[str, SettingValue]] = {}
    for name, value in short_forms(parts["game"], changes).items():
        path = name if name.startswith("game.") else find(name).path
        part, _, inner = path.partition(".")
        chosen.setdefault(part, {})[inner] = value
    for part, changed in chosen.items():
        if part == "game":
            game = parts["game"]
            parts["game"] = make(game.name, **dataclasses.asdict(game) | changed)
        elif isinstance(parts[part], Spec):
            parts[part] = _changed_part(part, parts[part], changed.pop("", None), changed)
        else:
            parts[part] = changed[""]
    return Run(**parts)


def with_variants(changes: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """`changes` with `farl`, true or false as the flags --farl and --no-farl, as variants."""
    changed = dict(changes)
    if "farl" in changed:
        changed = {("variants" if n == "farl" else n): v for n, v in changed.items()}
        if "variants" in changes:
            raise ValueError("farl and variants say the same: give one of them")
        changed["variants"] = (variant_of(changes["farl"]),)
    return changed


def variant_of(farl: object) -> str:
    """The variant with FARL or without; raises ValueError for what is not true or false."""
    if not isinstance(farl, bool):
        raise ValueError(f"farl must be true or false, not {shown(farl)}")
    return "farl" if farl else "none"


def _with_consequences(changes: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """`changes` and what follows from them, unless it is given too.

    A new first step size is the last one too; walks take the place of a layout.
    """
    follows = {"alpha": ("alpha_end", None), "walks": ("layout", ())}
    implied = dict(follow for name, follow in follows.items() if name in changes)
    # What was given comes first, for it is named first where it does not fit.
    return {**changes, **{name: implied[name] for name in implied.keys() - changes.keys()}}


def _changed_part(part: str, old: Spec, kind: str | None, changes: dict[str, SettingValue]) -> Spec:
    component = Run.part(part)
    spec = type(old) if kind is None or component is None else component.of({"kind": kind})
    names = {field.name for field in dataclasses.fields(spec)}
    for name in changes:
        if name not in names:
            known = find(f"{part}.{name}")
            kinds = " or ".join(known.kinds)
            raise ValueError(
                f"{known.short} is for {part} {kinds}: add {part} {kinds}, or leave it out"
            )
    changes = _with_consequences(changes)
    if part == "evaluation" and "opponents" in changes:
        # Protocols of other opponents do not apply to new ones.
        changes = {"protocols": (), **changes}
    shared = next(base for base in type(old).__mro__ if issubclass(spec, base))
    kept = {f.name: getattr(old, f.name) for f in dataclasses.fields(shared)}
    return spec(**{**kept, **changes})
