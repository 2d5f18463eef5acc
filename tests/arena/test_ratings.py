"""Ratings: worked out by hand, held against `choix`, and as sure as they say."""

import itertools
import math

import choix
import numpy as np
import pytest

from jaxgbg.arena.likelihood import PRIOR
from jaxgbg.arena.ratings import ELO, GameResults, rate


def outcomes(*games):
    """(players, rewards, how many) of games of which each began otherwise."""
    players = np.concatenate([np.tile(who, (many, 1)) for who, _, many in games])
    rewards = np.concatenate([np.tile(paid, (many, 1)) for _, paid, many in games])
    return GameResults(players, rewards.astype(float), np.arange(len(players)))


def simulated(strengths, seats, ties, games, random):
    """Games of all pairs, a win, a draw or a loss by the model's own chances (natural units)."""
    players, rewards = [], []
    for one, other in itertools.permutations(range(len(strengths)), 2):
        first, second = strengths[one] + seats[0], strengths[other] + seats[1]
        chances = np.exp([first, math.log(ties) + (first + second) / 2, second])
        drawn = random.choice([1.0, 0.0, -1.0], games, p=chances / chances.sum())
        players += [(one, other)] * games
        rewards += [(reward, -reward) for reward in drawn]
    return GameResults(np.array(players), np.array(rewards), np.arange(len(players)))


def figures(ratings):
    return [rating.elo for rating in ratings.players]


def test_three_of_four_points_are_191_elo():
    """Bradley and Terry: odds 3 : 1, of equally many games in either seat."""
    games = outcomes(
        ((0, 1), (1, -1), 150), ((0, 1), (-1, 1), 50), ((1, 0), (-1, 1), 150), ((1, 0), (1, -1), 50)
    )
    ratings = rate(games, 2, anchor=1)
    assert ratings.players[0].elo == pytest.approx(400 * math.log10(3), abs=0.1)
    assert ratings.players[1] == (0, 0, 0)
    assert ratings.seats[0].elo == pytest.approx(0, abs=1e-6)
    # The binomial's: s.e. of a logit is 1 / sqrt(n p q), and one opening of 400 more.
    error = ELO / math.sqrt(400 * 0.75 * 0.25) * math.sqrt(1 + 1 / 400)
    low, high = ratings.players[0].low, ratings.players[0].high
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=1e-3)
    assert figures(rate(games, 2)) == pytest.approx(
        [200 * math.log10(3), -200 * math.log10(3)], 1e-3
    )


def test_draws_are_davidsons():
    """40 wins, 50 draws, 10 losses in either seat: odds 4 : 1, whatever the draws."""
    wins = [((0, 1), (1, -1), 40), ((0, 1), (0, 0), 50), ((0, 1), (-1, 1), 10)]
    games = outcomes(*wins, *(((1, 0), paid[::-1], many) for _, paid, many in wins))
    ratings = rate(games, 2, anchor=1)
    assert ratings.players[0].elo == pytest.approx(400 * math.log10(4), abs=0.2)


def test_who_moves_first_has_a_part_of_the_strength():
    """Equal players of whom the first wins nine games of ten: odds 9 : 1 of the seats."""
    nine = [(1, -1), 180], [(-1, 1), 20]
    games = outcomes(*(((a, 1 - a), *each) for a in (0, 1) for each in nine))
    ratings = rate(games, 2)
    assert figures(ratings) == pytest.approx([0, 0], abs=1e-6)
    assert ratings.seats[0].elo == pytest.approx(400 * math.log10(9), abs=0.5)
    assert ratings.seats[1].elo == pytest.approx(-ratings.seats[0].elo)


def test_without_draws_and_seats_it_is_the_estimate_of_choix():
    random = np.random.default_rng(0)
    pairs = [tuple(random.choice(5, 2, replace=False)) for _ in range(60)]
    # Each game in both seats, so that the seats have no part in it.
    games = [((a, b), (1, -1), 1) for a, b in pairs] + [((b, a), (-1, 1), 1) for a, b in pairs]
    expected = choix.opt_pairwise(5, pairs * 2, alpha=1 / (2 * PRIOR**2), tol=1e-10)
    rated = np.array(figures(rate(outcomes(*games), 5)))
    np.testing.assert_allclose(rated / ELO, expected - expected.mean(), atol=1e-4)


