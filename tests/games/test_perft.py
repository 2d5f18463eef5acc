"""Counts of paths and positions against published ones."""

import math
import sys

import jax
import pytest

import jaxgbg
from jaxgbg.games import ConnectFour, Hex, LinesOfAction, Nim, Othello, TicTacToe
from jaxgbg.games.perft import perft

# The package has a function of this name, too.
module = sys.modules["jaxgbg.games.perft"]

# OEIS A212693, from ply 1 on.
CONNECTFOUR_POSITIONS = [7, 49, 238, 1120, 4263, 16422, 54859, 184275, 558186, 1662623, 4568683]


def games_by_result(rows):
    """Complete games by their final rewards."""
    results = {}
    for row in rows:
        for rewards, games in row.ended.items():
            results[rewards] = results.get(rewards, 0) + games
    return results


def test_tictactoe_has_the_known_paths_games_and_positions():
    rows = perft(TicTacToe(), 9)
    paths = [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert [row.paths for row in rows] == paths
    assert 1 + sum(row.positions for row in rows) == 5478
    assert games_by_result(rows) == {(1, -1): 131184, (-1, 1): 77904, (0, 0): 46080}


def test_connectfour_has_the_known_paths_and_positions():
    rows = perft(ConnectFour(), 7)
    assert [row.paths for row in rows] == [7, 49, 343, 2401, 16807, 117649, 823536]
    assert [row.positions for row in rows] == CONNECTFOUR_POSITIONS[:7]


@pytest.mark.slow
def test_batches_fit_into_memory_and_change_no_count(monkeypatch):
    game = LinesOfAction(repetition="none")
    expected = perft(game, 2)
    monkeypatch.setattr(module, "_CALL_BYTES", 2**17)
    expand = module._Expansion(game)
    assert perft(game, 2) == expected
    assert max(expand.afterstate.sizes) < module._BATCHES[0]
    for batched in (expand.legal_actions, expand.afterstate):
        memory = batched._program(max(batched.sizes)).memory_analysis()
        assert memory.temp_size_in_bytes + memory.output_size_in_bytes <= 2**17


def test_only_legal_actions_are_followed(monkeypatch):
    followed = []
    call = module._Batched.__call__

    def counting(self, states, *actions):
        followed.extend(len(a) for a in actions)
        return call(self, states, *actions)

    monkeypatch.setattr(module._Batched, "__call__", counting)
    perft(TicTacToe(), 2)
    assert followed == [9, 72]


def test_rows_are_told_one_by_one_and_positions_that_do_not_fit_are_refused(monkeypatch):
    rows = []

    def told(row):
        rows.append(row.paths)
        if row.depth == 2:
            monkeypatch.setattr(module, "free_memory", lambda: 1000.0)

    with pytest.raises(ValueError, match="positions of ply 3 need more memory than there is"):
        perft(TicTacToe(), 9, told)
    assert rows == [9, 72]


def test_a_position_without_a_legal_action_is_named(monkeypatch):
    # Random play of the check would see this one; where it is rare, it does not.
    monkeypatch.setattr(module, "check_own", lambda game: None)

    class Stuck(TicTacToe):
        def legal_actions(self, state):
            return (
                super().legal_actions(state)
                & (self.cells(state) == self.cells(self.init(None))).all()
            )

    with pytest.raises(ValueError, match="ply 2: a position that is not terminal has no legal"):
        perft(Stuck(), 3)


@pytest.mark.slow
def test_connectfour_has_the_known_paths_and_positions_further_on():
    rows = perft(ConnectFour(), 11)
    assert [row.paths for row in rows[7:9]] == [5673234, 39394572]
    assert [row.positions for row in rows] == CONNECTFOUR_POSITIONS


@pytest.mark.slow
def test_hex_has_the_known_paths():
    paths = [9, 72, 504, 3024, 15120, 54720, 146880, 207360, 120960]
    assert [row.paths for row in perft(Hex(size=3), 9)] == paths
    assert [row.paths for row in perft(Hex(), 3)] == [36, 1260, 42840]


@pytest.mark.slow
def test_othello_has_the_known_paths_and_positions():
    rows = perft(Othello(), 6)
    assert [row.paths for row in rows] == [4, 12, 56, 244, 1396, 8200]
    assert rows[3].positions == 236


@pytest.mark.slow
def test_othello_has_the_known_paths_further_on():
    # A pass is no ply of ours; the first one that can be forced comes later.
    assert [row.paths for row in perft(Othello(), 8)[6:]] == [55092, 390216]


def test_nim_has_the_known_paths():
    assert [row.paths for row in perft(Nim(), 4)] == [15, 180, 1680, 12015]


@pytest.mark.parametrize("rule", ["last_wins", "last_loses"])
def test_the_taker_of_the_last_item_is_the_mover_of_that_ply(rule):
    paid = {"last_wins": 1.0, "last_loses": -1.0}[rule]
    for row in perft(Nim(rule=rule), 15):
        first = paid if row.depth % 2 else -paid
        assert set(row.ended) <= {(first, -first)}


def test_nim3p_is_paid_to_the_players_around_the_last_taker():
    for row in perft(jaxgbg.make("nim3p"), 15):
        taker = (row.depth - 1) % 3
        for rewards in row.ended:
            around = [rewards[(taker + seat) % 3] for seat in range(3)]
            assert around == pytest.approx([0.0, 1.0, 0.2])


@pytest.mark.parametrize("size", [1, 4, 9])
def test_games_on_one_heap_are_the_compositions_of_its_size(size):
    """n has 2**(n - 1) compositions, and Fibonacci(n + 1) of them use only ones and twos."""
    free = games_by_result(perft(Nim(heaps=1, size=size), size))
    assert sum(free.values()) == 2 ** (size - 1)
    short = games_by_result(perft(Nim(heaps=1, size=size, max_take=min(2, size)), size))
    fibonacci = sum(math.comb(size - twos, twos) for twos in range(size // 2 + 1))
    assert sum(short.values()) == fibonacci


def test_counting_in_small_batches_changes_nothing(monkeypatch):
    expected = perft(TicTacToe(), 9)
    monkeypatch.setattr("jaxgbg.games.perft._BATCHES", (8, 32))
    assert perft(TicTacToe(), 9) == expected


def test_rows_end_with_the_longest_game():
    assert [row.depth for row in perft(Nim(heaps=1, size=3), 99)] == [1, 2, 3]
    with pytest.raises(ValueError, match="depth must lie in"):
        perft(Nim(), 0)


def test_games_that_list_no_outcomes_of_chance_are_refused():
    class Dice(TicTacToe):
        def spawn(self, state, key):
            return state._replace(player=jax.random.bernoulli(key).astype("int8"))

    with pytest.raises(ValueError, match="does not list them"):
        perft(Dice(), 1)


def test_counts_beyond_int64_are_refused():
    with pytest.raises(ValueError, match="too many paths"):
        perft(Nim(heaps=1, size=100), 50)
