"""Pig and EinStein: counts, statistics, named positions, plain rules and OpenSpiel."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import EinStein, Pig
from tests.games import known_counts
from tests.games.batches import each
from tests.games.dice import assert_same_dice_games
from tests.games.lockstep import View
from tests.games.playouts import playouts
from tests.reference import dice_games

GAMES, STANDARD_ERRORS = 8192, 4


class PlainRules:
    def __init__(self, game):
        self._game, self.initial, self.play = game, game.initial, game.play

    def view(self, state):
        legal, cells = self._game.legal(state), self._game.cells(state)
        return View(legal, state.player, state.terminal, state.rewards, cells)

    def chances(self, state, action):
        return None


@pytest.mark.parametrize(
    ("game", "plain"),
    [
        pytest.param(Pig(target=10), dice_games.Pig(2, 10), id="pig"),
        pytest.param(
            Pig(players=4, target=126, faces=20, horizon=60),
            dice_games.Pig(4, 126, 20, 60),
            id="pig-horizon",
        ),
        pytest.param(EinStein(3, coding="stones"), dice_games.EinStein(3, 2, 3), id="ewn"),
        pytest.param(
            EinStein(6, 3, choice="nearest", coding="stones"),
            dice_games.EinStein(6, 3, 6, nearest=True),
            id="ewn-3-players",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            EinStein(4, 4, coding="stones"),
            dice_games.EinStein(4, 4, 3),
            id="ewn-4-players",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_random_games_agree_with_the_plain_rules(game, plain):
    assert_same_dice_games(game, PlainRules(plain), batch=100, seed=12)


@pytest.mark.parametrize(
    ("name", "plies"),
    [
        ("ewn-3x3", 5),
        pytest.param("ewn-4x4", 5, marks=pytest.mark.slow),
        pytest.param("ewn-5x5-nearest", 4, marks=pytest.mark.slow),
        pytest.param("ewn-6x6-3-nearest", 4, marks=pytest.mark.slow),
        pytest.param("ewn-6x6-4", 3, marks=pytest.mark.slow),
        pytest.param("ewn-4x4-4", 5, marks=pytest.mark.slow),
    ],
)
def test_rolls_and_moves_are_as_many_as_counted_elsewhere(name, plies):
    known_counts.assert_known(name, plies)


def test_named_positions_of_einstein_allow_what_the_die_says():
    stones = np.full((2, 6), -1, np.int8)
    stones[0, [0, 5]], stones[1, 0] = (6, 12), 24
    for choice, expected in (("any", [3, 6, 6, 6, 6, 3]), ("nearest", [3] * 6)):
        game = EinStein(choice=choice)
        state = game.init(jax.random.key(0))._replace(position=jnp.asarray(stones))
        rolled = jax.vmap(lambda die, state=state: state._replace(die=die))(
            np.arange(1, 7, dtype=np.int8)
        )
        assert each(game.legal_actions, rolled).sum(1).tolist() == expected


def test_the_goal_counts_before_the_last_stone_of_a_partner():
    game = EinStein(4, 4)
    position = np.full((4, 3), -1, np.int8)
    position[0, 0], position[2, 0], position[1, 0], position[3, 0] = 14, 15, 4, 7
    state = game.init(jax.random.key(0))._replace(position=jnp.asarray(position), die=jnp.int8(1))
    after = jax.jit(game.afterstate)(state, np.int32(0))
    assert bool(after.terminal)
    assert after.rewards.tolist() == [1, -1, 1, -1]


@pytest.mark.parametrize(
    ("size", "players", "stones"), [(3, 3, 3), (3, 2, 6), (4, 3, 6), (5, 4, 6), (4, 4, 6)]
)
def test_boards_without_room_are_refused(size, players, stones):
    with pytest.raises(ValueError, match=f"ewn: {players} players with {stones} stones each"):
        jaxgbg.make("ewn", size=size, players=players, stones=stones)


def test_each_player_has_its_numbers_in_a_random_order_of_its_own():
    game = EinStein(size=3, start="random")
    keys = jax.random.split(jax.random.key(3), 3600)
    positions = np.asarray(each(game.init, keys).position)
    fixed = np.asarray(EinStein(size=3).init(keys[0]).position)
    np.testing.assert_array_equal(np.sort(positions, 2), np.tile(np.sort(fixed, 1), (3600, 1, 1)))
    _, counts = np.unique(positions.reshape(3600, -1), axis=0, return_counts=True)
    # Of six orders of each player all pairs, within five standard errors.
    assert len(counts) == 36
    assert abs(counts - 100).max() < 50


@pytest.mark.parametrize(("size", "players"), [(3, 2), (4, 2), (6, 3), (6, 4)])
def test_cells_of_stones_say_where_each_stands(size, players):
    game = EinStein(size, players, coding="squares")
    states = playouts(game, 20, 3).states
    cells = np.asarray(jax.vmap(jax.vmap(game.cells))(states))
    np.testing.assert_array_equal(cells, states.position.reshape(cells.shape) + 1)
    assert cells.min() == 0
    assert cells.max() < game.num_cell_values
    # An n-tuple of all stones where a table has room, and none without room.
    assert len(game.own_tuples[0]) == {(3, 2): 6, (4, 2): 5}.get((size, players), 2)
    assert {stone for each in game.own_tuples for stone in each} == set(range(game.num_cells))


# Of 1,000,000 games elsewhere, or exact: the share that player 0's team wins, and mean plies.
@pytest.mark.parametrize(
    ("game", "wins", "plies", "rounding"),
    [
        (EinStein(3), 0.584549151, 5.979537, 0),
        pytest.param(Pig(target=10, horizon=100), 0.548372, 10.282472, 0, marks=pytest.mark.slow),
        pytest.param(EinStein(6, 3), 0.054, 43.0, 0.05, marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_random_play_wins_and_lasts_as_known(game, wins, plies, rounding):
    states = playouts(game, GAMES, 21).states
    won = states.rewards[-1, :, 0] > 0
    length = (~states.terminal).sum(0)
    error = np.sqrt(wins * (1 - wins) / GAMES)
    assert abs(won.mean() - wins) <= STANDARD_ERRORS * error + rounding / 100
    spread = STANDARD_ERRORS * length.std() / np.sqrt(GAMES)
    assert abs(length.mean() - plies) <= spread + rounding


class OpenSpiel:
    """An OpenSpiel game of dice, whose chance nodes are resolved by the rolls of ours."""

    def __init__(self, name):
        self._game = pytest.importorskip("pyspiel").load_game(name)

    def initial(self, roll):
        return self._rolled(self._game.new_initial_state(), roll)

    def _rolled(self, state, roll):
        if state.is_chance_node():
            state.apply_action(roll)
        return state

    def view(self, state):
        over = state.is_terminal()
        player = None if over else state.current_player()
        legal = [] if over else state.legal_actions()
        return View(legal, player, over, state.returns(), self.cells(state))

    def cells(self, state):
        return None

    def play(self, state, action, roll):
        state.apply_action(action)
        return self._rolled(state, roll)

    def chances(self, state, action):
        after = state.clone()
        after.apply_action(action)
        return [chance for _, chance in after.chance_outcomes()] if after.is_chance_node() else [1]


class OpenSpielPig(OpenSpiel):
    def __init__(self, players, target, horizon):
        super().__init__(f"pig(players={players},winscore={target},horizon={horizon})")
        self._target = target

    def cells(self, state):
        """The scores, and the points of the turn; ours stop at the target."""
        points = re.findall(r"-?\d+", str(state).partition("\n")[0])
        return [min(int(each), self._target) for each in points]


class OpenSpielEinstein(OpenSpiel):
    """Its player 1, bottom right, moves first: our player 0 with the board turned."""

    _DIRECTIONS = ("left", "up", "diag"), ("right", "down", "diag")

    def __init__(self):
        super().__init__("einstein_wurfelt_nicht")

    def initial(self, roll):
        state = self._game.new_initial_state()
        for arrangement in (43, 443):
            state.apply_action(arrangement)
        return self._rolled(state, roll)

    def _actions(self, state):
        mover = state.current_player()
        names = {action: state.action_to_string(mover, action) for action in state.legal_actions()}
        ways = self._DIRECTIONS[1 - mover]
        return {
            3 * (int(name[1]) - 1) + ways.index(name[3:].rstrip("*")): action
            for action, name in names.items()
        }

    def view(self, state):
        cells = self.cells(state)
        if state.is_terminal():
            return View([], None, True, state.returns()[::-1], cells)
        legal = list(self._actions(state))
        return View(legal, 1 - state.current_player(), False, (0.0, 0.0), cells)

    def cells(self, state):
        """The stones 1 to 6 of our player 0, who is white, and 7 to 12, from the other corner."""
        first = {"w": 0, "b": 6, "_": 0}
        stones = re.findall(r"\|([wb_])([\d_])\|", str(state))
        return [first[owner] + int(number.replace("_", "0")) for owner, number in stones[::-1]]

    def play(self, state, action, roll):
        return super().play(state, self._actions(state)[action], roll)

    def chances(self, state, action):
        return super().chances(state, self._actions(state)[action])


@pytest.mark.parametrize(
    ("game", "oracle", "batch"),
    [
        (Pig(target=15), lambda: OpenSpielPig(2, 15, 1000), 100),
        pytest.param(
            Pig(target=30), lambda: OpenSpielPig(2, 30, 1000), 500, marks=pytest.mark.slow
        ),
        pytest.param(
            Pig(players=3, target=30, horizon=60),
            lambda: OpenSpielPig(3, 30, 60),
            500,
            marks=pytest.mark.slow,
        ),
        pytest.param(EinStein(coding="stones"), OpenSpielEinstein, 500, marks=pytest.mark.slow),
    ],
    ids=["pig-15", "pig-30", "pig-3-players", "ewn"],
)
def test_random_games_agree_with_openspiel(game, oracle, batch):
    assert_same_dice_games(game, oracle(), batch=batch, seed=11)
