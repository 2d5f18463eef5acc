"""TC counters next to the n-tuples' weights: those of a checkpoint, and absent elsewhere."""

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.cli.play import _read
from jaxgbg.web.play import requests
from jaxgbg.web.play.loaded_agents import load_agents
from jaxgbg.web.play.table import Table
from tests.runs.test_latest_agent import begun, restored
from tests.web.tables import drawn_agent

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return begun(tmp_path_factory.mktemp("begun"), variants=("none", "farl"), tcl="exp")


def asked(table: Table, moves: str = "0") -> dict:
    return table.tuples(requests.Tuples(moves, cell=4))


def test_an_unfinished_run_is_met_as_its_latest_checkpoint_with_its_counters(folder):
    loaded = load_agents([folder.path])
    training, _ = restored(folder)
    (lane,) = (lane for lane in training.lanes if lane == (folder.run.seeds[0], "farl"))
    params = training.agents()[lane]
    counters = params.counters.reshape(len(params.weights), -1)
    assert (np.abs(counters[:, 0]) != counters[:, 1]).any(), "something was learned"
    table = Table(*loaded)
    answer = asked(table)
    assert list(loaded.agents) == [f"seed{folder.run.seeds[0]}-farl"]
    episodes = int(training.finished[training.lanes.index(lane)])
    assert answer["counters"] == f"of the checkpoint after {episodes:,} episodes"
    # Each weight that was learned is found again by its value and both counters, in one row.
    rows = np.column_stack([params.weights, counters[:, :2]])
    known = [each for moves in ("0", "4", "4,0") for each in asked(table, moves)["tuples"]]
    assert len(known) == 3 * 8
    assert all(each["weight"] for each in known)
    for each in known:
        alike = np.abs(rows[:, 0] - each["weight"]) < 1e-5
        assert 0 < alike.sum() < 20
        assert (rows[alike, 1:] == np.float32([each["n"], each["a"]])).all(1).any()
        assert each["factor"] == pytest.approx(abs(each["n"]) / each["a"])
        assert 0 <= each["factor"] <= 1 + 1e-6
    assert {each["factor"] for each in known} != {1.0}
    table.close()


def test_the_command_and_the_notebook_show_them_too(folder):
    loaded = _read((str(folder.path),), None, ())
    assert loaded.counters.keys() == loaded.agents.keys()
    pytest.importorskip("anywidget")
    board = jaxgbg.board(folder)
    assert asked(board._table)["counters"].startswith("of the checkpoint")
    board.close()


def test_several_agents_each_have_their_own(folder):
    drawn = drawn_agent(folder.run.game, tcl="id")
    loaded = load_agents([drawn, folder.path])
    table = Table(*loaded)
    tell = [
        table.tuples(requests.Tuples("4", cell=4, judge=judge))["counters"]
        for judge in ("agent", "agent-1", "agent-1:look-ahead=2")
    ]
    assert [words.partition(" ")[0] for words in tell] == ["not", "of", "of"]
    table.close()


@pytest.mark.parametrize(
    ("tcl", "words"), [("exp", "agent files have no counters"), ("none", "without temporal")]
)
def test_where_there_are_none_that_is_said(tcl, words):
    game = jaxgbg.make("tictactoe")
    table = Table(game, {"drawn": drawn_agent(game, tcl=tcl)})
    answer = asked(table)
    assert words in answer["counters"]
    assert {each[name] for each in answer["tuples"] for name in ("n", "a", "factor")} == {None}
    table.close()


def test_a_run_that_is_finished_is_met_by_its_agents_file(tmp_path):
    run = jaxgbg.preset("tictactoe", seeds=[0], episodes=64, eval_every=64, opponents=["random"])
    loaded = load_agents([jaxgbg.train(run, tmp_path, progress=False).path])
    assert loaded.counters == {}
    assert jax.tree.leaves(next(iter(loaded.agents.values())).params)[0].any()


def test_a_run_of_another_game_is_refused_in_a_line(folder, tmp_path):
    with pytest.raises(ValueError, match=r"the run in .* is of tictactoe, not hex"):
        load_agents([folder.path], jaxgbg.make("hex", size=3))
    (tmp_path / "agents").mkdir()
    with pytest.raises(ValueError, match="is not the folder of a finished run"):
        load_agents([tmp_path])
