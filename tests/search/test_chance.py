"""Searches in games of chance, against exact values of Pig and plain recursion."""

import math
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Game2048, make
from jaxgbg.games.rollout import play_ply
from jaxgbg.players import MaxN, make_player
from jaxgbg.search import ExpectimaxSpec, outcomes
from jaxgbg.search.expectimax import Expectimax
from jaxgbg.search.mcts import MCTS, MCTSSpec
from tests.games.pig import HOLD, ROLL, Pig, UnlistedPig, positions, wins
from tests.reference import board_rules, dice_games, lookahead
from tests.search.agents import random_positions, reference_states


def _regrets(game, iterations, player=1):
    """float64[B]: by how much a worse move than the best one MCTS chooses, and the means' error."""
    states, chances = positions(game, player)
    search = MCTS(game, MCTSSpec(iterations, exploration=0.5, tree_depth=40))
    visits, values = map(np.asarray, search.search(states, jax.random.key(1)))
    assert (visits.sum(1) == iterations).all()
    chosen = np.where(visits > 0, values, -np.inf).argmax(1)
    error = np.abs((values.max(1) + 1) / 2 - chances.max(1))
    return chances.max(1) - chances[np.arange(len(chosen)), chosen], error


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
@pytest.mark.parametrize("game", [Pig(6), UnlistedPig(6)], ids=["listed", "unlisted"])
def test_mcts_converges_to_the_best_move_and_its_exact_value(game):
    few, some, many = (_regrets(game, iterations) for iterations in (50, 500, 20_000))
    assert few[0].mean() > some[0].mean() > many[0].mean()
    assert few[1].mean() > some[1].mean() > many[1].mean()
    # The two moves of a position differ by 0.02 in the chance to win or more.
    assert (many[0] == 0).mean() > 0.95
    assert many[0].max() < 0.05
    assert many[1].mean() < 0.01


class _PlainNode:
    """A position of Pig in a plain UCT: statistics of its actions, and a child for each outcome."""

    def __init__(self, position):
        self.position, self.children = position, {}
        self.untried = _plain_moves(position)
        random.shuffle(self.untried)
        self.visits = dict.fromkeys(self.untried, 0)
        self.totals = dict.fromkeys(self.untried, 0.0)


def _plain_moves(position):
    """Of (scores, turn, player, winner) with 6 points to win and faces 1 to 3."""
    scores, turn, player, winner = position
    if winner is not None:
        return []
    return ([] if scores[player] + turn >= 6 else [ROLL]) + ([HOLD] if turn else [])


def _plain_play(position, action):
    scores, turn, player, _ = position
    if action == HOLD:
        banked = list(scores)
        banked[player] += turn
        return tuple(banked), 0, 1 - player, player if banked[player] >= 6 else None
    face = random.randint(1, 3)
    return (scores, 0, 1 - player, None) if face == 1 else (scores, turn + face, player, None)


def _plain_uct(iterations, exploration, tree_depth):
    root = _PlainNode(((2, 3), 2, 0, None))
    for _ in range(iterations):
        node, path = root, []
        while len(path) < tree_depth and node.visits:
            if node.untried:
                action = node.untried.pop()
            else:
                visited = sum(node.visits.values()) + (node is not root)

                def bound(action, node=node, visited=visited):
                    count = node.visits[action] + 1e-6
                    mean = (node.totals[action] / count + 1) / 2
                    return mean + exploration * math.sqrt(math.log(visited + 1) / count)

                action = max(node.visits, key=bound)
            path.append((node, action))
            after = _plain_play(node.position, action)
            new = (action, after) not in node.children
            node = node.children.setdefault((action, after), _PlainNode(after))
            if new:
                break
        position = node.position
        while moves := _plain_moves(position):
            position = _plain_play(position, random.choice(moves))
        for above, action in path:
            above.visits[action] += 1
            above.totals[action] += 1 if position[3] == above.position[2] else -1
    return root


