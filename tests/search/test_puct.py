"""PUCT over a value function, against a plain one that searches one position in float64."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import Game, TicTacToe
from jaxgbg.players import GreedyAgent, MaxN
from jaxgbg.search.puct import PUCT, PUCTSpec, most_visited
from jaxgbg.search.tree import RootStatistics
from jaxgbg.values import NTupleSpec
from tests.games.batches import each
from tests.reference.puct import PUCT as Reference
from tests.search.agents import (
    compare_with_plain_search,
    make_small,
    random_agent,
    random_positions,
    reference_states,
    reference_value,
)

_SETTINGS = {"exploration": 1.7, "temperature": 0.5, "unvisited": 0.1}


@pytest.mark.parametrize(
    ("name", "start", "settings"),
    [
        ("nim3p", 2, {}),
        # From the start: a player who leaves while two go on is looked at.
        ("knockout", 0, {}),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                ("nim3p", 3, _SETTINGS),
                ("tictactoe", 2, {}),
                ("tictactoe", 4, _SETTINGS),
                ("connectfour", 7, {}),
                ("connectfour", 8, _SETTINGS),
                ("hex", 4, {}),
                ("othello", 5, {}),
                ("othello", 4, _SETTINGS),
            ]
        ),
    ],
)
def test_visits_are_those_of_a_plain_search_in_float64(name, start, settings):
    states, actions = random_positions(make_small(name), 8, start)
    assert compare_with_plain_search(name, states, actions, 150, **settings) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start"), [("nim3p", 2), ("tictactoe", 3), ("connectfour", 7), ("othello", 5)]
)
def test_values_of_actions_lead_the_search_as_they_lead_a_plain_one(name, start):
    states, actions = random_positions(make_small(name), 8, start)
    settings = {} if name == "nim3p" else _SETTINGS
    compared = compare_with_plain_search(name, states, actions, 150, of_actions=True, **settings)
    assert compared >= 3


@pytest.mark.slow
def test_othello_positions_with_a_pass_are_among_those_compared():
    game, value = reference_value("othello", random_agent(make_small("othello")))
    states, actions = random_positions(make_small("othello"), 8, 5)
    search = Reference(game, value, 150)
    roots = [search.search(s) for s in reference_states("othello", states, actions)]

    def has_pass(node):
        return any(
            child.state.player == node.state.player or has_pass(child)
            for child in node.children.values()
        )

    assert any(map(has_pass, roots))


def _after(game, *actions):
    """states[1] after these actions."""
    state = game.init(jax.random.key(0))
    for action in actions:
        state = game.afterstate(state, jnp.int32(action))
    return jax.tree.map(lambda leaf: leaf[None], state)


def _know_nothing(game):
    """An agent to whom all positions are worth 0."""
    value = NTupleSpec(layout=((0,),)).build(game, False, 1)
    return GreedyAgent(game, value, value.with_weights(np.zeros(value.num_weights, np.float32)))


@pytest.mark.slow
def test_the_end_of_a_game_is_worth_its_rewards():
    game = TicTacToe()
    player = jaxgbg.search(_know_nothing(game), iterations=300)
    # Player 0 wins on 2, or has to stop a win on 5.
    win = player.statistics(_after(game, 0, 3, 1, 4))
    assert win.values[0, 2] == 1
    assert win.visits[0].argmax() == 2
    threat = player.statistics(_after(game, 0, 3, 8, 4))
    assert threat.visits[0].argmax() == 5
    # Whatever else is tried loses, as soon as the answer is found.
    others = np.flatnonzero(threat.visits[0] > 30)
    assert (threat.values[0, others[others != 5]] < -0.5).all()


class _AllForTheFirst(PUCT):
    """A fault: everybody looks for what player 0 gets."""

    def evaluate(self, params, leaves, keys, number, draws):
        values, line = super().evaluate(params, leaves, keys, number, draws)
        return jnp.broadcast_to(values[:, :1], values.shape), line


@pytest.mark.slow
def test_each_of_three_players_looks_for_his_own():
    game = jaxgbg.make("nim3p")
    states, _ = random_positions(game, 128, 7)
    left = np.asarray(states.heaps).sum(1)
    states = jax.tree.map(lambda leaf: leaf[(left > 0) & (left <= 5)], states)
    best = np.asarray(MaxN(game).best_actions(states))
    agent, settings = _know_nothing(game), PUCTSpec(400, exploration=0.25)
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    shares = []
    for kind in (PUCT, _AllForTheFirst):
        search = jax.jit(kind(game, agent.value, settings).search)
        visits = np.asarray(search(params, states, 400, jax.random.key(0)).visits)
        shares.append(best[np.arange(len(best)), visits.argmax(1)].mean())
    assert len(best) > 30
    assert shares[0] > 0.98
    assert shares[1] < 0.9


class _LotteryState(NamedTuple):
    ticket: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class _Lottery(Game):
    """One move: action 0 is worth 0.5, action 1 a ticket that wins 1 in seven of ten draws."""

    name = "lottery"
    num_players = 1
    num_actions = 2
    num_cells = 1
    num_cell_values = 2
    max_plies = 1
    spawn_words = 1

    def init(self, key):
        return _LotteryState(
            jnp.bool_(False), jnp.int8(0), jnp.bool_(False), jnp.zeros(1, jnp.float32)
        )

    def legal_actions(self, state):
        return jnp.full(2, ~state.terminal & ~state.ticket)

    def afterstate(self, state, action):
        legal = self.in_range(action) & ~state.terminal & ~state.ticket
        paid = jnp.where(legal & (action == 0), 0.5, state.rewards)
        return state._replace(
            ticket=state.ticket | (legal & (action == 1)),
            terminal=state.terminal | (legal & (action == 0)),
            rewards=paid.astype(jnp.float32),
        )

    def spawn(self, state, key):
        return self.spawn_from(state, jax.random.bits(key, (1,)))

    def spawn_from(self, state, words):
        drawn = state.ticket & ~state.terminal
        won = words[0] < np.uint32(0.7 * 2**32)
        rewards = jnp.where(drawn & won, 1.0, state.rewards)
        return state._replace(terminal=state.terminal | drawn, rewards=rewards)

    def cells(self, state):
        return state.ticket[None].astype(jnp.int8)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1, 4, 50])
def test_a_move_is_worth_the_mean_of_as_many_draws_of_chance(width):
    game = _Lottery()
    states = each(game.init, jax.random.split(jax.random.key(0), 400))
    # So much exploration that both actions are tried over and over.
    player = jaxgbg.search(_know_nothing(game), 400, exploration=100, width=width)
    roots = player.statistics(states, jax.random.key(1))
    visits, values = np.asarray(roots.visits), np.asarray(roots.values)
    assert (values[:, 0] == 0.5).all()
    assert (visits[:, 1] >= 100).all()
    wins = values[:, 1] * width
    # Draws take turns: they count alike, but for the last turn.
    assert np.abs(wins - wins.round()).max() <= width**2 / 100
    error = np.sqrt(0.21 / width / 400)
    assert abs(values[:, 1].mean() - 0.7) < 4 * error
    assert np.isclose(values[:, 1].std(), np.sqrt(0.21 / width), rtol=0.2)


@pytest.mark.slow
def test_2048_is_searched_by_its_draws():
    game = make_small("2048")
    states = random_positions(game, 6, 30)[0]
    player = jaxgbg.search(random_agent(game), 60, width=3)
    roots = [player.statistics(states, jax.random.key(key)) for key in (1, 1, 2)]
    legal = np.asarray(each(game.legal_actions, states))
    for visits, values in roots:
        assert (np.asarray(visits).sum(1) == 60).all()
        assert (np.asarray(visits)[~legal] == 0).all()
        assert np.isfinite(values).all()
    first, again, other = (np.asarray(each.values) for each in roots)
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
def test_one_iteration_is_the_choice_of_the_agent_itself():
    game = TicTacToe()
    states = random_positions(game, 16, 3)[0]
    # The sixth has been played to its end.
    states = states._replace(terminal=states.terminal | (jnp.arange(16) == 5))
    agents = [random_agent(game, seed) for seed in (1, 2)]
    params = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *(a.params for a in agents))
    both = GreedyAgent(game, agents[0].value, params, several=True)
    player = jaxgbg.search(both, 1)
    assert player.copies == 2
    moves = np.asarray(player.act(states, jax.random.key(0)))
    # Each agent by its own values; mirrored moves are equally good.
    for agent, half in zip(agents, (slice(0, 8), slice(8, 16)), strict=True):
        q = np.asarray(agent.action_values(states))[half]
        live = ~np.asarray(states.terminal)[half]
        assert (q[np.arange(8), moves[half]] == q.max(1))[live].all()
    assert moves[5] == 0
    assert jaxgbg.search(agents[0], 1).play_move(_after(game, 0, 4)) in range(9)


def test_the_most_visited_action_is_played_then_the_best_then_any():
    visits = jnp.array([[3, 5, 5, 0], [2, 2, 2, 2], [0, 0, 0, 0]])
    values = jnp.array([[0.9, 0.1, 0.2, 0], [-0.5, 0.3, 0.3, 0.1], [0, 0, 0, 0.0]])
    roots = RootStatistics(visits, values)
    moves = np.array([most_visited(roots, jax.random.key(key)) for key in range(20)])
    assert set(moves[:, 0]) == {2}
    assert set(moves[:, 1]) == {1, 2}
    assert set(moves[:, 2]) == {0}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations": 0}, r"iterations must lie in \[1, 16,777,215\], not 0"),
        ({"iterations": 2**24}, "iterations must lie in"),
        ({"iterations": 1.5}, "iterations must be a whole number"),
        ({"exploration": -1}, "exploration must lie in"),
        ({"temperature": 0}, "temperature must lie in"),
        ({"unvisited": float("nan")}, "unvisited must be a number"),
        ({"width": 0}, "width must lie in"),
        ({"megabytes": 0}, "one tree of 200 iterations takes 1 megabytes in tictactoe"),
    ],
)
def test_settings_out_of_range_are_refused_in_one_line(settings, message):
    with pytest.raises(ValueError, match=message) as error:
        jaxgbg.search(random_agent(TicTacToe()), **settings)
    assert "\n" not in str(error.value)
