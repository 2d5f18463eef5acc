"""Groups of players in all seats, cycles, and alpha-rank against OpenSpiel's."""

import sys
from types import ModuleType

import jax
import numpy as np
import pytest

from jaxgbg.arena.cycles import alpha_rank, cycles
from jaxgbg.arena.group_play import GroupGames, openings_for, play_group, seatings
from jaxgbg.arena.match_results import MatchResult, joined, pair_points
from jaxgbg.arena.tournament import play_tournament
from jaxgbg.evaluation import Protocol
from jaxgbg.games import Nim
from jaxgbg.players import MaxN, RandomPlayer

SMALL = Nim(heaps=2, size=3)


def test_every_player_sits_equally_often_in_every_seat():
    for seats in (2, 3, 4, 5):
        orders = seatings(seats)
        assert len({tuple(order) for order in orders}) == len(orders)
        for seat in orders.T:
            np.testing.assert_array_equal(np.bincount(seat), len(orders) // seats)
    assert [len(seatings(seats)) for seats in (2, 3, 4, 5)] == [2, 6, 24, 5]
    assert openings_for(100, 2) == 50
    assert openings_for(100, 3) == 17
    assert openings_for(1, 2) == 1


def test_points_and_rewards_of_three_follow_the_players_from_seat_to_seat():
    """Player 7 beats 2 in all seats, and they share what 5 leaves them: nothing, or all."""
    group, openings = (2, 7, 5), np.array([4, 0, 4])
    paid = {4: {2: 0.0, 7: 0.5, 5: 1.0}, 0: {2: 0.0, 7: 0.5, 5: 0.0}}
    orders = seatings(3)
    rewards = [[[paid[at][group[who]] for who in order] for order in orders] for at in openings]
    games = GroupGames(orders, np.array(rewards), openings)
    points = pair_points([MatchResult(group, games)])
    # By opening, in the order of their numbers; equal openings are one.
    assert points[7, 2] == [1, 1]
    assert points[2, 7] == [0, 0]
    assert points[5, 2] == [0.5, 1]
    assert points[2, 5] == [0.5, 0]
    assert points[5, 7] == [0, 1]
    assert points[7, 5] == [1, 0]
    twice = joined([MatchResult(group, games), MatchResult((0, 1, 3), games)])
    for row, seats in enumerate(twice.players[:18]):
        at = openings[row // 6]
        assert [paid[at][who] for who in seats.tolist()] == twice.rewards[row].tolist()
    first, second = twice.openings[:18], twice.openings[18:]
    assert not set(first) & set(second)
    for one in (first, second):
        np.testing.assert_array_equal(one - one.min(), np.repeat(openings, 6))
    assert MatchResult((2, 7, 5), games).points() == 0


@pytest.mark.slow
def test_the_perfect_player_wins_from_the_start_in_the_winning_seat():
    """Two equal heaps are won by who moves second."""
    protocol = Protocol("default", count=8)
    group = [MaxN(SMALL), RandomPlayer(SMALL)]
    games = play_group(SMALL, group, protocol, jax.random.key(0))
    assert games.rewards.shape == (8, 2, 2)
    np.testing.assert_array_equal(games.rewards.sum(2), 0)
    second = games.seatings.tolist().index([1, 0])
    assert (games.rewards[:, second, 1] == 1).all()
    again = play_group(SMALL, group, protocol, jax.random.key(0))
    np.testing.assert_array_equal(again.rewards, games.rewards)


@pytest.mark.slow
def test_only_the_first_meets_the_others_if_not_all_meet():
    players = {name: RandomPlayer(SMALL) for name in ("one", "two", "three")}
    for order in (("one", "two", "three"), ("three", "one", "two")):
        named = {name: players[name] for name in order}
        played = play_tournament(named, SMALL, games=4, progress=False, all_meet=False)
        assert {tuple(sorted(group)) for group, _ in played.results} == {(0, 1), (0, 2)}
    assert len(play_tournament(players, SMALL, games=4, progress=False).results) == 3
    with pytest.raises(ValueError, match="the Swiss system pairs all players"):
        play_tournament(players, SMALL, swiss=2, all_meet=False)


@pytest.mark.slow
def test_starts_of_a_list_are_drawn_without_return_until_all_were_played():
    # The start, and the six boards one ply later.
    protocol = Protocol("one_ply", count=10)
    group = [RandomPlayer(SMALL), RandomPlayer(SMALL)]
    games = play_group(SMALL, group, protocol, jax.random.key(1))
    assert sorted(games.openings[:7]) == list(range(7))
    np.testing.assert_array_equal(games.openings[7:], games.openings[:3])


def test_a_cycle_is_found_once():
    beats = np.zeros((4, 4), bool)
    for one, other in [(0, 2), (2, 1), (1, 0), (3, 0), (3, 1), (3, 2)]:
        beats[one, other] = True
    assert cycles(beats) == [(0, 2, 1)]
    assert cycles(np.triu(np.ones((5, 5), bool), 1)) == []


@pytest.mark.slow
def test_alpha_rank_is_that_of_open_spiel(monkeypatch):
    # Its pictures need networkx, and are imported with it.
    pictures = "open_spiel.python.egt.alpharank_visualizer"
    monkeypatch.setitem(sys.modules, pictures, ModuleType(pictures))
    from open_spiel.python.egt import alpharank

    random = np.random.default_rng(0)
    for intensity in (1.0, 10.0):
        scores = random.random((4, 4))
        expected = alpharank.compute([scores], m=20, alpha=intensity)[2]
        np.testing.assert_allclose(alpha_rank(scores, 20, intensity), expected, atol=1e-9)


def test_alpha_rank_gives_a_cycle_equal_shares_and_the_best_everything():
    rock = np.array([[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]])
    assert alpha_rank(rock) == pytest.approx([1 / 3] * 3)
    ordered = np.triu(np.ones((3, 3)), 1) + np.eye(3) / 2
    assert alpha_rank(ordered) == pytest.approx([1, 0, 0])
    assert alpha_rank(np.full((2, 2), 0.5)) == pytest.approx([0.5, 0.5])
