"""What is chosen for a game is within the stated limits, and symmetries that are found are used."""

import itertools

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.cli.building import build
from jaxgbg.cli.building.choices import (
    LEAST_GAMES,
    LEAST_LENGTH,
    LEAST_TRAINING,
    MATCH_SHARE,
    MOST_BYTES,
    MOST_GAMES,
    MOST_LOOK_UPS,
    MOST_ROWS,
    Size,
    games_for,
    run_for,
    training_seconds,
    tuples_for,
)
from jaxgbg.cli.building.rules import named_rules, symmetries_of
from jaxgbg.evaluation import Protocol
from jaxgbg.games import Hex
from jaxgbg.games.sampling import sample_games
from jaxgbg.runs import Progress, budget
from jaxgbg.runs.budget import TrainingPace, episodes_in, with_episodes
from jaxgbg.values import NTupleSpec


class OwnHex(Hex):
    """Hex by another name, with no symmetries of its own."""

    name = "own-hex"
    symmetries = jaxgbg.Game.symmetries
    action_symmetries = jaxgbg.Game.action_symmetries


class ManyDigits(OwnHex):
    """A game with more digits than tables have room for."""

    num_cell_values = 31


IDENTITY = np.arange(16)[None]


def test_tables_stay_within_rows_look_ups_and_memory():
    for cells, digits, players, images in itertools.product(
        (2, 9, 42, 361), (2, 3, 11, 20, 21, 31, 128), (1, 2, 6), (1, 8, 24)
    ):
        walks = tuples_for(Size(cells, digits, players, images))
        if walks is None:
            assert digits ** min(LEAST_LENGTH, cells) > MOST_ROWS
            continue
        number, length = walks
        assert 1 <= length <= cells
        assert digits**length <= MOST_ROWS
        assert length == cells or digits ** (length + 1) > MOST_ROWS
        assert 1 <= number <= 2 * cells
        assert number * images <= MOST_LOOK_UPS
        assert number * digits**length * players * 16 <= MOST_BYTES


def test_times_and_games():
    assert training_seconds(600, 20) == pytest.approx(600 * (1 - MATCH_SHARE) - 20)
    assert training_seconds(60, 59) == training_seconds(60, 600) == 60 * LEAST_TRAINING
    assert games_for(100, 1e-6) == MOST_GAMES
    # Thirty games of mcts-1000 fit into half of the time; of the next one only mcts-100.
    assert games_for(600, 1.0) == 30
    assert games_for(100, 1.0) == 50
    assert games_for(1, 1.0) == LEAST_GAMES
    assert episodes_in(10, TrainingPace(50, 1_000), lanes=2) == 250
    assert episodes_in(0, TrainingPace(50, 1_000), batch=64) == 64


def test_the_pace_is_that_of_the_second_half(monkeypatch):
    """Games of 40 plies for the first five seconds, of 10 plies then, at 100 moves/s."""

    class Training:
        episodes, seconds = 10**8, 0.0

        def __init__(self, run):
            pass

        def advance(self, limit):
            self.__class__.seconds += 0.5

        def progress(self):
            ended = 2.5 * min(self.seconds, 5) + 10 * max(self.seconds - 5, 0)
            return Progress(int(ended), int(100 * self.seconds), self.seconds, 10**8)

    monkeypatch.setattr(budget, "Training", Training)
    monkeypatch.setattr(budget.time, "perf_counter", lambda: Training.seconds)
    run = jaxgbg.preset("tictactoe", batch=8)
    assert budget.measured_pace(run, 10.0) == TrainingPace(pytest.approx(10, rel=0.1), 100.0)
    # Hardly an episode in half a second: of random games we know the length.
    Training.seconds = 0.0
    plies = sample_games(run.game).plies.mean()
    assert budget.measured_pace(run, 0.1) == TrainingPace(pytest.approx(100 / plies), 100.0)


def test_matches_fit_into_the_time_that_the_training_leaves(monkeypatch):
    monkeypatch.setattr(build, "seconds_of_a_game", lambda game: 1.0)
    plan = build.BuildPlan({"name": "nim"}, 10, {}, steps={"value": "one table"})
    said: list[str] = []
    for left, games in ((100, 50), (600, 30), (1_600, 80)):
        filled = build._with_games(plan, jaxgbg.make("nim"), left, said.append)
        assert filled.games == games
        assert filled.steps["value"] == "one table"
        assert said.pop() == f"matches: {filled.steps['matches']}"
    assert build._with_games(plan, jaxgbg.make("2048"), 1, said.append).games == MOST_GAMES
    assert not said


