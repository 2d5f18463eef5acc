"""What a policy returns and a rule remembers is what the tick does."""

import dataclasses
import types
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners import TD, EpsilonGreedy, Exploration, LearnerSpec, Schedule, TDSpec, td
from jaxgbg.values import NTupleSpec
from tests.games.batches import each
from tests.learners.replay import named, stack_hyperparameters


def remember_one_ply(learner, games, move, boards):
    """Remembers the features of the board after the move, made again."""
    after = each(learner.game.afterstate, games.state, move.choice.action)
    made = learner.value.features(learner.value.init(), each(learner.game.cells, after))
    memory = jnp.where(boards.restart[:, None], boards.features, made)
    return td.remember(learner, games, move, boards._replace(features=memory))


def remember_the_start(learner, games, move, boards):
    """Remembers the start position, whatever is played."""
    game = learner.game
    first = learner.value.features(learner.value.init(), game.cells(game.init(jax.random.key(0))))
    memory = jnp.broadcast_to(first, games.features.shape)
    return td.remember(learner, games, move, boards._replace(features=memory))


@dataclasses.dataclass(frozen=True)
class CountOnHalf(EpsilonGreedy):
    """Counts on half of every value: as a discount of 1/2 does."""

    def select(self, *arguments):
        choice = super().select(*arguments)
        return choice._replace(value=choice.value * 0.5)


@partial(jax.jit, static_argnums=0)
def advance(learner, lane, hyper):
    return learner.advance(lane, hyper, jnp.uint32(1000), 80)[0]


def trained(policy, name="tictactoe", discount=1.0, rule=TD):
    """(lane after 80 ticks of 4 games, its learner)."""
    game = jaxgbg.make(name)
    layout = tuple((cell, cell + 1) for cell in range(game.num_cells - 1))
    value = NTupleSpec(layout=layout, tcl="id")
    learner = TDSpec().build(game, value, Schedule(batch=4))
    learner = dataclasses.replace(learner, policy=policy, rule=rule)
    hyper = stack_hyperparameters([named(True, True, True, False)], 0.5, 0.0, 1000)
    hyper = jax.tree.map(lambda leaf: leaf[0], hyper)._replace(discount=jnp.float32(discount))
    lane = advance(learner, learner.init(jax.random.key(4)), hyper)
    assert int(lane.finished) > 3
    return lane, learner


def assert_same_bits(left, right) -> None:
    for one, other in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
@pytest.mark.parametrize("name", ["tictactoe", "hex", "othello"])
def test_to_remember_the_board_after_the_move_is_what_learners_do_by_themselves(name):
    rule = dataclasses.replace(TD, remember=remember_one_ply)
    told, _ = trained(EpsilonGreedy(), name, rule=rule)
    alone, _ = trained(EpsilonGreedy(), name)
    assert np.abs(alone.params.weights).max() > 0.001
    assert_same_bits(told.params, alone.params)


@pytest.mark.slow
def test_what_a_rule_remembers_is_all_that_is_learned():
    lane, learner = trained(
        EpsilonGreedy(), rule=dataclasses.replace(TD, remember=remember_the_start)
    )
    game, value = learner.game, learner.value
    start = value.features(lane.params, game.cells(game.init(jax.random.key(0))))
    rows = np.asarray(value.rows(start, jnp.arange(2)[:, None])).reshape(-1)
    learned = np.flatnonzero(lane.params.weights)
    assert len(learned) > 0
    assert set(learned) <= set(rows)


@pytest.mark.slow
def test_the_value_a_policy_counts_on_is_the_one_that_is_learned():
    half, _ = trained(CountOnHalf())
    discounted, _ = trained(EpsilonGreedy(), discount=0.5)
    undiscounted, _ = trained(EpsilonGreedy())
    assert_same_bits(half.params, discounted.params)
    assert (np.asarray(half.params.weights) != undiscounted.params.weights).any()


