"""Recorded games keep the rules and the agent's judgement, told in the units of their game."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import WIN_RATE, Game, Scale, make
from jaxgbg.games.game2048 import MAX_SCORE
from jaxgbg.players import GreedyAgent, MaxN
from jaxgbg.values import NTupleSpec, random_walk
from jaxgbg.web.positions import outcome_text
from jaxgbg.web.record_view import RecordView
from jaxgbg.web.records import GameRecord, record_games


class CountState(NamedTuple):
    cells: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Count(Game):
    """Four times a number from 0 to 2 is chosen; each player has the sum of his choices."""

    num_players: int = 1
    scale: Scale = WIN_RATE
    plies: int = 4

    name = "count"
    num_actions, num_cells, num_cell_values, max_plies = 3, 4, 4, 4

    @property
    def reward_range(self) -> tuple[float, float]:
        return (0.0, 8.0)

    def init(self, key):
        del key
        return CountState(
            jnp.zeros(4, jnp.int8),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(self.num_players, jnp.float32),
        )

    def legal_actions(self, state):
        return jnp.ones(3, bool) & ~state.terminal

    def afterstate(self, state, action):
        made = (state.cells > 0).sum()
        cells = state.cells.at[made].set((action + 1).astype(jnp.int8))
        moved = CountState(
            cells,
            ((state.player + 1) % self.num_players).astype(jnp.int8),
            made + 1 == self.plies,
            state.rewards.at[state.player].add(action.astype(jnp.float32)),
        )
        legal = self.in_range(action) & ~state.terminal
        return jax.tree.map(lambda new, old: jnp.where(legal, new, old), moved, state)

    def cells(self, state):
        return state.cells


def record_of_count(game: Count, actions: tuple[int, ...] = (1, 0, 2, 2)) -> GameRecord:
    """These actions of a whole game, of which the agent thought that each brings a tenth of it."""
    states = [game.init(jax.random.key(0))]
    for action in actions:
        states.append(game.step(states[-1], action, jax.random.key(0)))
    names = ("agent", "maxn", "maxn")[: game.num_players]
    boards, players, rewards = (
        np.stack([np.asarray(getattr(state, part)) for state in states])
        for part in ("cells", "player", "rewards")
    )
    values = np.tile(np.array([0, 0.1, -0.2], np.float32), (len(actions), 1))
    return GameRecord(game, names, boards, players, rewards, np.array(actions), values)


def agent_of(game: Game) -> GreedyAgent:
    """An agent with random weights."""
    tuples = random_walk(game, 3, 2, seed=1)
    value = NTupleSpec(layout=tuples, combine="sum").build(game, of_actions=False, batch=1)
    weights = np.random.default_rng(0).normal(0, 0.1, value.num_weights).astype(np.float32)
    return GreedyAgent(game, value, value.with_weights(weights))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tictactoe", "nim3p"])
def test_a_recorded_game_can_be_played_again(name):
    game = make(name)
    agent = agent_of(game)
    perfect = MaxN(game)
    values_of = jax.jit(agent.action_values)
    records = record_games(agent, ("mcts-100", "maxn"))
    others = ("maxn",) * (game.num_players - 1)
    assert [record.names for record in records] == [("agent", *others), (*others, "agent")]
    for record in records:
        state = game.init(jax.random.key(0))
        for ply, action in enumerate(record.actions):
            np.testing.assert_array_equal(record.boards[ply], game.cells(state))
            assert record.players[ply] == state.player
            values = np.asarray(values_of(state))
            np.testing.assert_allclose(record.values[ply], values, atol=1e-6)
            if record.names[int(state.player)] == "agent":
                assert values[action] == pytest.approx(values.max(), abs=1e-6)
            else:
                one = jax.tree.map(lambda leaf: leaf[None], state)
                assert perfect.best_actions(one)[0, action]
            state = game.step(state, int(action), jax.random.key(0))
        assert state.terminal
        np.testing.assert_array_equal(record.boards[-1], game.cells(state))
        np.testing.assert_array_equal(record.rewards[-1], state.rewards)


@pytest.mark.slow
def test_a_game_of_chance_is_recorded_to_its_end():
    (record,) = record_games(agent_of(make("2048")), ("score",))
    # A move that pays nothing raises no reward, and no tile is ever lost.
    assert (np.diff(record.rewards[:, 0]) >= 0).all()
    sums = (2 ** record.boards.astype(int) * (record.boards > 0)).sum(1)
    assert set(np.diff(sums)) <= {2, 4}
    assert f"{record.rewards[-1, 0] * MAX_SCORE:,.0f} points" in RecordView(record, "s").title
    (again,) = record_games(agent_of(make("2048")), ("score",))
    np.testing.assert_array_equal(again.actions, record.actions)


@pytest.mark.parametrize(
    ("scale", "title", "move", "values"),
    [
        (Scale("reward"), "One game: 5 reward", "1 reward so far", ["0.00", "0.10", "−0.20"]),
        (
            Scale("coins", factor=1.3, digits=1),
            "One game: 6.5 coins",
            "1.3 coins so far",
            ["0.0", "0.1", "−0.3"],
        ),
        (
            Scale("share", factor=15, percent=True, digits=1),
            "One game: 75 % share",
            "15 % share so far",
            ["0.0 %", "1.5 %", "−3.0 %"],
        ),
        (
            Scale("points", factor=1000, digits=0),
            "One game: 5,000 points",
            "1,000 points so far",
            ["0", "100", "−200"],
        ),
    ],
)
def test_a_game_for_one_is_told_in_its_own_unit(scale, title, move, values):
    view = RecordView(record_of_count(Count(1, scale)), "s")
    assert view.title == title
    assert [words for *_, words in view.positions[1].moves] == values
    assert view.positions[1].caption == (
        f"Move 2 of 4: {move}; the agent plays action 0, which it values at {values[0]}."
    )
    assert view.positions[-1].caption == f"End after 4 moves: {title.removeprefix('One game: ')}."


def test_a_game_for_three_names_who_has_what():
    class Colours(Count):
        sides = ("red", "green", "blue")

    view = RecordView(record_of_count(Colours(3, Scale("coins", factor=1.5, digits=1))), "s")
    seats = "red (agent) – green (maxn) – blue (maxn)"
    outcome = "coins 4.5 for red, 0 for green, 3 for blue"
    assert view.title == f"{seats}: {outcome}"
    assert view.positions[1].caption == (
        "Move 2 of 4: green (maxn) plays action 0, which the agent values at 0.0."
    )
    assert view.positions[-1].caption == f"End after 4 moves: {outcome}."


@pytest.mark.parametrize(
    ("game", "rewards", "outcome"),
    [
        (make("sim", players=3), [-1, 1, -1], "blue wins"),
        (make("sim", players=3), [0, 0, 0], "a draw"),
        (make("sim", players=3), [-1, 0, 0], "reward −1 for red, 0 for blue, 0 for green"),
        (make("pig", players=3), [-0.5, -0.5, 1], "player 3 wins"),
        (make("ewn", players=4, size=6), [-1, 1, -1, 1], "player 2 and player 4 win"),
        (make("nim3p"), [0, 1, 0.2], "reward 0 for player 1, 1 for player 2, 0.2 for player 3"),
    ],
)
def test_who_wins_among_several_is_said_and_other_rewards_are_listed(game, rewards, outcome):
    assert outcome_text(game, game.sides, np.array(rewards, np.float32)) == outcome


@pytest.mark.parametrize(
    ("actions", "outcome"),
    [((1, 0, 2, 2), "player 1 (agent) wins"), ((0, 2, 0, 1), "player 2 (maxn) wins")]
    + [((2, 0, 0, 2), "a draw")],
)
def test_a_game_for_two_is_won_and_its_values_stay_rewards(actions, outcome):
    view = RecordView(record_of_count(Count(2, WIN_RATE), actions), "s")
    assert view.title == f"player 1 (agent) – player 2 (maxn): {outcome}"
    assert [words for *_, words in view.positions[0].moves] == ["0.00", "0.10", "−0.20"]


def test_values_of_a_diverged_network_are_question_marks():
    record = record_of_count(Count())
    record.values[0] = np.nan, np.inf, -np.inf
    position = RecordView(record, "s").positions[0]
    assert position.moves == [(0, None, -1, "?"), (1, None, -1, "?")]
    assert position.halos == [0, 0]
    assert position.caption.endswith("plays action 1, which it values at ?.")


@pytest.mark.slow
def test_a_game_that_outlasts_its_plies_is_refused():
    with pytest.raises(ValueError, match="count: a game takes more than its 4 plies"):
        record_games(agent_of(Count(plies=9)), ("score",))
