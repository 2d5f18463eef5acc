import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games.rollout import select_states
from jaxgbg.learners import QSpec, Schedule
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.players import GreedyAgent, LookAheadAgent, MaxN
from jaxgbg.search.lookahead import LookAhead, LookAheadSpec
from jaxgbg.values import MLPSpec, NTupleSpec
from tests.games.batches import each
from tests.reference.lookahead import LookAhead as Reference
from tests.search.agents import (
    REFERENCES,
    make_small,
    random_agent,
    random_positions,
    reference_states,
    reference_value,
    tuples,
)


def _scores(search, agent, states):
    """float32[B, A] by the agent's only copy."""
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    return np.asarray(jax.jit(search.action_values)(params, states, jax.random.key(0)))


def _on_the_way(game, batch, plies):
    parts = [random_positions(game, batch, n, seed=n)[0] for n in plies]
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)


def _reference(name, agent, **settings):
    return Reference(*reference_value(name, agent), **settings)


@pytest.mark.parametrize(
    ("name", "plies", "settings"),
    [
        ("nim3p", 3, {}),
        # Where rewards come on the way, and players leave before the end.
        pytest.param("knockout", 3, {}, marks=pytest.mark.slow),
        pytest.param("knockout", 3, {"reply": "value", "width": (3, 2)}, marks=pytest.mark.slow),
        pytest.param("nim3p", 4, {"reply": "value", "width": (2, 3, 2)}, marks=pytest.mark.slow),
        pytest.param("othello", 3, {}, marks=pytest.mark.slow),
        pytest.param("othello", 4, {"reply": "value"}, marks=pytest.mark.slow),
        pytest.param("othello", 3, {"width": (2, 2)}, marks=pytest.mark.slow),
        pytest.param("connectfour", 3, {}, marks=pytest.mark.slow),
        pytest.param("connectfour", 3, {"reply": "value", "width": (3, 1)}, marks=pytest.mark.slow),
        pytest.param("connectfour", 2, {"reply": "value"}, marks=pytest.mark.slow),
        pytest.param("2048", 2, {}, marks=pytest.mark.slow),
        pytest.param("2048", 3, {"width": (2, 1)}, marks=pytest.mark.slow),
    ],
)
def test_it_is_plain_recursion_in_float64(name, plies, settings):
    starts = {"nim3p": 2, "knockout": 2, "othello": 5, "connectfour": 9, "2048": 60}
    game, start = make_small(name), starts[name]
    states, actions = random_positions(game, 8, start)
    agent = random_agent(game)
    search = LookAhead(game, agent.value, LookAheadSpec(plies, **settings))
    scores = _scores(search, agent, states)
    plain = dict(settings)
    paranoid = plain.pop("reply", "own") == "value"
    reference = _reference(name, agent, plies=plies, paranoid=paranoid, **plain)
    checked = 0
    for row, state in zip(scores, reference_states(name, states, actions), strict=True):
        expected = np.full(game.num_actions, -np.inf)
        for action, score in ({} if state.terminal else reference.scores(state)).items():
            expected[action] = score
        np.testing.assert_allclose(row, expected, atol=2e-5)
        checked += np.isfinite(expected).sum()
    assert checked > 8


@pytest.mark.slow
def test_othello_positions_with_a_pass_are_among_those_compared():
    game = REFERENCES["othello"]()
    positions = reference_states("othello", *random_positions(make_small("othello"), 8, 5))

    def passes(state, plies):
        after = [game.play(state, action) for action in game.legal(state)] if plies else []
        again = [next_.player == state.player and not next_.terminal for next_ in after]
        return any(again) or any(passes(next_, plies - 1) for next_ in after)

    assert any(passes(state, 2) for state in positions)


