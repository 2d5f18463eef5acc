"""Ratings in Elo from the games of many players, with 95 % intervals; the model: `likelihood`."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from jaxgbg.arena.likelihood import PRIOR, Constraint, Likelihood

ELO = 400 / math.log(10)
"""Elo of a unit of log strength: ten times as strong is 400 Elo."""

_NORMAL = 1.959964  # 97.5 % of the normal distribution lie below it.
_ONE_SIDED = 1.352772  # Half of the 90 % quantile of chi square with one degree of freedom.
_FARTHEST = 200.0


class GameResults(NamedTuple):
    """The results of G games of N seats.

    `players` int[G, N] sat in the seats; `rewards` float[G, N] are their final rewards; games of
    equal `openings` int[G] began alike, and are not independent.
    """

    players: np.ndarray
    rewards: np.ndarray
    openings: np.ndarray


class Rating(NamedTuple):
    """A strength in Elo and its 95 % interval, infinite at an end that games do not bound.

    Of an open rating only the finite end means something: `elo` itself is as far as a weak prior
    lets it go.
    """

    elo: float
    low: float
    high: float


class Ratings(NamedTuple):
    """`players` in the order of their numbers; `seats`: each above the mean of the others, those of
    partners together above the mean of the other seats.
    """

    players: list[Rating]
    seats: list[Rating]


def rate(
    outcomes: GameResults,
    num_players: int,
    anchor: int | None = None,
    called: Callable[[int], str] = str,
    teams: Sequence[int] | None = None,
) -> Ratings:
    """The likeliest ratings, in Elo, of players 0 to P - 1; that of `anchor` is 0.

    Without an anchor the mean is 0, over the largest set of players who all beat each other in a
    row (with ties), which mostly is everybody. Intervals allow for correlated games of one opening:
    they are the sandwich estimate over openings, to which the model's own variance is added as for
    one more opening, so that equal openings do not give an interval of length 0. A player who beat,
    or lost to, all others has an open interval, whose end is that of the likelihood (one-sided, an
    opening counted as one game). Raises ValueError for players whom no games connect, each as
    `called`. `teams` has the number of each seat's team; the rewards of partners are always equal.
    Sources: `likelihood`; White 1982 for the sandwich; Ford 1957 for which ratings are open.
    """
    places = _places(outcomes.rewards)
    seats = outcomes.players.shape[1]
    teams = range(seats) if teams is None else teams
    reach = _reach(outcomes.players, places, teams, num_players, called)
    reference = _reference(reach, anchor)
    rows = np.concatenate([outcomes.players, places], 1)
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(kind.ravel(), minlength=len(kinds)).astype(float)
    model = Likelihood(kinds[:, :seats], kinds[:, seats:], counts, num_players, teams)
    best = model.maximum()
    covariance = _covariance(model, best, kind.ravel(), outcomes.openings, len(kinds))
    # So many games count as one where an open end is looked for.
    together = len(kind) / len(np.unique(outcomes.openings))

    players = []
    for player in range(num_players):
        contrast = np.zeros(model.size)
        contrast[reference] -= 1 / len(reference)
        contrast[player] += 1
        at, error = _estimate(contrast, best, covariance)
        low, high = at - _NORMAL * error, at + _NORMAL * error
        bounded_above, bounded_below = reach[reference[0], player], reach[player, reference[0]]
        if bounded_above and not bounded_below:
            low, high = -math.inf, _end(model, best, contrast, 1, together)
        elif bounded_below and not bounded_above:
            low, high = _end(model, best, contrast, -1, together), math.inf
        elif not bounded_above:
            low, high = -math.inf, math.inf
        players.append(Rating(at * ELO, low * ELO, high * ELO))
    return Ratings(
        players, [_seat(model, best, covariance, np.equal(teams, team)) for team in teams]
    )


def _seat(model: Likelihood, best: np.ndarray, covariance: np.ndarray, team: np.ndarray) -> Rating:
    """The advantage of the seats of a team bool[N], of which no game tells partners apart."""
    contrast = np.zeros(model.size)
    first = model.num_players
    contrast[first : first + model.num_seats] = np.where(team, 1 / team.sum(), -1 / (~team).sum())
    at, error = _estimate(contrast, best, covariance)
    return Rating(at * ELO, (at - _NORMAL * error) * ELO, (at + _NORMAL * error) * ELO)


def _estimate(
    contrast: np.ndarray, best: np.ndarray, covariance: np.ndarray
) -> tuple[float, float]:
    """A contrast of the parameters and its standard error."""
    return float(contrast @ best), math.sqrt(max(float(contrast @ covariance @ contrast), 0.0))


def _covariance(
    model: Likelihood, best: np.ndarray, kind: np.ndarray, openings: np.ndarray, kinds: int
) -> np.ndarray:
    """float64[K, K] of the parameters, games of one opening hanging together."""
    from scipy.sparse import coo_matrix

    _, opening = np.unique(openings, return_inverse=True)
    number = opening.max() + 1
    counts = coo_matrix((np.ones(len(kind)), (opening, kind)), (number, kinds)).tocsr()
    scores = model.scores(best)
    information = model.information(best)
    bread = np.linalg.inv(information + np.eye(model.size) / PRIOR**2)
    meat = scores.T @ ((counts.T @ counts) @ scores) + information / number
    # What games say nothing of stays as uncertain as the prior has it.
    return bread @ (meat + np.eye(model.size) / PRIOR**2) @ bread


def _end(
    model: Likelihood, best: np.ndarray, contrast: np.ndarray, side: int, together: float
) -> float:
    """The finite end of an open interval: below (-1) or above (1) the estimate."""
    from scipy.optimize import brentq

    at, level = float(contrast @ best), model.log(best) - _ONE_SIDED * together
    point = best

    def above(distance: float) -> float:
        nonlocal point
        point = model.maximum(Constraint(contrast, at + side * distance), point)
        return model.log(point) - level

    far = 1.0
    while above(far) > 0 and far < _FARTHEST:
        far *= 2
    if far >= _FARTHEST:
        return side * math.inf
    return at + side * float(brentq(above, 0.0, far, xtol=1e-4))


def _places(rewards: np.ndarray) -> np.ndarray:
    """int[G, N]: how many others of the game ended with a greater reward."""
    return (rewards[:, None, :] > rewards[:, :, None]).sum(2)


def _reach(
    players: np.ndarray,
    places: np.ndarray,
    teams: Sequence[int],
    num_players: int,
    called: Callable[[int], str],
) -> np.ndarray:
    """bool[P, P]: whether i was not worse than j in a game, or than one who was not worse ...

    Partners, who always end alike, say nothing of each other. Raises ValueError where two players
    have nothing to do with each other.
    """
    from scipy.sparse.csgraph import connected_components

    reach = np.eye(num_players, dtype=bool)
    for one, other in itertools.permutations(range(len(teams)), 2):
        if teams[one] != teams[other]:
            not_worse = places[:, one] <= places[:, other]
            reach[players[not_worse, one], players[not_worse, other]] = True
    parts, part = connected_components(reach, directed=False)
    if parts > 1:
        apart = " | ".join(
            ", ".join(map(called, np.flatnonzero(part == number).tolist()))
            for number in range(parts)
        )
        raise ValueError(f"no games connect these players, who cannot be compared: {apart}")
    for middle in range(num_players):
        reach |= reach[:, middle : middle + 1] & reach[middle]
    return reach


def _reference(reach: np.ndarray, anchor: int | None) -> np.ndarray:
    """The players whose mean rating is 0."""
    if anchor is not None:
        return np.array([anchor])
    both = reach & reach.T
    return np.flatnonzero(both[both.sum(1).argmax()])
