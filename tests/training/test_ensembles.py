"""An ensemble's value is the mean of its agents' sums, and what does not go together is refused."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgbg import ensemble as player_of
from jaxgbg import make
from jaxgbg.papers import preset
from jaxgbg.training.agents import SavedAgent, load_agent, save_agent
from jaxgbg.training.ensembles import ensemble

LAYOUTS = (((0, 1, 2), (4, 3, 7)), ((8, 5, 2), (2, 4, 6), (1, 4, 5)), ((0, 4, 8),))


def agent_of(run, seed):
    """Made up weights of a size at which float32 tells values apart."""
    size = run.make_learner().value.num_weights
    weights = np.random.default_rng(seed).normal(0, 0.1, size).astype(np.float32)
    return SavedAgent(run, "farl", weights)


def states_of(game, plies):
    """Random positions after up to so many plies."""
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 50))
    for ply in range(plies):
        legal = np.asarray(jax.vmap(game.legal_actions)(states))
        noise = np.random.default_rng(ply).random(legal.shape)
        states = jax.vmap(game.afterstate)(states, (noise * legal).argmax(1))
        if game.stochastic:
            states = jax.vmap(game.spawn)(states, jax.random.split(jax.random.key(ply), 50))
    return states


def sums(agent, states):
    """float64[50, A] before the sigmoid: moves that end the game are not among them."""
    values = np.asarray(agent.player().action_values(states), float)
    return np.arctanh(np.where(np.abs(values) < 1, values, np.nan))


@pytest.mark.parametrize("learner", ["td", "sarsa"])
def test_the_sum_of_weights_is_the_mean_of_the_agents(learner):
    runs = [preset("tictactoe", seeds=(1,), learner=learner, layout=each) for each in LAYOUTS]
    agents = [agent_of(run, number) for number, run in enumerate(runs)]
    states = states_of(runs[0].game, 3)
    expected = np.mean([sums(agent, states) for agent in agents], axis=0)
    together = sums(ensemble(agents), states)
    np.testing.assert_allclose(together, expected, atol=2e-5)
    assert np.isfinite(expected).sum() > 200
    # Not by chance: two of them do not make it.
    assert np.nanmax(np.abs(sums(ensemble(agents[:2]), states) - expected)) > 0.03


def test_every_player_has_the_tables_of_all():
    """Three players, and layouts that each seed draws for itself."""
    runs = [preset("nim3p", walks=(3, 2)).for_seed(seed) for seed in (5, 6)]
    agents = [agent_of(run, number) for number, run in enumerate(runs)]
    for plies in range(3):
        states = states_of(runs[0].game, plies)
        one, other, both = (sums(each, states) for each in (*agents, ensemble(agents)))
        np.testing.assert_allclose(both, (one + other) / 2, atol=2e-5)
        assert np.nanmax(np.abs(one - other)) > 0.03


def test_it_is_written_read_and_made_again(tmp_path):
    agents = [agent_of(preset("nim", seeds=(seed,)), seed) for seed in (0, 1)]
    paths = [tmp_path / f"{seed}.agent" for seed in (0, 1)]
    for path, agent in zip(paths, agents, strict=True):
        save_agent(path, agent)
    joined = ensemble(agents)
    save_agent(tmp_path / "both.agent", joined)
    loaded = load_agent(tmp_path / "both.agent", "nim")
    np.testing.assert_array_equal(loaded.weights, joined.weights)
    states = states_of(loaded.run.game, 1)
    np.testing.assert_array_equal(
        player_of(*paths).action_values(states), loaded.player().action_values(states)
    )


def test_a_run_stands_for_its_agents_of_every_seed(jaxgbg, tmp_path):
    run = preset("nim", seeds=(0,), averaging="tail")
    folder, made = tmp_path / "run" / "agents", tmp_path / "both.agent"
    folder.mkdir(parents=True)
    for number, name in enumerate(("seed0-farl", "seed1-farl", "seed0-none")):
        save_agent(folder / f"{name}.agent", agent_of(run, number))
    code, out, _ = jaxgbg("ensemble", made, folder.parent)
    assert (code, out) == (0, f"{made}: the mean of 2 agents\n")
    both = ensemble([agent_of(run, 0), agent_of(run, 1)])
    np.testing.assert_array_equal(load_agent(made).weights, both.weights)
    # Averaged weights go before those of the end.
    for number in (0, 1):
        save_agent(folder / f"seed{number}-farl-mean.agent", agent_of(run, 3 + number))
    code, _, err = jaxgbg("ensemble", made, folder.parent)
    assert code == 2
    assert "is there already: --replace writes it anew" in err
    assert jaxgbg("ensemble", made, folder.parent, "--replace")[0] == 0
    means = ensemble([agent_of(run, 3), agent_of(run, 4)])
    np.testing.assert_array_equal(load_agent(made).weights, means.weights)
    code, _, err = jaxgbg("ensemble", tmp_path / "x", folder.parent, "--variant", "part1")
    assert code == 2
    assert "no agents 'part1'; it has farl, farl-mean, none" in err
    assert not (tmp_path / "x").exists()


def test_what_does_not_go_together_is_named():
    nim = agent_of(preset("nim"), 0)
    with pytest.raises(ValueError, match="two agents or more"):
        ensemble([nim])
    for changes in ({"learner": "sarsa"}, {"discount": 0.5}, {"sigmoid": False}):
        with pytest.raises(ValueError, match="agent 1 and agent 3 of an ensemble differ in"):
            ensemble([nim, nim, agent_of(preset("nim", **changes), 0)])
    other = dataclasses.replace(preset("nim", layout=((0,),)), game=make("nim", heaps=4))
    with pytest.raises(ValueError, match="agent 1 and agent 2 of an ensemble differ in game"):
        ensemble([nim, agent_of(other, 0)])
    with pytest.raises(ValueError, match="made of n-tuples, not of mlp"):
        ensemble([agent_of(preset("nim", value="mlp"), 0), nim])
