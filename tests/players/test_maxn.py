import dataclasses
import itertools
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Nim, TicTacToe
from jaxgbg.games.nim import NimState
from jaxgbg.games.tictactoe import TicTacToeState
from jaxgbg.players import MaxN, RandomPlayer
from tests.games.batches import each

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def _start(game, batch):
    return each(game.init, jax.random.split(jax.random.key(0), batch))


def _play(game, seats, batch, seed):
    """Final rewards [B, N] of `batch` games between `seats`, player by player to move."""
    states, move = _start(game, batch), jax.jit(jax.vmap(game.afterstate))
    for ply in range(game.max_plies):
        key = jax.random.fold_in(jax.random.key(seed), ply)
        states = move(states, seats[ply % len(seats)].act(states, key))
    assert states.terminal.all()
    return np.asarray(states.rewards)


def _winner(board):
    return next((board[a] for a, b, c in LINES if board[a] and board[a] == board[b] == board[c]), 0)


@cache
def _minimax(board, mover):
    """Outcome of a TicTacToe board (0 empty, +1 / -1 stones) for the first player."""
    if _winner(board) or 0 not in board:
        return _winner(board)
    return mover * max(mover * value for value in _minimax_moves(board, mover).values())


def _minimax_moves(board, mover):
    return {
        cell: _minimax(board[:cell] + (mover,) + board[cell + 1 :], -mover)
        for cell in range(9)
        if not board[cell]
    }


def test_max_n_agrees_with_minimax_on_every_tictactoe_position():
    _minimax((0,) * 9, 1)
    boards = []

    def visit(board, mover, seen=set()):  # noqa: B006
        if board in seen:
            return
        seen.add(board)
        boards.append((board, mover))
        if not _winner(board):
            for cell in range(9):
                if not board[cell]:
                    visit(board[:cell] + (mover,) + board[cell + 1 :], -mover)

    visit((0,) * 9, 1)
    assert len(boards) == 5478
    stones = [
        [sum(1 << c for c in range(9) if b[c] == side) for side in (1, -1)] for b, _ in boards
    ]
    terminal = np.array([bool(_winner(b)) or 0 not in b for b, _ in boards])
    states = TicTacToeState(
        jnp.array(stones, jnp.int32),
        jnp.array([0 if mover == 1 else 1 for _, mover in boards], jnp.int8),
        jnp.array(terminal),
        jnp.array([[_winner(b), -_winner(b)] for b, _ in boards], jnp.float32),
    )
    player = MaxN(TicTacToe())
    values, best = np.asarray(player.values(states)), np.asarray(player.best_actions(states))
    for (board, mover), value, allowed, over in zip(boards, values, best, terminal, strict=True):
        outcome = _minimax(board, mover)
        assert value.tolist() == [outcome, -outcome]
        moves = {} if over else _minimax_moves(board, mover)
        good = {cell for cell, result in moves.items() if result == outcome}
        assert set(np.flatnonzero(allowed)) == good


def test_the_empty_tictactoe_board_is_a_draw_after_every_first_move():
    player, states = MaxN(TicTacToe()), _start(TicTacToe(), 1)
    assert player.values(states).tolist() == [[0, 0]]
    assert player.best_actions(states).all()


def test_max_n_against_itself_always_draws_tictactoe():
    game = TicTacToe()
    assert (_play(game, [MaxN(game), MaxN(game)], 500, seed=1) == 0).all()


@pytest.mark.slow
def test_max_n_never_loses_tictactoe_to_a_random_player_and_mostly_wins():
    game = TicTacToe()
    perfect, random = MaxN(game), RandomPlayer(game)
    as_first = _play(game, [perfect, random], 1000, seed=2)[:, 0]
    as_second = _play(game, [random, perfect], 1000, seed=3)[:, 1]
    assert as_first.min() >= 0
    assert as_second.min() >= 0
    assert as_first.mean() > 0.8
    assert as_second.mean() > 0.6


def _nim_states(game, heaps, player):
    count = len(heaps)
    return NimState(
        jnp.array(heaps, jnp.int8),
        jnp.full(count, player, jnp.int8),
        (jnp.array(heaps) == 0).all(axis=1),
        jnp.zeros((count, game.num_players), jnp.float32),
    )


def _takes(heaps, max_take):
    """(action, heaps after it) of every legal move, by action index."""
    for heap, items in itertools.product(range(len(heaps)), range(1, max_take + 1)):
        if items <= heaps[heap]:
            left = heaps[:heap] + (heaps[heap] - items,) + heaps[heap + 1 :]
            yield heap * max_take + items - 1, left


def _reachable(heaps, max_take, players):
    """Every (heaps, player) that play from the start reaches."""
    reached, left = set(), [(heaps, 0)]
    while left:
        position = left.pop()
        if position not in reached:
            reached.add(position)
            left += [(h, (position[1] + 1) % players) for _, h in _takes(position[0], max_take)]
    return sorted(reached)


