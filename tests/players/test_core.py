import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import make
from jaxgbg.players import (
    GTPEngine,
    MaxN,
    Positional,
    RandomPlayer,
    SearchPlayer,
    make_player,
    player_names,
)
from tests.games.batches import each


def _start(game, batch):
    return each(game.init, jax.random.split(jax.random.key(0), batch))


@pytest.mark.parametrize(
    "name",
    [
        "nim3p",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("tictactoe", "nim", "connectfour")),
    ],
)
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


@pytest.mark.parametrize("name", ["ab", "ab-dl"])
def test_who_knows_connectfour_by_heart_plays_no_other_form_of_it(name):
    with pytest.raises(ValueError, match="a draw after 20 plies"):
        make_player(name, make("connectfour", draw_after=20))


def test_a_name_may_carry_an_argument():
    assert make_player("mcts-7", make("hex")).search.settings.iterations == 7
    assert make_player("mcts", make("hex")).search.settings.iterations == 10_000
    # The published evaluation takes Nim3P's rewards, 0 to 1, as lying between -1 and 1.
    assert make_player("mcts-5", make("nim3p")).search.reward_range == (-1, 1)
    assert {"mcts", "mcts-N", "ab-dl", "random"} <= set(player_names())
    assert "random-N" not in player_names()
    for name, complaint in (
        ("random-7", "unknown player 'random-7'"),
        ("mcts-many", "'mcts-many': iterations must be a whole number"),
        ("mtcs-5", "unknown player 'mtcs-5': did you mean mcts?"),
        ("puct-5", "puct searches by an agent's values: FILE.agent:search=puct-5"),
        ("mcts-0", "iterations must lie in"),
    ):
        with pytest.raises(ValueError, match=complaint):
            make_player(name, make("hex"))


def test_every_player_says_all_that_the_arena_asks():
    def facts(player):
        return player.traceable, player.copies, player.needs_history

    nim, othello = make("nim"), make("othello")
    assert facts(RandomPlayer(nim)) == facts(MaxN(nim)) == (True, 1, False)
    assert facts(make_player("blocker", make("connectfour"))) == (True, 1, False)
    assert facts(Positional(othello, "bench")) == (True, 1, False)
    assert facts(make_player("mcts-5", nim)) == (False, 1, False)
    assert isinstance(make_player("mcts-5", nim), SearchPlayer)
    assert GTPEngine.needs_history
    assert not GTPEngine.traceable
    with make_player("random", nim) as player:
        assert player.name == "random"


@pytest.mark.slow
def test_misere_hex_is_won_by_the_first_player_exactly_on_boards_of_even_size():
    """Known of Rex from Lagarias & Sleator 1999, "Who wins misere Hex?"."""
    for size, first in ((2, 1.0), (3, -1.0)):
        game = make("hex", size=size, misere=True)
        values = MaxN(game).values(_start(game, 1))
        assert np.asarray(values).tolist() == [[first, -first]]


def test_a_second_max_n_of_the_same_game_shares_the_tables():
    assert MaxN(make("nim"))._tables is MaxN(make("nim"))._tables
