"""Axes: the settings that differ between runs, and the labels of their values."""

import dataclasses
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from jaxgbg.learners import FARL_PARTS
from jaxgbg.runs.run import MEAN, Run, plain_game
from jaxgbg.runs.settings import find, settings
from jaxgbg.specs import Spec, shown
from jaxgbg.types import JSON, SettingValue

VARIANT = "variants"
"""The path of the one setting that differs between the lanes of a run."""
_WORDS = {VARIANT: "variant", "fingerprint": "rules"}
# Seeds are pooled, and each opponent has its own panel.
_POOLED = ("seeds", "evaluation.opponents", "evaluation.protocols")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)")
# These come first. If settings change together, one of these names the axis.
_FIRST = ("game.", "value", "learner")

Values = Mapping[str, SettingValue]
"""The settings of a lane: path -> value, None for settings that it does not have."""


class Axis(NamedTuple):
    """A setting that differs: its path, its short form, its values in order.

    `follows` has the short forms of settings that change together with it.
    """

    path: str
    short: str
    values: tuple[SettingValue, ...]
    follows: tuple[str, ...] = ()

    def label(self, value: SettingValue) -> str:
        """Label a value, as "trace_decay 0.5"; FARL variants without the name of the setting."""
        words = value_text(value)
        return words if self.path == VARIANT else f"{self.short} {words}"


def setting_values(
    parts: Mapping[str, SettingValue], game: Mapping[str, JSON]
) -> dict[str, SettingValue]:
    """All settings of a run by their paths, from its parts and the parameters of its game."""
    values = {f"game.{name}": value for name, value in game.items() if name != "name"}
    for setting in settings().values():
        part, _, inner = setting.path.partition(".")
        value = parts[part]
        if inner:
            value = getattr(value, inner, None)
        elif isinstance(value, Spec):
            value = value.kind
        values[setting.path] = value
    return values


def run_values(run: Run) -> dict[str, SettingValue]:
    """`setting_values` of a run."""
    parts = {field.name: getattr(run, field.name) for field in dataclasses.fields(run)}
    return setting_values(parts, plain_game(run.game))


class Axes(NamedTuple):
    """The axes of a table: `named` by the user, `others` that differ too, and `pooled` paths."""

    named: tuple[Axis, ...]
    others: tuple[Axis, ...]
    pooled: tuple[str, ...]


def find_axes(
    lanes: Iterable[tuple[str, Values]], by: Sequence[str] = (), pool: Sequence[str] = ()
) -> Axes:
    """Find the axes of lanes, each given as (name of its game, its values).

    Axes are the settings in `by` and all others that differ within a game; of settings that change
    together only the first one. Settings in `pool`, and those that change together with them, are
    no axes. Raises ValueError for a name that no run has.
    """
    kinds = [dict(pairs) for pairs in dict.fromkeys(_hashable(*lane) for lane in lanes)]
    ranked = _differing(kinds)
    known = frozenset(itertools.chain.from_iterable(kinds))
    chosen, pooled = (
        [path for path in dict.fromkeys(_path(name, known) for name in names) if path]
        for names in (by, pool)
    )
    for path in chosen:
        if path in pooled:
            raise ValueError(f"{short_of(path)} cannot be in both --by and --pool")
    kept, followers = _independent(kinds, ranked, [*chosen, *pooled])
    axes = [
        _axis(path, kinds)._replace(
            follows=tuple(
                short_of(each) for each in followers.get(path, ()) if _several(each, kinds)
            )
        )
        for path in kept
    ]
    rest, _ = _independent(kinds, [path for path in ranked if path in pooled], [*chosen, *kept])
    return Axes(tuple(_axis(path, kinds) for path in chosen), tuple(axes), tuple(rest))


def with_own_names(axes: Sequence[Axis], taken: Iterable[str]) -> tuple[Axis, ...]:
    """The axes by their paths where another axis, or a name that is `taken`, is the same."""
    names = Counter((*taken, *(axis.short for axis in axes)))
    return tuple(axis._replace(short=axis.path) if names[axis.short] > 1 else axis for axis in axes)


