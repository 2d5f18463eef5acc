"""From the evaluations of runs to the rows of a table: lanes of the same settings are one row."""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgbg import papers
from jaxgbg.arena import scale_of
from jaxgbg.games import Game, Scale
from jaxgbg.results.axes import (
    VARIANT,
    Axis,
    find_axes,
    frozen,
    plain_value,
    read_baseline,
    setting_values,
)
from jaxgbg.results.statistics import confidence_interval, mean_sem, paired_difference
from jaxgbg.training import LaneName, Result, Run
from jaxgbg.training.run import plain_game

Curve = Mapping[int, float]
"""Episodes -> figure of one agent."""
LaneKey = tuple[tuple[Any, ...], int]
"""What tells a lane of a row from others: the values of what else differs, and its seed."""

_NOT_FLAT = ("game", "opponent", "settings", "scale", "curves")


class Source(NamedTuple):
    """A run with what came of it: its settings by their paths, its game (None if not known here).

    `order` are opponents as the run names them; `untrained` are lanes whose weights are all 0.
    """

    name: str
    game: Game | None
    values: Mapping[str, Any]
    results: Iterable[Result]
    order: tuple[str, ...]
    seconds: float = math.nan
    untrained: frozenset[LaneName] = frozenset()


@dataclasses.dataclass(frozen=True)
class Row:
    """All lanes of a game and opponent that share `settings`; figures in the unit of `scale`.

    `settings` are the values of the axes by their short forms. `mean` ± `sem` are over the n lanes,
    each giving the mean of its evaluations in the last fifth of the training (`per_seed`), as
    published; `low` to `high` is the 95 % interval of that mean. `last` ± `last_sem` are of the
    last evaluations alone. `difference` is this mean minus that of the baseline, over `pairs` lanes
    of equal seeds, with its 95 % interval; None without a baseline. `seconds` are those of the
    training of all its `runs`. `untrained` is how many agents have never learned: their weights are
    all 0. `curves` are those of the lanes.
    """

    game: str
    opponent: str
    settings: Mapping[str, Any]
    scale: Scale
    mean: float
    sem: float
    low: float
    high: float
    last: float
    last_sem: float
    n: int
    per_seed: tuple[float, ...]
    episodes: int
    seconds: float
    paper_mean: float | None
    paper_error: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    pairs: int
    runs: int
    untrained: int
    curves: tuple[Curve, ...] = dataclasses.field(repr=False)

    @property
    def key(self) -> tuple[Any, ...]:
        """The values of the axes, in their order."""
        return tuple(self.settings.values())

    @property
    def variant(self) -> str:
        """The FARL variant, "" where several are pooled."""
        return str(self.settings.get("variant", ""))


class Table(NamedTuple):
    """Rows, the axes that they differ by, what they are compared with, and lines about them."""

    rows: list[Row]
    axes: tuple[Axis, ...]
    baseline: Mapping[str, Any]
    notes: list[str]

    @property
    def compared(self) -> str:
        """What the rows are compared with, in words."""
        return ", ".join(
            axis.label(self.baseline[axis.path]) for axis in self.axes if axis.path in self.baseline
        )


class _Key(NamedTuple):
    """What tells a row from others: its game, its opponent, the values of the axes in order."""

    game: str
    opponent: str
    values: tuple[Any, ...]


@dataclasses.dataclass
class _Members:
    """The lanes of a row, by the values of what else differs; each has its curve by its seed."""

    scale: Scale
    curves: dict[tuple[Any, ...], dict[int, Curve]] = dataclasses.field(default_factory=dict)
    sources: list[Source] = dataclasses.field(default_factory=list)
    variants: set[str] = dataclasses.field(default_factory=set)
    untrained: int = 0


def rows(run: Run, results: Sequence[Result], seconds: float) -> list[Row]:
    """The rows of a run, finished or stopped: of a stopped one, what all its seeds have reached."""
    return group([source_of(run, results, seconds)], ("variant",)).rows


