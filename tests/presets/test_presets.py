"""Parameters: each paper's for its own games, our own by size for all others."""

import dataclasses

import pytest

from jaxgbg.evaluation import Protocol
from jaxgbg.games import ConnectFour, TicTacToe, make
from jaxgbg.learners import Schedule
from jaxgbg.runs.presets import (
    GAMES,
    figure,
    konen2021,
    note,
    preset,
    protocol_for,
    published_kinds,
    source,
)
from jaxgbg.runs.settings import with_changes
from jaxgbg.values import MLPSpec, ValueSpec


@dataclasses.dataclass(frozen=True)
class Fourish(ConnectFour):
    """Nobody has published anything on it, though it has the shape of a game they did."""

    name = "fourish"


@dataclasses.dataclass(frozen=True)
class Toe(TicTacToe):
    name = "toe"


def test_every_game_of_a_paper_has_its_parameters():
    for name in GAMES:
        game = make(name)
        run, published = preset(name), konen2021.PRESETS[name]
        assert run.value.kind in published_kinds(game)
        assert (run.learner, run.schedule) == (published.learner, published.schedule)
        assert run.evaluation.opponents == published.evaluation.opponents
        assert run.value.tcl == published.value.tcl


def test_a_new_game_gets_defaults_for_its_size_and_no_other_games():
    large, small = preset(Fourish()), preset(Toe())
    assert published_kinds(large.game) == ()
    assert (large.schedule.episodes, small.schedule.episodes) == (100_000, 20_000)
    for run, other in ((large, preset("connectfour")), (small, preset("tictactoe"))):
        assert run.evaluation.opponents == ("random",)
        assert run.schedule != other.schedule
        assert run.value != other.value
        assert run.evaluation != other.evaluation
        assert protocol_for(run.game, "ab") == protocol_for(run.game, "random")
    layouts = [run.value.layout_of(run.game, 0) for run in (large, preset("connectfour"))]
    assert layouts[0] != layouts[1]


def test_the_paper_s_ab_dl_is_not_the_exact_one():
    game = make("connectfour")
    met = [protocol_for(game, name) for name in ("ab", "ab-dl", "ab-dl-gbg")]
    assert met == [Protocol("default", repeats=40, seats=(0,))] * 3
    assert figure("connectfour", "ab-dl-gbg", "farl") == (93.0, 1.0)
    assert figure("connectfour", "ab-dl-gbg", "none") == (0.0, 0.2)
    assert figure("connectfour", "ab-dl", "farl") is None
    assert "exact" in note("connectfour", "ab-dl")
    assert note("connectfour", "ab-dl-gbg") == note("connectfour", "ab")


def test_the_network_of_lines_of_action_is_the_one_published():
    run = preset("lines_of_action", value="mlp")
    assert published_kinds(run.game) == ("mlp",)
    assert (run.learner.replay_episodes, run.learner.passes, run.variants) == (500, 3, ("part1",))
    assert (run.schedule.epsilon, run.schedule.epsilon_end) == (1.0, 0.0)
    assert run.schedule.epsilon_share == 0.8
    assert run.play.ranks == (0.6, 0.3, 0.1)
    assert [protocol.repeats for protocol in run.evaluation.protocols] == [500, 500]
    # What else is asked for leaves out what cannot go with it.
    assert preset("lines_of_action", value="mlp", learner="q").schedule.alpha == 0.001
    moves = preset("lines_of_action", value="mlp", replay_episodes=0, trace_decay=0.5)
    assert moves.learner.passes == 1


def test_a_name_that_no_game_has_is_refused():
    with pytest.raises(ValueError, match="unknown game 'a new game'"):
        preset("a new game")


def test_a_value_function_that_no_paper_knows_gets_none_of_the_settings_of_n_tuples(monkeypatch):
    published = preset("nim")
    monkeypatch.setitem(ValueSpec.kinds, "other", MLPSpec)
    run = preset("nim", value="other", hidden=(3,))
    assert (run.value.hidden, run.schedule.alpha) == ((3,), Schedule().alpha)
    assert run.schedule.episodes == published.schedule.episodes
    assert run.evaluation == published.evaluation


@pytest.mark.parametrize("game", ["tictactoe", "hex"])
def test_walks_replace_a_published_layout(game):
    walks = preset(game, walks=(5, 3)).value
    assert (walks.layout, walks.walks) == ((), (5, 3))
    assert with_changes(preset(game, layout=((0, 1),)), {"walks": (5, 3)}).value == walks


def test_a_board_too_large_for_the_published_n_tuples_takes_others():
    game = make("nim", heaps=10, size=9)
    with pytest.raises(ValueError, match="tuples are too long"):
        preset(game)
    assert preset(game, walks=(5, 3)).schedule == konen2021.PRESETS["nim"].schedule


def test_the_source_of_settings_is_named_where_a_paper_has_them():
    nim, lines = make("nim"), make("lines_of_action")
    assert source(nim, "ntuple").startswith("Konen & Bagheri 2021")
    assert source(nim, "mlp") == "van der Ree & Wiering 2013"
    assert source(lines, "mlp") == "Sasso & van Lohuizen 2018"
    assert [source(game, "constant") for game in (nim, lines)] == ["", ""]
    assert [source(Toe(), kind) for kind in ("ntuple", "mlp")] == ["", ""]


@pytest.mark.parametrize("name", [*GAMES, "lines_of_action", Fourish()])
def test_a_shorter_training_is_evaluated_ten_times_and_a_published_one_as_published(name):
    published = preset(name)
    episodes, every = published.schedule.episodes, published.evaluation.every
    assert preset(name, episodes=episodes) == published
    for share in (2, 7, 100):
        run = preset(name, episodes=episodes // share)
        assert run.schedule.episodes // run.evaluation.every >= 10
        assert run.evaluation.every <= every
    assert preset(name, episodes=3).evaluation.every == 1
    assert preset(name, episodes=100, eval_every=100).evaluation.every == 100


def test_a_search_takes_the_place_of_the_ranks_of_a_preset():
    of_ranks = preset("lines_of_action", value="mlp")
    assert of_ranks.play.ranks
    assert preset("lines_of_action", value="mlp", search="puct-100").play.ranks == ()
    with pytest.raises(ValueError, match="leave out look_ahead and ranks"):
        preset("lines_of_action", value="mlp", search="puct-100", play_ranks=(0.6, 0.4))
