"""BENCH and HEUR: their tables, their choices, and what they score against each other."""

import jax
import numpy as np
import pytest

from jaxgbg.evaluation import Protocol, compete
from jaxgbg.games import Othello
from jaxgbg.players import Positional, RandomPlayer, make_player
from jaxgbg.players.positional import TABLES

GAME = Othello()
KEY = jax.random.key(2)


def random_positions(games: int = 64):
    """Every position of random games, stacked [n]."""

    @jax.jit
    def play(key):
        def ply(state, key):
            draw = jax.random.gumbel(key, (64,))
            legal = GAME.legal_actions(state)
            action = jax.numpy.where(legal, draw, -jax.numpy.inf).argmax()
            return GAME.afterstate(state, action), state

        return jax.lax.scan(ply, GAME.init(key), jax.random.split(key, 60))[1]

    states = jax.vmap(play)(jax.random.split(KEY, games))
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states)


def test_heur_is_symmetric_in_all_images_and_bench_in_none():
    for image in GAME.symmetries[1:]:
        assert (TABLES["heur"][image] == TABLES["heur"]).all()
        assert (TABLES["bench"][image] != TABLES["bench"]).any()
    rows = TABLES["bench"].reshape(8, 8).sum(1)
    assert rows.tolist() == [158, -143, 70, -24, -29, 74, -192, 226]
    assert TABLES["bench"][[0, 7, 56, 63]].tolist() == [80, 76, 87, 100]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["bench", "heur"])
def test_it_plays_the_best_of_a_plain_count(table):
    states = random_positions(16)
    masks = np.asarray(Positional(GAME, table).best_actions(states))
    expand = jax.jit(jax.vmap(jax.vmap(GAME.afterstate, (None, 0)), (0, None)))
    after = expand(states, np.arange(64))
    cells = np.asarray(jax.vmap(jax.vmap(GAME.cells))(after))
    legal = np.asarray(jax.vmap(GAME.legal_actions)(states))
    mover = np.asarray(states.player)
    for i in np.flatnonzero(legal.any(1)):
        scores = {}
        for action in np.flatnonzero(legal[i]):
            board = cells[i, action]
            own, other = board == mover[i], board == 1 - mover[i]
            lead = TABLES[table][own].sum() - TABLES[table][other].sum()
            scores[int(action)] = lead
        best = [action for action, value in scores.items() if value == max(scores.values())]
        assert np.flatnonzero(masks[i]).tolist() == best


@pytest.mark.slow
def test_it_chooses_evenly_among_equals_and_accepts_finished_games():
    start = jax.vmap(GAME.init)(jax.random.split(KEY, 4000))
    # All four first moves are images of each other.
    chosen = np.asarray(make_player("heur", GAME).act(start, KEY))
    counts = np.bincount(chosen, minlength=64)[[19, 26, 37, 44]]
    assert counts.sum() == 4000
    assert (np.abs(counts - 1000) < 4 * np.sqrt(750)).all()
    over = start._replace(terminal=start.terminal | True)
    assert (np.asarray(make_player("heur", GAME).act(over, KEY)) >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("player", "opponent", "known"),
    [("heur", "bench", 0.445), ("bench", "random", 0.896), ("heur", "random", 0.821)],
)
def test_they_score_against_each_other_as_counted_elsewhere(player, opponent, known):
    """An independent count over the 244 four-ply starts and both seats, itself with an error."""
    other = RandomPlayer(GAME) if opponent == "random" else make_player(opponent, GAME)
    rewards = compete(GAME, make_player(player, GAME), other, Protocol("four_ply"), KEY)
    wins = (rewards + 1) / 2
    assert abs(wins.mean() - known) < 4 * np.sqrt(2) * wins.std() / np.sqrt(wins.size)


def test_they_play_othello_on_64_squares_only():
    with pytest.raises(ValueError, match="8x8"):
        Positional(Othello(size=6), "bench")
    with pytest.raises(ValueError, match="table must be one of bench, heur"):
        Positional(GAME, "corner")
    with pytest.raises(ValueError, match="plays othello"):
        make_player("bench", make_player("random", GAME).game.__class__(size=4))
