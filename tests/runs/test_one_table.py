"""Agents with one table for all players: trained, saved, searched with, joined and shown."""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import Hex, Sim, TicTacToe
from jaxgbg.games.sampling import sample_games
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.agents import SavedAgent, load_agent, save_agent
from jaxgbg.runs.storage.ensembles import ensemble
from jaxgbg.values import NTupleSpec
from jaxgbg.web.export.file import game_file
from jaxgbg.web.play import requests
from jaxgbg.web.play.table import Table
from tests.web.tables import drawn_agent

LAYOUT = ((0, 1, 2, 4), (4, 3, 8, 7))


def saved_agent(seed: int, **changes) -> SavedAgent:
    run = preset("tictactoe", seeds=(seed,), layout=LAYOUT, one_table=True, **changes)
    size = run.make_learner().value.num_weights
    weights = np.random.default_rng(seed).normal(0, 0.1, size).astype(np.float32)
    return SavedAgent(run, "farl", weights)


def with_a_table_for_each(agent: GreedyAgent) -> GreedyAgent:
    """The agent of TicTacToe that has the same values, written into tables of both players."""
    game = agent.game
    one = np.asarray(agent.params.weights[0])
    value = NTupleSpec(layout=agent.value.tables.tuples).build(game, False, 1)
    parts, at = [], 0
    for player, cells in itertools.product((0, 1), value.tuples):
        at = at % len(one)
        # Digits of an index, the lowest first; the other player sees X as O.
        digits = np.array([*itertools.product(range(3), repeat=len(cells))])[:, ::-1]
        seen = 2 - digits if player else digits
        parts.append(one[at + seen @ 3 ** np.arange(len(cells))])
        at += 3 ** len(cells)
    return GreedyAgent(game, value, value.with_weights(jnp.asarray(np.concatenate(parts))))


def states_of(game, plies):
    found = sample_games(game).states
    return jax.tree.map(lambda leaf: leaf[:plies].reshape(-1, *leaf.shape[2:]), found)


def test_an_agent_comes_back_with_the_table_of_one_player(tmp_path):
    agent, path = saved_agent(1), tmp_path / "one.agent"
    save_agent(path, agent)
    loaded = load_agent(path, "tictactoe")
    assert loaded.run.value.one_table
    assert loaded.weights.shape == (2 * 3**4,)
    np.testing.assert_array_equal(loaded.weights, agent.weights)
    states = states_of(TicTacToe(), 4)
    values = np.asarray(loaded.player().action_values(states))
    legal = np.asarray(jax.vmap(TicTacToe().legal_actions)(states))
    expected = with_a_table_for_each(agent.player()).action_values(states)
    np.testing.assert_allclose(values[legal], np.asarray(expected)[legal], atol=1e-6)
    assert np.ptp(values[legal]) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("how", ["look-ahead,plies=2", "puct-24"])
def test_searches_find_what_they_find_with_a_table_for_each(how):
    agent = saved_agent(2).player()
    each = with_a_table_for_each(agent)
    states = states_of(TicTacToe(), 5)
    going = ~np.asarray(states.terminal)
    moves = [
        np.asarray(jaxgbg.search(player, how).act(states, jax.random.key(0)))[going]
        for player in (agent, each)
    ]
    # Values of two moves may differ in their last bits alone.
    assert np.mean(moves[0] == moves[1]) > 0.97
    assert len(np.unique(moves[0])) > 4


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["td", "sarsa", "q", "td-off-policy", "td-leaf", "td-search"])
@pytest.mark.parametrize("name", ["tictactoe", "nim3p"])
def test_every_learner_trains_and_its_agents_play(learner, name, tmp_path):
    settings = {"episodes": 40, "eval_every": 40, "batch": 8, "seeds": (0,), "trace_decay": 0.0}
    run = preset(name, learner=learner, opponents=("random",), one_table=True, **settings)
    run = dataclasses.replace(run, variants=("farl", "none"))
    folder = jaxgbg.train(run, tmp_path)
    assert {one.variant for one in folder.results()} == {*run.variants}
    for path in (folder.path / "agents").iterdir():
        agent = load_agent(path)
        owners = agent.run.value.layout_of(run.game, 0)
        actions = run.game.num_actions if run.learner.of_actions else 1
        assert len(agent.weights) == actions * sum(
            run.game.num_cell_values ** len(cells) for cells in owners
        )
        values = np.asarray(agent.player().action_values(states_of(run.game, 1)))
        assert np.isfinite(values).all()


def test_an_ensemble_has_the_mean_of_the_sums_and_only_of_its_kind():
    agents = [saved_agent(seed) for seed in (3, 4)]
    joined = ensemble(dict(zip("ab", agents, strict=True)))
    states = states_of(TicTacToe(), 4)
    sums = [
        np.arctanh(np.clip(agent.player().action_values(states), -0.999, 0.999))
        for agent in (*agents, joined)
    ]
    inner = (np.abs(sums) < 3).all(0)
    assert inner.mean() > 0.5
    np.testing.assert_allclose(sums[2][inner], (sums[0] + sums[1])[inner] / 2, atol=2e-5)
    run = dataclasses.replace(
        agents[1].run, value=dataclasses.replace(agents[1].run.value, one_table=False)
    )
    other = SavedAgent(run, "farl", np.tile(agents[1].weights, 2))
    with pytest.raises(ValueError, match="b and a do not go together: one_table differs"):
        ensemble({"a": agents[0], "b": other})


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["4", "4,0"])
def test_the_play_page_shows_the_tuples_where_they_are_on_the_board(moves):
    game = Hex(size=3)
    agent = drawn_agent(game, one_table=True, layout=((0, 1, 3), (4, 5, 8)))
    table = Table(game, {"drawn": agent})
    answer = table.tuples(requests.Tuples(moves, cell=4))
    board = [1 if cell == 4 else 2 if cell == 0 and "," in moves else 0 for cell in range(9)]
    assert answer["tuples"]
    for each in answer["tuples"]:
        assert 4 in each["cells"]
        assert each["digits"] == [board[cell] for cell in each["cells"]]
    assert answer["total"] == pytest.approx(np.arctanh(answer["value"]), abs=2e-4)
    if moves == "4":
        # Player 0 owns the table; the other one reads the transposed board.
        assert {tuple(each["cells"]) for each in answer["tuples"]} <= {(4, 5, 8), (4, 3, 0)}
    table.close()


@pytest.mark.slow
@pytest.mark.parametrize("game", [Hex(size=3), Sim(nodes=5, players=3)], ids=repr)
def test_an_agent_becomes_a_file(game):
    assert "drawn" in game_file(game, {"drawn": drawn_agent(game, one_table=True)})
