"""Search in training: moves and targets are those of a plain search in float64."""

import dataclasses
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg import QSearchSpec, SarsaSearchSpec, TDSearchSpec
from jaxgbg.learners import Exploration, Schedule
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.runs import Training
from jaxgbg.search.in_training import _order
from jaxgbg.search.puct import PUCT
from jaxgbg.search.tree import RootStatistics
from jaxgbg.values import NTupleSpec
from tests.games.batches import each
from tests.learners.replay import named, stack_hyperparameters
from tests.search.agents import (
    make_small,
    random_agent,
    random_positions,
    reference_search,
    reference_states,
)

_CLOSE = 5e-7


def chosen(game, agent, states, search, epsilon=0.0, imposed=None, ranks=(), kind=TDSearchSpec):
    """What the policy of a learner that searches makes of states[B]."""
    spec = kind(search=search, ranks=ranks)
    layout = ((0, 1), tuple(range(game.num_cells))[-2:])
    learner = spec.build(game, NTupleSpec(layout=layout), Schedule(batch=1))
    assert learner.value.num_actions == agent.value.num_actions
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    # The search is the learner's, the values are those of the agent.
    policy = learner.policy
    policy = dataclasses.replace(
        policy, search=dataclasses.replace(policy.search, value=agent.value)
    )
    features = agent.value.features(params, each(game.cells, states))
    words = jax.random.bits(jax.random.key(3), (len(features), 2))
    bootstrap = BootstrapRule(jnp.bool_(agent.bootstrap.terminal_value_zero[0]))
    exploration = Exploration(words, jnp.float32(epsilon), imposed)
    games = types.SimpleNamespace(state=states, features=features)

    def select(states, features):
        return policy.select(game, agent.value, params, games, bootstrap, exploration)

    of_a_lane = jax.vmap(select, (None, None), axis_name="lane", axis_size=1)
    return jax.jit(of_a_lane)(states, features)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("nim3p", 2),
        ("tictactoe", 3),
        ("connectfour", 8),
        ("othello", 5),
    ],
)
def test_moves_and_targets_are_those_of_a_plain_search(name, start):
    game = make_small(name)
    agent = random_agent(game, few_digits=True)
    states, actions = random_positions(game, 8, start)
    choice = jax.tree.map(lambda leaf: leaf[0], chosen(game, agent, states, "puct-40"))
    checked = 0
    for row, state in enumerate(reference_states(name, states, actions)):
        reference = reference_search(name, agent, 40)
        root = reference.search(state)
        if state.terminal or reference.closest <= _CLOSE:
            continue
        means = {a: root.totals[a] / n for a, n in root.visits.items() if n}
        best = max(means, key=lambda action: (root.visits[action], means[action]))
        assert choice.action[row] == best
        paid = root.children[best].state.rewards[state.player] - state.rewards[state.player]
        assert choice.value[row] == pytest.approx(means[best] - paid, abs=2e-5)
        checked += 1
    assert checked >= 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SarsaSearchSpec, QSearchSpec])
@pytest.mark.parametrize(("name", "start"), [("nim3p", 2), ("tictactoe", 3)])
def test_actions_are_learned_by_the_means_of_a_plain_search(name, start, kind):
    game = make_small(name)
    agent = random_agent(game, few_digits=True, of_actions=True)
    states, actions = random_positions(game, 8, start)
    # The second best move is made.
    ranked = chosen(game, agent, states, "puct-40", ranks=(0.0, 1.0), kind=kind)
    choice = jax.tree.map(lambda leaf: leaf[0], ranked)
    checked = 0
    for row, state in enumerate(reference_states(name, states, actions)):
        reference = reference_search(name, agent, 40)
        root = reference.search(state)
        if state.terminal or reference.closest <= _CLOSE or len(root.visits) < 2:
            continue
        means = {a: root.totals[a] / n if n else -np.inf for a, n in root.visits.items()}
        order = sorted(means, key=lambda action: (-root.visits[action], -means[action]))
        assert choice.action[row] == order[1]
        counted = order[0] if kind is QSearchSpec else order[1]
        assert choice.value[row] == pytest.approx(means[counted], abs=2e-5)
        checked += 1
    assert checked >= 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SarsaSearchSpec, QSearchSpec])