def _independent(
    kinds: Sequence[Values], paths: Sequence[str], given: Sequence[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Select the `paths` that are not determined by `given` and the paths before them, in any game.

    Also returns path -> the paths that were dropped because this one alone determines them.
    """
    kept: list[str] = []
    followers: dict[str, list[str]] = {}
    for path in paths:
        if path in given:
            continue
        if not _follows(kinds, path, [*given, *kept]):
            kept.append(path)
            continue
        alone = [one for one in (*given, *kept) if _follows(kinds, path, [one])]
        for leader in alone[:1]:
            followers.setdefault(leader, []).append(path)
    return kept, followers


def _several(path: str, kinds: Sequence[Values]) -> bool:
    """Whether a setting has several values among the kinds that have it."""
    return len({kind.get(path) for kind in kinds} - {None}) > 1


def short_of(path: str) -> str:
    """The name of a setting in tables."""
    if path in _WORDS:
        return _WORDS[path]
    return path.removeprefix("game.") if path.startswith("game.") else find(path).short


def value_text(value: SettingValue) -> str:
    """Format the value of a setting."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        if any(isinstance(each, tuple) for each in value) or len(value) > 8:
            digest = hashlib.sha256(repr(value).encode()).hexdigest()[:4]
            return f"of {len(value)} ({digest})"
        return " ".join(map(value_text, value)) or "none"
    return "–" if value is None else str(value)


def plain_value(value: SettingValue) -> SettingValue:
    """The value of a setting in a record; tuples as text."""
    return value_text(value) if isinstance(value, tuple) else value


def _hashable(game: str, values: Values) -> tuple[tuple[str, SettingValue], ...]:
    pairs = ((path, frozen(value)) for path, value in values.items() if path not in _POOLED)
    return (("", game), *pairs)


def frozen(value: SettingValue) -> SettingValue:
    """The value of a setting in a hashable form."""
    if dataclasses.is_dataclass(value):
        return str(value)
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def _differing(kinds: Sequence[Values]) -> list[str]:
    """The paths that differ within some game, in display order."""
    found: dict[str, None] = {}
    for _, group in itertools.groupby(sorted(kinds, key=_game), key=_game):
        of_game = list(group)
        for path in dict.fromkeys(itertools.chain.from_iterable(of_game)):
            if len({kind.get(path) for kind in of_game}) > 1:
                found[path] = None
    return sorted(found, key=lambda path: (path == VARIANT, not path.startswith(_FIRST)))


def _follows(kinds: Sequence[Values], path: str, leaders: Sequence[str]) -> bool:
    """Whether in each game the values of `leaders` determine that of `path`."""
    told: dict[tuple[SettingValue, ...], SettingValue] = {}
    for kind in kinds:
        key = tuple(kind.get(leader) for leader in ("", *leaders))
        if told.setdefault(key, kind.get(path)) != kind.get(path):
            return False
    return True


def _path(name: str, known: frozenset[str]) -> str | None:
    """The path of a path or short form; None for game and opponent, always separate."""
    if name in ("game", "opponent", "opponents"):
        return None
    if name == "variant":
        return VARIANT
    if f"game.{name}" in known or name in known:
        return name if name in known else f"game.{name}"
    path = find(name).path
    if path in _POOLED:
        raise ValueError(f"{name} cannot be an axis: seeds are always pooled, opponents never")
    return path


def _axis(path: str, kinds: Sequence[Values]) -> Axis:
    values = {kind.get(path) for kind in kinds}
    return Axis(path, short_of(path), tuple(sorted(values, key=lambda one: _order(path, one))))


def _order(path: str, value: SettingValue) -> tuple[SettingValue, ...]:
    """Sort key: numbers before text; variants in their fixed order, each before its mean.

    Numbers in lists and in texts count as numbers: (16,) before (128,), mcts-50 before mcts-100.
    """
    if path == VARIANT and (lane := str(value).removesuffix(MEAN)) in FARL_PARTS:
        return False, ((False, list(FARL_PARTS).index(lane), ""),), str(value)
    return (value is None, tuple(_parts(value)), str(value))


def _parts(value: SettingValue) -> Iterator[tuple[bool, float, str]]:
    """The numbers and words of a value, in their order."""
    if isinstance(value, tuple):
        yield from itertools.chain.from_iterable(map(_parts, value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield False, value, ""
    else:
        for word in filter(None, _NUMBER.split(str(value))):
            is_number = _NUMBER.fullmatch(word)
            yield not is_number, float(word) if is_number else 0, word


def _game(kind: Values) -> str:
    return str(kind[""])


def read_baseline(entries: Sequence[str], axes: Sequence[Axis]) -> dict[str, SettingValue]:
    """Parse the baseline ("trace_decay=0", ...) as path -> value.

    Raises ValueError for a setting or value that no row has.
    """
    baseline: dict[str, SettingValue] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        axis = next((a for a in axes if name in (a.path, a.short)), None)
        if not equals or axis is None:
            if not axes:
                raise ValueError(f"baseline {shown(entry)}: no setting differs between these runs")
            known = ", ".join(axis.short for axis in axes)
            raise ValueError(
                f"baseline {shown(entry)}: expected SETTING=VALUE, with SETTING one of {known}"
            )
        found = [value for value in axis.values if _reads_as(text, value)]
        if not found:
            known = ", ".join(map(value_text, axis.values))
            raise ValueError(f"baseline {shown(entry)}: {axis.short} is one of {known}")
        baseline[axis.path] = found[0]
    return baseline


def _reads_as(text: str, value: SettingValue) -> bool:
    if isinstance(value, float):
        try:
            return float(text) == value
        except ValueError:
            return False
    return text in (value_text(value), str(value), str(value).lower())
