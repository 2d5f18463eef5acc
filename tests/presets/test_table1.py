"""Table 1: what is trained, whom the agents meet afterwards, and that nothing is done twice."""

import json
import shutil
import types

import jax
import numpy as np
import pytest

from jaxgbg.evaluation import make_judge
from jaxgbg.games import make
from jaxgbg.players import SearchPlayer, make_player
from jaxgbg.runs import load_agent, train
from jaxgbg.runs.presets import preset
from jaxgbg.runs.presets.konen2021 import FINAL_OPPONENTS, GAMES
from jaxgbg.runs.presets.table1 import meet, othello_engine, table1_run


def test_the_table_scales_episodes_and_evaluates_ten_times_at_most():
    for game in GAMES:
        published, scaled = preset(game), table1_run(game, 3, 0.1)
        assert scaled.seeds == (0, 1, 2)
        assert scaled.schedule.episodes == published.schedule.episodes // 10
        often = min(10, published.schedule.episodes // published.evaluation.every)
        assert scaled.schedule.episodes // scaled.evaluation.every == often
        assert table1_run(game, 10, 1.0) == published
        assert table1_run(game, 2, 1.0, first=3, batch=1) == preset(game, seeds=(3, 4), batch=1)
    assert set(FINAL_OPPONENTS) <= set(GAMES)
    with pytest.raises(ValueError, match="no row of 'go'"):
        table1_run("go", 1, 1.0)
    with pytest.raises(ValueError, match="scale must lie in"):
        table1_run("nim", 1, 0.0)


@pytest.mark.slow
def test_finished_agents_meet_an_opponent_once(tmp_path):
    run = preset(
        make("hex", size=3), walks=(4, 3), seeds=(0, 1), episodes=200, eval_every=200, opponents=()
    )
    folder = train(run, tmp_path)
    assert folder.results() == []
    built = []

    def judge():
        built.append(1)
        return make_judge("random", run.game)

    for _ in range(2):
        meet(folder, ["random"], judge)
    found = folder.results()
    assert {(one.seed, one.variant) for one in found} == set(run.lanes)
    assert len(found) == len(run.lanes) == 4
    assert built == [1]
    assert all(one.episodes == 200 and one.games == 80 for one in found)
    # Agents with layouts of their own play as they would alone.
    alone = folder.path / "agents" / "seed1-farl.agent"
    assert json.loads((folder.path / "config.json").read_text())["value"]["layout"] == []

    saved = load_agent(alone)
    assert saved.run.value.layout == run.value.layout_of(run.game, 1)
    assert saved.player().value.tuples == run.value.layout_of(run.game, 1)


def test_agents_play_afterwards_as_in_the_training_of_their_run(tmp_path):
    run = preset("nim", seeds=(0,), episodes=50, eval_every=50, opponents=(), play_ranks=(0.0, 1.0))
    folder, seen = train(run, tmp_path), []

    def scores(agents, key, seeds):
        seen.append(agents)
        return {"nobody": np.zeros((agents.copies, 1, 1))}

    judge = types.SimpleNamespace(
        name="nobody", scores=scores, wins=lambda scores: None, close=lambda: None
    )
    meet(folder, ["nobody"], lambda: judge)
    (agents,) = seen
    assert agents.search.settings.ranks == (0.0, 1.0)
    assert agents.copies == len(folder.results()) == 2


def test_the_engine_of_the_othello_row(monkeypatch):
    assert othello_engine("/opt/edax/wEdax -gtp -l 1") == ("edax", "/opt/edax/wEdax -gtp -l 1")
    assert othello_engine("zebra --gtp") == ("zebra", "zebra --gtp")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert othello_engine(None) is None
    monkeypatch.setattr(shutil, "which", lambda name: name)
    assert othello_engine(None)[0] == "grhino"


def test_mcts_is_built_as_published():
    nim3p = make_player("mcts-5000", make("nim3p"))
    assert isinstance(nim3p, SearchPlayer)
    assert (nim3p.search.settings.iterations, nim3p.search.reward_range) == (5000, (-1.0, 1.0))
    assert make_player("mcts", make("hex")).search.settings.iterations == 10_000
    assert jax.devices()
