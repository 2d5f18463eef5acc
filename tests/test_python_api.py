"""Python: games by name, agents by file or run, their training, forms of settings."""

import json

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners import TDSpec
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.storage.agents import SavedAgent, save_agent
from jaxgbg.search import search_kinds
from jaxgbg.search.spec import SearchSpec

RUN = jaxgbg.preset("nim", seeds=[3], farl=True, episodes=300)


def run_with_agents(folder, run):
    """The folder of a run as a training leaves it, with agents whose weights are drawn."""
    made = jaxgbg.RunFolder(folder, run)
    made.begin()
    size = run.make_learner().value.num_weights
    for lane in run.lanes:
        weights = np.random.default_rng(lane.seed).normal(size=size).astype(np.float32)
        save_agent(made.agent(lane), SavedAgent(run.for_seed(lane.seed), lane.variant, weights))
    return made


@pytest.fixture
def folder(tmp_path):
    return run_with_agents(tmp_path, RUN)


def same(one, other):
    assert type(one) is type(other)
    jax.tree.map(np.testing.assert_array_equal, one, other)


# Games.


def test_a_game_goes_by_its_name_or_by_itself():
    game = jaxgbg.make("tictactoe")
    assert jaxgbg.make(game) is game
    text = "XO./.X./... O"
    state = jaxgbg.position("tictactoe", text)
    same(state, jaxgbg.position(game, text))
    assert jaxgbg.position_text("tictactoe", state) == jaxgbg.position_text(game, state) == text
    assert jaxgbg.make_player("random", "tictactoe").game == game
    assert jaxgbg.preset("tictactoe") == jaxgbg.preset(game)
    env = pytest.importorskip("pettingzoo") and jaxgbg.to_pettingzoo("tictactoe")
    assert env.possible_agents == ["player_0", "player_1"]


def test_a_position_has_the_arrays_of_a_start():
    game = jaxgbg.make("tictactoe")
    start, read = game.init(None), jaxgbg.position(game, ".../.../... X")
    assert [(type(leaf), leaf.dtype) for leaf in read] == [
        (type(leaf), leaf.dtype) for leaf in start
    ]


# Agents.


def test_an_agent_is_a_file_a_run_of_one_agent_or_itself(folder):
    agent = jaxgbg.load(folder.agent(RUN.lanes[0]))
    state = agent.game.init(None)
    for other in (folder, folder.path, str(folder.path), agent):
        np.testing.assert_array_equal(
            jaxgbg.load(other).action_values(state), agent.action_values(state)
        )
    assert jaxgbg.look_ahead(folder).agent.run == agent.run
    assert jaxgbg.search(folder.path, 5).agent.run == agent.run


def test_a_run_of_several_agents_names_them(tmp_path):
    several = run_with_agents(tmp_path, jaxgbg.with_changes(RUN, seeds=range(2), variants="farl"))
    for call in (jaxgbg.load, jaxgbg.look_ahead, jaxgbg.evaluate):
        with pytest.raises(ValueError, match=r"has 2 agents: .*seed0-farl.agent, seed1-farl.agent"):
            call(several.path, *["random"] * (call is jaxgbg.evaluate))


@pytest.mark.slow
def test_a_folder_named_as_a_player_does_not_hide_the_player(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "random").mkdir()
    assert jaxgbg.evaluate(folder, "random").shape == (2, 40)


def test_an_agent_knows_its_training_and_nobody_changes_it(folder):
    agent = jaxgbg.load(folder)
    assert (agent.seed, agent.variant, agent.members) == (3, "farl", ())
    assert agent.run == RUN.for_seed(3)
    with pytest.raises(AttributeError):
        agent.seed = 4
    # What JAX rebuilds has the arrays alone.
    rebuilt = jax.tree.map(lambda leaf: leaf, agent)
    assert isinstance(rebuilt, GreedyAgent)
    assert repr(rebuilt).startswith("<LoadedAgent of Nim(")
    with pytest.raises(AttributeError, match="does not know its training"):
        _ = rebuilt.run


def test_an_ensemble_is_made_of_agents_files_or_a_list(folder, tmp_path):
    other = run_with_agents(tmp_path, jaxgbg.with_changes(RUN, seeds=[4]))
    files = [each.agent(each.run.lanes[0]) for each in (folder, other)]
    expected = jaxgbg.ensemble(*files)
    assert len(expected.members) == 2
    assert "ensemble of 2" in repr(expected)
    agents = list(map(jaxgbg.load, files))
    for together in (
        jaxgbg.ensemble(*agents),
        jaxgbg.ensemble(agents),
        jaxgbg.ensemble(folder, other),
    ):
        same(together.params, expected.params)
        assert together.members == expected.members


def test_a_shrunk_agent_is_the_agent(folder, tmp_path):
    file = jaxgbg.shrink(folder, tmp_path / "small.agent", bits=16)
    assert file.stat().st_size < folder.agent(RUN.lanes[0]).stat().st_size
    assert jaxgbg.load(file).run == jaxgbg.load(folder).run
    before = file.read_bytes()
    with pytest.raises(ValueError, match="exists already: replace=True overwrites it"):
        jaxgbg.shrink(folder, file)
    assert file.read_bytes() == before
    assert jaxgbg.shrink(jaxgbg.load(folder), file, bits=16, replace=True).read_bytes() == before


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda agent: agent, "<LoadedAgent of {game}: ntuple, td, farl, seed 3, 300 episodes>"),
        (lambda agent: jaxgbg.look_ahead(agent, 2), "<LookAheadAgent look-ahead-2 of {agent}>"),
        (lambda agent: jaxgbg.search(agent, 50), "<SearchAgent puct-50 of {agent}>"),
        (lambda agent: jaxgbg.make_player("mcts-9", agent.game), "<SearchPlayer mcts-9 of {game}>"),
        (lambda agent: jaxgbg.make_player("maxn", agent.game), "<MaxN of {game}>"),
    ],
)
def test_players_say_what_they_are(folder, make, text):
    agent = jaxgbg.load(folder)
    assert repr(make(agent)) == text.format(agent=agent, game=agent.game)


