"""The example that trains with a search of others, mctx, on a game of ours through its pgx form."""

from pathlib import Path

import jax
import pytest

import jaxgbg

FOLDER = Path(__file__).parents[2] / "docs" / "tutorial"


@pytest.fixture
def gumbel(monkeypatch):
    for package in ("mctx", "pgx"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.syspath_prepend(str(FOLDER))
    import gumbel_alphazero

    return gumbel_alphazero


@pytest.mark.slow
@pytest.mark.parametrize(
    ("position", "action"),
    [("XX./OO./... X", 2), ("XX./OO./X.. O", 5), ("XX./O../... O", 2)],
    ids=["wins", "wins as O", "prevents a loss"],
)
def test_an_untrained_search_sees_two_plies_ahead(gumbel, position, action):
    game = jaxgbg.make("tictactoe")
    player = gumbel.train(game, 0, simulations=64)
    player = gumbel.dataclasses.replace(player, simulations=64)
    state = jax.tree.map(lambda leaf: leaf[None], jaxgbg.position(game, position))
    assert player.act(state, jax.random.key(0)).tolist() == [action]


@pytest.mark.slow
def test_a_short_training_beats_the_random_player(gumbel):
    game = jaxgbg.make("tictactoe")
    player = gumbel.train(game, 100, games=64, simulations=8)
    players = {"trained": player, "untrained": gumbel.train(game, 0), "random": "random"}
    ladder = jaxgbg.tournament(players, game, games=100, progress=False)
    points = {row["player"]: row["against random"] for row in ladder.records()}
    assert points["trained"] > points["untrained"] + 10
