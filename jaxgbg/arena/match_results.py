"""The games of the groups of a tournament, as what ratings and tables of points are made from."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxgbg.arena.group_play import GroupGames
from jaxgbg.arena.ratings import GameResults


class MatchResult(NamedTuple):
    """A group of players, by their numbers, and the games that they played."""

    group: tuple[int, ...]
    games: GroupGames

    def points(self) -> float:
        """The share of the points that the first of two players made."""
        return float(np.mean(pair_points([self])[self.group[0], self.group[1]]))


def joined(results: Sequence[MatchResult]) -> GameResults:
    """The games of all groups; an opening of one group is none of another."""
    players, rewards, openings = [], [], []
    first = 0
    for group, games in results:
        number, orders, seats = games.rewards.shape
        players.append(np.tile(np.array(group)[games.seatings], (number, 1)))
        rewards.append(games.rewards.reshape(-1, seats))
        openings.append(first + np.repeat(games.openings, orders))
        first += int(games.openings.max()) + 1
    return GameResults(*(np.concatenate(parts) for parts in (players, rewards, openings)))


def pair_points(results: Sequence[MatchResult]) -> dict[tuple[int, int], list[float]]:
    """The points of one player against another, in each opening."""
    pairs: dict[tuple[int, int], list[float]] = defaultdict(list)
    for group, games in results:
        seat_of = np.argsort(games.seatings, 1)[None]
        paid = np.take_along_axis(games.rewards, np.repeat(seat_of, len(games.rewards), 0), 2)
        for one, first in enumerate(group):
            for other, second in enumerate(group):
                if one != other:
                    won = paid[..., one] > paid[..., other]
                    points = (won + 0.5 * (paid[..., one] == paid[..., other])).mean(1)
                    for opening in np.unique(games.openings):
                        alike = points[games.openings == opening]
                        pairs[first, second].append(float(alike.mean()))
    return pairs
