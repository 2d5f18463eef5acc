"""The bench of the rules: whose random play is timed."""

import pytest

from jaxgbg.cli.benchmarks.rules import bench_rules, openspiel_games
from jaxgbg.games import make


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pgx"), [("tictactoe", True), ("pig", False)])
def test_random_play_of_others_is_timed_where_they_have_the_game(name, pgx):
    pytest.importorskip("pyspiel")
    pytest.importorskip("pgx")
    row = bench_rules(name, batch=16)
    assert (row.pgx_moves_per_s is not None) == pgx
    assert row.moves_per_s > 0
    assert row.openspiel_moves_per_s is not None
    assert row.times_openspiel == pytest.approx(
        row.moves_per_s / row.openspiel_moves_per_s, rel=0.01
    )


def test_a_game_with_other_parameters_is_another_game():
    games = openspiel_games()
    assert games[make("backgammon")] == "backgammon"
    assert make("pig", target=20) not in games


@pytest.mark.slow
def test_openspiel_knows_every_name():
    pyspiel = pytest.importorskip("pyspiel")
    for game, name in openspiel_games().items():
        assert pyspiel.load_game(name).num_players() == game.num_players
