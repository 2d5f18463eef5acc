"""The Swiss system: nobody meets twice, everybody plays, and those of like standing meet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxgbg.arena.swiss import fewest_rounds, max_rounds, play_rounds


def rounds_of(players, rounds, seed, share=None):
    random = np.random.default_rng(seed)
    order = random.permutation(players).tolist()
    draw = share or (lambda pair: float(random.choice([0, 0.25, 0.5, 1])))
    return play_rounds(players, rounds, order, each_by(draw))


def each_by(share):
    """Lets the pairs of a round meet one by one."""
    return lambda pairs: [share(pair) for pair in pairs]


@settings(deadline=None)
@given(st.integers(2, 26), st.integers(0, 2**32 - 1), st.data())
def test_nobody_meets_twice_and_everybody_plays_each_round_but_one(players, seed, data):
    rounds = data.draw(st.integers(1, max_rounds(players)))
    played = rounds_of(players, rounds, seed)
    assert len(played) == rounds
    everyone = [pair for pairs in played for pair in pairs]
    assert len(set(everyone)) == len(everyone)
    assert all(one < other for one, other in everyone)
    sat_out = []
    for pairs in played:
        met = [player for pair in pairs for player in pair]
        assert len(set(met)) == len(met) == players - players % 2
        sat_out += {*range(players)} - {*met}
    assert len(set(sat_out)) == len(sat_out)


@settings(deadline=None)
@given(st.integers(2, 20), st.integers(0, 2**32 - 1))
def test_the_same_results_make_the_same_pairs_and_more_rounds_go_on_from_there(players, seed):
    strength = np.random.default_rng(seed).random(players)

    def share(pair):
        return float(strength[pair[0]] > strength[pair[1]])

    whole = rounds_of(players, max_rounds(players), seed, share)
    for rounds in range(len(whole)):
        assert rounds_of(players, rounds, seed, share) == whole[:rounds]


def parts(players, played):
    """The number of sets of players between whom there is no chain of games."""
    of = [*range(players)]
    for one, other in (pair for pairs in played for pair in pairs):
        of = [of[one] if part == of[other] else part for part in of]
    return len({*of})


STRONGER, DRAWN = (lambda pair: float(pair[0] > pair[1])), (lambda pair: 0.5)


@pytest.mark.parametrize("share", [STRONGER, DRAWN, None], ids=["stronger", "drawn", "chance"])
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7, 8, 16, 32, 33])
def test_the_fewest_rounds_connect_all_and_fewer_cannot(players, share):
    fewest = fewest_rounds(players)
    assert (fewest - 1) * (players // 2) < players - 1
    for seed in range(5):
        for rounds in range(fewest, min(max_rounds(players), 5) + 1):
            assert parts(players, rounds_of(players, rounds, seed, share)) == 1


@pytest.mark.parametrize("players", [16, 9])
@pytest.mark.parametrize("seed", range(5))
def test_who_leads_meets_the_first_whom_he_has_not_met(players, seed):
    """Of an odd number one has a bye in each round, and half of the points for it."""
    random, points, met = np.random.default_rng(seed), np.zeros(players), set()

    def meet(pairs):
        shares = random.random(len(pairs)).tolist()
        points[[*{*range(players)}.difference(*pairs)]] += 0.5
        for pair, share in zip(pairs, shares, strict=True):
            points[[*pair]] += share, 1 - share
        met.update(pairs)
        return shares

    order = random.permutation(players).tolist()
    for rounds in range(2, 5):
        random = np.random.default_rng(seed)
        points[:] = 0
        met.clear()
        play_rounds(players, rounds - 1, order, meet)
        before, standing = {*met}, np.argsort(-points).tolist()
        leader = standing[0]
        pairs = {tuple(sorted((leader, other))): other for other in standing[1:]}
        first = next(pair for pair in pairs if pair not in before)
        random = np.random.default_rng(seed)
        assert first in play_rounds(players, rounds, order, meet)[-1]


def test_who_stands_last_has_the_bye():
    first, second = play_rounds(5, 2, range(5), each_by(lambda pair: 1.0))
    assert first == [(0, 1), (2, 3)]
    # 0 and 2 have a point, 4 a half, 1 and 3 none.
    assert second == [(0, 2), (1, 4)]
