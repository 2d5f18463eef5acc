"""Positions as text: every game reads what it writes, and refuses what is no position of it."""

import itertools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import game_names, notations
from jaxgbg.games.notations import notation_of
from jaxgbg.games.notations.fields import _check
from jaxgbg.games.rollout import after_each, select_states
from jaxgbg.games.sampling import sample_games

SHIPPED = [
    jaxgbg.make("tictactoe"),
    jaxgbg.make("nim", heaps=4, size=6, players=3, max_take=4),
    jaxgbg.make("nim3p"),
    jaxgbg.make("connectfour"),
    jaxgbg.make("hex", size=3),
    jaxgbg.make("othello", size=4),
    jaxgbg.make("2048"),
    jaxgbg.make("2048", rows=2, columns=3),
    jaxgbg.make("lines_of_action", size=4),
    jaxgbg.make("pig", players=3, target=30),
    jaxgbg.make("ewn", players=3, stones=3),
    jaxgbg.make("sim", players=3),
    jaxgbg.make("yavalath", size=3, players=3),
    jaxgbg.make("chinese_checkers", rows=1, players=3, ranks=True),
    jaxgbg.make("maedn", quarter=3, pieces=2, ranks=True, players=3),
    jaxgbg.make("backgammon", checkers=3),
]
OTHERS = [
    jaxgbg.make("connectfour", draw_after=12),
    jaxgbg.make("hex", size=5, misere=True),
    jaxgbg.make("othello"),
    jaxgbg.make("lines_of_action", size=5, max_plies=150),
    jaxgbg.make("lines_of_action", size=4, stuck="loss", both="mover", max_plies=30),
    jaxgbg.make("lines_of_action", size=4, repetition="none", max_plies=40),
    jaxgbg.make("lines_of_action", size=4, repetition="threefold", max_plies=30),
    jaxgbg.make("sim", players=2),
    jaxgbg.make("yavalath", size=3, swap=True),
    jaxgbg.make("ewn", start="random"),
]
BORROWED = ["pgx:backgammon", "pgx:gardner_chess", "ludax:reversi"]


def named(game):
    changed = [str(value) for value in vars(game).values()]
    return "-".join([game.name, *changed])