@pytest.mark.slow
@pytest.mark.parametrize(("exploration", "tree_depth"), [(0.7, 10), (0.3, 2)])
def test_root_statistics_are_those_of_a_plain_uct(exploration, tree_depth):
    game, searches = Pig(6, faces=3), 200
    start = game.init(jax.random.key(0))._replace(
        scores=jnp.array([2, 3], jnp.int8), turn=jnp.int8(2)
    )
    states = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], searches, 0), start)
    search = MCTS(game, MCTSSpec(100, exploration=exploration, tree_depth=tree_depth))
    roots = search.search(states, jax.random.key(1))
    random.seed(1)
    plain = [_plain_uct(100, exploration, tree_depth) for _ in range(searches)]
    visits = np.array([[root.visits[a] for a in (ROLL, HOLD)] for root in plain])
    totals = np.array([[root.totals[a] for a in (ROLL, HOLD)] for root in plain])
    for ours, theirs in ((roots.visits, visits), (roots.values, totals / visits)):
        ours = np.asarray(ours, np.float64)
        error = np.sqrt((ours.var(0) + theirs.var(0)) / searches)
        assert (np.abs(ours.mean(0) - theirs.mean(0)) < 4 * error).all()


def test_outcomes_are_found_again_and_a_full_bucket_takes_no_more():
    empty = outcomes.no_outcomes(batch=2, capacity=2)
    assert empty.keys.shape == (2, 8)
    tables, action = empty, jnp.zeros(2, jnp.int32)
    state = jnp.array([[3.0], [4.0]])
    for number in range(1, 11):
        node = jnp.full(2, number, jnp.int32)
        child, entry, room = outcomes.find(tables, node, action, state)
        assert (child == 0).all()
        assert room.tolist() == [number < 9, True]
        # The second tree gets every other one.
        made = jnp.array([True, number % 2 == 1]) & room
        gains = jnp.array([[number, -1.0]] * 2)
        tables = outcomes.learn_outcomes(tables, entry, made, jnp.int32(number), gains)
    for number in range(1, 11):
        child, _, _ = outcomes.find(tables, jnp.full(2, number, jnp.int32), action, state)
        assert child.tolist() == [number if number < 9 else 0, number if number % 2 else 0]
        other, _, _ = outcomes.find(tables, jnp.full(2, number, jnp.int32), action + 1, state)
        assert other.tolist() == [0, 0]
    assert (tables.low.tolist(), tables.high.tolist()) == ([-1, -1], [10, 10])


@pytest.mark.slow
@pytest.mark.parametrize("plies", [1, 2, 3])
def test_expectimax_on_2048_is_plain_recursion(plies):
    states = random_positions(Game2048(), 4, 60)[0]
    player = Expectimax(Game2048(), ExpectimaxSpec(plies))
    ours = np.asarray(player.action_values(states, jax.random.key(0)), np.float64)
    plain = lookahead.LookAhead(board_rules.Game2048(), lambda cells, seat: 0.0, plies)
    compared = 0
    for row, state in zip(ours, reference_states("2048", states, None), strict=True):
        if not state.terminal:
            scores = plain.scores(state)
            assert set(np.flatnonzero(np.isfinite(row))) == set(scores)
            np.testing.assert_allclose([row[a] for a in scores], [*scores.values()], rtol=2e-5)
            compared += 1
    assert compared > 1


def _plain_expectimax(game, position, plies):
    """The mover's chance to win less the other's, by each action, `plies` moves deep."""
    own, other, turn = position
    scores = {}

    def best(position, plies):
        values = _plain_expectimax(game, position, plies) if plies else {}
        return max(values.values(), default=0.0)

    if turn:
        won = own + turn >= game.goal
        scores[HOLD] = 1.0 if won else -best((other, own + turn, 0), plies - 1)
    if own + turn < game.goal:
        rolls = [best((own, other, turn + face), plies - 1) for face in range(2, game.faces + 1)]
        scores[ROLL] = (sum(rolls) - best((other, own, 0), plies - 1)) / game.faces
    return scores


@pytest.mark.slow
def test_expectimax_on_pig_is_plain_recursion():
    game, plies = Pig(8, faces=3), 4
    states, _ = positions(game, player=1)
    ours = np.asarray(
        Expectimax(game, ExpectimaxSpec(plies)).action_values(states, jax.random.key(0))
    )
    scores, turns = np.asarray(states.scores), np.asarray(states.turn)
    for row, (other, own), turn in zip(ours, scores.tolist(), turns.tolist(), strict=True):
        plain = _plain_expectimax(game, (own, other, turn), plies)
        np.testing.assert_allclose(row, [plain[ROLL], plain[HOLD]], atol=1e-6)


