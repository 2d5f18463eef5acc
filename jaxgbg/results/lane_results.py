"""The lanes of runs: their curves, the rows that they belong to, their scores."""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from jaxgbg.evaluation import scale_of
from jaxgbg.games import WINS, Game, Scale
from jaxgbg.results.axes import VARIANT, Values, frozen
from jaxgbg.results.evaluations import Evaluations
from jaxgbg.runs import LaneName
from jaxgbg.runs.run import MEAN
from jaxgbg.types import SettingValue

Curve = Mapping[int, float]
"""Episodes -> figure of one agent."""
LaneKey = tuple[tuple[SettingValue, ...], int]
"""The key of a lane within a row: the values of the pooled settings, and its seed."""


class Source(NamedTuple):
    """A run with its results: settings by their paths, and its game (None if not registered).

    `order` has the opponents in the order of the run. `untrained` are lanes whose weights are all
    0, `diverged` lanes with weights that are not finite. Figures are scores, or with `wins` shares
    of games won.
    """

    name: str
    game: Game | None
    values: Values
    evaluations: Evaluations
    order: tuple[str, ...]
    seconds: float = math.nan
    untrained: frozenset[LaneName] = frozenset()
    diverged: frozenset[LaneName] = frozenset()
    wins: bool = False

    def scale(self, opponent: str) -> Scale:
        """The scale of its figures against `opponent`."""
        if self.wins:
            return WINS
        return scale_of(opponent, self.game) if self.game is not None else Scale("reward")


Curves: TypeAlias = dict[tuple[str, str], dict[int, dict[int, float]]]
"""(opponent, variant) -> seed -> curve."""


class RowKey(NamedTuple):
    """The key of a row: its game, its opponent, the values of the axes in order."""

    game: str
    opponent: str
    values: tuple[SettingValue, ...]


@dataclasses.dataclass
class Members:
    """The lanes of a row: pooled settings -> seed -> curve; `owners` has the run of each lane."""

    scale: Scale
    curves: dict[tuple[SettingValue, ...], dict[int, Curve]] = dataclasses.field(
        default_factory=dict
    )
    owners: dict[LaneKey, tuple[Source, LaneName]] = dataclasses.field(default_factory=dict)
    variants: set[str] = dataclasses.field(default_factory=set)

    @property
    def sources(self) -> list[Source]:
        """The runs of its lanes."""
        return [*{id(source): source for source, _ in self.owners.values()}.values()]

    @property
    def diverged(self) -> int:
        """The number of lanes whose weights are not finite."""
        return sum(lane in source.diverged for source, lane in self.owners.values())

    @property
    def untrained(self) -> int:
        """The number of other lanes whose weights are all 0."""
        return sum(
            lane in source.untrained and lane not in source.diverged
            for source, lane in self.owners.values()
        )

    @property
    def pooled(self) -> bool:
        """Whether lanes of several settings are one row."""
        return len(self.curves) > 1

    def keep_seeds_of_all(self, opponent: str) -> int:
        """Drop seeds that some pooled setting lacks; they would weigh settings unequally.

        Returns how many. Raises ValueError if none is left.
        """
        seeds = [set(cell) for cell in self.curves.values()]
        common, every = set.intersection(*seeds), set.union(*seeds)
        if not common:
            name = self.sources[0].name
            raise ValueError(
                f"{name} against {opponent}: no seed is in all settings to be pooled: leave out"
                " --pool, or choose runs with --where"
            )
        for values, cell in self.curves.items():
            self.curves[values] = {seed: cell[seed] for seed in cell if seed in common}
        self.owners = {key: owner for key, owner in self.owners.items() if key[1] in common}
        return len(every - common)

    def seed_curves(self) -> "list[Curve]":
        """A curve for each seed: the mean over pooled settings, at their common evaluations.

        If they share no evaluation, at those that any of them has.
        """
        if not self.pooled:
            return [curve for cell in self.curves.values() for curve in cell.values()]
        found: list[Curve] = []
        for seed in next(iter(self.curves.values())):
            own = [cell[seed] for cell in self.curves.values()]
            shared = set.intersection(*map(set, own)) or set.union(*map(set, own))
            found.append(
                {
                    at: float(np.mean([curve[at] for curve in own if at in curve]))
                    for at in sorted(shared)
                }
            )
        return found

    def fewest_games(self, opponent: str) -> int:
        """Games of the smallest evaluation of an agent."""
        return min(source.evaluations.fewest_games(opponent) for source in self.sources)


