"""The ladder: the ratings of a tournament as rows, notes and a chart."""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxgbg.arena.cycles import alpha_rank, cycles
from jaxgbg.arena.match_results import MatchResult, joined, pair_points
from jaxgbg.arena.ratings import GameResults, Rating, rate
from jaxgbg.games import Game
from jaxgbg.results.extras import require_extra
from jaxgbg.results.figures import check_name, default_style, new_figure, save
from jaxgbg.results.formats import Column
from jaxgbg.results.statistics import agree, confidence_interval
from jaxgbg.types import JSON

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# Fewer openings that all end alike prove nothing: (1/2)^5 is more than 2.5%.
_LEAST_OPENINGS = 6
_MOST_CYCLES = 5


@dataclasses.dataclass(frozen=True)
class LadderEntry:
    """A player on the ladder: rating in Elo, `score` in % of the points, `seats` the same by seat.

    With two players a draw counts half. With more, a player gets a point for each other player with
    a lower reward, and half a point for each with the same. `alpha_rank` is the share of time from
    `arena.cycles.alpha_rank`.
    """

    rank: int
    player: str
    rating: Rating
    games: int
    score: float
    seats: tuple[float, ...]
    alpha_rank: float


class Ladder:
    """The result of a tournament, the strongest player first.

    `standings` are its rows. `seats` is the advantage of each seat in Elo over the mean of the
    others, for partners that of their team. `scores` float64[P, P] has the points in % of the row's
    player against the column's, in the order of the standings (NaN on the diagonal). `cycles`
    has triples of names: each beats the next one, and the last the first, beyond chance (95%
    intervals).
    """

    def __init__(
        self, game: Game, names: Sequence[str], results: Sequence[MatchResult], anchor: int | None
    ) -> None:
        self.game = game
        self.anchor = None if anchor is None else names[anchor]
        outcomes = joined(results)
        ratings = rate(outcomes, len(names), anchor, names.__getitem__, game.teams)
        self.seats = ratings.seats
        order = sorted(range(len(names)), key=lambda at: (-ratings.players[at].elo, names[at]))
        pairs = pair_points(results)
        points, beats = _scores(pairs, len(names))
        # A pair without a known better player counts as equal.
        shares = alpha_rank(np.where(beats, 1.0, np.where(beats.T, 0.0, 0.5)))
        self.scores = 100 * points[np.ix_(order, order)]
        self.cycles = [tuple(names[at] for at in each) for each in cycles(beats)]
        self.standings = [
            _standing(rank, at, names[at], ratings.players[at], outcomes, float(shares[at]))
            for rank, at in enumerate(order, 1)
        ]

    def records(self) -> list[dict[str, JSON]]:
        """A flat record for each player; None for an open bound. Points in %, ratings in Elo."""
        names = [standing.player for standing in self.standings]
        seats = {
            f"seat_{number}_{name}": _plain(value)
            for number, rating in enumerate(self.seats, 1)
            for name, value in rating._asdict().items()
        }
        return [
            {
                "game": self.game.name,
                "rank": one.rank,
                "player": one.player,
                **{name: _plain(value) for name, value in one.rating._asdict().items()},
                "games": one.games,
                "score": round(one.score, 2),
                **{f"score_seat_{seat}": round(s, 2) for seat, s in enumerate(one.seats, 1)},
                "alpha_rank": round(one.alpha_rank, 4),
                **{
                    f"against {name}": _plain(float(s), 2)
                    for name, s in zip(names, line, strict=True)
                },
                **seats,
            }
            for one, line in zip(self.standings, self.scores, strict=True)
        ]

    def frame(self) -> "pandas.DataFrame":
        """`records` as a data frame; MissingExtra without pandas."""
        require_extra("pandas")
        import pandas

        return pandas.DataFrame(self.records())

    def columns(self) -> list[Column]:
        """The columns of the printed table."""
        rows = self.standings
        return [
            Column("rank", [str(row.rank) for row in rows], True),
            Column("player", [row.player for row in rows]),
            Column("Elo ± 95 %", [in_words(row.rating) for row in rows], True),
            Column("games", [f"{row.games:,}" for row in rows], True),
            Column("score %", [f"{row.score:.1f}" for row in rows], True),
            Column("by seat %", [" / ".join(f"{s:.1f}" for s in row.seats) for row in rows], True),
        ]

    def notes(self) -> list[str]:
        """Notes below the table: what the figures mean, and open bounds and cycles."""
        zero = f"{self.anchor} is 0" if self.anchor else "their mean is 0"
        sides = list(zip(self.game.sides, map(in_words, self.seats), strict=True))
        if len(sides) == 2:
            seats = f"advantage of the seat of {sides[0][0]}: {sides[0][1]}"
        else:
            partners = defaultdict(list)
            for team, side in zip(self.game.teams, sides, strict=True):
                partners[team].append(side)
            each = ", ".join(
                f"{' and '.join(name for name, _ in team)} {team[0][1]}"
                for team in partners.values()
            )
            seats = f"advantage of each seat over the mean of the others: {each}"
        told = [f"Elo: {zero}; {seats}."]
        if any(not all(map(math.isfinite, one.rating)) for one in self.standings):
            told.append(
                "> and <: a player that never lost to, or never won against, the reference of the"
                " ratings, through any chain of games; the end of a one-sided 95 % interval."
            )
        for names in self.cycles[:_MOST_CYCLES]:
            told.append(f"A cycle: {' beats '.join((*names, names[0]))}, each beyond chance.")
        if len(self.cycles) > _MOST_CYCLES:
            told.append(f"And {len(self.cycles) - _MOST_CYCLES:,} more cycles.")
        return told

    @default_style()
    def plot(self, path: str | Path) -> Path:
        """Write a chart (PNG, SVG, PDF): ratings with intervals, and who scores against whom."""
        check_name(Path(path))
        number = len(self.standings)
        size = 1.6 + 0.42 * number
        figure = new_figure(5.2 + 1.15 * size, max(2.6, size))
        ladder, heat = figure.subplots(1, 2, width_ratios=(1, 1.15), sharey=True)
        for at, one in enumerate(self.standings):
            _draw_rating(ladder, at, one.rating)
        ladder.set_yticks(range(number), [one.player for one in self.standings])
        ladder.set_xlabel(f"Elo, {self.anchor} = 0" if self.anchor else "Elo, mean = 0")
        ladder.grid(axis="x", alpha=0.25)
        ladder.set_title(f"{self.game.name}: ratings, 95 % intervals", fontsize=10)
        heat.imshow(self.scores, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
        for (y, x), score in np.ndenumerate(self.scores):
            if np.isfinite(score):
                colour = "black" if 25 < score < 75 else "white"
                heat.text(x, y, f"{score:.0f}", color=colour, ha="center", va="center", fontsize=8)
        names = [one.player for one in self.standings]
        heat.set_xticks(range(number), names, rotation=45, ha="right", fontsize=8)
        heat.set_title("points of the row against the column (%)", fontsize=10)
        save(figure, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        return f"<ladder of {len(self.standings)} players of {self.game.name}>"


def in_words(rating: Rating) -> str:
    """Format a rating with its interval, or with the only bound it has."""
    # A whole number has no sign at 0.
    elo, low, high = (f"{round(value):,}" if math.isfinite(value) else "" for value in rating)
    if math.isfinite(rating.low) and math.isfinite(rating.high):
        if rating.low == rating.high:
            return elo
        return f"{elo} ± {(rating.high - rating.low) / 2:,.0f}"
    if math.isfinite(rating.low):
        return f"> {low}"
    return f"< {high}" if math.isfinite(rating.high) else "open"


def _draw_rating(axis: "Axes", at: int, rating: Rating) -> None:
    """Draw a point with its interval, or an arrow for an open interval."""
    closed = math.isfinite(rating.low) and math.isfinite(rating.high)
    if closed:
        reach = (rating.high - rating.low) / 2
        axis.errorbar(rating.elo, at, xerr=reach, fmt="o", ms=4, capsize=3, color="#1f5a96")
        return
    up = math.isfinite(rating.low)
    end = rating.low if up else rating.high if math.isfinite(rating.high) else rating.elo
    axis.plot([end], [at], ">" if up else "<", ms=6, color="#1f5a96")


def _plain(value: float, digits: int = 1) -> float | None:
    return round(value, digits) + 0.0 if math.isfinite(value) else None


def _scores(
    pairs: dict[tuple[int, int], list[float]], number: int
) -> tuple[np.ndarray, np.ndarray]:
    """(points float64[P, P] in [0, 1], bool[P, P]: whether they are above a half beyond chance)."""
    points, beats = np.full((number, number), np.nan), np.zeros((number, number), bool)
    for pair, values in pairs.items():
        points[pair] = np.mean(values)
        if len(values) >= _LEAST_OPENINGS:
            # If all of these openings end alike, that is a sign test.
            low = values[0] if agree(values) else confidence_interval(values, span=(0.0, 1.0))[0]
            beats[pair] = low > 0.5
    return points, beats


def _standing(
    rank: int, at: int, name: str, rating: Rating, outcomes: GameResults, share: float
) -> LadderEntry:
    rewards = outcomes.rewards
    others = rewards.shape[1] - 1
    below = (rewards[:, :, None] > rewards[:, None, :]).sum(2)
    equal = (rewards[:, :, None] == rewards[:, None, :]).sum(2) - 1
    points = 100 * (below + equal / 2) / others
    mine = outcomes.players == at
    seats = tuple(float(points[mine[:, seat], seat].mean()) for seat in range(others + 1))
    return LadderEntry(
        rank, name, rating, int(mine.sum()), float(points[mine].mean()), seats, share
    )