def chosen_of_known_values(policy, epsilon=0.0, allowed=None):
    """4000 choices of the first move of TicTacToe, where cell n is worth tanh(n / 10)."""
    game = jaxgbg.make("tictactoe")
    value = NTupleSpec(layout=tuple((cell,) for cell in range(9))).build(game, False, 1)
    params = value.init()
    # More for an X of player 0 in a later cell; no two images of a cell look the same.
    value = dataclasses.replace(value, symmetries=value.symmetries[:1])
    weights = jnp.zeros(value.num_weights).at[3 * np.arange(9) + 2].set(np.arange(9) / 10)
    params = params._replace(weights=weights)
    states = each(game.init, jax.random.split(jax.random.key(0), 4000))
    features = value.features(params, each(game.cells, states))
    hyper = stack_hyperparameters([named(True, True, True, False)], 0.5, 0.0, 1000)
    hyper = jax.tree.map(lambda leaf: leaf[0], hyper)
    games = types.SimpleNamespace(state=states, features=features)
    words = jax.random.bits(jax.random.key(1), (4000, 2))
    exploration = Exploration(words, jnp.float32(epsilon), allowed=allowed)
    return policy.select(game, value, params, games, hyper.bootstrap, exploration)


@pytest.mark.slow
def test_ranks_are_played_in_training():
    """After one ply of the start position all of a kind: the weights say which move was made."""
    for ranks, shares in (((), (1, 0, 0)), ((0.6, 0.3, 0.1), (0.6, 0.3, 0.1))):
        choice = chosen_of_known_values(EpsilonGreedy(ranks=ranks))
        counts = np.bincount(choice.action, minlength=9)[::-1] / 4000
        np.testing.assert_allclose(counts[:3], shares, atol=0.03)
        assert not choice.explored.any()
        np.testing.assert_allclose(choice.value, np.tanh(np.asarray(choice.action) / 10), atol=1e-5)


@pytest.mark.parametrize("temperature", [0.05, 0.3, 1e6])
def test_a_temperature_draws_moves_by_the_exponentials_of_their_values(temperature):
    values = np.tanh(np.arange(9) / 10)
    shares = np.exp((values - values.max()) / temperature)
    choice = chosen_of_known_values(EpsilonGreedy(temperature=temperature))
    counts = np.bincount(choice.action, minlength=9) / 4000
    # Four standard deviations of a share.
    np.testing.assert_allclose(counts, shares / shares.sum(), atol=4 * 0.5 / 4000**0.5)
    # All but the best move explore.
    np.testing.assert_array_equal(choice.explored, choice.action != 8)
    # What is learned is the value of the move made, or of the best one.
    np.testing.assert_allclose(choice.value, values[np.asarray(choice.action)], atol=1e-5)
    best = chosen_of_known_values(EpsilonGreedy(True, temperature=temperature))
    np.testing.assert_array_equal(best.action, choice.action)
    np.testing.assert_allclose(best.value, values[8], atol=1e-5)


def test_random_moves_know_no_temperature():
    policy = EpsilonGreedy(temperature=1e-3)
    choice = chosen_of_known_values(policy, epsilon=0.5)
    explored = np.asarray(choice.explored)
    # At so low a temperature no other moves explore.
    assert 0.45 < explored.mean() < 0.55
    assert (np.asarray(choice.action)[~explored] == 8).all()
    counts = np.bincount(np.asarray(choice.action)[explored], minlength=9) / explored.sum()
    np.testing.assert_allclose(counts, 1 / 9, atol=0.04)


@pytest.mark.parametrize("settings", [{}, {"ranks": (0.6, 0.3, 0.1)}, {"temperature": 0.3}])
def test_who_may_not_explore_makes_the_best_move(settings):
    policy, allowed = EpsilonGreedy(**settings), np.arange(4000) % 2 == 0
    free = chosen_of_known_values(policy, 0.5)
    choice = chosen_of_known_values(policy, 0.5, allowed)
    np.testing.assert_array_equal(choice.action, np.where(allowed, free.action, 8))
    np.testing.assert_array_equal(choice.explored, free.explored & allowed)


def test_the_policy_has_ranks_and_temperature_of_the_settings():
    game = jaxgbg.make("tictactoe")
    value = NTupleSpec(layout=((0, 1, 2),))
    for kind, off_policy in (("td", False), ("sarsa", False), ("q", True)):
        learner = LearnerSpec.kinds[kind](ranks=(0.6, 0.3, 0.1)).build(game, value, Schedule())
        assert learner.policy == EpsilonGreedy(off_policy, (0.6, 0.3, 0.1))
        learner = LearnerSpec.kinds[kind](temperature=0.1).build(game, value, Schedule())
        assert learner.policy == EpsilonGreedy(off_policy, temperature=0.1)
    learner = LearnerSpec.kinds["td-leaf"](temperature=0.1).build(game, value, Schedule())
    assert learner.policy.temperature == 0.1
    assert learner.policy.search.plies == 2
    with pytest.raises(ValueError, match="ranks must be probabilities"):
        LearnerSpec.kinds["td"](ranks=(0.0,))
