import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import make
from jaxgbg.players import MaxN, RandomPlayer, choose_uniformly, make_opponent, make_player


def _start(game, batch):
    return jax.vmap(game.init)(jax.random.split(jax.random.key(0), batch))


def test_a_choice_falls_on_each_true_entry_equally_often():
    mask = jnp.tile(jnp.array([False, True, True, False, False, True, True]), (40_000, 1))
    counts = np.bincount(choose_uniformly(mask, jax.random.key(1)), minlength=7)
    assert (counts[[0, 3, 4]] == 0).all()
    # Standard deviation of each count: sqrt(40000 * 1/4 * 3/4) = 87.
    assert (abs(counts[[1, 2, 5, 6]] - 10_000) < 450).all()


def test_rows_of_a_batch_choose_independently():
    mask = jnp.ones((40_000, 2), bool)
    choice = np.asarray(choose_uniformly(mask, jax.random.key(2)))
    assert abs((choice[:-1] == choice[1:]).mean() - 0.5) < 0.02


def test_the_only_true_entry_is_chosen_and_an_empty_row_gives_zero():
    mask = jnp.concatenate([jnp.eye(5, dtype=bool), jnp.zeros((1, 5), bool)])
    for seed in range(20):
        assert choose_uniformly(mask, jax.random.key(seed)).tolist() == [0, 1, 2, 3, 4, 0]


@pytest.mark.parametrize("name", ["tictactoe", "nim", "nim3p", "connectfour"])
def test_random_player_plays_legal_moves_to_the_end_and_survives_terminal_states(name):
    game = make(name)
    states, player = _start(game, 64), RandomPlayer(game)
    move = jax.jit(jax.vmap(game.afterstate))
    legal = jax.jit(jax.vmap(game.legal_actions))
    for ply in range(game.max_plies):
        actions = player.act(states, jax.random.key(ply))
        allowed = legal(states)[jnp.arange(64), actions]
        assert (allowed | states.terminal).all()
        states = move(states, actions)
    assert states.terminal.all()
    assert player.act(states, jax.random.key(0)).shape == (64,)


@pytest.mark.parametrize("name", ["random", "maxn"])
def test_the_same_key_gives_the_same_moves_and_another_key_others(name):
    game = make("tictactoe")
    states = _start(game, 50)
    first, again, other = (
        make_player(name, game).act(states, jax.random.key(seed)).tolist() for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_make_player_knows_every_name():
    tictactoe, connectfour = make("tictactoe"), make("connectfour")
    assert make_player("random", connectfour).name == "random"
    assert make_player("maxn", tictactoe).name == "maxn"
    pytest.importorskip("bitbully")
    assert make_player("ab", connectfour).name == "ab"
    assert make_player("ab-dl", connectfour).name == "ab-dl"


@pytest.mark.parametrize(
    ("player", "game", "complaint"),
    [
        ("maxn", "connectfour", "too many"),
        ("ab", "tictactoe", "connectfour only"),
        ("ab-dl", "nim", "connectfour only"),
        ("alphazero", "nim", "unknown player 'alphazero'"),
    ],
)
def test_a_player_that_does_not_fit_is_refused_with_the_list_of_players(player, game, complaint):
    with pytest.raises(ValueError, match=complaint) as error:
        make_player(player, make(game))
    for name in ("random (any game)", "maxn", "ab (connectfour)", "ab-dl (connectfour)"):
        assert name in str(error.value)


@pytest.mark.parametrize("name", ["ab", "ab-dl", "solver"])
def test_who_knows_connectfour_by_heart_plays_no_other_form_of_it(name):
    with pytest.raises(ValueError, match="no draw after 20 plies"):
        make_opponent(name, make("connectfour", draw_after=20))


def test_misere_hex_is_won_by_the_first_player_exactly_on_boards_of_even_size():
    """Known of Rex from Lagarias & Sleator 1999, "Who wins misere Hex?"."""
    for size, first in ((2, 1.0), (3, -1.0)):
        game = make("hex", size=size, misere=True)
        values = MaxN(game).values(_start(game, 1))
        assert np.asarray(values).tolist() == [[first, -first]]


def test_a_second_max_n_of_the_same_game_shares_the_tables():
    assert MaxN(make("nim"))._tables is MaxN(make("nim"))._tables
