"""Judges: matches, scores alone, and engines built by hand."""

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.evaluation import (
    DEFAULT_PROTOCOL,
    MatchJudge,
    Protocol,
    compete,
    judge_names,
    make_judge,
)
from jaxgbg.players import MaxN, PlayerBase, RandomPlayer

KEY = jax.random.key(2)


@pytest.mark.slow
def test_a_player_judges_by_matches():
    game = jaxgbg.make("nim")
    judge, agent = make_judge("maxn", game), RandomPlayer(game)
    scores = judge.scores(agent, KEY)["maxn"]
    np.testing.assert_array_equal(scores, compete(game, agent, MaxN(game), DEFAULT_PROTOCOL, KEY))
    assert scores.shape == (1, 2, 40)
    assert judge.name == "maxn"
    assert judge.scales == {"maxn": game.scale}
    assert judge.wins(scores).tolist() == [(scores > 0).mean()]
    fewer = make_judge("random", game, Protocol("one_ply"))
    assert fewer.scores(agent, KEY)["random"].shape == (1, 2, 16)


@pytest.mark.slow
def test_a_game_of_one_player_is_judged_by_its_score():
    game = jaxgbg.make("2048")
    judge = make_judge("score", game, Protocol("default", count=2))
    scores = judge.scores(RandomPlayer(game), KEY)["score"]
    assert scores.shape == (1, 1, 2)
    assert (scores > 0).all()
    assert judge.scales["score"].unit == "points"
    judge.close()
    with pytest.raises(ValueError, match="'random' does not evaluate 2048"):
        make_judge("random", game)
    with pytest.raises(ValueError, match="'score' does not evaluate nim"):
        make_judge("score", jaxgbg.make("nim"))


def test_the_names_of_judges_are_those_of_players_and_more():
    assert {"random", "maxn", "mcts-N", "solver", "score"} <= set(judge_names())


def test_closing_a_judge_closes_its_opponent():
    class Closing(PlayerBase):
        name, closed = "closing", False

        def close(self):
            self.closed = True

    player = Closing()
    MatchJudge(jaxgbg.make("nim"), player, Protocol(), player.name).close()
    assert player.closed
