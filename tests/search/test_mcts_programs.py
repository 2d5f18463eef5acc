"""MCTS as a compiled program: its room, what it keeps in memory, devices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Hex, TicTacToe
from jaxgbg.search import devices, mcts
from jaxgbg.search.devices import _compile, mesh_of
from jaxgbg.search.mcts import MCTS, MCTSSpec
from jaxgbg.search.outcomes import table_bytes
from jaxgbg.search.simulation import new_tree, simulate
from tests.games.pig import Pig
from tests.internals import copied_sizes
from tests.search.agents import counted, printed_with_devices, random_positions


class _DrawnHex(Hex):
    """Hex whose random play is won by whom the words say."""

    def playout(self, state, words):
        return jnp.where(words[1] % 2, 1.0, -1.0) * jnp.array([1.0, -1.0])


@pytest.mark.slow
def test_a_search_does_not_depend_on_the_rest_of_the_batch(monkeypatch):
    game = TicTacToe()
    states, player = random_positions(game, 20, 3)[0], MCTS(game, MCTSSpec(iterations=100))
    whole = player.search(states, jax.random.key(4))
    others = jnp.arange(20) % 3 != 0
    positions = states._replace(terminal=states.terminal | others)
    part = player.search(positions, jax.random.key(4))
    monkeypatch.setattr(MCTS, "max_trees", 3)
    chunks = player.search(positions, jax.random.key(4))
    for all_rows, rows, again in zip(whole, part, chunks, strict=True):
        assert (np.asarray(rows) == np.where(others[:, None], 0, all_rows)).all()
        assert (np.asarray(rows) == np.asarray(again)).all()


def test_trees_stay_within_their_memory():
    player = MCTS(Hex(), MCTSSpec(iterations=9_999, megabytes=100))
    assert player.max_trees == 23
    assert 23 * 12 * 10_000 * 36 < 100e6 < 24 * 12 * 10_000 * 36


@pytest.mark.slow
def test_strengths_of_one_capacity_share_a_program_that_changes_no_bit(monkeypatch):
    traced = []
    monkeypatch.setattr(mcts, "simulate", counted(simulate, traced))
    game = _DrawnHex(size=3)
    states, key = random_positions(game, 8, 2)[0], jax.random.key(1)
    roots = [MCTS(game, MCTSSpec(n, exploration=1.1)).search(states, key) for n in (50, 60)]
    assert traced == [64]
    assert [each.visits.sum(1).max() for each in roots] == [50, 60]
    monkeypatch.setattr(MCTS, "_roomy", lambda search, searches: search)
    exact = MCTS(game, MCTSSpec(60, exploration=1.1)).search(states, key)
    assert traced == [64, 60]
    for ours, theirs in zip(roots[1], exact, strict=True):
        assert (np.asarray(ours) == np.asarray(theirs)).all()


def test_only_games_of_chance_have_a_table_of_outcomes():
    tree = new_tree(
        MCTS(TicTacToe(), MCTSSpec(iterations=9)), random_positions(TicTacToe(), 2, 0)[0]
    )
    assert tree.outcomes is None
    assert tree.edges.shape == (2 * 10, 3, 9)
    by_chance = new_tree(MCTS(Pig(), MCTSSpec(iterations=9)), random_positions(Pig(), 2, 0)[0])
    assert by_chance.edges.shape == (2 * 10, 2, 2)
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(by_chance))
    assert size // 2 == 8 * 2 * 10 + table_bytes(9) + 8


def test_trees_have_more_room_only_where_all_searches_have_it():
    player = MCTS(Hex(), MCTSSpec(iterations=9_999, megabytes=100))
    assert player._roomy(14).capacity == 2**14
    assert player._roomy(15) == player


def test_finished_games_are_not_searched(monkeypatch):
    states = random_positions(Hex(), 5, 0)[0]
    states = states._replace(terminal=jnp.ones(5, bool))
    monkeypatch.setattr(devices, "_compile", lambda *given: None)
    assert MCTS(Hex()).choose(states, jax.random.key(0)).tolist() == [0] * 5


@pytest.mark.slow
def test_the_loop_copies_no_trees():
    game, batch, iterations = Hex(), 16, 1000
    search = _compile(simulate, MCTS(game, MCTSSpec(iterations)), mesh_of(1))
    states = jax.eval_shape(lambda: random_positions(game, batch, 0)[0])
    lanes = jax.ShapeDtypeStruct((batch,), jnp.uint32)
    compiled = search.lower((), states, lanes, iterations, jax.random.key(0)).compile()
    size = 3 * batch * (iterations + 1) * game.num_actions
    assert all(copied < size for copied in copied_sizes(compiled, "f32"))
    assert 4 * size <= compiled.memory_analysis().temp_size_in_bytes < 4.5 * size


_TWO_DEVICES = """
import jax, numpy as np
from jaxgbg.games import TicTacToe
from jaxgbg.search.mcts import MCTS, MCTSSpec
states = jax.vmap(TicTacToe().init)(jax.random.split(jax.random.key(0), 7))
roots = MCTS(TicTacToe(), MCTSSpec(iterations=60)).search(states, jax.random.key(1))
print(len(jax.devices()), np.asarray(roots.visits).tobytes().hex())
"""


@pytest.mark.slow
def test_two_devices_find_what_one_finds():
    visits_by_count = []
    for count in (1, 2):
        devices, visits = printed_with_devices(count, _TWO_DEVICES).split()
        assert int(devices) == count
        visits_by_count.append(visits)
    assert visits_by_count[0] == visits_by_count[1]
