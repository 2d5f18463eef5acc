"""The engine that others drive: the protocol's answers, whole games of every game it plays."""

import sys

import jax
import numpy as np
import pytest

from jaxgbg.cli.gtp import server_for
from jaxgbg.evaluation import Protocol, compete
from jaxgbg.games import Hex, Othello, TicTacToe, game_names, make
from jaxgbg.players import GTPEngine, RandomPlayer, make_player
from jaxgbg.players.gtp import COLOURS

KEY = jax.random.key(1)
# Smaller where a random game would last for minutes.
SMALLER = {"lines_of_action": {"size": 5}, "chinese_checkers": {"rows": 1}}
PLAYED = [
    name for name in game_names() if make(name).num_players == 2 and not make(name).stochastic
]


def server(game, player=None):
    return server_for(game, player or RandomPlayer(game))


def ask(engine, *commands):
    """The answers without their empty lines."""
    answers = list(engine.answers(commands))
    assert all(each.endswith("\n\n") and "\n\n" not in each[:-2] for each in answers)
    return [each[:-2] for each in answers]


def test_the_answers_are_those_of_the_protocol():
    engine = server(TicTacToe())
    assert ask(
        engine,
        "7 protocol_version # two",
        "",
        "# nothing",
        "  name\r",
        "1 known_command play",
        "known_command castle",
        "2 castle",
        "boardsize 3",
        "boardsize 19",
        "boardsize",
        "komi 7.5",
        "time_settings 0 5 1",
        "play black B2",
        "play w b2",
        "play B a1",
        "play white A1",
        "play green c3",
        "play",
        "12",
        "undo",
        "undo",
        "3 undo",
        "final_score",
        "quit",
        "name",
    ) == [
        "=7 2",
        "= jaxgbg random",
        "=1 true",
        "= false",
        "?2 unknown command",
        "=",
        "? unacceptable size",
        "? boardsize not an integer",
        "=",
        "=",
        "=",
        "? illegal move",
        "? illegal move",
        "=",
        "? invalid color",
        "? invalid color",
        "=",
        "=",
        "?3 cannot undo",
        "? the game is not over",
        "=",
    ]


def test_the_board_and_the_result_are_shown():
    engine = server(TicTacToe())
    moves = ("b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3")
    played = [f"play {COLOURS[ply % 2]} {move}" for ply, move in enumerate(moves)]
    assert ask(engine, *played) == ["="] * 8
    assert ask(engine, "showboard") == ["= \nO X X\nX X O\nO O .\nblack (X) to move"]
    assert ask(engine, "genmove white") == ["? it is the turn of black"]
    assert ask(engine, "genmove black", "final_score") == ["= c3", "= 0"]
    assert ask(engine, "genmove white", "play white c3") == ["? the game is over", "? illegal move"]
    assert ask(engine, "clear_board", "reg_genmove b", "undo")[-1] == "? cannot undo"
    won = ("b2", "a1", "c1", "b1", "a3")
    ask(engine, *(f"play {COLOURS[ply % 2]} {move}" for ply, move in enumerate(won)))
    assert ask(engine, "final_score") == ["= B+1"]
    # The colours of GTP are those of Othello itself.
    (shown,) = ask(server(Othello(size=4)), "showboard")
    assert shown.endswith("\nblack to move")


def test_each_game_of_a_session_has_draws_of_its_own():
    engine = server(Othello())
    moves = [f"genmove {COLOURS[ply % 2]}" for ply in range(8)]
    games = [ask(engine, "clear_board", *moves) for _ in range(3)]
    assert len({tuple(game) for game in games}) == 3
    # The same ones in another session.
    again = server(Othello())
    assert [ask(again, "clear_board", *moves) for _ in range(3)] == games
    # A move that was taken back is the same.
    last = games[-1][-1]
    assert ask(engine, "undo", moves[-1]) == ["=", last]


def test_numbers_that_change_nothing_are_numbers_all_the_same():
    engine = server(TicTacToe())
    right = ["komi 6.5", "komi -3", "time_settings 300 0 0", "time_left w 10 0"]
    assert ask(engine, *right) == ["="] * 4
    assert ask(engine, "komi", "komi six", "time_settings 1 2", "time_left w", "time_left 3 0") == [
        "? komi not a float",
        "? komi not a float",
        "? time settings not three integers",
        "? time left not two integers",
        "? invalid color",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_whole_games_follow_the_rules(name):
    game = make(name, **SMALLER.get(name, {}))
    engine, random = server(game), np.random.default_rng(0)
    state, seen = game.init(KEY), []
    while not state.terminal:
        legal = np.flatnonzero(game.legal_actions(state))
        (known,) = ask(engine, "jaxgbg-legal_moves")
        words = known.removeprefix("= ").split()
        # Each has a name of its own, in the order of their numbers.
        assert len(words) == len(set(words)) == len(legal)
        number = random.integers(len(legal))
        colour = COLOURS[int(state.player)]
        seen.append(ask(engine, "showboard"))
        assert ask(engine, f"play {colour} {words[number].upper()}") == ["="]
        state = game.afterstate(state, legal[number].astype(np.int32))
        for leaf, own in zip(jax.tree.leaves(state), jax.tree.leaves(engine._state), strict=True):
            np.testing.assert_array_equal(leaf, own)
        skipped = not state.terminal and COLOURS[int(state.player)] == colour
        # The other one may say so or not.
        if skipped and random.random() < 0.5:
            other = COLOURS[1 - int(state.player)]
            assert ask(engine, f"genmove {other}") == ["= pass"]
            assert ask(engine, f"play {other} pass") == ["? illegal move"]
            seen.append(ask(engine, "showboard"))
    rewards = np.asarray(state.rewards)
    score = {0: "0"}.get(rewards[0] - rewards[1], "B+" if rewards[0] > rewards[1] else "W+")
    assert ask(engine, "final_score")[0].startswith(f"= {score}")
    for board in reversed(seen):
        assert [ask(engine, "undo"), ask(engine, "showboard")] == [["="], board]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "who"), [(Othello(), "bench"), (Hex(size=4), "mcts-50")])
def test_our_own_client_plays_it_whole_games_long(game, who):
    """Another process, so that its input and output are those of a program's engine."""
    size = f" --size {game.size}"
    command = f"{sys.executable} -m jaxgbg.cli gtp {who} --game {game.name}{size}"
    with GTPEngine(game, command, timeout=120) as engine:
        rewards = compete(game, engine, RandomPlayer(game), Protocol("default", count=3), KEY)
    assert rewards.shape == (1, 2, 3)
    assert rewards.mean() > 0.5


@pytest.mark.parametrize(("game", "words"), [("pig", "pig is not"), ("nim3p", "nim3p is not")])
def test_games_for_others_are_refused(game, words):
    with pytest.raises(ValueError, match=f"two players without chance, which {words}"):
        server(make(game))


def test_a_player_that_is_an_engine_is_refused():
    class Engine(RandomPlayer):
        needs_history = True

    with pytest.raises(ValueError, match="random is an engine already"):
        server(TicTacToe(), Engine(TicTacToe()))


def test_a_named_player_chooses_what_it_chooses_elsewhere():
    game = TicTacToe()
    engine = server(game, make_player("maxn", game))
    ask(engine, "play b a1")
    # Only the middle does not lose.
    assert ask(engine, "genmove w") == ["= b2"]