def test_a_budget_has_as_many_evaluations_as_asked_for():
    run = jaxgbg.preset("nim")
    for episodes in (1, 7, 1_003):
        short = with_episodes(run, episodes, 5)
        assert short.schedule.episodes == episodes
        assert -(-episodes // short.evaluation.every) <= 5


def test_a_shipped_game_keeps_its_settings():
    run, why = run_for(jaxgbg.make("connectfour"), np.arange(42)[None])
    published = jaxgbg.preset("connectfour")
    assert (run.value, run.learner, run.schedule) == (
        published.value,
        published.learner,
        published.schedule,
    )
    assert "come with jaxgbg" in why
    assert (run.variants, run.evaluation.opponents) == (("farl",), ("random",))
    alone, _ = run_for(jaxgbg.make("2048"), np.arange(16)[None])
    assert alone.evaluation.opponents == ("score",)


def test_a_game_that_one_move_may_end_is_judged_from_its_start():
    run, _ = run_for(jaxgbg.make("nim", heaps=1, size=1), np.arange(1)[None])
    assert run.evaluation.protocols == (Protocol("default", count=10),)
    run, _ = run_for(jaxgbg.make("nim", heaps=2, size=1), np.arange(2)[None])
    assert run.evaluation.protocols == (Protocol("choose_01", count=10),)


def test_other_games_get_settings_by_their_size():
    game = OwnHex(size=4)
    run, why = run_for(game, IDENTITY)
    assert run.value.walks == (32, 8)
    assert why == "32 n-tuples of 8 cells, random walks, 1 symmetric images of a board"
    run, why = run_for(OwnHex(size=3), np.arange(9)[None])
    assert (run.value.walks, why) == ((0, 0), "one table of all boards")
    run, why = run_for(ManyDigits(size=4), IDENTITY)
    assert (run.value.kind, why[:9]) == ("mlp", "a network")


def test_symmetries_by_simulation_are_those_of_the_game():
    game = OwnHex(size=4)
    found, text = symmetries_of(game)
    assert text == "2 images of a board, which random games do not refute"
    np.testing.assert_array_equal(found.cells, Hex(size=4).symmetries)
    assert run_for(game, found.cells)[0].value.images == tuple(map(tuple, found.cells.tolist()))
    assert symmetries_of(Hex(size=4)) == (None, "2 images of a board, declared by the game")
    late = symmetries_of(game, seconds=0)
    assert late == (None, "not found: own-hex: finding its symmetries takes too long")
    assert symmetries_of(jaxgbg.make("pig"))[1].startswith("not found: pig is a game of chance")


def test_images_are_as_good_as_declared_symmetries():
    hex4 = Hex(size=4)
    layout = ((0, 1, 2, 5), (3, 4, 9, 10))
    spec = NTupleSpec(layout=layout)
    declared = spec.build(hex4, False, 1)
    images = hex4.symmetries.tolist()
    found = NTupleSpec(layout=layout, images=images).build(OwnHex(size=4), False, 1)
    assert found.symmetries == declared.symmetries
    assert spec.build(OwnHex(size=4), False, 1).symmetries != declared.symmetries
    state = hex4.step(hex4.init(jax.random.key(0)), 1, jax.random.key(0))
    cells = hex4.cells(state)
    params = declared.init(key=jax.random.key(0))
    np.testing.assert_array_equal(declared.features(params, cells), found.features(params, cells))


def test_images_that_do_not_fit_are_refused():
    game = OwnHex(size=3)
    for images in ([[0, 1]], [list(range(8, -1, -1))], [list(range(9)), [0] * 9]):
        with pytest.raises(ValueError, match="permutations of the 9 cells of own-hex"):
            NTupleSpec(images=images).build(game, False, 1)
    with pytest.raises(ValueError, match="images are for values of afterstates"):
        NTupleSpec(images=[list(range(9))]).build(game, True, 1)


def test_a_file_stands_for_its_game(user_folder):
    assert named_rules("hex") == "hex"
    assert named_rules("some/rules.ldx") == "ludax:some/rules.ldx"
    assert named_rules(user_folder / "pebbles.py") == "pebbles"
    few = "import functools, jaxgbg, pebbles\n"
    few += "jaxgbg.register('few', functools.partial(pebbles.Pebbles, cups=2))"
    (user_folder / "few.py").write_text(few)
    assert named_rules("few.py") == "few"
    (user_folder / "two.py").write_text(few.replace("few", "one") + few[33:].replace("few", "two"))
    with pytest.raises(
        ValueError, match=r"two.py registers 2 games \(one, two\), and one is needed"
    ):
        named_rules("two.py")
    for name, text, wrong in (
        ("missing.py", None, "missing.py does not exist"),
        ("silent.py", "x = 1", "silent.py registers no game, and one is needed"),
        ("faulty.py", "1 / 0", "cannot import faulty: ZeroDivisionError"),
        ("json.py", "x = 1", "another module is named json: rename the file"),
    ):
        if text is not None:
            (user_folder / name).write_text(text)
        with pytest.raises(ValueError, match=wrong):
            named_rules(name)