def test_among_three_it_is_the_plackett_luce_of_choix():
    random = np.random.default_rng(1)
    orders = [tuple(random.choice(4, 3, replace=False)) for _ in range(15)]
    seatings = list(itertools.permutations(range(3)))
    games = [
        (tuple(order[s] for s in seats), tuple(-s for s in seats), 1)
        for order in orders
        for seats in seatings
    ]
    expected = choix.opt_rankings(4, orders * 6, alpha=1 / (2 * PRIOR**2), tol=1e-10)
    ratings = rate(outcomes(*games), 4)
    np.testing.assert_allclose(
        np.array(figures(ratings)) / ELO, expected - expected.mean(), atol=1e-4
    )
    assert [seat.elo for seat in ratings.seats] == pytest.approx([0, 0, 0], abs=1e-4)


def test_ties_among_three_are_those_of_the_whole_likelihood():
    """Held against a search over the likelihood written out game by game, with its sums."""
    from scipy.optimize import minimize

    random = np.random.default_rng(2)
    players = np.array([random.permutation(4)[:3] for _ in range(40)])
    rewards = random.integers(0, 3, (40, 3)).astype(float)
    games = GameResults(players, rewards, np.arange(40))

    def loss(at):
        strength, seat, tie = at[:4], at[4:7], {(2, 3): at[7], (3, 3): at[8], (2, 2): at[9]}
        total = -(at**2).sum() / (2 * PRIOR**2)
        for who, paid in zip(players, rewards, strict=True):
            left = [0, 1, 2]
            while len(left) > 1:
                next_ones = tuple(s for s in left if paid[s] == max(paid[t] for t in left))
                scores = {
                    some: np.mean([strength[who[s]] + seat[s] for s in some])
                    + (tie[size, len(left)] if size > 1 else 0)
                    for size in range(1, len(left) + 1)
                    for some in itertools.combinations(left, size)
                }
                total += scores[next_ones] - np.log(np.exp(list(scores.values())).sum())
                left = [s for s in left if s not in next_ones]
        return -total

    best = minimize(loss, np.zeros(10), method="BFGS", options={"gtol": 1e-5}).x
    rated = np.array(figures(rate(games, 4))) / ELO
    np.testing.assert_allclose(rated, best[:4] - best[:4].mean(), atol=1e-4)


def among_all(strengths, seats, teams, games, random):
    """Games of all seatings that one team wins, by the model's chances: by its mean strength."""
    players, rewards = [], []
    for seating in itertools.permutations(range(len(strengths)), len(seats)):
        own = np.array(strengths)[list(seating)] + seats
        chances = np.exp([own[np.equal(teams, team)].mean() for team in range(max(teams) + 1)])
        players += [seating] * games
        won = random.choice(len(chances), games, p=chances / chances.sum())
        rewards += [np.where(np.equal(teams, team), 1.0, -1.0) for team in won]
    return GameResults(np.array(players), np.array(rewards), np.arange(len(players)))


def test_games_that_one_of_three_wins_are_rated_as_the_first_choices_of_choix():
    random = np.random.default_rng(9)
    choices = [tuple(random.choice(4, 3, replace=False)) for _ in range(40)]
    games = outcomes(
        *(
            (tuple(order[s] for s in seats), tuple(float(s == 0) for s in seats), 1)
            for order in choices
            for seats in itertools.permutations(range(3))
        )
    )
    expected = choix.opt_top1(4, [(won, lost) for won, *lost in choices], alpha=1e-6)
    rated = np.array(figures(rate(games, 4))) / ELO
    np.testing.assert_allclose(rated, expected - expected.mean(), atol=2e-3)


