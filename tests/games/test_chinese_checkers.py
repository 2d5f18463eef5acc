"""Chinese checkers against counts of an independent program, plain rules and OpenSpiel."""

import jax
import numpy as np
import pyspiel
import pytest

from jaxgbg.games import ChineseCheckers, make
from tests.games import known_counts
from tests.games.lockstep import View, assert_same_games
from tests.games.test_plain_rules import PlainRules
from tests.reference import chinese_checkers


@pytest.mark.parametrize(
    ("name", "plies"),
    [
        ("chinese-1-2-forward", 5),
        pytest.param("chinese-1-4", 5, marks=pytest.mark.slow),
        pytest.param("chinese-2-6", 4, marks=pytest.mark.slow),
        pytest.param("chinese-3-2", 3, marks=pytest.mark.slow),
        pytest.param("chinese-4-3", 3, marks=pytest.mark.slow),
    ],
)
def test_paths_and_ends_are_as_many_as_they_should_be(name, plies):
    known_counts.assert_known(name, plies)


@pytest.mark.parametrize(
    "parameters",
    [
        (1, 3, False, "filled", 12, True),
        pytest.param((2, 4, True, "own", 30), marks=pytest.mark.slow),
    ],
)
def test_random_games_agree_with_the_plain_rules(parameters):
    game = ChineseCheckers(*parameters)
    plain = chinese_checkers.ChineseCheckers(*parameters)
    assert_same_games(game, PlainRules(plain), batch=30, seed=3)


class OpenSpielStar:
    """OpenSpiel's star of four rows."""

    def __init__(self, players: int, turns: int) -> None:
        self._game = pyspiel.load_game(f"chinese_checkers(players={players},max_moves={turns})")
        self._players = players

    def initial(self):
        return self._game.new_initial_state()

    def view(self, state) -> View:
        over = state.is_terminal()
        legal = [] if over else state.legal_actions()
        # It pays N - 1 times as much.
        returns = [reward / (self._players - 1) for reward in state.returns()]
        return View(legal, None if over else state.current_player(), over, returns, None)

    def play(self, state, action):
        state.apply_action(action)
        return state


def weights_towards_goals(players, towards):
    """float64[N, A]: exp(towards * rows nearer to the goal) of every step of four rows."""
    plain = chinese_checkers.ChineseCheckers(4, players, True, "own", turns=1)
    gains = np.zeros((players, 6 * len(plain.places) + 1))
    for player, seat in enumerate(chinese_checkers.SEATS[players]):
        for cell, (x, y) in enumerate(plain.places):
            for way, (right, down) in enumerate(chinese_checkers.STEPS):
                gains[player, 6 * cell + way] = plain.height(
                    (x + right, y + down), (seat + 3) % 6
                ) - plain.height((x, y), (seat + 3) % 6)
    return np.exp(towards * gains)


@pytest.mark.slow
def test_random_games_agree_with_openspiel():
    game = ChineseCheckers(4, 3, True, "own", 40)
    assert_same_games(game, OpenSpielStar(3, 40), batch=10, seed=5)


@pytest.mark.slow
def test_games_that_are_won_agree_with_openspiel():
    """Random play does not win; players who prefer steps towards their goals do."""
    game, weights = ChineseCheckers(4, 2, True, "own", 600), weights_towards_goals(2, 3.0)
    found = assert_same_games(game, OpenSpielStar(2, 600), batch=10, seed=5, weights=weights)
    assert found.rewards.any(1).mean() > 0.5


def test_who_fills_the_goal_at_the_end_of_a_turn_wins():
    """One stone each: player 0 steps and hops down the middle, player 1 gives way."""
    game = ChineseCheckers(1, goal="own", backward=True)
    step, look = jax.jit(game.afterstate), jax.jit(game.legal_actions)
    state = game.init(jax.random.key(0))
    assert game.homes.sum(1).tolist() == game.goals.sum(1).tolist() == [1, 1]
    assert np.flatnonzero(game.goals[0]).tolist() == np.flatnonzero(game.homes[1]).tolist() == [12]
    # (cell, direction): 0 to 2, 12 to 10, 2 to 6, 10 over 6? not on this line: 10 to 9, 6 to 10,
    # 9 to 5, and 10 to 12.
    for cell, direction in ((0, 4), (12, 1), (2, 5), (10, 2), (6, 5), (9, 0), (10, 4)):
        action = 6 * cell + direction
        assert look(state)[action], (cell, direction, np.flatnonzero(look(state)).tolist())
        state = step(state, action)
    assert state.terminal
    assert state.rewards.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"rows": 5}, r"rows must lie in \[1, 4\], not 5"),
        ({"players": 5}, "players must be one of 2, 3, 4, 6, not 5"),
        ({"goal": "full"}, "goal must be one of own, filled"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        make("chinese_checkers", **parameters)


def turns_to_win(game):
    """(reward of player 0, turns) of best play of two by the plain rules, in whole turns."""

    def name(state):
        return (tuple(sorted(state.stones.items())), state.player, state.rewards)

    def follow(state):
        """The positions after a whole turn."""
        chains, ends = [state], []
        while chains:
            at = chains.pop()
            for after in (game.play(at, action) for action in game.legal(at)):
                (chains if after.chain else ends).append(after._replace(turn=0))
        return ends

    graph, left = {}, [game.initial()]
    values = {}
    while left:
        state = left.pop()
        if name(state) not in graph:
            after = [] if state.terminal else follow(state)
            graph[name(state)] = 1 - 2 * (state.player or 0), [name(each) for each in after]
            left += after
        if state.terminal:
            values[name(state)] = (state.rewards[0], 0)
    for turns in range(1, len(graph)):
        found = {}
        for position in graph.keys() - values.keys():
            mine, after = graph[position]
            known = [values[each][0] for each in after if each in values]
            if mine in known:
                found[position] = (mine, turns)
            elif len(known) == len(after):
                found[position] = (-mine, turns)
        values |= found
    return values[name(game.initial())]


@pytest.mark.parametrize(
    ("backward", "goal", "turns"), [(True, "own", 9), (True, "filled", 9), (False, "filled", 7)]
)
def test_player_0_wins_one_row_in_as_many_turns_as_it_should(backward, goal, turns):
    game = chinese_checkers.ChineseCheckers(1, 2, backward, goal, turns=300)
    assert turns_to_win(game) == (1.0, turns)
