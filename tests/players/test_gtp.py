"""Engines as subprocesses: a good one plays whole matches, a bad one ends in one clear line."""

import contextlib
import os
import shutil
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxgbg.evaluation import Protocol, compete, start_states
from jaxgbg.games import Othello, TicTacToe
from jaxgbg.players import GRHINO, EngineError, GTPEngine, RandomPlayer, make_player

GAME = Othello()
KEY = jax.random.key(1)
FAKE = f"{sys.executable} {Path(__file__).with_name('fake_engine.py')}"
needs_grhino = pytest.mark.skipif(
    shutil.which(GRHINO.split()[0]) is None,
    reason="grhino is not installed (apt-get install grhino)",
)


def running(engine: GTPEngine) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(engine._process.pid, 0)
        return True
    return False


@pytest.mark.slow
def test_an_engine_plays_whole_games_with_passes_from_both_seats():
    protocol = Protocol("default", count=3)
    with GTPEngine(GAME, FAKE) as engine:
        rewards = compete(GAME, engine, RandomPlayer(GAME), protocol, KEY)
        assert running(engine)
    assert not running(engine)
    assert rewards.shape == (1, 2, 3)
    assert np.isin(rewards, (-1, 0, 1)).all()


@pytest.mark.slow
def test_the_history_holds_the_plies_before_the_start():
    states, history = start_states(GAME, Protocol("four_ply"), KEY)
    assert history.actions.shape == (244, 4)
    assert len({tuple(row) for row in history.actions.tolist()}) == 244
    with GTPEngine(GAME, FAKE) as engine:
        chosen = engine.act(states, KEY, history)
    legal = np.asarray(jax.vmap(GAME.legal_actions)(states))
    np.testing.assert_array_equal(chosen, legal.argmax(1))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("hang", "gave no answer to 'genmove black' within 0.5 s"),
        ("die", "ended with code 3"),
        ("flood", "gave an endless answer to 'genmove black'"),
        ("illegal", "played 'a1', which is not legal here \\(legal: d3 c4 f5 e6\\)"),
        ("garbage", "does not speak GTP: it answered 'what a nice move'"),
        ("refuse", "refused 'genmove black': I would rather not"),
    ],
)
def test_a_bad_engine_ends_the_match_with_one_line_and_leaves_no_process(fault, message):
    engine = GTPEngine(GAME, f"{FAKE} {fault}", name="fake", timeout=60)
    if fault == "hang":
        # On a busy machine the commands before that one, which share its time, are late too.
        answer, engine.timeout = engine._answer, 0.5
        engine._answer = lambda end, command: answer(end + 60 * ("gen" not in command), command)
    begin = time.monotonic()
    with pytest.raises(EngineError, match=f"^engine 'fake' {message}") as error:
        compete(GAME, engine, RandomPlayer(GAME), Protocol("default"), KEY)
    assert "\n" not in str(error.value)
    assert time.monotonic() - begin < 60
    assert not running(engine)


def test_a_missing_engine_and_one_that_is_none_are_named():
    with pytest.raises(EngineError, match=r"engine 'nobody' cannot be started: No such file"):
        GTPEngine(GAME, "/no/such/nobody")
    with pytest.raises(EngineError, match="engine 'true' ended with code 0"):
        GTPEngine(GAME, "true")
    with pytest.raises(ValueError, match="command is empty"):
        GTPEngine(GAME, " ")
    with pytest.raises(ValueError, match=r"command 'edax \"-gtp': No closing quotation"):
        GTPEngine(GAME, 'edax "-gtp')
    with pytest.raises(ValueError, match="engines play othello and hex, not tictactoe"):
        GTPEngine(TicTacToe(), FAKE)
    with pytest.raises(ValueError, match="timeout"):
        GTPEngine(GAME, FAKE, timeout=0)


def test_an_interrupted_match_leaves_no_process(monkeypatch):
    engine = GTPEngine(GAME, FAKE)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "_ask", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compete(GAME, engine, RandomPlayer(GAME), Protocol("default"), KEY)
    assert not running(engine)


def test_an_engine_cannot_be_asked_about_a_bare_position():
    with GTPEngine(GAME, FAKE) as engine, pytest.raises(ValueError, match="needs the history"):
        engine.act(None, KEY)


@pytest.mark.slow
@needs_grhino
def test_grhino_beats_a_random_player():
    with make_player("grhino", GAME) as engine:
        rewards = compete(GAME, engine, RandomPlayer(GAME), Protocol("default", count=20), KEY)
    assert rewards.mean() > 0.8


@needs_grhino
@pytest.mark.slow
def test_grhino_scores_against_bench_as_measured():
    """0.89 over the 488 games of the four-ply protocol when measured; a draw counts half."""
    with make_player("grhino", GAME) as engine:
        rewards = compete(GAME, engine, make_player("bench", GAME), Protocol("four_ply"), KEY)
    assert 0.83 < (rewards.mean() + 1) / 2 < 0.95