@pytest.mark.parametrize("teams", [(0, 1, 2), (0, 1, 0, 1), (0, 0, 1)])
def test_planted_strengths_of_three_and_more_lie_within_their_intervals(teams):
    strengths, seats = np.array([0.0, 0.5, 1.0, 3.0, 2.0]), np.zeros(len(teams))
    seats[0] = 0.6
    games = among_all(strengths, seats, teams, 60, np.random.default_rng(10))
    ratings = rate(games, 5, anchor=0, teams=teams)
    for rating, true in zip(ratings.players[1:], ELO * strengths[1:], strict=True):
        assert rating.low < true < rating.high < rating.low + 120
    # No game tells the seats of partners apart: they have one advantage.
    team = np.equal(teams, teams[0])
    others = ELO * (seats[team].mean() - seats[~team].mean())
    for seat in np.array(ratings.seats)[team]:
        assert seat[1] < others < seat[2] < seat[1] + 60


def test_who_always_wins_is_not_bounded_by_a_partner_who_wins_too():
    """With partners 0 and 2, 1 and 3: the team of player 4 wins, whoever its partner is."""
    seatings = list(itertools.permutations(range(5), 4))
    games = among_all(
        [0.0, 0.0, 0.0, 0.0, 100.0], np.zeros(4), (0, 1, 0, 1), 4, np.random.default_rng(11)
    )
    assert len(games.players) == 4 * len(seatings)
    best = rate(games, 5, anchor=0, teams=(0, 1, 0, 1)).players[4]
    assert best.high == math.inf
    assert best.low > 300


def test_the_order_of_games_does_not_matter_and_all_games_twice_halve_the_variance():
    random = np.random.default_rng(3)
    games = simulated([0, 0.5, 1.0], [0.3, 0], 0.6, 60, random)
    ratings = rate(games, 3, anchor=0)
    order = random.permutation(len(games.players))
    shuffled = rate(GameResults(*(part[order] for part in games)), 3, anchor=0)
    np.testing.assert_allclose(shuffled.players, ratings.players, atol=1e-6)
    twice = GameResults(
        np.tile(games.players, (2, 1)), np.tile(games.rewards, (2, 1)), np.arange(2 * len(order))
    )
    doubled = rate(twice, 3, anchor=0)
    for once, again in zip(ratings.players[1:], doubled.players[1:], strict=True):
        assert again.elo == pytest.approx(once.elo, rel=1e-3)
        assert ((once.high - once.low) / (again.high - again.low)) ** 2 == pytest.approx(
            2, rel=0.01
        )


def test_games_of_one_opening_count_once():
    """The same games repeated from the same openings make nothing surer."""
    games = simulated([0, 0.7], [0, 0], 0.5, 100, np.random.default_rng(4))
    copied = GameResults(*(np.repeat(part, 5, 0) for part in games))
    once, again = (rate(each, 2, anchor=0).players[1] for each in (games, copied))
    assert again.high - again.low == pytest.approx(once.high - once.low, rel=0.02)


def test_openings_that_decide_who_wins_say_nothing_of_the_players():
    """Each opening is won from the same seat twice: certain of equality, unlike lone games."""
    who_wins = np.repeat(np.random.default_rng(8).choice([1.0, -1.0], 100), 2)
    players, rewards = np.tile([[0, 1], [1, 0]], (100, 1)), np.stack([who_wins, -who_wins], 1)
    pairs = rate(GameResults(players, rewards, np.repeat(np.arange(100), 2)), 2, anchor=0).players[
        1
    ]
    alone = rate(GameResults(players, rewards, np.arange(200)), 2, anchor=0).players[1]
    assert pairs.low < 0 < pairs.high
    assert pairs.high - pairs.low < (alone.high - alone.low) / 5


