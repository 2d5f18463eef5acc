"""Make the rows of a table from evaluations: lanes with the same settings form a row."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from jaxgbg.evaluation.evaluators import EvaluatorSpec, evaluator_of, score_names
from jaxgbg.games import Scale
from jaxgbg.results.axes import (
    VARIANT,
    Axis,
    find_axes,
    plain_value,
    read_baseline,
    run_values,
    short_of,
    with_own_names,
)
from jaxgbg.results.evaluations import Evaluations
from jaxgbg.results.lane_results import (
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
from jaxgbg.results.published import published_figure, settings_are_published
from jaxgbg.results.statistics import (
    agree,
    cluster_interval,
    confidence_interval,
    mean_sem,
    paired_difference,
)
from jaxgbg.runs import Result, Run
from jaxgbg.runs import presets as papers
from jaxgbg.runs.run import MEAN
from jaxgbg.specs import pluralize
from jaxgbg.types import JSON, SettingValue

_NOT_FLAT = ("game", "opponent", "settings", "scale", "curves", "games", "as_published")
_OF_POOLED = ("agents", "pooled")


@dataclasses.dataclass(frozen=True)
class Row:
    """All lanes of a game and opponent that share `settings`; figures in the unit of `scale`.

    `settings` has the values of the axes by their short forms, or by their paths where a short form
    would have two meanings. `mean` ± `sem` are over the n seeds;
    each seed counts with the mean of its evaluations in the last fifth of the training
    (`per_seed`), as published; `low` to `high` is the 95% interval of that mean. `last` ±
    `last_sem` are of the last evaluation alone. `difference` is this mean minus that of the
    baseline, over `pairs` of equal seeds, with its 95% interval; None without a baseline. If
    settings are `pooled` (their short forms), a seed counts with the mean of its agents over them;
    `agents` is the number of all agents. `seconds` is the training time of all its `runs`.
    `untrained` is the number of agents whose weights are all 0, `diverged` the number of agents
    that play at random because their weights are not finite. `as_published` means that the settings
    of the axes are the paper's. `curves` are those of the seeds. `games` returns the number of
    games in the smallest evaluation of an agent.
    """

    game: str
    opponent: str
    settings: Mapping[str, SettingValue]
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
    agents: int
    pooled: tuple[str, ...]
    as_published: bool
    curves: tuple[Curve, ...] = dataclasses.field(repr=False)
    games: Callable[[], int] = dataclasses.field(repr=False, compare=False)

    @property
    def key(self) -> tuple[SettingValue, ...]:
        """The values of the axes, in their order."""
        return tuple(self.settings.values())

    @property
    def variant(self) -> str:
        """The FARL variant, "" if several are pooled."""
        return str(self.settings.get("variant", ""))


class Table(NamedTuple):
    """Rows, the axes in which they differ, their baseline, and notes about them."""

    rows: list[Row]
    axes: tuple[Axis, ...]
    baseline: Mapping[str, SettingValue]
    notes: list[str]

    @property
    def compared(self) -> str:
        """The label of the baseline."""
        return ", ".join(
            axis.label(self.baseline[axis.path]) for axis in self.axes if axis.path in self.baseline
        )

    def of_games(self) -> Iterator["Table"]:
        """Split the table by game; each part has the axes that differ in its game."""
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
    """A row with only these settings."""
    settings = {axis.short: row.settings[axis.short] for axis in axes}
    return dataclasses.replace(row, settings=settings)


def rows(run: Run, results: Sequence[Result], seconds: float) -> list[Row]:
    """The rows of a run; a stopped run counts as far as all its seeds have come."""
    return group([source_of(run, results, seconds)], ("variant",)).rows


def source_of(run: Run, results: Sequence[Result], seconds: float = math.nan) -> Source:
    """A run in memory as a source of rows."""
    return Source(
        run.game.name,
        run.game,
        run_values(run),
        Evaluations.of(results),
        run.evaluation.opponents,
        seconds,
    )


def group(
    sources: Sequence[Source],
    by: Sequence[str] = (),
    baseline: Sequence[str] = (),
    pool: Sequence[str] = (),
) -> Table:
    """Make a row for each game, opponent and combination of values of the axes.

    The axes are the settings in `by`, then all others that differ except those in `pool`, over
    which each seed counts with its mean. `baseline` ("trace_decay=0", ...) is the row to compare
    with, by default the variant without FARL. Raises ValueError for unknown settings or values, or
    if no seed is in all pooled settings.
    """
    curves = [curves_of(source) for source in sources]
    # Runs that differ only in their seeds share their values.
    kinds = {
        (id(source.values), variant): (source.name, {**source.values, VARIANT: variant})
        for source, each in zip(sources, curves, strict=True)
        for _, variant in each
    }
    named, others, rest = find_axes(kinds.values(), by, pool)
    axes = with_own_names(named + others, ("unit", *Row.__dataclass_fields__))
    others = axes[len(named) :]
    if VARIANT not in [axis.path for axis in axes]:
        # The last and the mean weights of one training must not count as two trainings.
        curves = [
            {
                (opponent, variant): lanes
                for (opponent, variant), lanes in each.items()
                if not variant.endswith(MEAN) or (opponent, variant.removesuffix(MEAN)) not in each
            }
            for each in curves
        ]
    settings = {key: kind for key, (_, kind) in kinds.items()}
    members, notes = members_of(sources, curves, settings, [axis.path for axis in axes], rest)
    differ = " ".join(axis.short for axis in others)
    if named and others:
        notes.append(f"Listed separately, as they differ: {differ}; --pool {differ} pools them.")
    notes += _balance(members, rest)
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
        table.append(_row(key, axes, members[key], scored[key], without, rest))
    return Table(table, axes, compared, notes + _follow(axes))


def _follow(axes: Sequence[Axis]) -> list[str]:
    """A note about settings that change together, if there are any."""
    follow = [f"{axis.short} and {', '.join(axis.follows)}" for axis in axes if axis.follows]
    return [f"These differ together: {'; '.join(follow)}."] if follow else []


def _balance(members: Mapping[RowKey, Members], rest: Sequence[str]) -> list[str]:
    """In rows that pool settings, keep only seeds that all of them have; notes about the rest."""
    notes = []
    for key, row in members.items():
        left_out = row.keep_seeds_of_all(key.opponent) if row.pooled else 0
        if left_out:
            notes.append(
                f"{key.game}, {key.opponent}: {pluralize(left_out, 'seed')} not used, because some"
                f" {' and '.join(map(short_of, rest))} does not have them."
            )
    return list(dict.fromkeys(notes))


def _rank(
    key: RowKey, order: Sequence[str], axes: Sequence[Axis]
) -> tuple[int, str, int, int, str, list[int]]:
    """Sort key: games as in Table 1, opponents as in the run, values as in their axes."""
    known = key.game in papers.GAMES
    values = [axis.values.index(value) for axis, value in zip(axes, key.values, strict=True)]
    return (
        papers.GAMES.index(key.game) if known else len(papers.GAMES),
        key.game,
        *_place(key.opponent, order),
        values,
    )


def _place(name: str, order: Sequence[str]) -> tuple[int, int, str]:
    """Sort key of an opponent or score: as in the run, scores as in their evaluator."""
    text = evaluator_of(name) or name
    known = list(score_names(text)) if EvaluatorSpec.named(text) else []
    return (
        order.index(text) if text in order else len(order),
        known.index(name) if name in known else len(known),
        name,
    )


def _row(
    key: RowKey,
    axes: Sequence[Axis],
    members: Members,
    scored: Scored,
    without: Mapping[LaneKey, float],
    rest: Sequence[str],
) -> Row:
    late, last = (scored.by_seed(figures) for figures in (scored.late, scored.last))
    span = members.scale.span
    if span is not None and not all(span[0] <= figure <= span[1] for figure in late.values()):
        span = None
    games = cache(partial(members.fewest_games, key.opponent))
    fewest = games() if agree([*late.values()]) or without else None
    interval = cluster_interval if members.pooled else confidence_interval
    low, high = interval([*late.values()], span=span, games=fewest)
    paired = paired_difference(
        scored.late, without, span, fewest, interval, cluster=lambda lane: lane[1]
    )
    variant = next(iter(members.variants)) if len(members.variants) == 1 else ""
    published = published_figure(key, members, variant)
    mean, sem = mean_sem([*late.values()])
    last_mean, last_sem = mean_sem([*last.values()])
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
        per_seed=tuple(late.values()),
        episodes=scored.episodes,
        seconds=sum(source.seconds for source in members.sources),
        paper_mean=published[0],
        paper_error=published[1],
        difference=paired[0] if paired else None,
        difference_low=paired[1] if paired else None,
        difference_high=paired[2] if paired else None,
        pairs=len({seed for _, seed in scored.late.keys() & without.keys()}),
        runs=len(members.sources),
        untrained=members.untrained,
        diverged=members.diverged,
        agents=len(scored.late),
        pooled=tuple(map(short_of, rest)) if members.pooled else (),
        as_published=published[0] is not None
        and settings_are_published(members, [*(axis.path for axis in axes), *rest]),
        curves=tuple(members.seed_curves()),
        games=games,
    )


def panel_numbers(rows: Sequence[Row]) -> list[list[int]]:
    """The numbers of the rows of each game, opponent and unit: what one table or chart shows.

    The unit of a game may depend on its parameters: win rates for two players, rewards for more.
    """
    panels: dict[tuple[str, str, str], list[int]] = {}
    for number, row in enumerate(rows):
        panels.setdefault((row.game, row.opponent, row.scale.label), []).append(number)
    return list(panels.values())


def as_records(table: Sequence[Row]) -> list[dict[str, JSON]]:
    """Flat records with an entry for each setting; figures are rounded, NaN becomes None."""

    def plain(value: object) -> JSON:
        if isinstance(value, tuple):
            return [plain(item) for item in value]
        if isinstance(value, float):
            return round(value, 5) if math.isfinite(value) else None
        return value

    left_out = _NOT_FLAT if any(row.pooled for row in table) else (*_NOT_FLAT, *_OF_POOLED)
    kept = [field.name for field in dataclasses.fields(Row) if field.name not in left_out]
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