def source_of(run: Run, results: Sequence[Result], seconds: float = math.nan) -> Source:
    """A run at hand as a source of rows."""
    parts = {field.name: getattr(run, field.name) for field in dataclasses.fields(run)}
    values = setting_values(parts, plain_game(run.game))
    return Source(run.game.name, run.game, values, results, run.evaluation.opponents, seconds)


def group(sources: Sequence[Source], by: Sequence[str] = (), baseline: Sequence[str] = ()) -> Table:
    """A row for each game, opponent and combination of values of the axes.

    The axes are the settings named `by` (`learner.trace_decay`, or `trace_decay`), else those that
    differ. `baseline` ("trace_decay=0", ...) names what the other rows are compared with, lane by
    lane of equal seeds and other settings; where variants are told apart it is the one without
    FARL. Raises ValueError for settings or values that no run has.
    """
    kinds = {
        (at, variant): {**source.values, VARIANT: variant}
        for at, source in enumerate(sources)
        for variant in dict.fromkeys(result.variant for result in source.results)
    }
    axes, rest = find_axes(((sources[at].name, kind) for (at, _), kind in kinds.items()), by)
    members, notes = _members(sources, kinds, [axis.path for axis in axes], rest)
    compared = read_baseline(baseline, axes)
    if not baseline:
        compared = {
            axis.path: "none"
            for axis in axes
            if axis.path == VARIANT and len(axis.values) > 1 and "none" in axis.values
        }
    scored = {key: _scored(each) for key, each in members.items()}
    table = []
    for key in sorted(members, key=lambda key: _rank(key, sources, axes)):
        other = _Key(
            key.game,
            key.opponent,
            tuple(
                compared.get(axis.path, value) for axis, value in zip(axes, key.values, strict=True)
            ),
        )
        without = scored[other].late if other != key and other in scored else {}
        table.append(_row(key, axes, members[key], scored[key], without))
    follow = [f"{axis.short} and {', '.join(axis.follows)}" for axis in axes if axis.follows]
    if follow:
        notes.append(f"These differ together: {'; '.join(follow)}.")
    return Table(table, axes, compared, notes)


class _Scored(NamedTuple):
    """What the lanes of a row have come to, by what else differs and their seeds."""

    episodes: int
    late: dict[LaneKey, float]
    last: dict[LaneKey, float]


def _members(
    sources: Sequence[Source],
    kinds: Mapping[tuple[int, str], Mapping[str, Any]],
    paths: Sequence[str],
    rest: Sequence[str],
) -> tuple[dict[_Key, _Members], list[str]]:
    """The lanes of every row; and a line for each that is there twice, which counts once."""
    members: dict[_Key, _Members] = {}
    twice: dict[str, int] = defaultdict(int)
    for at, source in enumerate(sources):
        for (opponent, variant), curves in _curves(source).items():
            kind = kinds[at, variant]
            key = _Key(source.name, opponent, tuple(frozen(kind.get(path)) for path in paths))
            scale = scale_of(opponent, source.game) if source.game else Scale("reward")
            row = members.setdefault(key, _Members(scale))
            row.sources.append(source)
            row.variants.add(variant)
            cell = row.curves.setdefault(tuple(frozen(kind.get(path)) for path in rest), {})
            for seed, curve in curves.items():
                if seed in cell:
                    twice[source.name] += 1
                    if max(curve) <= max(cell[seed]):
                        continue
                else:
                    row.untrained += LaneName(seed, variant) in source.untrained
                cell[seed] = curve
    return members, [
        f"{name}: {count} agents are in several folders, with equal settings and seeds; each counts"
        " once."
        for name, count in twice.items()
    ]


def _curves(source: Source) -> dict[tuple[str, str], dict[int, dict[int, float]]]:
    """(opponent, variant) -> seed -> curve; an evaluation made again replaces the first."""
    curves: dict[tuple[str, str], dict[int, dict[int, float]]] = defaultdict(dict)
    scales: dict[str, Scale] = {}
    for result in source.results:
        if result.opponent not in scales:
            game = source.game
            scales[result.opponent] = scale_of(result.opponent, game) if game else Scale("reward")
        curve = curves[result.opponent, result.variant].setdefault(result.seed, {})
        curve[result.episodes] = scales[result.opponent].figure(result.score)
    return curves