def test_imposed_actions_count_on_what_is_known_of_them(kind):
    game = jaxgbg.make("tictactoe")
    agent = random_agent(game, of_actions=True)
    states, _ = random_positions(game, 8, 3)
    legal = np.asarray(each(game.legal_actions, states))
    made = jnp.array(legal.argmax(1), jnp.int32)
    choice = chosen(game, agent, states, "puct-10", imposed=made, kind=kind)
    q = np.where(legal, agent.action_values(states), -np.inf)
    own = q.max(1) if kind is QSearchSpec else q[np.arange(8), made]
    np.testing.assert_allclose(choice.value[0], own, atol=1e-6)


@pytest.mark.slow
def test_random_moves_and_those_of_a_partner_count_on_the_board_after_them():
    game = jaxgbg.make("tictactoe")
    agent = random_agent(game)
    states, _ = random_positions(game, 8, 3)
    legal = np.asarray(each(game.legal_actions, states))
    made = jnp.array(legal.argmax(1), jnp.int32)
    boards = each(game.cells, each(game.afterstate, states, made))
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    own = agent.value.value(params, agent.value.features(params, boards), states.player)
    partner = jax.tree.map(
        lambda leaf: leaf[0], chosen(game, agent, states, "puct-10", imposed=made)
    )
    np.testing.assert_array_equal(partner.action, made)
    np.testing.assert_allclose(partner.value, own, atol=1e-6)
    drawn = jax.tree.map(lambda leaf: leaf[0], chosen(game, agent, states, "puct-10", 1.0))
    assert drawn.explored.all()
    same = np.asarray(drawn.action) == made
    np.testing.assert_allclose(drawn.value[same], own[same], atol=1e-6)
    assert same.any()


@pytest.mark.slow
def test_a_move_of_lower_rank_that_was_not_tried_counts_on_the_board_after_it():
    game = jaxgbg.make("tictactoe")
    agent = random_agent(game)
    states, _ = random_positions(game, 8, 3)
    # One iteration tries one move, and the second best is made.
    choice = chosen(game, agent, states, "puct-1", ranks=(0.0, 1.0))
    choice = jax.tree.map(lambda leaf: leaf[0], choice)
    first = jax.tree.map(lambda leaf: leaf[0], chosen(game, agent, states, "puct-1"))
    assert (choice.action != first.action).all()
    boards = each(game.cells, each(game.afterstate, states, choice.action))
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    own = agent.value.value(params, agent.value.features(params, boards), states.player)
    assert (np.abs(own) > 1e-3).all()
    np.testing.assert_allclose(choice.value, own, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "partner", "searched"), [(0, 0, 8), (1, 0, 0), (0, 5, 3)])
def test_no_tree_grows_where_the_move_is_decided_without_it(
    monkeypatch, epsilon, partner, searched
):
    game = jaxgbg.make("tictactoe")
    states, _ = random_positions(game, 8, 3)
    made = jnp.where(jnp.arange(8) < partner, each(game.legal_actions, states).argmax(1), -1)
    grown = []
    search = PUCT.search

    def counted(self, params, roots, iterations, key):
        jax.debug.callback(grown.append, (~roots.terminal).sum())
        return search(self, params, roots, iterations, key)

    monkeypatch.setattr(PUCT, "search", counted)
    imposed = made.astype(jnp.int32) if partner else None
    chosen(game, random_agent(game), states, "puct-3", float(epsilon), imposed)
    jax.effects_barrier()
    assert [int(count) for count in grown] == [searched]


