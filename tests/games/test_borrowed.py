"""Games of pgx and Ludax: what they are made of, and that they are the games of those packages."""

import json
import pickle
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg as package
from jaxgbg.games import check_game, game_names, make, pgx_games, registry
from jaxgbg.games.borrowed import BorrowedState
from jaxgbg.games.registry import PACKAGES, is_known
from jaxgbg.games.sampling import sample_games
from jaxgbg.web.drawings import drawing_of
from tests.games.batches import each
from tests.games.borrowed_lockstep import compared


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("pgx:draughts", r"unknown game 'pgx:draughts': pgx has animal_shogi, backgammon, chess, "),
        ("ludax:chess", r"unknown game 'ludax:chess': ludax has connect_four, .*yavalath"),
        ("pgx:kuhn_poker", r"pgx:kuhn_poker is not available: its players do not see the whole"),
        ("pgx:2048", r"pgx:2048 is not available: .* play 2048, the game of jaxgbg"),
        ("pgx:minatar-freeway", r"it is an arcade game"),
        ("gym:hex", r"unknown game 'gym:hex': did you mean pgx:hex\?"),
    ],
)
def test_a_game_that_cannot_be_had_is_refused_in_a_line(name, line):
    with pytest.raises(ValueError, match=line) as refused:
        make(name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("name", "extra"), [("pgx:hex", "pgx"), ("ludax:hex", "ludax")])
def test_the_extra_is_named_where_a_package_is_missing(monkeypatch, name, extra):
    monkeypatch.setitem(sys.modules, extra, None)
    for find in (package_.find for package_ in PACKAGES.values()):
        find.cache_clear()
    with pytest.raises(ValueError, match=rf"^{name}: .*pip install 'jaxgbg\[{extra}\]'"):
        make(name)


def test_a_name_is_known_where_its_package_is_installed(monkeypatch):
    assert is_known("pgx:hex")
    assert is_known("nim")
    assert not is_known("gym:hex")
    monkeypatch.setattr(registry.importlib.util, "find_spec", lambda name: None)
    assert not is_known("pgx:hex")
    # They are made when they are named, not listed with the others.
    assert not any(":" in name for name in game_names())


def test_every_game_of_pgx_is_taken_or_refused_for_a_reason():
    pgx = pytest.importorskip("pgx")
    ours = {*pgx_games.PGX_GAMES, *pgx_games._REFUSED}
    # `available_envs` leaves out games that `make` knows.
    assert set(pgx.available_envs()) <= ours


def test_a_borrowed_game_is_one_value():
    game = make("pgx:tic_tac_toe")
    assert game == make("pgx:tic_tac_toe")
    assert hash(game) == hash(make("pgx:tic_tac_toe"))
    assert game != make("pgx:connect_four")
    assert game.name == "pgx:tic_tac_toe"
    assert pickle.loads(pickle.dumps(game)) == game
    with pytest.raises(ValueError, match=r"^pgx:tic_tac_toe: "):
        make("pgx:tic_tac_toe", size=4)


@pytest.mark.slow
def test_cells_are_those_that_player_0_sees_whoever_moves():
    game = make("pgx:tic_tac_toe")
    move, state = jax.jit(game.afterstate), game.init(jax.random.key(0))
    for action in (4, 0, 8):
        state = move(state, action)
    assert game.cells(state).tolist() == [2, 0, 0, 0, 1, 0, 0, 0, 1]
    assert int(state.player) == 1


@pytest.mark.slow
def test_what_is_alike_on_the_whole_board_is_a_cell_of_its_own():
    game = make("pgx:hex")
    move, look = jax.jit(game.afterstate), jax.jit(game.cells)
    start = game.init(jax.random.key(0))
    assert look(start)[-1] == 0
    state = move(start, 60)
    # The second player may swap, by the last action.
    assert look(state)[-1] == 1
    assert bool(game.legal_actions(state)[-1])
    assert game.adjacency[-1, :-1].all()
    assert game.adjacency[0].sum() == 3 + 1


