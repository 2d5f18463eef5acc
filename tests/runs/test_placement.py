"""Where lanes are: none is lost, and whether they are trained in turn or at once changes no bit."""

import jax
import numpy as np
import pytest

from jaxgbg.runs import Training, memory, placement
from jaxgbg.runs.memory import available_memory, check_memory, lane_memory
from jaxgbg.runs.placement import LanePlacement, lanes_at_once
from jaxgbg.runs.presets import preset
from jaxgbg.runs.run import LaneName


@pytest.mark.parametrize("lanes", [1, 2, 3, 6, 7, 20])
@pytest.mark.parametrize("at_once", [1, 2, 4, 64])
def test_every_lane_has_one_place_and_is_found_there(lanes, at_once):
    where = LanePlacement(lanes, at_once)
    members = [where.members(group)[where.live(group)] for group in range(where.groups)]
    assert sorted(np.concatenate(members).tolist()) == list(range(lanes))
    assert where.at_once <= at_once
    assert where.size == where.at_once * where.mesh.size
    # What each place says of its lane: its number, and its number again in an array of two.
    groups = [
        jax.device_put((own, np.stack([own, own], 1)), where.sharding)
        for own in (where.members(group) for group in range(where.groups))
    ]
    np.testing.assert_array_equal(where.by_lane([one for one, _ in groups]), np.arange(lanes))
    for lane in range(lanes):
        one, two = where.lane_of(groups, lane)
        assert int(one) == lane
        np.testing.assert_array_equal(two, [lane, lane])
    joined, _ = where.joined(groups)
    np.testing.assert_array_equal(joined[:lanes], np.arange(lanes))
    assert len(joined) == where.groups * where.size
    assert not np.asarray(joined[lanes:]).any()


@pytest.mark.usefixtures("full_optimization")
@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("nim3p", {"averaging": "tail"}),
        pytest.param("othello", {"episodes": 64, "opponents": ("random",)}, marks=pytest.mark.slow),
        pytest.param("hex", {"opponents": ("random",)}, marks=pytest.mark.slow),
    ],
)
def test_lanes_in_turn_learn_and_are_judged_as_lanes_at_once(game, changes, monkeypatch):
    fields = {"seeds": (0, 1, 2), "episodes": 600, "eval_every": 300, "batch": 16} | changes
    found = []
    for games in (16, 10**6):
        monkeypatch.setattr(placement, "GAMES_AT_ONCE", games)
        training = Training(preset(game, **fields))
        found.append((list(training.evaluations()), training.leaves(), training.placement.groups))
    (results, leaves, groups), (others, same, together) = found
    assert results == others
    assert groups > together == 1
    for mine, theirs in zip(leaves, same, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
@pytest.mark.parametrize("game", ["tictactoe", "nim", "nim3p"])
def test_a_seed_alone_learns_what_it_learns_beside_others(game):
    fields = {"variants": ("farl",), "batch": 1, "episodes": 300, "eval_every": 300}
    found = []
    for seeds in ((1,), (0, 1, 2)):
        training = Training(preset(game, seeds=seeds, opponents=("random",), **fields))
        list(training.evaluations())
        found.append(jax.tree.leaves(training.agents()[LaneName(1, "farl")]))
    for alone, beside in zip(*found, strict=True):
        np.testing.assert_array_equal(alone, beside)


def test_who_is_further_waits_for_the_others():
    """Without FARL an episode of ConnectFour soon takes fewer moves: its lane is ahead."""
    run = preset("connectfour", seeds=(0, 1, 2, 3), layout=((0, 1, 2),), episodes=10**6)
    training = Training(run)
    assert training.placement.groups > 1
    for _ in range(4 * training.placement.groups):
        before = training.finished
        training.advance(10**6)
        moved = training.finished != before
        assert moved.any()
        assert before.min() == before[moved].min()


def test_lanes_in_turn_need_room_for_a_copy_of_their_weights(monkeypatch):
    run = preset("connectfour", seeds=(0, 1))
    learner = run.make_learner()
    assert lanes_at_once(learner, 4) == 1
    serial = {game: preset(game, batch=1).make_learner() for game in ("nim", "hex", "othello")}
    assert [lanes_at_once(one, 20) for one in serial.values()] == [1, 8, 1]
    assert lanes_at_once(preset("connectfour", value="mlp").make_learner(), 4) == 4
    traces = preset("connectfour", value="mlp", parameter_traces=True, trace_decay=0.5)
    assert lanes_at_once(traces.make_learner(), 4) == 1
    needed = 4 * (lane_memory(run) + 4 * learner.value.num_weights)
    monkeypatch.setattr(memory, "available_memory", lambda: 1.01 * needed)
    check_memory([run])
    monkeypatch.setattr(memory, "available_memory", lambda: 0.99 * needed)
    with pytest.raises(ValueError, match="4 lanes"):
        check_memory([run])
    assert available_memory() > 0
