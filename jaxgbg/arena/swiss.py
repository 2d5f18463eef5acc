"""The Swiss system: in each round players of similar standing meet, and no pair meets twice."""

from collections.abc import Callable, Sequence

import numpy as np

Pair = tuple[int, int]


def max_rounds(players: int) -> int:
    """The number of rounds that can be paired without meeting twice, for all results (Dirac 1952).

    Before the last round, each of an even number n of players (including a bye) has at least n/2
    opponents left.
    """
    return (players + 1) // 2


def fewest_rounds(players: int) -> int:
    """The number of rounds after which chains of games connect all players, as `pair_up` pairs."""
    return 2 if players > 2 else 1


def play_rounds(
    players: int,
    rounds: int,
    order: Sequence[int],
    meet: Callable[[Sequence[Pair]], Sequence[float]],
) -> list[list[Pair]]:
    """Play the rounds, and return the pairs of each; an odd number of players leaves one a bye.

    `meet` plays all pairs of a round, the lower number against the higher one, and returns the
    former's share of the points. A bye gives half of the points, and no player has two. Players
    with equal points are in the `order` given. `rounds` are at most `max_rounds`; after
    `fewest_rounds` rounds chains of games connect all players.
    """
    points = np.zeros(players + players % 2)
    # A bye is a player who is always last.
    bye = players if players % 2 else -1
    rank = {player: place for place, player in enumerate(order)} | {bye: players}
    left = {one: {*rank} - {one, -1} for one in rank if one >= 0}
    joined = {one: {one} for one in left}
    played = []
    for _ in range(rounds):
        standing = sorted(left, key=lambda one: (one == bye, -points[one], rank[one]))
        pairs = sorted(pair_up(standing, left, joined))
        played.append([pair for pair in pairs if bye not in pair])
        shares = dict(zip(played[-1], meet(played[-1]), strict=True))
        for one, other in pairs:
            left[one].remove(other)
            left[other].remove(one)
            share = shares.get((one, other), 0.5)
            points[[one, other]] += share, 1 - share
    return played


def pair_up(
    standing: Sequence[int], left: dict[int, set[int]], joined: dict[int, set[int]]
) -> list[Pair]:
    """Pair each player with an opponent who is `left`, from the top of `standing`.

    Opponents to whom a chain of games leads already (`joined`, which is updated) come last. So two
    rounds connect all players: the first round leaves chains of two. In the second, both ends of
    each chain are paired with ends of other chains, until one chain is left.

    Each of n players has at least n/2 opponents left. If two unpaired players have met before, they
    exchange partners with the lowest possible pair: together they have more than n - 2 links to the
    pairs, so there is a pair with three links.
    """
    partner: dict[int, int] = {}
    for at, one in enumerate(standing):
        if one not in partner:
            others = [
                each for each in standing[at + 1 :] if each not in partner and each in left[one]
            ]
            apart = (each for each in others if each not in joined[one])
            other = next(apart, others[0] if others else None)
            if other is not None:
                partner |= {one: other, other: one}
                chain = joined[one] | joined[other]
                joined |= dict.fromkeys(chain, chain)
    alone = [one for one in standing if one not in partner]
    for one, other in zip(alone[::2], alone[1::2], strict=True):
        third = next(
            each
            for each in reversed(standing)
            if each in partner and each in left[one] and partner[each] in left[other]
        )
        fourth = partner[third]
        partner |= {one: third, third: one, other: fourth, fourth: other}
    return [(one, other) for one, other in partner.items() if one < other]
