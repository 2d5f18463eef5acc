"""The mean of the weights: of which moments, to the bit the same after a stop, and no part of the
training.
"""

import dataclasses
import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.results.groups import read_table
from jaxgbg.results.rows import rows
from jaxgbg.runs import StopTraining, Training, load_agent, train
from jaxgbg.runs.averaging import Averaging, begin_mean, move_towards
from jaxgbg.runs.memory import lane_memory
from jaxgbg.runs.placement import LanePlacement
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.latest_agent import latest_file, read_latest

RULES = [
    {"averaging": "tail", "averaging_from": 0.5, "averaging_samples": 6},
    {"averaging": "exponential", "averaging_samples": 9, "averaging_decay": 0.7},
]


def run_of(game="tictactoe", **changes):
    fields = {"episodes": 400, "eval_every": 150, "batch": 8, "opponents": (), **changes}
    return preset(game, **{"seeds": (3, 1), "variants": ("farl", "none"), **fields})


def weights_of(training: Training, means=False) -> np.ndarray:
    """float32[L, R]: all weights of all lanes, or their means."""
    agents = training.means() if means else training.agents()
    return np.stack([training.learner.value.weights_of(params) for params in agents.values()])


def snapshots(run, monkeypatch) -> list[tuple[np.ndarray, np.ndarray]]:
    """(finished, weights) of all lanes after every block of a training that averages nothing."""
    with monkeypatch.context() as patch:
        # So short a chunk is one block.
        patch.setattr(sys.modules[Training.__module__], "SECONDS_A_CHUNK", 0.0)
        training = Training(dataclasses.replace(run, averaging=Averaging()))
        seen = []

        def keep(_):
            seen.append((training.finished, weights_of(training)))

        list(training.rounds(keep))
    return seen