@pytest.mark.parametrize(
    ("name", "size", "plies", "starts"),
    [
        pytest.param("nim3p", None, 6, range(3, 7), marks=pytest.mark.slow),
        pytest.param("tictactoe", None, 5, range(4, 9), marks=pytest.mark.slow),
        pytest.param("tictactoe", None, 9, range(9), marks=pytest.mark.slow),
        pytest.param("hex", 3, 9, range(1, 8), marks=pytest.mark.slow),
        pytest.param("nim3p", None, 9, range(1, 6), marks=pytest.mark.slow),
    ],
)
def test_to_the_end_of_the_game_it_chooses_what_max_n_does(request, name, size, plies, starts):
    if (name, plies) == ("tictactoe", 9):
        # Here computing takes longer than compiling.
        request.getfixturevalue("full_optimization")
    game = jaxgbg.make(name, **({} if size is None else {"size": size}))
    states = _on_the_way(game, 16, starts)
    cells = np.asarray(each(game.cells, states))
    states = select_states(states, np.unique(cells, axis=0, return_index=True)[1])
    if name == "nim3p":
        # Only what is decided within the look-ahead.
        items = np.asarray(each(game.cells, states)).sum(1)
        states = jax.tree.map(lambda leaf: leaf[items <= plies], states)
    live = ~np.asarray(states.terminal)
    assert live.sum() > 20
    agent = random_agent(game)
    search = LookAhead(game, agent.value, LookAheadSpec(plies))
    scores = _scores(search, agent, states)
    best = (scores == scores.max(1, keepdims=True)) & (scores > -jnp.inf)
    expected = MaxN(game).best_actions(states)
    np.testing.assert_array_equal(best[live], np.asarray(expected)[live])


@pytest.mark.parametrize("name", ["tictactoe", pytest.param("2048", marks=pytest.mark.slow)])
def test_one_ply_is_the_agent_itself(name):
    game = make_small(name)
    agent = random_agent(game, bootstrap=BootstrapRule(False, 0.7))
    states = _on_the_way(game, 16, range(5))
    key = jax.random.key(3)
    one_ply = LookAheadAgent(agent, LookAheadSpec(1))
    np.testing.assert_array_equal(one_ply.act(states, key), agent.act(states, key))
    first = jax.tree.map(lambda leaf: leaf[0], states)
    np.testing.assert_array_equal(one_ply.action_values(first), agent.action_values(first))


@pytest.mark.slow
def test_copies_look_ahead_each_with_its_own_values():
    game = make_small("tictactoe")
    agents = [random_agent(game, seed) for seed in (1, 2)]
    params = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *(a.params for a in agents))
    both = LookAheadAgent(
        GreedyAgent(game, agents[0].value, params, several=True), LookAheadSpec(2)
    )
    # Far enough from the start that no two moves are images of each other.
    states = random_positions(game, 16, 3)[0]
    twice = jax.tree.map(lambda leaf: jnp.concatenate([leaf, leaf]), states)
    chosen = both.act(twice, jax.random.key(0)).reshape(2, -1)
    for agent, own in zip(agents, chosen, strict=True):
        scores = _scores(LookAhead(game, agent.value, LookAheadSpec(2)), agent, states)
        np.testing.assert_allclose(scores[np.arange(16), own], scores.max(1), atol=1e-5)
    assert (chosen[0] != chosen[1]).any()


@pytest.mark.slow
def test_what_a_position_is_worth_does_not_depend_on_the_memory_there_is():
    game = make_small("tictactoe")
    agent = random_agent(game)
    states = random_positions(game, 40, 2)[0]

    class Narrow(LookAhead):
        rows = 7

    kinds, spec = (LookAhead, Narrow), LookAheadSpec(3)
    scores = [_scores(kind(game, agent.value, spec), agent, states) for kind in kinds]
    np.testing.assert_allclose(*scores, atol=2e-6)