def covered(simulations, games, seed):
    """The shares of intervals that hold the true seats' and players' differences."""
    random = np.random.default_rng(seed)
    strengths, seats = np.array([0.0, 0.4, 1.2]), (0.5, 0.0)
    truth = [*(ELO * strengths), ELO * 0.5]
    inside = []
    for _ in range(simulations):
        ratings = rate(simulated(strengths, seats, 0.8, games, random), 3, anchor=0)
        rows = [*ratings.players, ratings.seats[0]]
        inside.append([row.low <= true <= row.high for row, true in zip(rows, truth, strict=True)])
    return np.mean(inside, 0)[1:]


def test_planted_strengths_and_seats_lie_within_their_intervals():
    # Three standard errors below 95 % of 60.
    assert covered(60, 25, 5).min() > 0.86


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    shares = covered(600, 25, 6)
    assert ((shares > 0.92) & (shares < 0.98)).all()


def test_who_won_everything_has_a_rating_without_an_upper_end():
    games = simulated([0, 0.5], [0, 0], 0.5, 30, np.random.default_rng(7))
    all_won = outcomes(
        *(((2, each), (1, -1), 30) for each in (0, 1)),
        *(((each, 2), (-1, 1), 30) for each in (0, 1)),
    )
    together = GameResults(
        np.concatenate([games.players, all_won.players]),
        np.concatenate([games.rewards, all_won.rewards]),
        np.arange(len(games.players) + len(all_won.players)),
    )
    rating = rate(together, 3, anchor=0).players[2]
    assert np.isfinite([rating.elo, rating.low]).all()
    assert 400 < rating.low < rating.elo
    assert rating.high == math.inf
    below = rate(together, 3, anchor=2).players
    assert below[0].low == -math.inf
    assert -rating.elo < below[0].high < -400
    # 60 wins of 60: the rule of three, one-sided at 95 %: odds of about 1 : 20 and more.
    pair = outcomes(((0, 1), (1, -1), 30), ((1, 0), (-1, 1), 30))
    low = rate(pair, 2, anchor=1).players[0].low
    odds = 1 / (math.exp(1.3528 / 60) - 1)
    assert low == pytest.approx(400 * math.log10(odds), abs=8)


def test_an_open_end_counts_an_opening_as_one_game():
    """60 games won from 60 openings and 240 from as many bound the winner alike."""
    won = outcomes(((0, 1), (1, -1), 30), ((1, 0), (-1, 1), 30))
    copied = GameResults(*(np.repeat(part, 4, 0) for part in won))
    once, again = (rate(each, 2, anchor=1).players[0].low for each in (won, copied))
    assert again == pytest.approx(once, abs=10)


def test_without_an_anchor_those_are_0_on_average_who_all_beat_each_other():
    """Player 0 loses every game: its rating has no lower end, and moves the others by nothing."""
    random = np.random.default_rng(12)
    equals = simulated([0, 0.5, 1.0], [0.0, 0.0], 0.5, 10, random)
    lost = outcomes(*(((0, each), (-1, 1), 5) for each in (1, 2, 3)))
    games = GameResults(
        np.concatenate([equals.players + 1, lost.players]),
        np.concatenate([equals.rewards, lost.rewards]),
        np.arange(len(equals.players) + len(lost.players)),
    )
    ratings = figures(rate(games, 4))
    assert ratings[0] < -200
    assert np.mean(ratings[1:]) == pytest.approx(0, abs=1e-6)


def test_games_without_any_information_give_no_number_that_is_none():
    drawn = outcomes(((0, 1), (0, 0), 20), ((1, 0), (0, 0), 20))
    ratings = rate(drawn, 2)
    assert np.isfinite([*ratings.players, *ratings.seats]).all()
    assert figures(ratings) == pytest.approx([0, 0])
    one = rate(outcomes(((0, 1), (1, -1), 1)), 2, anchor=0)
    assert not np.isnan([*one.players, *one.seats]).any()


def test_players_whom_no_games_connect_are_named():
    games = outcomes(((0, 1), (0, 0), 2), ((2, 3), (0, 0), 2))
    with pytest.raises(ValueError, match=r"cannot be compared: 0, 1 \| 2, 3"):
        rate(games, 4)