def reference_mean(run, seen, lane: int) -> np.ndarray:
    """The mean of what a lane was like when it had first finished so many episodes, in float64."""
    rule = run.averaging
    share = {"tail": 2 / 3, "exponential": 0}[rule.rule] if rule.start is None else rule.start
    start, total = round(share * run.schedule.episodes), run.schedule.episodes
    apart = (total - start) / rule.samples
    points = [math.ceil(start + apart * k) for k in range(1, rule.samples + 1)]
    moments = {
        next(at for at, (finished, _) in enumerate(seen) if finished[lane] >= point)
        for point in points
    }
    samples = [seen[at][1][lane].astype(np.float64) for at in sorted(moments)]
    assert len(samples) > 2
    ages = np.arange(len(samples))[::-1]
    shares = rule.decay**ages if rule.rule == "exponential" else np.ones(len(samples))
    return np.average(samples, axis=0, weights=shares)


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        pytest.param("tictactoe", RULES[0], marks=pytest.mark.slow),
        pytest.param("tictactoe", RULES[1], marks=pytest.mark.slow),
        pytest.param("hex", RULES[0] | {"walks": (4, 3)}, marks=pytest.mark.slow),
        pytest.param("nim", RULES[1] | {"learner": "sarsa"}, marks=pytest.mark.slow),
        pytest.param(
            "nim", RULES[1] | {"value": "mlp", "optimizer": "adam", "alpha": 0.01},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "2048",
            RULES[0] | {"layout": ((0, 1, 2),), "episodes": 40, "batch": 4, "variants": ("farl",)},
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_it_is_the_mean_of_its_moments_and_the_training_is_as_without(game, changes, monkeypatch):
    run = run_of(game, **changes)
    seen = snapshots(run, monkeypatch)
    training = Training(run)
    list(training.rounds())
    np.testing.assert_array_equal(weights_of(training), seen[-1][1])
    means = weights_of(training, means=True)
    for lane in range(len(run.lanes)):
        expected = reference_mean(run, seen, lane)
        np.testing.assert_allclose(means[lane], expected, rtol=1e-5, atol=1e-6)
        # What no update has hit is as it was at the start.
        still = np.all([weights[lane] == seen[0][1][lane] for _, weights in seen], axis=0)
        np.testing.assert_array_equal(means[lane][still], seen[0][1][lane][still])
    names = [lane.mean for lane in run.lanes]
    for name, mean in zip(names, means, strict=True):
        np.testing.assert_array_equal(
            training.learner.value.weights_of(training.means()[name]), mean
        )


def test_samples_are_spread_to_the_end_of_the_budget():
    tail = Averaging("tail", samples=10)
    assert tail.points(300).tolist() == list(range(210, 301, 10))
    assert Averaging("exponential", samples=3).points(300).tolist() == [100, 200, 300]
    # Less episodes than samples: one for each.
    assert tail.points(6).tolist() == [5, 6]
    assert Averaging().points(300).size == 0
    assert tail.rates(np.array([1, 2, 4])).tolist() == [1, 0.5, 0.25]
    fading = Averaging("exponential", decay=0.5).rates(np.array([1, 2, 1000]))
    np.testing.assert_allclose(fading, [1, 2 / 3, 0.5])


@pytest.fixture(scope="module")
def averaged(tmp_path_factory):
    """A finished run whose weights are averaged, and one that is like it but for that."""
    out = tmp_path_factory.mktemp("averaged")
    changes = {"opponents": ("random",), "eval_every": 100}
    return [train(run_of(**changes, **more), out) for more in (RULES[0], {})]


@pytest.mark.slow
def test_agents_of_the_mean_are_judged_and_kept_beside_the_last_ones(averaged):
    mine, other = averaged
    assert mine.summary()["state_sha256"] == other.summary()["state_sha256"]
    lanes = set(mine.run.lanes)
    last = [one for one in mine.results() if (one.seed, one.variant) in lanes]
    assert last == other.results()
    means = [one for one in mine.results() if one not in last]
    # The first sample is taken after 234 episodes.
    judged = [(lane.mean, episodes) for episodes in (300, 400) for lane in mine.run.lanes]
    assert [((one.seed, one.variant), one.episodes) for one in means] == judged
    assert Training(mine.run).milestones_of_means == 2
    files = {path.name for path in (mine.path / "agents").iterdir()}
    assert files == {agent.file for agent in mine.run.agents}
    assert "seed3-farl-mean.agent" in files
    assert {path.name for path in (other.path / "agents").iterdir()} == {
        lane.file for lane in lanes
    }


def test_the_mean_is_judged_by_its_own_weights_and_from_the_same_starts():
    training = Training(run_of(opponents=("random",), eval_every=400, **RULES[0]))
    last, means = [], []
    for one in training.evaluations():
        (means if one.variant.endswith("-mean") else last).append(one)
    # In the place of the mean: the last weights, and then their opposite.
    for sign, expected in ((1, [one.score for one in last]), (-1, None)):
        for number, group in enumerate(training.groups):
            own = training.learner.value.for_player(group.params)
            own = own._replace(weights=sign * own.weights)
            mean = training.means_so_far[number]
            training.means_so_far[number] = mean._replace(params=own)
        found = [one.score for _, one in training.evaluate(400)][len(last) :]
        assert (found == expected) if expected else found != [one.score for one in means]


@pytest.mark.slow
def test_an_agent_of_the_mean_plays(averaged, jaxgbg, tmp_path):
    path = averaged[0].path / "agents" / "seed3-farl-mean.agent"
    saved = load_agent(path)
    assert (saved.seed, saved.variant) == (3, "farl-mean")
    state = saved.run.game.init(None)
    assert np.isfinite(saved.player().action_values(state)).any()
    code, out, _ = jaxgbg("eval", path, "--opponent", "random", "--json", tmp_path / "rows.json")
    assert code == 0
    assert "farl-mean" in out


def test_tables_tell_the_mean_from_the_last(averaged):
    from jaxgbg.results.curves import styles_of

    table = read_table(averaged[0].path)
    assert [row.variant for row in table.rows] == ["farl", "farl-mean", "none", "none-mean"]
    assert [row.n for row in table.rows] == [2] * 4
    looks = [look for _, look in styles_of(table).items()]
    assert [look.dashes for look in looks] == ["-", "--"] * 2
    assert looks[0].colour == looks[1].colour != looks[2].colour
    plain = read_table(averaged[1].path)
    assert [row.variant for row in plain.rows] == ["farl", "none"]
    # Where variants are pooled, one training counts once.
    (pooled,) = read_table(averaged[0].path, pool=("variant",)).rows
    (expected,) = read_table(averaged[1].path, pool=("variant",)).rows
    assert (pooled.n, pooled.mean) == (expected.n, expected.mean)
    where = "variant like '%-mean'"
    (means,) = read_table(averaged[0].path, pool=("variant",), where=where).rows
    assert means.n == expected.n
    assert means.mean != expected.mean


def test_a_line_of_a_mean_that_a_run_does_not_take_is_left_out(averaged):
    run, results = averaged[1].run, averaged[1].results()
    stray = results[-1]._replace(variant="none-mean")
    assert rows(run, [*results, stray], 1.0) == rows(run, results, 1.0)


@pytest.mark.slow
def test_a_report_tells_of_the_mean_and_counts_its_agents(averaged, tmp_path, jaxgbg):
    for folder, told, count in zip(averaged, (True, False), (8, 4), strict=True):
        page = tmp_path / "report.html"
        assert jaxgbg("report", folder.path, "--out", page)[0] == 0
        text = page.read_text()
        assert f"Finished: {count} agents" in text
        assert ("Averaging" in text) == told


def test_without_a_mean_a_run_keeps_its_name():
    run = run_of()
    assert run == dataclasses.replace(run, averaging=Averaging(rule="none"))
    assert "averaging" not in run.changed()
    assert run.agents == run.lanes
    assert {run.digest} != {run_of(**rule).digest for rule in RULES}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"averaging": "tail", "averaging_from": 1.5}, r"averaging_from must lie in \[0, 1\), not"),
        ({"averaging": "mean"}, "averaging must be one of none, tail, exponential, not 'mean'"),
        ({"averaging": "tail", "averaging_samples": 0}, "averaging_samples must lie in"),
        ({"averaging": "exponential", "averaging_decay": 1.0}, r"averaging_decay must lie in \[0"),
        ({"averaging_from": 0.5}, "averaging_from is for averaging tail or exponential: choose"),
        ({"averaging": "tail", "averaging_decay": 0.5}, "averaging_decay is for averaging exp"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(changes, words):
    with pytest.raises(ValueError, match=words) as error:
        run_of(**changes)
    assert "\n" not in str(error.value)


def test_the_mean_is_one_more_table_and_no_other(monkeypatch):
    run = preset("connectfour", seeds=(0,), variants=("farl",))
    averaged = preset("connectfour", seeds=(0,), variants=("farl",), averaging="tail")
    value = run.make_learner().value
    table = 4 * value.num_weights
    assert table <= lane_memory(averaged) - lane_memory(run) < 1.01 * table
    params = jax.eval_shape(jax.vmap(lambda _: value.init()), jnp.zeros(2))
    mean = jax.eval_shape(value.for_player, params)
    rates = jax.ShapeDtypeStruct((2,), jnp.float32)
    compiled = move_towards.lower(value, mean, params, rates).compile()
    memory = compiled.memory_analysis()
    # In place: the mean that goes in is the one that comes out.
    assert memory.alias_size_in_bytes >= 2 * table
    assert memory.temp_size_in_bytes < table / 100


def test_a_lane_that_gives_no_sample_keeps_its_mean_even_beside_what_is_no_number():
    value = preset("nim", seeds=(0,)).make_learner().value
    params = jax.vmap(lambda _: value.init())(jnp.zeros(2))
    mean = begin_mean(value, params, LanePlacement(1, 1).sharding).params
    broken = params._replace(weights=params.weights.at[0].set(jnp.nan).at[1].set(2.0))
    moved = move_towards(value, mean, broken, np.float32([0, 1]))
    np.testing.assert_array_equal(moved.weights[0], 0.0)
    np.testing.assert_array_equal(moved.weights[1], 2.0)


def test_the_newest_agent_of_a_checkpoint_is_the_last_one(tmp_path):
    def stop(result):
        if result.episodes >= 300:
            raise StopTraining("seen enough")

    run = run_of(opponents=("random",), **RULES[0])
    folder = train(run, tmp_path, on_evaluation=stop, checkpoint_every=1e9)
    newest = read_latest(latest_file(folder.path, run), run)
    training = Training(run)
    next(training.rounds())
    next(training.rounds())
    np.testing.assert_array_equal(newest.agent.params.weights[0], weights_of(training)[0])


def test_runs_of_other_moments_are_no_lanes_of_one_program():
    from jaxgbg.runs.lanes import program_of

    programs = [program_of(run_of(**rule)) for rule in (*RULES, {})]
    assert len(set(programs)) == 3