def test_nim_is_lost_exactly_where_the_heaps_xor_to_zero():
    """Bouton 1901: a position is lost for the mover if and only if the xor of the heaps is 0."""
    game = Nim()
    positions = _reachable((5, 5, 5), 5, 2)
    assert len({heaps for heaps, _ in positions}) == 216
    for player in (0, 1):
        heaps = [h for h, p in positions if p == player and any(h)]
        states = _nim_states(game, heaps, player)
        values = np.asarray(MaxN(game).values(states))[:, player]
        best = np.asarray(MaxN(game).best_actions(states))
        for h, value, allowed in zip(heaps, values, best, strict=True):
            lost = h[0] ^ h[1] ^ h[2] == 0
            assert value == (-1 if lost else 1)
            good = {a for a, (x, y, z) in _takes(h, 5) if lost or x ^ y ^ z == 0}
            assert set(np.flatnonzero(allowed)) == good


# Final rewards by distance from the player of the last move: himself, the next, the one before.
PAYMENTS = {"nim3p": (0.0, 1.0, 0.2), "last_wins": (1.0, -1.0, -1.0)}


@cache
def _max_n(heaps, mover, rule):
    """Nim for three by plain recursion: (tuple handed up, set of best actions)."""
    if not any(heaps):
        return tuple(PAYMENTS[rule][(seat - mover + 1) % 3] for seat in range(3)), frozenset()
    best_tuple, best = None, []
    for action, left in _takes(heaps, 5):
        rewards = _max_n(left, (mover + 1) % 3, rule)[0]
        if best_tuple is None or rewards[mover] > best_tuple[mover]:
            best_tuple, best = rewards, [action]
        elif rewards[mover] == best_tuple[mover]:
            best.append(action)
    return best_tuple, frozenset(best)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "first_child_matters"), [("nim3p", False), ("last_wins", True)])
def test_nim_for_three_agrees_with_recursion_that_hands_up_the_first_best(
    rule, first_child_matters
):
    game = Nim(players=3, rule=rule)
    ambiguous = 0
    positions = _reachable((5, 5, 5), 5, 3)
    for player in range(3):
        heaps = [h for h, p in positions if p == player and any(h)]
        states = _nim_states(game, heaps, player)
        values = np.asarray(MaxN(game).values(states))
        best = np.asarray(MaxN(game).best_actions(states))
        for h, value, allowed in zip(heaps, values, best, strict=True):
            expected, actions = _max_n(h, player, rule)
            np.testing.assert_allclose(value, expected, atol=1e-7)
            assert set(np.flatnonzero(allowed)) == actions
            children = dict(_takes(h, 5))
            after = {_max_n(children[a], (player + 1) % 3, rule)[0] for a in actions}
            ambiguous += len(after) > 1
    # In Nim3P the mover's own reward names the whole tuple. Where only the last item pays, a loser
    # decides who wins, and the choice of child shows.
    assert (ambiguous > 20) == first_child_matters
    assert first_child_matters or ambiguous == 0


def test_the_root_choice_is_uniform_among_the_best_actions():
    game = TicTacToe()
    states = _start(game, 9000)
    counts = np.bincount(MaxN(game).act(states, jax.random.key(5)), minlength=9)
    # Chi-square with 8 degrees of freedom: above 30 with probability 0.0002.
    assert ((counts - 1000) ** 2 / 1000).sum() < 30


def test_a_terminal_state_has_its_rewards_as_value_and_no_best_action():
    game = TicTacToe()
    state = game.init(jax.random.key(0))
    for cell in (0, 3, 1, 4, 2):
        state = game.afterstate(state, jnp.int32(cell))
    states = jax.tree.map(lambda leaf: leaf[None], state)
    assert MaxN(game).values(states).tolist() == [[1, -1]]
    assert not MaxN(game).best_actions(states).any()
    assert MaxN(game).act(states, jax.random.key(0)).shape == (1,)


def test_a_position_that_no_play_reaches_has_no_value_and_gets_a_legal_move():
    game = TicTacToe()
    stray = TicTacToeState(  # two stones of the second player, none of the first
        jnp.array([[0, 0b11]] * 100, jnp.int32),
        jnp.zeros(100, jnp.int8),
        jnp.zeros(100, bool),
        jnp.zeros((100, 2), jnp.float32),
    )
    assert np.isnan(MaxN(game).values(stray)).all()
    assert set(MaxN(game).act(stray, jax.random.key(0)).tolist()) == set(range(2, 9))


def test_act_can_be_traced_into_a_larger_program():
    game = TicTacToe()
    player, states = MaxN(game), _start(game, 20)
    traced = jax.jit(player.act)(states, jax.random.key(7))
    assert traced.tolist() == player.act(states, jax.random.key(7)).tolist()


@dataclasses.dataclass(frozen=True)
class _DicedNim(Nim):
    def spawn(self, state, key):
        return state


@dataclasses.dataclass(frozen=True)
class _CircularNim(Nim):
    """A heap that has come down to one item is filled again: play need not end."""

    def afterstate(self, state, action):
        moved = super().afterstate(state, action)
        refill = (moved.heaps == 1) & ~moved.terminal
        return moved._replace(heaps=jnp.where(refill, jnp.int8(self.size), moved.heaps))


def test_games_that_repeat_and_chance_that_is_not_listed_are_refused():
    with pytest.raises(ValueError, match="maxn needs the outcomes of chance: nim does not list"):
        MaxN(_DicedNim())
    with pytest.raises(ValueError, match="repeat"):
        MaxN(_CircularNim(heaps=2, size=3))
