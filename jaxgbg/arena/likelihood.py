"""The likelihood of final orders of games: Davidson and Luce's model, with a part for each seat.

In a game of two it is the Bradley-Terry model with the draws of Davidson (1970): a win of i over j,
a draw and a win of j are likely as p_i : d sqrt(p_i p_j) : p_j. Among more players it is that of
Plackett and Luce, place by place from the best down: of those left, the set S comes next with a
chance proportional to d_S times the geometric mean of the strengths in S, where d_S is 1 for one
player and, for players who tie, a parameter for each number of them and of those left. Partners,
who always end alike, come next together or not at all, and a team counts as one. Source: Firth,
Kosmidis & Turner 2019, "Davidson-Luce model for multi-item choice with ties".

Every choice is one of a multinomial logit, so that the log likelihood is concave. A player's
strength in a seat is exp(player + seat). The parameters, players first, then seats, then ties, have
a weak prior: normal around 0 with the standard deviation `PRIOR`, 1737 Elo. It fixes where 0 lies,
and keeps finite what games alone would not; what it decides, `ratings` tells apart.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

PRIOR = 10.0
"""Standard deviation of every parameter, in natural units of 400 / ln 10 Elo."""

_MOST_STEPS = 200
_CLOSE = 1e-16
# How stiffly a contrast is held where it is asked for.
_HELD = 1e8


class Constraint(NamedTuple):
    """A contrast of the parameters, float64[K], and the value that it is kept at."""

    contrast: np.ndarray
    value: float


class Likelihood:
    """The likelihood of games between P players in N seats, by kinds: seats, and result.

    `players` int[U, N] says who sat in each seat, `places` int[U, N] the order of the final
    rewards, 0 the best and equal for equal rewards, `counts` float64[U] how often each kind came.
    `teams` has the number of each seat's team.
    """

    def __init__(
        self,
        players: np.ndarray,
        places: np.ndarray,
        counts: np.ndarray,
        num_players: int,
        teams: Sequence[int],
    ) -> None:
        self.num_players, self.num_seats = num_players, players.shape[1]
        self._teams = teams
        patterns, of_kind = np.unique(places, axis=0, return_inverse=True)
        choices = [_choices(pattern) for pattern in patterns]
        self._ties = sorted(
            {
                (len(self._teams_of(chosen)), len(self._teams_of(left)))
                for of_pattern in choices
                for left, chosen in of_pattern
                if len(self._teams_of(chosen)) > 1
            }
        )
        self.size = num_players + self.num_seats + len(self._ties)
        blocks, kinds, chosen_at = [], [], []
        for number, of_pattern in enumerate(choices):
            rows = np.flatnonzero(of_kind.ravel() == number)
            for left, chosen in of_pattern:
                sets = self._alternatives(left)
                blocks.append(self._features(players[rows], sets, left))
                kinds.append(rows)
                chosen_at.append(np.full(len(rows), sets.index(chosen)))
        most = max(block.shape[1] for block in blocks)
        self._open = np.concatenate(
            [np.tile(np.arange(most) < block.shape[1], (len(block), 1)) for block in blocks]
        )
        self._x = np.concatenate(
            [np.pad(block, ((0, 0), (0, most - block.shape[1]), (0, 0))) for block in blocks]
        )
        self._kind, self._chosen = np.concatenate(kinds), np.concatenate(chosen_at)
        self._counts, self._weights = counts, counts[self._kind].astype(float)

    def _alternatives(self, left: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The sets of seats that may come next: each team, and ties of a number that occurred."""
        teams = self._teams_of(left)
        sizes = [1] + [size for size, among in self._ties if among == len(teams)]
        chosen = [each for size in sizes for each in itertools.combinations(teams, size)]
        return [tuple(seat for seat in left if self._teams[seat] in each) for each in chosen]

    def _teams_of(self, seats: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted({self._teams[seat] for seat in seats}))

    def _features(
        self, players: np.ndarray, sets: list[tuple[int, ...]], left: tuple[int, ...]
    ) -> np.ndarray:
        """float64[n, sets, K]: what the parameters are multiplied by in the log of each chance."""
        rows = np.arange(len(players))
        x = np.zeros((len(players), len(sets), self.size))
        for at, seats in enumerate(sets):
            for seat in seats:
                x[rows, at, players[:, seat]] += 1 / len(seats)
                x[:, at, self.num_players + seat] += 1 / len(seats)
            tied = len(self._teams_of(seats))
            if tied > 1:
                tie = self._ties.index((tied, len(self._teams_of(left))))
                x[:, at, self.num_players + self.num_seats + tie] = 1
        return x

    def _chances(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(chance of every alternative float64[S, A], log of that of what was chosen)."""
        scores = np.where(self._open, self._x @ at, -np.inf)
        scores -= scores.max(1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        return np.exp(logs), logs[np.arange(len(logs)), self._chosen]

    def log(self, at: np.ndarray) -> float:
        """The log likelihood of all games, without the prior."""
        return float(self._weights @ self._chances(at)[1])

    def information(self, at: np.ndarray) -> np.ndarray:
        """float64[K, K]: the observed information of the games, without the prior."""
        chances, _ = self._chances(at)
        flat = self._x.reshape(-1, self.size)
        mean = np.einsum("sa,sak->sk", chances, self._x)
        spread = flat * (chances * self._weights[:, None]).reshape(-1, 1)
        return spread.T @ flat - (mean * self._weights[:, None]).T @ mean

    def scores(self, at: np.ndarray) -> np.ndarray:
        """float64[U, K]: the gradient of the log likelihood of one game of each kind."""
        chances, _ = self._chances(at)
        chosen = self._x[np.arange(len(self._x)), self._chosen]
        each = chosen - np.einsum("sa,sak->sk", chances, self._x)
        total = np.zeros((len(self._counts), self.size))
        np.add.at(total, self._kind, each)
        return total

    def maximum(
        self, held: Constraint | None = None, begin: np.ndarray | None = None
    ) -> np.ndarray:
        """The likeliest parameters float64[K], by Newton's method with halved steps."""
        at = np.zeros(self.size) if begin is None else begin

        def value(at: np.ndarray) -> float:
            off = 0.0 if held is None else held.contrast @ at - held.value
            return (
                self.log(at) - float((at**2).sum()) / (2 * PRIOR**2) - _HELD * float(off) ** 2 / 2
            )

        now = value(at)
        for _ in range(_MOST_STEPS):
            gradient = self._counts @ self.scores(at) - at / PRIOR**2
            curvature = self.information(at) + np.eye(self.size) / PRIOR**2
            if held is not None:
                gradient -= _HELD * (held.contrast @ at - held.value) * held.contrast
                curvature += _HELD * np.outer(held.contrast, held.contrast)
            step = np.linalg.solve(curvature, gradient)
            if gradient @ step <= _CLOSE * max(1.0, abs(now)):
                break
            while (then := value(at + step)) < now and np.abs(step).max() > _CLOSE:
                step /= 2
            at, now = at + step, max(now, then)
        return at


def _choices(places: np.ndarray) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(the seats left, those who come next) from the best place down; a last one alone is none."""
    levels = [tuple(np.flatnonzero(places == place).tolist()) for place in np.unique(places)]
    choices = []
    for number, chosen in enumerate(levels):
        left = tuple(sorted(itertools.chain(*levels[number:])))
        if len(left) > 1:
            choices.append((left, chosen))
    return choices