def same(one, other):
    """Whether two states are equal in every field, to the bit and the type."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return jax.tree.structure(one) == jax.tree.structure(other) and all(
        np.asarray(a).dtype == np.asarray(b).dtype and np.array_equal(a, b) for a, b in pairs
    )


def positions(game, count=40):
    """States of random games, first and last ones among them, and afterstates before chance."""
    sample = sample_games(game)
    random = np.random.default_rng(0)
    plies, games = sample.terminal.shape[0], 32
    rows = []
    for at in range(games):
        last = int(np.argmax(sample.terminal[:, at])) if sample.terminal[:, at].any() else plies - 1
        rows += [(last, at), (int(random.integers(last + 1)), at)]
    chosen = [(0, 0), *rows][:count]
    states = [select_states(sample.states, row) for row in chosen]
    if game.stochastic:
        after = jax.jit(game.afterstate)
        states += [
            jax.device_get(after(state, jnp.int32(sample.actions[ply, at])))
            for state, (ply, at) in zip(states, chosen, strict=True)
        ]
    return states


def check_round_trip(game, states):
    texts = {}
    for state in states:
        text = jaxgbg.position_text(game, state)
        assert "\n" not in text
        assert ";" not in text
        assert same(jaxgbg.position(game, text), state), text
        # One text is one position.
        assert same(texts.setdefault(text, state), state)
    assert len(texts) > 3
    return texts


def test_every_shipped_game_is_tested():
    assert {game.name for game in SHIPPED} == set(game_names())


@pytest.mark.parametrize("game", SHIPPED, ids=named)
def test_what_a_game_writes_it_reads_again(game):
    check_round_trip(game, positions(game, 16))


@pytest.mark.slow
@pytest.mark.parametrize("game", [*SHIPPED, *OTHERS], ids=named)
def test_what_other_rules_write_they_read_again(game):
    check_round_trip(game, positions(game, 64))


@pytest.mark.slow
@pytest.mark.parametrize("name", BORROWED)
def test_what_a_borrowed_game_writes_it_reads_again(name):
    pytest.importorskip(name.partition(":")[0])
    game, random = jaxgbg.make(name), np.random.default_rng(0)
    after, spawn = jax.jit(game.afterstate), jax.jit(game.spawn)
    states = [jax.device_get(jax.jit(game.init)(jax.random.key(0)))]
    for ply in range(8):
        legal = np.flatnonzero(game.legal_actions(states[-1]))
        moved = after(states[-1], jnp.int32(random.choice(legal)))
        states.append(jax.device_get(moved))
        if game.stochastic:
            states.append(jax.device_get(spawn(moved, jax.random.key(ply))))
    check_round_trip(game, states)


def reachable(game, plies):
    """The texts of all positions up to so many plies, by brute force."""
    start = jax.device_get(game.init(jax.random.key(0)))
    level, seen = {jaxgbg.position_text(game, start): start}, set()
    after = jax.jit(after_each, static_argnums=0)
    for _ in range(plies + 1):
        seen |= level.keys()
        following = {}
        for state in level.values():
            legal, children = jax.device_get(after(game, state))
            for action in np.flatnonzero(legal):
                child = select_states(children, int(action))
                following[jaxgbg.position_text(game, child)] = child
        level = following
    return seen


def accepted(game, text):
    """The text of the position that is read, None if it is refused."""
    try:
        return jaxgbg.position_text(game, jaxgbg.position(game, text))
    except ValueError:
        return None


@pytest.mark.slow
def test_a_board_of_tictactoe_is_read_exactly_if_a_game_leads_there():
    game = jaxgbg.make("tictactoe")
    known = reachable(game, 9)
    assert len(known) == 5478
    boards = ["".join(board) for board in itertools.product("XO.", repeat=9)]
    chosen = np.random.default_rng(0).choice(boards, 1500, replace=False).tolist()
    boards_known = {text[:-2].replace("/", ""): text for text in known}
    for board in chosen:
        assert accepted(game, board) == boards_known.get(board), board


@pytest.mark.slow
def test_a_board_of_connectfour_is_read_exactly_if_a_game_leads_there():
    game = jaxgbg.make("connectfour")
    known = reachable(game, 4)
    random = np.random.default_rng(0)
    found = set()
    for _ in range(400):
        rows = [["."] * 7 for _ in range(6)]
        for stone in random.choice(["R", "B"], int(random.integers(5))):
            column = int(random.integers(3))
            free = [row for row in range(6) if rows[row][column] == "."]
            rows[free[-1]][column] = stone
        text = "/".join("".join(row) for row in rows)
        answer = accepted(game, text)
        assert answer == next((each for each in known if each[:-2] == text), None)
        found.add(answer is None)
    assert found == {True, False}


def test_a_position_of_nim_is_read_exactly_if_a_game_leads_there():
    game = jaxgbg.make("nim", heaps=2, size=4, max_take=3, players=3)
    known = reachable(game, game.max_plies)
    for heaps in itertools.product(range(5), repeat=2):
        for player in (1, 2, 3):
            text = f"{heaps[0]}+{heaps[1]} {player}"
            assert accepted(game, text) == (text if text in known else None)


def test_the_start_is_written_as_people_write_it():
    edax = "---------------------------OX------XO--------------------------- X"
    for name, text in {
        "tictactoe": ".../.../... X",
        "connectfour": "......./......./......./......./......./....... R",
        "othello": edax,
        "nim": "5+5+5 1",
        "lines_of_action": f"{LOA} B 0 - - 0",
    }.items():
        game = jaxgbg.make(name)
        start = jax.device_get(game.init(jax.random.key(0)))
        assert jaxgbg.position_text(game, start) == text
        assert same(jaxgbg.position(game, text), start)


def test_the_same_position_may_be_written_in_several_ways():
    game = jaxgbg.make("connectfour")
    moves = jaxgbg.position(game, "3,3,3,2")
    text = jaxgbg.position_text(game, moves)
    assert text == "......./......./......./...R.../...B.../..BR... R"
    rows = "\n".join(text[:-2].split("/"))
    for other in ("4443", "4 4 4 3", text.lower(), rows, "7/7/7/3X3/3O3/2OX3", text + ";", "4;2,3"):
        found = jaxgbg.position(game, other)
        assert same(found, moves) == (other != "4;2,3"), other
    assert same(jaxgbg.position(game, f"{text};0,1"), jaxgbg.position(game, "3,3,3,2,0,1"))
    assert same(jaxgbg.position(game, "44;2,3"), jaxgbg.position(game, "4434"))


LOA = ".BBBBBB./" + "W......W/" * 6 + ".BBBBBB."
"""The start of Lines of Action."""
LOA_TWO = "..BBBBB./..W....W/WB.....W/" + "W......W/" * 4 + ".BBBBBB."
"""After b8-b6 and a7-c7."""
REFUSED = {
    ("tictactoe", "XO./.X. O"): "row 3 has 1 cell, not 3",
    ("tictactoe", "XO./.X./..Z O"): "row 3: 'Z' is not one of X O",
    ("tictactoe", "XO./.X./.... O"): "row 3 has 4 cells, not 3",
    ("tictactoe", "XO./.X./... X"): "O is to move with 2 X and 1 O, not X",
    ("tictactoe", "XO./.X./... O X"): "nothing follows here: 'X'",
    ("tictactoe", "XXX/OOO/... X"): "over before its last move",
    ("tictactoe", "OO./.../... X"): "0 X and 2 O: X moves first",
    ("tictactoe", "XO./.X./... O;0"): "move 1 is not legal",
    ("tictactoe", "XO./.X./... O;a"): "not a list of moves",
    ("tictactoe", "\N{BYTE ORDER MARK}XO./.X./... O"): "row 1: ",
    ("tictactoe", "9"): "move 1 is not legal",
    ("connectfour", "7/7/7/R6/7/B6 R"): "row 4, column 1: a stone over an empty cell",
    ("connectfour", "7/7/7/7/R6/B6 R"): "the stones cannot lie there in turn",
    ("connectfour", "7/7/7/7/BBB4/RRRR3 R"): "B is to move with 4 R and 3 B",
    ("connectfour", "4448"): "move 4: 8 is no column",
    ("connectfour", "4444444"): "move 7 is not legal there",
    ("connectfour", "11223345"): "move 8 is not legal there",
    ("connectfour", "4\N{SUPERSCRIPT TWO}"): "1 row, and the board has 6",
    ("connectfour", "4" * 5000): "move 7 is not legal there",
    ("othello", "8/8/8/3OX3/3XO3/8/8/8"): "the side to move, X or O, is missing",
    ("othello", "8/8/8/3OX3/3XO3/8/8/8 O"): "four discs a game is at its start",
    ("othello", "8/8/8/3O4/3XO3/8/8/8 X"): "four squares in the middle",
    ("othello", "X7/8/8/3OX3/3XO3/8/8/8 O"): "row 1, column 1: a disc that touches no chain",
    ("othello", "8/8/8/3XXXXO/3XX3/8/8/8 X"): "black cannot move: it is the turn of white",
    ("nim", "5+5 1"): "2 heaps, and the game has 3",
    ("nim", "5+5+6 1"): "heap 3 is a number from 0 to 5, not '6'",
    ("nim", "5+5+5 2"): "player 2 is not to move after 0 items taken",
    ("nim", "5+5+4"): "the player to move, 1 to 2, is missing",
    ("nim", "5+5+4 3"): "the player to move is a number from 1 to 2",
    ("2048", "2 4/0 0 0 0/0 0 0 0/0 0 0 0 0"): "row 1 has 2 tiles, not 4",
    ("2048", "2 3 0 0/0 0 0 0/0 0 0 0/0 0 0 0 0"): "row 1, column 2: '3' is no tile",
    ("2048", "2 0 0 0/0 0 0 0/0 0 0 0/0 0 0 0 0"): "1 tile, and there are at least 2",
    ("2048", "2 8 0 0/0 0 0 0/0 0 0 0/0 0 0 0 2"): "a multiple of 4 from 8 to 16, not '2'",
    ("2048", "8 8 0 0/0 0 0 0/0 0 0 0/0 0 0 0 32"): "no tile is 2 or 4",
    ("lines_of_action", "8/8/8/8/8/8/8/B7 W 9"): "white has 0 stones",
    ("lines_of_action", "8/8/8/8/8/8/8/BW6 B 9"): "after 9 plies white is to move",
    ("lines_of_action", "8/8/8/8/8/8/8/BW6 B 2"): "22 stones are captured, and 2 plies",
    ("lines_of_action", "8/8/8/8/8/8/8/BW6 B 40 - a9-b1 0"): "a ply is two squares",
    ("lines_of_action", "8/8/8/8/8/8/8/BW6 B 40 - b1-a1 0"): "white has not just moved",
    ("lines_of_action", f"{LOA} B 10 - pass 0"): "white has not just passed: it can move",
    ("lines_of_action", f"{LOA} W 11 pass pass 0"): "black has not just passed: it can move",
    ("lines_of_action", f"{LOA} B 10 - - 5"): "5 plies in a row took one back: write the last two",
    ("lines_of_action", f"{LOA} B 10 - - 6"): "6 plies in a row took one back: write the last two",
    ("lines_of_action", f"{LOA_TWO} B 10 - a7-c7 2"): "write the last two, not '-'",
    ("lines_of_action", f"{LOA_TWO} B 2 b8-b6 a7-c7 1"): "2 plies cannot have taken back 1",
    ("lines_of_action", f"{LOA_TWO} B 10 b8-b5 a7-c7 0"): "black has not just moved b8-b5",
    ("lines_of_action", f"{LOA_TWO} B 10 b1-b6 - 0"): "black has not just moved b1-b6",
    ("pig", "pig scores=1,2 plies=4 check=00000000"): "the check at its end does not agree",
    ("pig", "nim scores=1,2 plies=4 check=00000000"): "it begins with 'nim', not with pig: write"
    " the numbers of the moves from the start, or what jaxgbg.position_text returned",
    ("pig", "0.3,0.9"): "^pig: move 2, 0, cannot have that outcome of chance$",
    ("sim", " \n"): "a position of sim is empty",
}


def test_plies_of_lines_of_action_that_take_back_their_players_last_are_read_again():
    game = jaxgbg.make("lines_of_action")
    there, back = ["b8-b6", "a7-c7"], ["b6-b8", "c7-a7"]
    state, texts = game.init(jax.random.key(0)), []
    step = jax.jit(game.afterstate)
    for move in (there + back) * 2:
        start, end = (8 * (8 - int(word[1])) + ord(word[0]) - ord("a") for word in move.split("-"))
        step_of = np.sign(np.subtract(divmod(end, 8), divmod(start, 8)))
        direction = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]
        state = step(state, 64 * direction.index(tuple(step_of)) + end)
        texts.append(jaxgbg.position_text(game, state))
        assert same(jaxgbg.position(game, texts[-1]), jax.device_get(state))
    assert texts[1] == f"{LOA_TWO} B 2 b8-b6 a7-c7 0"
    assert texts[3] == f"{LOA} B 4 b6-b8 c7-a7 2"
    assert [text[-1] for text in texts] == list("00123456")
    assert bool(state.terminal)


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_what_is_no_position_is_refused_in_a_line_that_says_why(name, text):
    with pytest.raises(ValueError, match=REFUSED[name, text]) as refused:
        jaxgbg.position(jaxgbg.make(name), text)
    assert re.fullmatch(r"[^\n]{1,400}", str(refused.value))


def test_the_fields_of_a_state_are_of_one_game_with_its_parameters():
    game = jaxgbg.make("pig", target=30)
    state = jaxgbg.position(game, "0.3,0.2,1.0")
    text = jaxgbg.position_text(game, state)
    assert text.startswith("pig scores=7,0 plies=3 player=1 check=")
    assert same(jaxgbg.position(game, text), state)
    for other in (text.replace("=7", "=8"), text[:-1], text.replace(" plies=3", "")):
        with pytest.raises(ValueError, match="check"):
            jaxgbg.position(game, other)
    with pytest.raises(ValueError, match="other parameters"):
        jaxgbg.position(jaxgbg.make("pig", target=40), text)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("scores=300,0", "a number of scores is too large or too small"),
        ("turn=9" + "9" * 400, "a number of turn is too large or too small"),
        ("scores=0*3000000000", "scores has 2 numbers, not 3,000,000,000"),
        ("scores=1*-1,2*3", "scores has 2 numbers"),
        ("scores=1", "scores has 2 numbers, not 1"),
        ("player=2", "the player to move is 0 to 1, not 2"),
    ],
)
def test_fields_of_no_state_are_refused_whatever_their_check_says(words, why):
    game = jaxgbg.make("pig")
    text = f"pig {words}"
    with pytest.raises(ValueError, match=why):
        jaxgbg.position(game, f"{text} check={_check(game, text.split())}")


def test_a_game_with_blanks_in_its_name_reads_what_it_writes():
    class Named(type(jaxgbg.make("pig"))):
        name = "ludax:my; game.ldx"

    game = Named()
    text = jaxgbg.position_text(game, game.init(jax.random.key(0)))
    assert text.startswith("ludax:my%3B%20game.ldx check=")
    assert same(jaxgbg.position(game, text), jax.device_get(game.init(jax.random.key(0))))


def test_a_users_game_may_have_a_notation_of_its_own(monkeypatch):
    class Own(type(jaxgbg.make("sim"))):
        pass

    game, read = Own(), []
    assert notation_of(game).example == ""
    monkeypatch.setattr(notations, "_NOTATIONS", dict(notations._NOTATIONS))
    jaxgbg.register_notation(
        Own, lambda game: jaxgbg.Notation("yes", lambda state: "yes", read.append)
    )
    assert notation_of(game).example == "yes"
    assert jaxgbg.position_text(game, game.init(jax.random.key(0))) == "yes"