def test_it_is_drawn_in_the_rows_of_its_board_and_what_lies_beside_it_below():
    spots = drawing_of(make("pgx:connect_four")).spots
    assert [len(set(axis)) for axis in zip(*spots, strict=True)] == [7, 6]
    spots = drawing_of(make("pgx:hex")).spots
    assert [len(set(axis)) for axis in zip(*spots, strict=True)] == [11, 12]


@pytest.mark.slow
def test_no_cell_of_the_board_has_two_pieces():
    """Else the digit, of the first plane that is set, would not tell them apart."""
    game = make("pgx:connect_four")
    sample = sample_games(game)
    states = BorrowedState(
        *jax.tree.map(lambda leaf: leaf[::5].reshape(-1, *leaf.shape[2:]), sample.states)
    )
    seen = jax.vmap(lambda inner: game.environment._observe(inner, jnp.int32(0)))(states.inner)
    assert np.asarray(seen)[..., list(game.planes.pieces)].sum(-1).max() == 1


def test_a_game_whose_mover_has_no_legal_action_is_over_and_pays_nobody():
    game = make("pgx:tic_tac_toe")
    state = game.init(jax.random.key(0))
    stuck = state.inner.replace(legal_action_mask=jnp.zeros(9, bool))
    after = game.stepped(state, stuck)
    assert after.terminal
    assert not after.rewards.any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pgx:tic_tac_toe", "ludax:tic_tac_toe"])
def test_borrowed_games_keep_the_contract(name):
    assert check_game(make(name)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["pgx:animal_shogi", "pgx:backgammon", "pgx:hex", "ludax:tic_tac_toe"]
)
def test_borrowed_games_are_those_of_their_package(name):
    counts = compared(make(name), games=50, seed=1)
    assert counts["plies"] > 200
    assert (counts["different"], counts["stuck"]) == (0, 0)


@pytest.mark.slow
def test_a_move_of_backgammon_that_ends_a_turn_leaves_the_dice_to_chance():
    game = make("pgx:backgammon")
    move, roll = jax.jit(game.afterstate), jax.jit(jax.vmap(game.spawn, (None, 0)))
    state = game.init(jax.random.key(3))
    after = move(state, jnp.argmax(game.legal_actions(state)))
    while after.rolled:
        assert after.player == state.player
        state, after = after, move(after, jnp.argmax(game.legal_actions(after)))
    assert after.player != state.player
    assert not game.legal_actions(after).any()
    board = game.cells(after)
    assert board[28:].sum() == 0
    cells = np.asarray(each(game.cells, roll(after, jax.random.split(jax.random.key(0), 256))))
    assert (cells[:, :28] == board[:28]).all()
    # Of 21 different rolls, doubles are played four times.
    assert len(np.unique(cells[:, 28:], axis=0)) == 21
    assert set(cells[:, 28:].sum(1)) == {2, 4}


@pytest.mark.slow
def test_a_borrowed_game_is_trained_shown_and_read_again(jaxgbg, tmp_path):
    code, _, err = jaxgbg(
        "train", "pgx:tic_tac_toe", "--episodes", "64", "--eval-every", "64", "--batch", "16",
        "--out", tmp_path,
    )  # fmt: skip
    assert code == 0, err
    folder = next(path for path in tmp_path.iterdir() if path.is_dir())
    assert folder.name.startswith("pgx-tic_tac_toe-")
    assert json.loads((folder / "config.json").read_text())["game"] == {"name": "pgx:tic_tac_toe"}
    for command in (("eval", folder), ("results", tmp_path)):
        code, out, err = jaxgbg(*command)
        assert code == 0, err
        assert "pgx:tic_tac_toe" in out
    report = tmp_path / "report.html"
    code, _, err = jaxgbg("report", tmp_path, "--out", report)
    assert code == 0, err
    run = package.RunFolder.open(folder)
    assert run.run.game == make("pgx:tic_tac_toe")
