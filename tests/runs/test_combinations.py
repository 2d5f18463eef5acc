"""Every learner with every value function and partner trains, is saved, and plays again."""

import itertools

import jax
import numpy as np
import pytest

from jaxgbg.runs import Training, load_agent, train
from jaxgbg.runs.presets import preset

LEARNERS, VALUES = ("td", "sarsa", "q"), ("ntuple", "mlp")
EACH_VALUE = pytest.mark.parametrize("value", ["ntuple", "mlp"])


def small(**changes):
    settings = {
        "episodes": 40,
        "eval_every": 40,
        "batch": 8,
        "seeds": (0, 1),
        "variants": ("farl",),
    }
    return preset("tictactoe", **{**settings, "opponents": ("random",), **changes})


# Networks are in the fast half below.
FAST = {("td", "ntuple", "self")}
COMBINATIONS = [
    pytest.param(*parts, marks=() if parts in FAST else pytest.mark.slow)
    for parts in itertools.product(LEARNERS, VALUES, ("self", "random"))
]


@pytest.mark.parametrize(("learner", "value", "partner"), COMBINATIONS)
def test_every_combination_trains_and_plays(learner, value, partner, tmp_path):
    run = small(learner=learner, value=value, partner=partner)
    folder = train(run, tmp_path)
    assert [one.episodes for one in folder.results()] == [40, 40]
    weights = []
    for seed in run.seeds:
        saved = load_agent(folder.path / "agents" / f"seed{seed}-farl.agent", "tictactoe")
        assert saved.run.learner.kind == learner
        weights.append(saved.weights)
        player = saved.player()
        assert player.copies == 1
        game = player.game
        state = game.init(jax.random.key(0))
        values = np.asarray(player.action_values(state))
        assert np.isfinite(values).all()
        action = int(player.act(jax.tree.map(lambda leaf: leaf[None], state), jax.random.key(1))[0])
        assert values[action] == values.max()
    assert (weights[0] != weights[1]).any()


@pytest.mark.slow
@EACH_VALUE
def test_an_action_is_worth_the_value_of_its_afterstate_to_the_mover(value, tmp_path):
    folder = train(small(value=value, seeds=(0,), episodes=800), tmp_path)
    player = load_agent(folder.path / "agents" / "seed0-farl.agent").player()
    game = player.game
    state = game.step(game.init(jax.random.key(0)), 4, jax.random.key(0))
    after = jax.vmap(game.afterstate, (None, 0))(state, np.arange(9))
    values = player.values(after)
    assert values.shape == (9, 2)
    legal = np.asarray(game.legal_actions(state))
    scores = np.asarray(player.action_values(state))
    np.testing.assert_allclose(scores[legal], values[legal, 1], rtol=1e-5, atol=1e-7)
    assert (scores[legal] != values[legal, 0]).any()


@pytest.mark.slow
def test_an_agent_that_values_actions_has_no_values_of_states(tmp_path):
    folder = train(small(learner="q", seeds=(0,)), tmp_path)
    player = load_agent(folder.path / "agents" / "seed0-farl.agent").player()
    states = jax.vmap(player.game.init)(jax.random.split(jax.random.key(0), 3))
    with pytest.raises(ValueError, match="action_values"):
        player.values(states)


@pytest.mark.slow
@EACH_VALUE
def test_a_saved_agent_is_a_partner(value, tmp_path):
    first = train(small(value=value), tmp_path)
    agent = str(first.path / "agents" / "seed0-farl.agent")
    run = small(learner="q", partner=agent, learn_from_partner=True)
    assert len(list(Training(run).evaluations())) == 2


@pytest.mark.slow
def test_a_partner_stronger_than_chance_is_met_in_every_seat():
    """Against Max-N, who never loses, a learner's rewards are losses and draws."""
    training = Training(small(partner="maxn", variants=("farl",), episodes=200, eval_every=200))
    list(training.evaluations())
    games = [one.lane.games for one in training.changing(0, 1)]
    seat = np.concatenate([each.seat for each in games])
    assert set(np.unique(seat)) == {0, 1}
    rewards = np.concatenate([each.state.rewards for each in games])
    own = rewards[np.arange(len(seat)), seat]
    assert own.max() <= 0
    assert own.min() < 0
    # The partner's table has learned nothing: not one weight of a player who only sat there.
    both = Training(small(partner="maxn", learn_from_partner=True, episodes=200, eval_every=200))
    list(both.evaluations())
    touched = [
        sum(np.count_nonzero(agent.weights) for agent in t.agents().values())
        for t in (training, both)
    ]
    assert touched[0] < touched[1]
    assert training.agents().keys() == {(0, "farl"), (1, "farl")}


@pytest.mark.parametrize(
    ("game", "changes", "complaint"),
    [
        ("tictactoe", {"value": "mlp", "optimizer": "adamant"}, "optax has no optimizer 'adamant'"),
        ("tictactoe", {"value": "mlp", "optimizer": "lbfgs"}, "optax has no optimizer 'lbfgs'"),
        ("tictactoe", {"value": "mlp", "hidden": ()}, "hidden must name"),
        (
            "tictactoe",
            {"value": "mlp", "combine": "saturating"},
            "combine must be one of sum",
        ),
        ("tictactoe", {"parameter_traces": True}, "parameter_traces need gradients"),
        ("tictactoe", {"value": "mlp", "shared_traces": True}, "parameter_traces: set both"),
        ("tictactoe", {"learn_from_partner": True}, "needs a partner other than self"),
        ("tictactoe", {"replan": True}, "replan is for learner sarsa"),
        ("tictactoe", {"learner": "sarsa", "variants": ("part1",)}, "no second part of FARL"),
        ("2048", {"partner": "random"}, "its only partner is self"),
    ],
)
def test_what_does_not_fit_is_refused(game, changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        preset(game, **changes)


def test_a_partner_of_another_game_or_of_the_host_is_refused(tmp_path):
    agent = train(small(), tmp_path).path / "agents" / "seed0-farl.agent"
    with pytest.raises(ValueError, match="plays tictactoe, not nim"):
        Training(preset("nim", partner=str(agent)))
    with pytest.raises(ValueError, match="too slow to train against"):
        Training(preset("tictactoe", partner="mcts-10"))
    with pytest.raises(ValueError, match=r"agent file .*none.agent"):
        Training(preset("tictactoe", partner=str(tmp_path / "none.agent")))


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
def test_a_network_learns_tictactoe_with_farl_and_not_without():
    training = Training(
        preset("tictactoe", value="mlp", seeds=(0, 1, 2), episodes=20_000, eval_every=20_000)
    )
    found = {(one.variant, one.seed): one.score for one in training.evaluations()}
    with_farl, without = (np.mean([found[v, seed] for seed in range(3)]) for v in ("farl", "none"))
    assert with_farl > -0.3
    assert without < -0.6