def test_a_run_folder_says_what_it_is(folder):
    text = repr(folder)
    assert text.startswith(f"<RunFolder {folder.path} of Nim(")
    assert text.endswith(": ntuple, td, 300 episodes, 1 seed of farl, unfinished>")


@pytest.mark.parametrize("kind", sorted(search_kinds()))
def test_the_text_of_a_search_is_read_as_the_search(kind):
    spec = SearchSpec.parse(kind)
    assert SearchSpec.parse(spec.text()) == spec
    if kind == "puct":
        text = "puct-7,exploration=2,solver=1"
        assert SearchSpec.parse(text).text() == text


# Analysis, comparison, report: the same as the commands.


def test_analyze_is_the_command(folder, tmp_path, request):
    command = request.getfixturevalue("jaxgbg")
    file = tmp_path / "values.json"
    agent, moves = folder.agent(RUN.lanes[0]), "0,5"
    command("analyze", str(agent), "--position", moves, "--json", str(file))
    found = jaxgbg.analyze(agent, moves)
    assert found == json.loads(file.read_text())
    state = jaxgbg.position(jaxgbg.load(agent).game, moves)
    again = jaxgbg.analyze(jaxgbg.load(agent), [state, state])
    assert [each["line"] for each in again] == [1] * len(found) + [2] * len(found)
    assert [each["value"] for each in again] == [each["value"] for each in found] * 2


def test_a_named_player_is_analyzed_in_its_game():
    best = [each for each in jaxgbg.analyze("maxn", "0,4", game="tictactoe") if each["best"]]
    assert len(best) == 1
    assert best[0]["value"] == 0


@pytest.mark.slow
def test_compare_decides_as_the_command(tmp_path, request):
    command = request.getfixturevalue("jaxgbg")
    file = tmp_path / "compared.json"
    options = {"elo0": 0, "elo1": 100, "batch": 20, "seed": 5}
    found = jaxgbg.compare("zoo:tictactoe", "random", **options)
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command("compare", "zoo:tictactoe", "random", *flags, "--json", str(file))
    (row,) = json.loads(file.read_text())
    assert (found.wins, found.draws, found.losses) == (row["wins"], row["draws"], row["losses"])
    assert found.decision == "accept"


def test_a_report_is_one_page(tmp_path):
    with pytest.raises(ValueError, match="has no runs"):
        jaxgbg.report(tmp_path)
    assert list(tmp_path.iterdir()) == []
    made = run_with_agents(tmp_path, RUN)
    made.append(jaxgbg.runs.Result(3, "farl", 300, "maxn", 0.5, 20))
    assert jaxgbg.report(tmp_path, by="alpha") == tmp_path / "report.html"
    assert "<html" in (tmp_path / "report.html").read_text()


# Settings.


def test_a_setting_goes_by_any_of_its_names_once():
    one = jaxgbg.preset("tictactoe", opponents=["random"])
    for name in ("opponent", "evaluation.opponents"):
        assert jaxgbg.preset("tictactoe", **{name: ["random"]}) == one
    assert jaxgbg.preset("tictactoe", **{"schedule.episodes": 500}) == jaxgbg.preset(
        "tictactoe", episodes=500
    )
    with pytest.raises(ValueError, match="opponents is given twice"):
        jaxgbg.preset("tictactoe", opponent=["random"], opponents=["maxn"])
    with pytest.raises(ValueError, match="variants is given twice"):
        jaxgbg.preset("tictactoe", farl=True, variant="none")


def test_values_may_be_written_as_on_the_command_line():
    run = jaxgbg.preset(
        "nim", value="mlp", hidden=20, episodes=1e4, opponents="random", variants="farl"
    )
    assert run.value.hidden == (20,)
    assert run.schedule.episodes == 10_000
    assert type(run.schedule.episodes) is int
    assert (run.evaluation.opponents, run.variants) == (("random",), ("farl",))
    listed = jaxgbg.preset(
        "nim", value="mlp", hidden=[20], episodes=10_000, opponents=["random"], variants=["farl"]
    )
    assert (run, run.digest) == (listed, listed.digest)
    with pytest.raises(ValueError, match=r"episodes must be a whole number, not 1\.5"):
        jaxgbg.preset("nim", episodes=1.5)
    with pytest.raises(ValueError, match="layout must be a list, not 3"):
        jaxgbg.preset("nim", layout=3)


def test_with_changes_takes_keywords_too():
    by_path = jaxgbg.with_changes(RUN, {"schedule.alpha": 0.25, "game.size": 3})
    assert jaxgbg.with_changes(RUN, {"game.size": 3}, alpha=0.25) == by_path
    assert by_path.game.size == 3
    assert jaxgbg.with_changes(RUN, learner=TDSpec.kind) == RUN
    with pytest.raises(ValueError, match="alpha is given twice"):
        jaxgbg.with_changes(RUN, {"schedule.alpha": 0.25}, alpha=0.5)
