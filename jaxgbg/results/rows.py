"""From the evaluations of runs to the rows of a table: lanes of the same settings are one row."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jaxgbg import papers
from jaxgbg.games import WINS, Scale
from jaxgbg.learners import TDSpec
from jaxgbg.results.axes import (
    VARIANT,
    Axis,
    find_axes,
    plain_value,
    read_baseline,
    setting_values,
)
from jaxgbg.results.evaluations import Evaluations
from jaxgbg.results.lanes import (
    Curve,
    LaneKey,
    Members,
    RowKey,
    Scored,
    Source,
    curves_of,
    members_of,
    score,
)
from jaxgbg.results.statistics import confidence_interval, mean_sem, paired_difference
from jaxgbg.training import Result, Run
from jaxgbg.training.run import MEAN, plain_game
from jaxgbg.values import NTupleSpec

_NOT_FLAT = ("game", "opponent", "settings", "scale", "curves")


@dataclasses.dataclass(frozen=True)
class Row:
    """All lanes of a game and opponent that share `settings`; figures in the unit of `scale`.

    `settings` are the values of the axes by their short forms. `mean` ± `sem` are over the n lanes,
    each giving the mean of its evaluations in the last fifth of the training (`per_seed`), as
    published; `low` to `high` is the 95 % interval of that mean. `last` ± `last_sem` are of the
    last evaluations alone. `difference` is this mean minus that of the baseline, over `pairs` lanes
    of equal seeds, with its 95 % interval; None without a baseline. `seconds` are those of the
    training of all its `runs`. `untrained` is how many agents have never learned: their weights are
    all 0; `diverged` how many play at random, for their weights are no finite numbers. `curves` are
    those of the lanes.
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
    diverged: int
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

    def of_games(self) -> Iterator["Table"]:
        """The rows of each game by themselves, told apart by what differs in that game."""
        for game in dict.fromkeys(row.game for row in self.rows):
            rows = [row for row in self.rows if row.game == game]
            known = [{row.settings[axis.short] for row in rows} for axis in self.axes]
            axes = tuple(
                axis._replace(values=tuple(value for value in axis.values if value in values))
                for axis, values in zip(self.axes, known, strict=True)
                if len(values) > 1
            )
            yield self._replace(rows=[_narrowed(row, axes) for row in rows], axes=axes, notes=[])


def _narrowed(row: Row, axes: Sequence[Axis]) -> Row:
    """A row that names these settings alone."""
    settings = {axis.short: row.settings[axis.short] for axis in axes}
    return dataclasses.replace(row, settings=settings)


def rows(run: Run, results: Sequence[Result], seconds: float) -> list[Row]:
    """The rows of a run, finished or stopped: of a stopped one, what all its seeds have reached."""
    return group([source_of(run, results, seconds)], ("variant",)).rows


def source_of(run: Run, results: Sequence[Result], seconds: float = math.nan) -> Source:
    """A run at hand as a source of rows."""
    parts = {field.name: getattr(run, field.name) for field in dataclasses.fields(run)}
    values = setting_values(parts, plain_game(run.game))
    return Source(
        run.game.name,
        run.game,
        values,
        Evaluations.of(results),
        run.evaluation.opponents,
        seconds,
    )


def group(sources: Sequence[Source], by: Sequence[str] = (), baseline: Sequence[str] = ()) -> Table:
    """A row for each game, opponent and combination of values of the axes.

    The axes are the settings named `by` (`learner.trace_decay`, or `trace_decay`), else those that
    differ. `baseline` ("trace_decay=0", ...) names what the other rows are compared with, lane by
    lane of equal seeds and other settings; where variants are told apart it is the one without
    FARL. Raises ValueError for settings or values that no run has.
    """
    curves = [curves_of(source) for source in sources]
    # Runs that differ by their seeds alone share their values.
    kinds = {
        (id(source.values), variant): (source.name, {**source.values, VARIANT: variant})
        for source, each in zip(sources, curves, strict=True)
        for _, variant in each
    }
    axes, rest = find_axes(kinds.values(), by)
    settings = {key: kind for key, (_, kind) in kinds.items()}
    if VARIANT not in [axis.path for axis in axes]:
        # The last and the mean weights of one training are not two of it.
        curves = [
            {
                (opponent, variant): lanes
                for (opponent, variant), lanes in each.items()
                if not variant.endswith(MEAN) or (opponent, variant.removesuffix(MEAN)) not in each
            }
            for each in curves
        ]
    members, notes = members_of(sources, curves, settings, [axis.path for axis in axes], rest)
    compared = read_baseline(baseline, axes)
    if not baseline:
        compared = {
            axis.path: "none"
            for axis in axes
            if axis.path == VARIANT and len(axis.values) > 1 and "none" in axis.values
        }
    scored = {key: score(each) for key, each in members.items()}
    table = []
    order = {source.name: source.order for source in reversed(sources)}
    for key in sorted(members, key=lambda key: _rank(key, order[key.game], axes)):
        other = RowKey(
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


def _rank(key: RowKey, order: Sequence[str], axes: Sequence[Axis]) -> tuple[Any, ...]:
    """Games in the order of Table 1, opponents in that of the run, values in that of their axes."""
    known = key.game in papers.GAMES
    values = [axis.values.index(value) for axis, value in zip(axes, key.values, strict=True)]
    return (
        papers.GAMES.index(key.game) if known else len(papers.GAMES),
        key.game,
        order.index(key.opponent) if key.opponent in order else len(order),
        key.opponent,
        values,
    )


def _row(
    key: RowKey,
    axes: Sequence[Axis],
    members: Members,
    scored: Scored,
    without: Mapping[LaneKey, float],
) -> Row:
    span = members.scale.span
    late, last = list(scored.late.values()), list(scored.last.values())
    inside = span is not None and all(span[0] <= figure <= span[1] for figure in late)
    low, high = confidence_interval(late, span=span if inside else None)
    paired = paired_difference(scored.late, without, span if inside else None)
    variant = next(iter(members.variants)) if len(members.variants) == 1 else ""
    published = _published(key, members, variant)
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
        diverged=members.diverged,
        curves=tuple(curve for cell in members.curves.values() for curve in cell.values()),
    )


def _published(key: RowKey, members: Members, variant: str) -> tuple[float | None, float | None]:
    """What a paper has for a row, mean and standard error; None for each that it has not."""
    if members.scale != WINS:
        # Table 1 is of TD with n-tuples alone.
        kinds = {(s.values["learner"], s.values["value"]) for s in members.sources}
        theirs = kinds == {(TDSpec.kind, NTupleSpec.kind)}
        published = papers.figure(key.game, key.opponent, variant) if theirs else None
        return published or (None, None)
    found = {papers.wins(key.game, key.opponent, source.values) for source in members.sources}
    return (found.pop() if len(found) == 1 else None), None


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