@pytest.mark.slow
def test_memory_is_bounded_in_games_with_many_moves():
    game = jaxgbg.make("othello")
    agent = GreedyAgent(game, MLPSpec().build(game, False, 1), _network(game))
    states = each(game.init, jax.random.split(jax.random.key(0), 512))
    compiled = (
        jax.jit(LookAhead(game, agent.value, LookAheadSpec(3, megabytes=16)).action_values)
        .lower(jax.tree.map(lambda leaf: leaf[0], agent.params), states, jax.random.key(0))
        .compile()
    )
    assert compiled.memory_analysis().temp_size_in_bytes < 40e6
    with pytest.raises(ValueError, match="does not fit into 0 megabytes"):
        LookAhead(game, agent.value, LookAheadSpec(3, megabytes=0))


def _network(game):
    return MLPSpec().build(game, False, 1).init(key=jax.random.key(1))


@pytest.mark.slow
def test_chance_that_is_sampled_comes_near_to_chance_that_is_listed():
    game = make_small("2048")
    agent = random_agent(game)
    states = random_positions(game, 4, 60)[0]

    def scores(**settings):
        return _scores(LookAhead(game, agent.value, LookAheadSpec(2, **settings)), agent, states)

    listed, sampled = scores(), scores(max_spawns=0, samples=200)
    legal = np.isfinite(listed)
    np.testing.assert_array_equal(legal, np.isfinite(sampled))
    errors = np.abs(listed[legal] - sampled[legal])
    assert 0 < errors.max() < 0.1


@pytest.mark.slow
def test_2048_lists_what_chance_does():
    game = make_small("2048")
    state = jax.tree.map(lambda leaf: leaf[0], random_positions(game, 1, 20)[0])
    after = game.afterstate(state, jnp.argmax(game.legal_actions(state)))
    shares = np.asarray(game.spawn_probabilities(after))
    np.testing.assert_allclose(shares.sum(), 1, rtol=1e-6)
    drawn = jax.vmap(game.spawn, (None, 0))(after, jax.random.split(jax.random.key(0), 4000))
    counts = collections.Counter(map(bytes, np.asarray(drawn.tiles)))
    outcomes = jax.vmap(game.spawn_outcome, (None, 0))(after, jnp.arange(game.num_spawns))
    listed = {bytes(outcomes.tiles[i]): shares[i] for i in np.flatnonzero(shares)}
    assert counts.keys() <= listed.keys()
    for tiles, share in listed.items():
        assert abs(counts[tiles] - 4000 * share) < 5 * np.sqrt(4000 * share) + 1


@pytest.mark.slow
def test_ranks_are_played_as_often_as_they_say():
    game = make_small("tictactoe")
    agent = random_agent(game)
    state = jax.tree.map(lambda leaf: leaf[0], random_positions(game, 1, 2)[0])
    order = np.argsort(-np.asarray(agent.action_values(state)))
    states = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], 4000, 0), state)
    player = LookAheadAgent(agent, LookAheadSpec(1, ranks=(0.6, 0.3, 0.1)))
    counts = np.bincount(np.asarray(player.act(states, jax.random.key(0))), minlength=9)
    np.testing.assert_allclose(counts[order[:3]] / 4000, (0.6, 0.3, 0.1), atol=0.03)
    assert counts[order[3:]].sum() == 0


@pytest.mark.slow
def test_ranks_beyond_the_last_move_leave_their_share_to_the_others():
    game = make_small("tictactoe")
    agent = random_agent(game)
    # Two cells are left, or one.
    for moves, expected in (
        ((0, 1, 2, 4, 3, 5, 7), (2 / 3, 1 / 3)),
        ((0, 1, 2, 4, 3, 5, 7, 6), (1,)),
    ):
        state = game.init(jax.random.key(0))
        for action in moves:
            state = game.step(state, action, jax.random.key(0))
        assert not state.terminal
        order = np.argsort(-np.asarray(agent.action_values(state)))
        states = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], 3000, 0), state)
        act = LookAheadAgent(agent, LookAheadSpec(1, ranks=(0.6, 0.3, 0.1))).act
        counts = np.bincount(np.asarray(act(states, jax.random.key(1))), minlength=9)
        np.testing.assert_allclose(counts[order[: len(expected)]] / 3000, expected, atol=0.04)