def _rank(key: _Key, sources: Sequence[Source], axes: Sequence[Axis]) -> tuple[Any, ...]:
    """Games in the order of Table 1, opponents in that of the run, values in that of their axes."""
    known = key.game in papers.GAMES
    order = next(source.order for source in sources if source.name == key.game)
    values = [axis.values.index(value) for axis, value in zip(axes, key.values, strict=True)]
    return (
        papers.GAMES.index(key.game) if known else len(papers.GAMES),
        key.game,
        order.index(key.opponent) if key.opponent in order else len(order),
        key.opponent,
        values,
    )


def _scored(members: _Members) -> _Scored:
    """Lanes that differ by their seeds alone count as far as all of them have come."""
    reached: list[int] = []
    late: dict[LaneKey, float] = {}
    last: dict[LaneKey, float] = {}
    for rest, curves in members.curves.items():
        episodes, *figures = _reached(curves)
        reached.append(episodes)
        for all_of, some in zip((late, last), figures, strict=True):
            all_of.update({(rest, seed): figure for seed, figure in some.items()})
    return _Scored(min(reached), late, last)


def _row(
    key: _Key,
    axes: Sequence[Axis],
    members: _Members,
    scored: _Scored,
    without: Mapping[LaneKey, float],
) -> Row:
    span = members.scale.span
    late, last = list(scored.late.values()), list(scored.last.values())
    inside = span is not None and all(span[0] <= figure <= span[1] for figure in late)
    low, high = confidence_interval(late, span=span if inside else None)
    paired = paired_difference(scored.late, without, span if inside else None)
    variant = next(iter(members.variants)) if len(members.variants) == 1 else ""
    published = papers.figure(key.game, key.opponent, variant) or (None, None)
    mean, sem = mean_sem(late)
    last_mean, last_sem = mean_sem(last)
    return Row(
        key.game,
        key.opponent,
        {axis.short: value for axis, value in zip(axes, key.values, strict=True)},
        members.scale,
        mean,
        sem,
        low,
        high,
        last_mean,
        last_sem,
        n=len(late),
        per_seed=tuple(scored.late[lane] for lane in sorted(scored.late, key=lambda each: each[1])),
        episodes=scored.episodes,
        seconds=sum({id(source): source.seconds for source in members.sources}.values()),
        paper_mean=published[0],
        paper_error=published[1],
        difference=paired[0] if paired else None,
        difference_low=paired[1] if paired else None,
        difference_high=paired[2] if paired else None,
        pairs=len(scored.late.keys() & without.keys()),
        runs=len({id(source) for source in members.sources}),
        untrained=members.untrained,
        curves=tuple(curve for cell in members.curves.values() for curve in cell.values()),
    )


def _reached(
    curves: Mapping[int, Curve],
) -> tuple[int, dict[int, float], dict[int, float]]:
    """(episodes that all seeds have reached, mean of the last fifth of them, the last figure).

    A seed without an evaluation in the last fifth gives its last one; without any, nothing.
    """
    reached = min(max(curve) for curve in curves.values())
    late, last = {}, {}
    for seed, curve in curves.items():
        within = {episodes: figure for episodes, figure in curve.items() if episodes <= reached}
        if within:
            last[seed] = within[max(within)]
            figures = [figure for at, figure in within.items() if 5 * at > 4 * reached]
            late[seed] = float(np.mean(figures or last[seed]))
    return reached, late, last


def as_records(table: Sequence[Row]) -> list[dict[str, Any]]:
    """Flat records, a setting an entry; rounded to what they mean, what is no number is None."""

    def plain(value: Any) -> Any:
        if isinstance(value, tuple):
            return [plain(item) for item in value]
        if isinstance(value, float):
            return round(value, 5) if math.isfinite(value) else None
        return value

    kept = [field.name for field in dataclasses.fields(Row) if field.name not in _NOT_FLAT]
    return [
        {
            "game": row.game,
            "opponent": row.opponent,
            **{name: plain_value(value) for name, value in row.settings.items()},
            "unit": row.scale.label,
            **{name: plain(getattr(row, name)) for name in kept},
        }
        for row in table
    ]