class Scored(NamedTuple):
    """The scores of the lanes of a row, by pooled settings and seeds."""

    episodes: int
    late: dict[LaneKey, float]
    last: dict[LaneKey, float]

    def by_seed(self, figures: Mapping[LaneKey, float]) -> dict[int, float]:
        """The mean of each seed over pooled settings.

        Agents of one seed are correlated and may even be the same agent.
        """
        seeds: dict[int, list[float]] = defaultdict(list)
        for (_, seed), figure in figures.items():
            seeds[seed].append(figure)
        return {seed: sum(each) / len(each) for seed, each in sorted(seeds.items())}


def members_of(
    sources: Sequence[Source],
    curves: Sequence[Curves],
    settings: Mapping[tuple[int, str], Values],
    paths: Sequence[str],
    rest: Sequence[str],
) -> tuple[dict[RowKey, Members], list[str]]:
    """Group lanes into rows; also returns a line for lanes that occur twice and count once."""
    members: dict[RowKey, Members] = {}
    twice: dict[str, int] = defaultdict(int)
    told = {
        key: [tuple(frozen(kind.get(path)) for path in some) for some in (paths, rest)]
        for key, kind in settings.items()
    }
    for source, of_source in zip(sources, curves, strict=True):
        for (opponent, variant), of_lanes in of_source.items():
            values, others = told[id(source.values), variant]
            key = RowKey(source.name, opponent, values)
            row = members.get(key)
            if row is None:
                row = members[key] = Members(source.scale(opponent))
            row.variants.add(variant)
            cell = row.curves.setdefault(others, {})
            for seed, curve in of_lanes.items():
                if seed in cell:
                    twice[source.name] += 1
                    if max(curve) <= max(cell[seed]):
                        continue
                cell[seed] = curve
                row.owners[others, seed] = source, LaneName(seed, variant.removesuffix(MEAN))
    return members, [
        f"{name}: {count} agents are in several folders, with equal settings and seeds; each counts"
        " once."
        for name, count in twice.items()
    ]


def curves_of(source: Source) -> Curves:
    """The curves of a run; a repeated evaluation replaces the first."""
    curves: Curves = {}
    evaluations = source.evaluations
    lanes = evaluations.wins() if source.wins else evaluations.lanes()
    variants = list(source.values[VARIANT])
    if source.values["averaging.rule"] != "none":
        variants += [variant + MEAN for variant in variants]
    for opponent, variant, seed, episodes, scores in lanes:
        if variant not in variants:
            # A valid line of metrics may belong to no agent of the run.
            continue
        figure = source.scale(opponent).figure
        of_lanes = curves.setdefault((opponent, variant), {})
        of_lanes[seed] = dict(zip(episodes, map(figure, scores), strict=True))
    return curves


def score(members: Members) -> Scored:
    """Score the lanes of a row, up to the episodes that all seeds of a setting have reached."""
    reached: list[int] = []
    late: dict[LaneKey, float] = {}
    last: dict[LaneKey, float] = {}
    for rest, curves in members.curves.items():
        episodes, *figures = _reached(curves)
        reached.append(episodes)
        for all_of, some in zip((late, last), figures, strict=True):
            all_of.update({(rest, seed): figure for seed, figure in some.items()})
    return Scored(min(reached), late, last)


def _reached(
    curves: Mapping[int, Curve],
) -> tuple[int, dict[int, float], dict[int, float]]:
    """Return (episodes that all seeds have reached, mean of their last fifth, last figure).

    A seed without an evaluation in the last fifth counts with its last one, if it has any.
    """
    reached = min(max(curve) for curve in curves.values())
    late, last = {}, {}
    for seed, curve in curves.items():
        end = reached
        if end not in curve:
            end = max((episodes for episodes in curve if episodes <= reached), default=-1)
        if end >= 0:
            last[seed] = curve[end]
            figures = [figure for at, figure in curve.items() if 4 * reached < 5 * at <= 5 * end]
            late[seed] = sum(figures) / len(figures) if figures else last[seed]
    return reached, late, last