def _three_players(plain, state, plies):
    """The rewards of all three, by plain recursion; everyone takes most, of equals the first."""
    if state.terminal or not plies:
        return np.array(state.rewards)
    scores = _scores_of_three(plain, state, plies)
    return max(scores.values(), key=lambda rewards: rewards[state.player])


def _scores_of_three(plain, state, plies):
    """The same after each legal action."""
    faces = range(plain.faces)
    return {
        action: np.mean(
            [_three_players(plain, plain.play(state, action, face), plies - 1) for face in faces], 0
        )
        for action in plain.legal(state)
    }


@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 2])
def test_expectimax_of_three_players_with_dice_is_plain_recursion(player):
    """Pig to 6, which the next or the one after may win within the three plies."""
    game, plain, plies = make("pig", players=3, target=6, faces=3), dice_games.Pig(3, 6, 3), 3
    boards = np.stack(np.indices((6,) * 4), -1).reshape(-1, 4)[::11]
    start = game.init(jax.random.key(0))._replace(player=jnp.int8(player))
    states = jax.vmap(lambda board: start._replace(scores=board[:3], turn=board[3]))(
        jnp.asarray(boards, jnp.int8)
    )
    search = Expectimax(game, ExpectimaxSpec(plies))
    ours = np.asarray(search.action_values(states, jax.random.key(0)))
    for row, board in zip(ours, boards.tolist(), strict=True):
        state = plain.initial(0)._replace(board=(*board, 0), player=player)
        expected = np.full(2, -np.inf)
        for action, rewards in _scores_of_three(plain, state, plies).items():
            expected[action] = rewards[player]
        np.testing.assert_allclose(row, expected, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("game", [Pig(10), Pig(12, faces=6)], ids=repr)
def test_max_n_has_the_exact_chances_of_pig(game):
    player = MaxN(game)
    start = jax.tree.map(lambda leaf: leaf[None], game.init(jax.random.key(0)))
    exact = 2 * wins(game.goal, game.faces)[0, 0, 0, ROLL] - 1
    np.testing.assert_allclose(player.values(start)[0], [exact, -exact], atol=1e-6)
    for seat in (0, 1):
        states, chances = positions(game, seat)
        values, best = np.asarray(player.values(states)), np.asarray(player.best_actions(states))
        reached = ~np.isnan(values).any(1)
        assert reached.sum() > 40
        np.testing.assert_allclose(
            (values[reached, seat] + 1) / 2, chances[reached].max(1), atol=1e-6
        )
        exact_best = chances >= chances.max(1, keepdims=True) - 1e-9
        assert (best[reached] == exact_best[reached]).all()
        # Where no play comes every legal move is as good.
        assert best[~reached].all()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("maxn", r"2048 has too many \(more than 100,000\)"),
        ("expectimax-0", r"plies must lie in \[1, 10\], not 0"),
        ("expectimax-11", r"plies must lie in \[1, 10\], not 11"),
        ("expectimax-x", "plies must be a whole number, not 'x'"),
        ("mcts-٣", "iterations must be a whole number"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(name, message):
    with pytest.raises(ValueError, match=message) as error:
        make_player(name, make("2048"))
    assert "\n" not in str(error.value)


def _points(name, games=16, moves=150):
    """float[games]: points in 2048 after so many moves, fewer where the game ended before."""
    game = make("2048")
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(3), games))
    player, key = make_player(name, game), jax.random.key(4)
    for _ in range(moves):
        key, choice, chance = jax.random.split(key, 3)
        states = play_ply(game, states, player.act(states, choice), chance)
    return np.asarray(states.score)


@pytest.mark.slow
def test_searches_reach_more_points_in_2048_than_random_play():
    by_chance = _points("random")
    for name in ("mcts-20", "expectimax-2"):
        points = _points(name)
        error = np.hypot(by_chance.std(), points.std()) / np.sqrt(len(points))
        assert points.mean() - by_chance.mean() > 4 * error, name
