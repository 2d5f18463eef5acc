"""The sequential test: its likelihoods, how often it errs, and matches that it ends."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import minimize

import jaxgbg
from jaxgbg.arena import comparison
from jaxgbg.arena.comparison import compare
from jaxgbg.arena.sequential import SequentialTest, expected_score
from jaxgbg.games import Nim
from jaxgbg.players import MaxN, RandomPlayer


def test_elo_is_points():
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert expected_score(-120) == pytest.approx(1 - expected_score(120))


def test_without_draws_it_is_the_test_of_wald():
    test = SequentialTest(elo0=-30, elo1=20, alpha=0.01, beta=0.1)
    zero, one = expected_score(-30), expected_score(20)
    test.update([1.0] * 9 + [0.0] * 6)
    wald = 9 * np.log(one / zero) + 6 * np.log((1 - one) / (1 - zero))
    assert test.log_likelihood_ratio == pytest.approx(wald, rel=1e-6)
    assert (test.lower, test.upper) == pytest.approx((np.log(0.1 / 0.99), np.log(0.9 / 0.01)))


@pytest.mark.parametrize(
    "counts", [(12, 30, 20), (0, 5, 30), (3, 0, 1), (0, 40, 0), (2, 7, 11, 9, 4), (0, 1, 30, 9, 0)]
)
def test_the_ratio_is_that_of_the_likeliest_distributions(counts):
    scores = np.linspace(0, 1, len(counts))
    counts = np.array(counts)
    test = SequentialTest(elo0=-60, elo1=40)

    def likelihood(mean):
        """The greatest, over distributions of these outcomes with this mean, by brute force."""
        result = minimize(
            lambda p: -(counts @ np.log(p)),
            np.full(len(counts), 1 / len(counts)),
            jac=lambda p: -counts / p,
            bounds=[(1e-9, 1)] * len(counts),
            constraints=[{"type": "eq", "fun": lambda p: [p.sum() - 1, p @ scores - mean]}],
            method="SLSQP",
            options={"ftol": 1e-10, "maxiter": 1000},
        )
        assert [result.x.sum(), result.x @ scores] == pytest.approx([1, mean], abs=1e-7)
        return -result.fun

    test.update(np.repeat(scores, counts))
    expected = likelihood(expected_score(40)) - likelihood(expected_score(-60))
    assert test.log_likelihood_ratio == pytest.approx(expected, abs=1e-4)


def decided(elo, draws, elo0, elo1, alpha, beta, trials=300, batch=20):
    """The share of tests that accept a player `elo` stronger, and the mean number of games."""
    random = np.random.default_rng(7)
    win = expected_score(elo) - draws / 2
    accepted = games = 0
    for _ in range(trials):
        test = SequentialTest(elo0, elo1, alpha, beta)
        while test.decision == "continue":
            games += batch
            test.update(random.choice([1.0, 0.5, 0.0], batch, p=[win, draws, 1 - win - draws]))
        accepted += test.decision == "accept"
    return accepted / trials, games / trials


@pytest.mark.slow
@pytest.mark.parametrize("draws", [0.0, 0.3, 0.7])
def test_errors_are_as_rare_as_promised(draws):
    """At the bounds themselves, where they are most frequent."""
    bounds = {"elo0": -80, "elo1": 0, "alpha": 0.1, "beta": 0.05}
    # Three standard errors of 300 trials.
    false_alarms, _ = decided(-80, draws, **bounds)
    assert 0 < false_alarms < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 300)
    power, _ = decided(0, draws, **bounds)
    assert 1 > power > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


def test_a_plain_case_needs_few_games_and_more_draws_fewer():
    bounds = {"elo0": -50, "elo1": 0, "alpha": 0.05, "beta": 0.05, "trials": 40}
    share, plain = decided(150, 0.2, **bounds)
    assert share == 1
    _, close = decided(0, 0.2, **bounds)
    _, drawn = decided(0, 0.8, **bounds)
    assert plain < close / 3
    assert drawn < close / 2


def test_a_decision_stays():
    test = SequentialTest()
    assert test.update([]) == "continue"
    assert test.update([0.5]) == "continue"
    assert test.update([1.0] * 200) == "accept"
    ratio = test.log_likelihood_ratio
    assert test.update([0.0] * 5000) == "accept"
    assert test.log_likelihood_ratio == ratio


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"elo0": 0, "elo1": 0}, "elo0 must be less than elo1"),
        ({"elo0": float("nan")}, "elo0 must be a number, not nan"),
        ({"alpha": 0.5}, r"alpha must lie in \(0, 0.5\), not 0.5"),
        ({"beta": 0}, r"beta must lie in \(0, 0.5\), not 0"),
    ],
)
def test_bounds_that_decide_nothing_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SequentialTest(**options)
    with pytest.raises(ValueError, match="between 0, a loss, and 1"):
        SequentialTest().update([-1])


@pytest.mark.slow
def test_matches_end_with_the_right_answer():
    game = jaxgbg.make("tictactoe")
    weak, strong = RandomPlayer(game), MaxN(game)
    result = compare(game, strong, weak, SequentialTest(), opening_plies=2, batch=20)
    assert result.decision == "accept"
    assert result.wins > result.losses
    assert compare(game, weak, strong, SequentialTest(), 2, 20).decision == "reject"
    again = compare(game, strong, weak, SequentialTest(), opening_plies=2, batch=20)
    assert again == result


@dataclasses.dataclass(frozen=True)
class _PaidNim(Nim):
    """Nim whose winner gets `high` and whose loser `low`."""

    low: float = -1.0
    high: float = 1.0

    name = "paid_nim"

    @property
    def reward_range(self):
        return self.low, self.high

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        paid = np.float32(self.high) * (after.rewards > 0) + np.float32(self.low) * (
            after.rewards < 0
        )
        return after._replace(rewards=paid)


def test_a_win_is_one_point_whatever_it_pays():
    settings = {"opening_plies": 0, "batch": 20, "max_games": 40}

    def compared(**paid):
        game = _PaidNim(heaps=1, size=3, **paid)
        player = RandomPlayer(game)
        return compare(game, player, player, SequentialTest(), **settings)

    plain = compared()
    assert plain.wins * plain.losses > 0
    assert plain.score == plain.wins / 40
    for most in (3.0, 1 / 3):
        assert compared(low=-most, high=most) == plain
    with pytest.raises(ValueError, match="wins, draws and losses, but rewards of paid_nim lie"):
        compared(low=0.0)


def test_a_standard_error_is_that_of_pairs_and_as_many_games_are_played_as_allowed(monkeypatch):
    """Pairs of 1, 1/2, 3/4 and 1/4 points; their variance is 5/48."""
    rewards = np.array([[1, 1, 1, 0], [1, -1, 0, -1]])
    monkeypatch.setattr(comparison, "compete", lambda *_: rewards[None])
    game = Nim(heaps=1, size=3)
    player = RandomPlayer(game)
    settings = {"opening_plies": 0, "batch": 4}
    once = compare(game, player, player, SequentialTest(), **settings, max_games=15)
    assert (once.wins, once.draws, once.losses) == (4, 2, 2)
    assert once.score == 0.625
    assert once.sem == pytest.approx((5 / 48 / 4) ** 0.5)
    twice = compare(game, player, player, SequentialTest(), **settings, max_games=16)
    assert (twice.wins, twice.draws, twice.losses) == (8, 4, 4)


@pytest.mark.slow
def test_matches_end_undecided_in_time():
    game = jaxgbg.make("tictactoe")
    seen = []
    test = SequentialTest(elo0=-1, elo1=0)
    player = RandomPlayer(game)
    result = compare(game, player, player, test, batch=10, max_games=70, on_batch=seen.append)
    assert result.decision == "continue"
    assert result.wins + result.draws + result.losses == 60
    assert [one.wins + one.draws + one.losses for one in seen] == [20, 40, 60]
    assert result.score == pytest.approx((result.wins + result.draws / 2) / 60)


def test_what_cannot_be_compared_is_named():
    game = jaxgbg.make("nim3p")
    with pytest.raises(ValueError, match="two players, not nim3p"):
        compare(game, RandomPlayer(game), RandomPlayer(game), SequentialTest())
    game = jaxgbg.make("nim")
    with pytest.raises(ValueError, match="max_games"):
        compare(game, RandomPlayer(game), RandomPlayer(game), SequentialTest(), max_games=5)
