"""An ensemble's value is the mean of its agents' sums, and what does not go together is refused."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgbg import ensemble as player_of
from jaxgbg import make, train
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.agents import SavedAgent, load_agent, save_agent
from jaxgbg.runs.storage.ensembles import ensemble
from jaxgbg.values import NTupleSpec
from tests.games.batches import each

# The settings of n-tuples by which a sum is read, each with another value for Nim.
READ = {
    "symmetries": False,
    "images": ((0, 1, 2), (2, 1, 0)),
    "sigmoid": False,
    "stages": (1,),
    "one_table": True,
}
# Settings of n-tuples that say which weights there are, and how they were learned.
LEARNED = {"layout", "walks", "from_lines", "tcl", "beta", "combine", "initial_value"}
LAYOUTS = (((0, 1, 2), (4, 3, 7)), ((8, 5, 2), (0, 1, 2), (1, 4, 5)), ((0, 4, 8),))


def together(*agents):
    return ensemble({f"agent {number}": agent for number, agent in enumerate(agents, 1)})


def agent_of(run, seed):
    """Made up weights of a size at which float32 tells values apart."""
    size = run.make_learner().value.num_weights
    weights = np.random.default_rng(seed).normal(0, 0.1, size).astype(np.float32)
    return SavedAgent(run, "farl", weights)


def states_of(game, plies):
    """Random positions after up to so many plies."""
    states = each(game.init, jax.random.split(jax.random.key(0), 50))
    for ply in range(plies):
        legal = np.asarray(each(game.legal_actions, states))
        noise = np.random.default_rng(ply).random(legal.shape)
        states = each(game.afterstate, states, (noise * legal).argmax(1))
    return states


def sums(agent, states):
    """float64[50, A] before the sigmoid: moves that end the game are not among them."""
    values = np.asarray(agent.player().action_values(states), float)
    return np.arctanh(np.where(np.abs(values) < 1, values, np.nan))


@pytest.mark.parametrize("stages", [(), (2,)])
@pytest.mark.parametrize("learner", ["td", "sarsa"])
def test_the_sum_of_weights_is_the_mean_of_the_agents(learner, stages):
    settings = {"seeds": (1,), "learner": learner, "stages": stages}
    runs = [preset("tictactoe", layout=each, **settings) for each in LAYOUTS]
    agents = [agent_of(run, number) for number, run in enumerate(runs)]
    states = states_of(runs[0].game, 3)
    expected = np.mean([sums(agent, states) for agent in agents], axis=0)
    np.testing.assert_allclose(sums(together(*agents), states), expected, atol=2e-5)
    assert np.isfinite(expected).sum() > 200
    # Not by chance: two of them do not make it.
    assert np.nanmax(np.abs(sums(together(*agents[:2]), states) - expected)) > 0.03
    # The n-tuple that two of them have is looked up once.
    assert together(*agents).run.value.layout == (*LAYOUTS[0], (8, 5, 2), (1, 4, 5), (0, 4, 8))


def test_every_player_has_the_tables_of_all():
    """Three players, and layouts that each seed draws for itself."""
    runs = [preset("nim3p", walks=(3, 2)).for_seed(seed) for seed in (5, 6)]
    agents = [agent_of(run, number) for number, run in enumerate(runs)]
    for plies in range(3):
        states = states_of(runs[0].game, plies)
        one, other, both = (sums(each, states) for each in (*agents, together(*agents)))
        np.testing.assert_allclose(both, (one + other) / 2, atol=2e-5)
        assert np.nanmax(np.abs(one - other)) > 0.03


def test_it_is_written_read_and_made_again(tmp_path):
    agents = [agent_of(preset("nim", seeds=(seed,)), seed) for seed in (0, 1)]
    paths = [tmp_path / f"{seed}.agent" for seed in (0, 1)]
    for path, agent in zip(paths, agents, strict=True):
        save_agent(path, agent)
    joined = together(*agents)
    save_agent(tmp_path / "both.agent", joined)
    loaded = load_agent(tmp_path / "both.agent", "nim")
    np.testing.assert_array_equal(loaded.weights, joined.weights)
    assert loaded.members == tuple(f"{agent.run.digest} farl" for agent in agents)
    means = (agents[0].weights + agents[1].weights) / 2
    np.testing.assert_allclose(loaded.weights, means, rtol=1e-5, atol=1e-7)
    states = states_of(loaded.run.game, 1)
    np.testing.assert_array_equal(
        player_of(*paths).action_values(states), loaded.player().action_values(states)
    )


@pytest.mark.slow
def test_a_run_stands_for_its_agents_of_every_seed(jaxgbg, tmp_path):
    run = preset("nim", seeds=(0, 1), episodes=200, eval_every=100, averaging="tail")
    folder, made, new = train(run, tmp_path), tmp_path / "both.agent", tmp_path / "x"
    whole = folder.path
    for variant, wanted in (("farl", "farl"), ("farl-mean", None), ("none", "none")):
        files = [str(whole / "agents" / f"seed{seed}-{variant}.agent") for seed in (0, 1)]
        chosen = () if wanted is None else ("--variant", wanted)
        code, out, _ = jaxgbg("ensemble", made, whole, *chosen, "--replace")
        assert (code, out.split()[-2:]) == (0, files)
        expected = ensemble({file: load_agent(file) for file in files})
        np.testing.assert_array_equal(load_agent(made).weights, expected.weights)
    one, other = files
    for complaint, arguments in (
        ("exists already: --replace overwrites it", (made, one, other)),
        ("no agents 'part1'; it has farl, farl-mean, none", (new, whole, "--variant", "part1")),
        ("--variant chooses among the agents of a run", (new, one, other, "--variant", "farl")),
        ("seed0-none.agent is given twice", (new, one, whole, "--variant", "none")),
        ("is an input of this command, which would overwrite it", (one, one, other)),
        ("is an ensemble of 2: name its members instead", (new, one, made)),
    ):
        code, _, err = jaxgbg("ensemble", *arguments)
        assert code == 2
        assert complaint in " ".join(err.split())
    (whole / "summary.json").unlink()
    code, _, err = jaxgbg("ensemble", new, whole)
    assert code == 2
    assert "is not finished" in err
    assert not new.exists()


def test_what_does_not_go_together_is_named():
    nim = agent_of(preset("nim"), 0)
    with pytest.raises(ValueError, match="two agents or more"):
        together(nim)
    for what, changes in (
        ("what is valued, afterstates or actions", {"learner": "sarsa"}),
        ("discount", {"discount": 0.5}),
        (
            "terminal_value_zero",
            {"terminal_value_zero": not preset("nim").learner.terminal_value_zero},
        ),
        *((name, {name: changed}) for name, changed in READ.items()),
    ):
        complaint = f"agent 3 and agent 1 do not go together: {what} differs"
        with pytest.raises(ValueError, match=complaint):
            together(nim, nim, agent_of(preset("nim", **changes), 0))
    other = dataclasses.replace(preset("nim", layout=((0,),)), game=make("nim", heaps=4))
    with pytest.raises(ValueError, match="agent 2 and agent 1 do not go together: game differs"):
        together(nim, agent_of(other, 0))
    with pytest.raises(ValueError, match=r"agent 1 has the value function mlp, but"):
        together(agent_of(preset("nim", value="mlp"), 0), nim)
    with pytest.raises(ValueError, match="agent 2 is an ensemble of 2: name its members"):
        together(nim, together(nim, nim))


def test_every_setting_of_n_tuples_is_compared_or_has_no_part_in_a_sum():
    assert READ.keys() | LEARNED == {field.name for field in dataclasses.fields(NTupleSpec)}


def test_too_many_and_unequal_tuples_are_named():
    of_hex = [preset(make("hex", size=3), layout=each) for each in (((0, 1),), ((2,),))]
    with pytest.raises(ValueError, match="agents of hex must have n-tuples of one length"):
        together(*(agent_of(run, 0) for run in of_hex))
    runs = [preset("othello", walks=(600, length)).for_seed(0) for length in (5, 6)]
    with pytest.raises(ValueError, match=r"n-tuples together; an agent has at most 1,000"):
        together(*(agent_of(run, 0) for run in runs))