@pytest.mark.parametrize("settings", [{"plies": 1}, {"plies": 2, "width": (2,)}])
def test_a_network_that_has_diverged_plays_legal_moves_by_ranks(settings):
    game = make_small("tictactoe")
    value = MLPSpec(hidden=(2,)).build(game, False, 1)
    drawn = value.init(key=jax.random.key(0))
    params = jax.tree.map(lambda leaf: np.full_like(leaf, np.nan), drawn)
    states = random_positions(game, 64, 2)[0]
    player = LookAheadAgent(
        GreedyAgent(game, value, params), LookAheadSpec(ranks=(0.5, 0.5), **settings)
    )
    actions = np.asarray(player.act(states, jax.random.key(0)))
    legal = np.asarray(each(game.legal_actions, states))
    assert not legal.all(0).any()
    assert legal[np.arange(64), actions].all()


@pytest.mark.slow
def test_equal_values_are_ranked_at_random():
    game = make_small("tictactoe")
    value = random_agent(game).value
    agent = GreedyAgent(game, value, value.init())
    states = each(game.init, jax.random.split(jax.random.key(0), 3000))
    for settings in ({"ranks": (0.0, 1.0)}, {"plies": 2, "width": 1}):
        actions = jaxgbg.look_ahead(agent, **{"plies": 1, **settings}).act(
            states, jax.random.key(1)
        )
        np.testing.assert_allclose(np.bincount(actions, minlength=9) / 3000, 1 / 9, atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"reply": "value", "width": (2,)}])
def test_each_ply_more_is_traced_once_more(settings, monkeypatch):
    agent = random_agent(jaxgbg.make("nim"))
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    states, _ = random_positions(agent.game, 2, 0)
    traced, observe = [], type(agent.value).observe
    monkeypatch.setattr(
        type(agent.value), "observe", lambda *given: (traced.append(1), observe(*given))[1]
    )
    counts = []
    for plies in range(3, 6):
        search = LookAhead(agent.game, agent.value, LookAheadSpec(plies, **settings))
        traced.clear()
        jax.eval_shape(search.action_values, params, states, jax.random.key(0))
        counts.append(len(traced))
    assert len(set(np.diff(counts))) == 1


def test_settings_out_of_range_are_named():
    game = make_small("tictactoe")
    agent = random_agent(game)
    for settings, line in [
        ({"plies": 0}, r"plies must lie in \[1, 10\], not 0"),
        ({"plies": 3, "width": 0}, r"width must lie in \[1, .*\], not 0"),
        ({"plies": 4, "width": (3, 1)}, "one for each of the 3 plies"),
        ({"plies": 1, "width": 3}, "look ahead 2 plies or more"),
        ({"plies": 2, "reply": "worst"}, "reply must be one of own, value, not 'worst'"),
        ({"plies": 2, "samples": 0}, r"samples must lie in \[1, .*\], not 0"),
        ({"ranks": (0.0, 0.0)}, "ranks must be probabilities"),
        ({"ranks": (0.5, -0.5)}, "ranks must be probabilities"),
    ]:
        with pytest.raises(ValueError, match=line):
            jaxgbg.look_ahead(agent, **{"plies": 1, **settings})
    with pytest.raises(TypeError, match="unexpected keyword argument 'bootstrap'"):
        jaxgbg.look_ahead(agent, 2, bootstrap=agent.bootstrap)
    of_actions = QSpec().build(game, NTupleSpec(layout=tuples(game)), Schedule()).value
    with pytest.raises(ValueError, match="learned values of actions"):
        LookAhead(game, of_actions, LookAheadSpec(2))
    assert LookAhead(game, of_actions, LookAheadSpec(1)).plies == 1
