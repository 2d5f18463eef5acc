"""The exact scores on small boards of 2048: by slow rules, by sampled games, and for all images."""

import argparse
from functools import cache

import jax
import numpy as np
import pytest

import jaxgbg
from experiments.exact_2048 import run
from experiments.exact_2048.solve import Board, expected, layers
from jaxgbg.games import Game2048
from tests.reference.board_rules import Game2048 as PlainGame
from tests.reference.board_rules import TileState


def test_best_play_on_2x2_is_that_of_a_recursion_over_single_positions():
    plain = PlainGame(2)

    def after_chance(slid: TileState) -> float:
        empty = [cell for cell, tile in enumerate(slid.tiles) if tile == 0]
        outcomes = [(plain.place(slid, cell, tile), p) for cell in empty for tile, p in TILES]
        return sum(p / len(empty) * value(state._replace(score=0)) for state, p in outcomes)

    @cache
    def value(state: TileState) -> float:
        moves = [plain.afterstate(state, action) for action in plain.legal(state)]
        return max((each.score + after_chance(each) for each in moves), default=0.0)

    start = plain.initial()
    first = [(plain.place(start, cell, tile), p / 4) for cell in range(4) for tile, p in TILES]
    best, positions = expected(Board(2, 2), None)
    assert best[0] == pytest.approx(sum(p * after_chance(state) for state, p in first), rel=1e-12)
    assert positions == 110


TILES = ((1, 0.9), (2, 0.1))


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3)])
def test_slides_are_those_of_the_game(shape):
    board, rules = Board(*shape), Game2048(rows=shape[0], columns=shape[1])
    drawn = np.random.default_rng(0).integers(0, 4, (200, board.cells)).astype(np.int8)
    moves = board.moves(drawn)
    ours = run.states_of(drawn)
    for action in range(4):
        slid = jax.vmap(rules.afterstate, (0, None))(ours, action)
        legal = np.asarray(slid.slid)
        assert (legal == moves.legal[:, action]).all()
        np.testing.assert_array_equal(np.asarray(slid.tiles), moves.after[:, action])
        np.testing.assert_array_equal(np.asarray(slid.score), moves.gains[:, action])


def test_an_image_has_the_code_of_its_board_and_every_position_is_listed_once():
    board = Board(2, 3)
    drawn = np.random.default_rng(1).integers(0, 5, (50, 2, 3)).astype(np.int8)
    codes = [
        board.codes(each.reshape(50, 6)) for each in (drawn, drawn[:, ::-1], drawn[:, :, ::-1])
    ]
    assert (codes[0] == codes[1]).all()
    assert (codes[0] == codes[2]).all()
    for total, found in layers(Board(2, 2)).items():
        tiles = Board(2, 2).boards(found).astype(float)
        assert (np.where(tiles > 0, 2**tiles, 0).sum(1) == total).all()
        assert len(np.unique(found)) == len(found)


@pytest.mark.slow
def test_the_exact_score_of_an_agent_is_the_mean_of_its_games(tmp_path):
    setting = next(each for each in run.SETTINGS if each.label == "2x2, td")
    options = argparse.Namespace(scale=0.005, seeds=1, out=tmp_path)
    found = run.measured(setting, options)
    (exact,) = found["scores"]
    # Too short a training for best play: otherwise ties alone would be tested.
    assert exact < found["best"] - 0.5
    agent = jaxgbg.load(next(tmp_path.glob("runs/*/agents/*.agent")))
    played = [jaxgbg.evaluate(agent, "score", seed=seed) for seed in range(8)]
    points = agent.game.scale.factor * np.concatenate([each.ravel() for each in played])
    assert len(points) >= 2_000
    assert abs(points.mean() - exact) < 4 * points.std() / len(points) ** 0.5