@pytest.mark.slow
def test_rewards_on_the_way_are_counted_once():
    game = jaxgbg.make("2048")
    agent = random_agent(game)
    agent.params = jax.tree.map(jnp.zeros_like, agent.params)
    states, _ = random_positions(game, 6, 40)
    choice = jax.tree.map(lambda leaf: leaf[0], chosen(game, agent, states, "puct-1"))
    # Who values all boards at 0 expects, of the one board he sees, what its best move pays.
    after = each(game.afterstate, states, choice.action)
    assert (after.rewards > states.rewards).any()
    spawn = jax.jit(jax.vmap(jax.vmap(game.spawn, (0, None)), (None, 0)))
    spawned = spawn(after, jax.random.split(jax.random.key(5), 200))
    move = jax.vmap(jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None)), (0, None))
    moved = jax.jit(move)(spawned, jnp.arange(game.num_actions))
    best = (moved.rewards - spawned.rewards[:, :, None])[..., 0].max(2)
    near = np.abs(np.asarray(best) - np.asarray(choice.value)) < 1e-7
    assert near.any(0).all()


def test_the_most_visited_comes_first_and_of_equals_the_better():
    visits = jnp.array([[3, 3, 0, 2]])
    order = _order(RootStatistics(visits, jnp.array([[0.1, 0.5, 0.0, 0.9]])))[0]
    assert np.argsort(-order).tolist() == [1, 0, 3, 2]


@pytest.mark.slow
def test_lanes_that_train_together_learn_what_each_learns_alone():
    game = jaxgbg.make("tictactoe")
    layout = (tuple(range(9)),)
    learner = TDSearchSpec(search="puct-8").build(
        game, NTupleSpec(layout=layout), Schedule(batch=4)
    )
    hyper = stack_hyperparameters([named(True, True, True, False)] * 2, 0.5, 0.0, 40)
    keys = jax.random.split(jax.random.key(0), 2)

    def trained(rows):
        lanes = jax.vmap(learner.init)(keys[rows])
        own = jax.tree.map(lambda leaf: leaf[rows], hyper)
        limit = jnp.full(len(rows), 40, jnp.uint32)
        advance = jax.jit(jax.vmap(lambda *each: learner.advance(*each, 60)[0], axis_name="lane"))
        return np.asarray(advance(lanes, own, limit).params.weights)

    together = trained(np.array([0, 1]))
    assert (together[0] != together[1]).any()
    for row in (0, 1):
        np.testing.assert_array_equal(trained(np.array([row]))[0], together[row])


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["td-search", "sarsa-search", "q-search"])
def test_what_was_searched_for_is_learned(learner):
    def score(episodes):
        run = jaxgbg.preset(
            "tictactoe",
            learner=learner,
            train_search="puct-20",
            seeds=range(4),
            variants=("farl",),
            episodes=episodes,
            eval_every=episodes,
            batch=16,
        )
        # Judged without a search.
        return np.mean([result.score for result in Training(run).evaluations()])

    assert score(16) < -0.7
    assert score(2_000) > -0.5


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"train_search": "mcts-10"}, "search mcts uses no agent: choose one of puct-N$"),
        ({"train_search": "look-ahead-2"}, "gives learners no statistics: choose one of puct-N"),
        ({"train_search": "puct-0"}, r"iterations must lie in \[1, "),
        ({"train_search": "puct-20,solver=1"}, "train_search: solver is for play alone"),
        ({"discount": 0.9}, "a search sums undiscounted rewards: set discount 1"),
        ({"train_search": "puct-9999999"}, "train_search: .* iterations at most in tictactoe"),
        ({"train_search": f"puct-{2**24 - 1},leaves=2"}, "with leaves=2 iterations must be"),
        ({"train_search": "puct-1000,megabytes=0"}, "takes .* megabytes in tictactoe"),
    ],
)
def test_what_training_cannot_search_for_is_told(settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        jaxgbg.preset("tictactoe", learner="td-search", **settings).make_learner()
