"""Saved agents as opponents and partners, and how agents play in evaluations."""

import shutil

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.players import LookAheadAgent, SearchAgent
from jaxgbg.runs.opponents import judge_by, make_opponent
from jaxgbg.runs.play import Play
from jaxgbg.runs.presets import preset
from jaxgbg.search.puct import PUCTSpec


@pytest.fixture
def agent_file(trained, tmp_path):
    found = next((trained / "small").glob("*/agents/seed0-farl.agent"))
    return shutil.copy(found, tmp_path / "self.agent")


@pytest.mark.slow
def test_an_agent_file_is_an_opponent_that_may_look_ahead(agent_file):
    game = jaxgbg.make("nim")
    assert make_opponent(str(agent_file), game).name == "agent"
    player = make_opponent(f"{agent_file}:look-ahead=3:width=3,1:reply=value:ranks=.6,.3,.1", game)
    assert isinstance(player, LookAheadAgent)
    assert (player.search.plies, player.search.width, player.search.reply) == (3, (3, 1), "value")
    assert player.search.settings.ranks == (0.6, 0.3, 0.1)
    player = make_opponent(f"{agent_file}:search=puct-9,width=3", game)
    assert isinstance(player, SearchAgent)
    assert (player.iterations, player.search.settings) == (9, PUCTSpec(64, width=3))
    judge = judge_by(f"{agent_file}:look-ahead=2", game)
    scores = judge.scores(jaxgbg.load(agent_file), jax.random.key(0))[judge.name]
    assert set(np.unique(scores)) <= {-1.0, 1.0}


def test_opponents_that_cannot_play_are_named(agent_file):
    nim = jaxgbg.make("nim")
    for name, game, line in [
        (f"{agent_file}", jaxgbg.make("tictactoe"), "plays nim, not tictactoe"),
        (f"{agent_file}", jaxgbg.make("nim", heaps=2), "other parameters: heaps=3, not heaps=2"),
        (f"{agent_file}:look-ahead=0", nim, r"=0: look_ahead must lie in \[1, 10\], not 0"),
        (f"{agent_file}:look-ahead=2:width=0", nim, "width must lie in"),
        (f"{agent_file}:look-ahead=2:look-ahead=2", nim, "look_ahead is given twice"),
        (f"{agent_file}:search=puct-0", nim, "iterations must lie in"),
        (f"{agent_file}:search=puct-9:look-ahead=2", nim, "leave out look_ahead"),
        (f"{agent_file}:depth=2", nim, "unknown setting 'depth'.*known are look_ahead"),
        (f"{agent_file}:ranks=best", nim, "ranks must be a number, not 'best'"),
        ("no-such.agent", nim, "No such file"),
    ]:
        with pytest.raises(ValueError, match=line):
            make_opponent(name, game)


def test_a_run_says_how_its_agents_play_in_evaluations():
    run = preset("nim", look_ahead=2, play_ranks=(0.6, 0.4), reply="value")
    assert run.play == Play(2, (), "value", (0.6, 0.4))
    assert preset("nim").changed().get("play", {}) == {}
    with pytest.raises(ValueError, match=r"look_ahead must lie in \[1, 10\], not 0"):
        preset("nim", look_ahead=0)
    with pytest.raises(ValueError, match="values of actions"):
        preset("nim", look_ahead=2, learner="q")


@pytest.mark.slow
def test_a_run_meets_agents_that_look_ahead_and_trains_against_one(agent_file, tmp_path):
    name = f"{agent_file}:look-ahead=2:ranks=.6,.4"
    run = preset(
        "nim", seeds=(0,), episodes=100, eval_every=50, partner=name, opponents=(name, "random"),
        look_ahead=2, ranks=(0.7, 0.3),
    )  # fmt: skip
    results = jaxgbg.train(run, tmp_path).results()
    assert {result.opponent for result in results} == {name, "random"}
    assert len(results) == 2 * 2 * 2


@pytest.mark.slow
def test_a_run_meets_agents_that_search_and_trains_against_one(agent_file, tmp_path):
    name = f"{agent_file}:search=puct-5"
    run = preset(
        "nim", seeds=(0, 1), episodes=100, eval_every=50, partner=name, opponents=(name,),
        search="puct-4",
    )  # fmt: skip
    assert run.play == Play(search="puct-4")
    results = jaxgbg.train(run, tmp_path).results()
    assert len(results) == 2 * 2 * 2


@pytest.mark.slow
def test_commands_search(agent_file, jaxgbg):
    opponent = f"{agent_file}:search=puct-8"
    code, out, _ = jaxgbg("eval", agent_file, "--search", "puct-8", "--opponent", opponent)
    assert (code, "win rate" in out) == (0, True)
    search = ("--search", "puct-4,exploration=0.5", "--max-games", 100)
    code, out, _ = jaxgbg("compare", agent_file, opponent, *search)
    assert (code, "verdict" in out) == (0, True)
    code, _, line = jaxgbg("eval", agent_file, "--search", "puct-8,depth=3")
    assert (code, line.count("\n"), "unknown setting 'depth'" in line) == (2, 1, True)


@pytest.mark.slow
def test_commands_look_ahead(agent_file, jaxgbg):
    opponent = f"{agent_file}:look-ahead=2"
    deep = ("--look-ahead", 3, "--width", 2, 1, "--ranks", 0.6, 0.4)
    code, out, _ = jaxgbg("eval", agent_file, *deep, "--opponent", opponent)
    assert (code, "win rate" in out) == (0, True)
    code, out, _ = jaxgbg("compare", agent_file, opponent, "--look-ahead", 2, "--max-games", 100)
    assert (code, "verdict" in out) == (0, True)
