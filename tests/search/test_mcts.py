import math
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import ConnectFour, Game2048, Hex, TicTacToe, make
from jaxgbg.players import MaxN, RandomPlayer
from jaxgbg.search.mcts import MCTS, MCTSSpec
from tests.games.batches import each


def _start(game, batch):
    return each(game.init, jax.random.split(jax.random.key(0), batch))


def _after(game, *moves):
    """The states after each of several sequences of moves."""
    states = []
    for sequence in moves:
        state = game.init(jax.random.key(0))
        for action in sequence:
            state = game.step(state, action, jax.random.key(0))
        states.append(state)
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)


def _on_the_way(game, games, plies):
    """Every state of random games: states[games * (plies + 1)]."""
    states, player = _start(game, games), RandomPlayer(game)
    step, seen = jax.jit(jax.vmap(game.afterstate)), [states]
    for ply in range(plies):
        states = step(states, player.act(states, jax.random.key(ply)))
        seen.append(states)
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *seen)


def _take(states, rows):
    return jax.tree.map(lambda leaf: leaf[rows], states)


def _is_best(game, states, actions):
    """bool[B]: whether Max-N may choose the action too."""
    best = np.asarray(MaxN(game).best_actions(states))
    return best[np.arange(len(best)), np.asarray(actions)]


def _best_mean(roots):
    return np.where(roots.visits > 0, roots.values, -1).max(1)


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
def test_it_plays_tictactoe_like_max_n():
    game = TicTacToe()
    states = _on_the_way(game, games=32, plies=5)
    states = _take(states, np.flatnonzero(~np.asarray(states.terminal)))
    player = MCTS(game, MCTSSpec(iterations=4000))
    # 188 positions, all right when measured.
    assert _is_best(game, states, player.choose(states, jax.random.key(1))).mean() >= 0.98
    exact = np.asarray(MaxN(game).values(states))[np.arange(len(states.player)), states.player]
    few = MCTS(game, MCTSSpec(iterations=200)).search(states, jax.random.key(2))
    many = player.search(states, jax.random.key(2))
    errors = [np.abs(2 * _best_mean(roots) - 1 - exact).mean() for roots in (few, many)]
    # 0.16 when measured: means forget the first, bad tries but slowly.
    assert errors[1] < 0.2 < errors[0]


@pytest.mark.slow
@pytest.mark.usefixtures("full_optimization")
def test_it_plays_the_end_of_nim3p_like_max_n():
    game = make("nim3p")
    states = _on_the_way(game, games=64, plies=8)
    left = np.asarray(states.heaps).sum(1)
    states = _take(states, np.flatnonzero((left > 0) & (left <= 6)))
    assert len(states.terminal) > 100
    for reward_range in (None, (-1.0, 1.0)):
        player = MCTS(game, MCTSSpec(iterations=4000), reward_range=reward_range)
        assert _is_best(game, states, player.choose(states, jax.random.key(1))).mean() >= 0.99
        low, high = reward_range or game.reward_range
        means = low + (high - low) * _best_mean(player.search(states, jax.random.key(2)))
        exact = np.asarray(MaxN(game).values(states))[np.arange(len(means)), states.player]
        # 0.05 when measured.
        assert np.abs(means - exact).mean() < 0.08


def _nim3p_rewards(mover):
    """Final rewards when `mover` has taken the last item."""
    rewards = [0.0, 0.0, 0.0]
    rewards[(mover + 1) % 3], rewards[(mover - 1) % 3] = 1.0, 0.2
    return rewards


class _PlainNode:
    def __init__(self, heaps, mover, depth):
        self.heaps, self.mover, self.depth = heaps, mover, depth
        self.visits, self.total, self.children = 0, 0.0, {}
        self.untried = _nim3p_moves(heaps)
        random.shuffle(self.untried)


def _nim3p_moves(heaps):
    return [(heap, items) for heap in range(3) for items in range(1, heaps[heap] + 1)]


def _taken(heaps, move):
    return tuple(size - move[1] * (heap == move[0]) for heap, size in enumerate(heaps))


def _plain_uct(heaps, iterations, exploration, tree_depth, rollout_depth):
    """UCT on Nim3P, one object a node; the root."""
    root = _PlainNode(heaps, 0, 0)
    for _ in range(iterations):
        path = [root]
        while any(path[-1].heaps) and path[-1].depth < tree_depth:
            node = path[-1]
            if node.untried:
                move = node.untried.pop()
                child = _PlainNode(_taken(node.heaps, move), (node.mover + 1) % 3, node.depth + 1)
                node.children[move] = child
                path.append(child)
                break

            def bound(child, node=node):
                spread = math.log(node.visits + 1) / (child.visits + 1e-6)
                mean = child.total / (child.visits + 1e-6)
                return mean + exploration * math.sqrt(spread) + 1e-6 * random.random()

            path.append(max(node.children.values(), key=bound))
        heaps, mover, depth = path[-1].heaps, path[-1].mover, path[-1].depth
        while any(heaps) and depth < rollout_depth:
            heaps = _taken(heaps, random.choice(_nim3p_moves(heaps)))
            mover, depth = (mover + 1) % 3, depth + 1
        rewards = [0.0] * 3 if any(heaps) else _nim3p_rewards((mover - 1) % 3)
        for node in path:
            node.visits += 1
            node.total += rewards[(node.mover - 1) % 3]
    return root


@pytest.mark.parametrize(
    ("exploration", "tree_depth", "rollout_depth"),
    [
        pytest.param(1.414, 10, 200, marks=pytest.mark.slow),
        pytest.param(0.3, 10, 200, marks=pytest.mark.slow),
        pytest.param(0.3, 2, 200, marks=pytest.mark.slow),
        (0.7, 1, 4),
    ],
)
def test_root_statistics_are_those_of_a_plain_uct(exploration, tree_depth, rollout_depth):
    game, searches, settings = make("nim3p"), 60, (200, exploration, tree_depth, rollout_depth)
    states = _after(game, [2])  # 2, 5 and 5 items are left to player 1
    states = jax.tree.map(lambda leaf: jnp.repeat(leaf, searches, 0), states)
    roots = MCTS(game, MCTSSpec(*settings)).search(states, jax.random.key(1))
    random.seed(1)
    trees = [_plain_uct((2, 5, 5), *settings) for _ in range(searches)]
    actions = [5 * heap + items - 1 for heap, items in _nim3p_moves((2, 5, 5))]
    children = [[root.children[move] for move in _nim3p_moves((2, 5, 5))] for root in trees]
    visits = np.array([[child.visits for child in row] for row in children])
    values = np.array([[child.total / child.visits for child in row] for row in children])
    for ours, plain in ((roots.visits, visits), (roots.values, values)):
        ours = np.asarray(ours)[:, actions]
        error = np.sqrt((ours.var(0) + plain.var(0)) / searches)
        distance = (ours.mean(0) - plain.mean(0)) / np.maximum(error, 1e-6)
        # 12 actions, two quantities, four settings: 3.5 standard errors once in 20 tries.
        assert np.abs(distance).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize("key", range(3))
def test_it_wins_in_one_and_stops_a_win_in_one(key):
    game = ConnectFour()
    wins = _after(game, [0, 6, 0, 6, 0, 5], [3, 0, 4, 0, 5, 1])
    threats = _after(game, [0, 6, 0, 6, 0], [0, 1, 3, 1, 2, 1])
    player = MCTS(game, MCTSSpec(iterations=1000))
    first, second = np.asarray(player.choose(wins, jax.random.key(key))).tolist()
    assert first == 0
    assert second in (2, 6)
    assert np.asarray(player.choose(threats, jax.random.key(key))).tolist() == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "nim3p",
        "tictactoe",
        "connectfour",
        "hex",
        "othello",
    ],
)
def test_moves_are_legal_and_visits_add_up(name):
    game = make(name)
    states = _take(_on_the_way(game, games=3, plies=8), np.arange(1, 27))
    player = MCTS(game, MCTSSpec(iterations=70))
    visits, values = player.search(states, jax.random.key(1))
    legal = np.asarray(each(game.legal_actions, states))
    live = ~np.asarray(states.terminal)
    assert np.asarray(visits).sum(1).tolist() == (70 * live).tolist()
    # 70 iterations are enough to try everything.
    assert ((np.asarray(visits) > 0) == legal).all()
    assert float(values.min()) >= 0
    assert float(values.max()) <= 1
    actions = np.asarray(player.choose(states, jax.random.key(2)))
    assert legal[np.arange(len(live)), actions][live].all()
    assert (actions[~live] == 0).all()


@pytest.mark.slow
def test_the_move_has_the_highest_mean_among_tried_actions():
    states, key = _start(Hex(), 16), jax.random.key(3)
    player = MCTS(Hex(), MCTSSpec(iterations=20))
    roots = player.search(states, jax.random.split(key)[0])
    assert (np.asarray(roots.visits) <= 1).all()
    rows, actions = np.arange(16), np.asarray(player.choose(states, key))
    assert (np.asarray(roots.values)[rows, actions] == _best_mean(roots)).all()
    assert (np.asarray(roots.visits)[rows, actions] == 1).all()


@pytest.mark.slow
def test_the_key_decides():
    states, player = _start(Hex(), 16), MCTS(Hex(), MCTSSpec(iterations=20))
    moves = [np.asarray(player.choose(states, jax.random.key(key))).tolist() for key in (1, 1, 2)]
    assert moves[0] == moves[1] != moves[2]
    # Searches of one position draw for themselves.
    assert len(set(moves[0])) > 4


@pytest.mark.slow
def test_play_may_be_cut_off_with_the_rewards_as_they_stand():
    game = TicTacToe()
    roots = MCTS(game, MCTSSpec(iterations=200, tree_depth=2, rollout_depth=4)).search(
        _start(game, 4), jax.random.key(1)
    )
    assert (np.asarray(roots.values) == 0.5).all()


class _WonHex(Hex):
    """Hex whose random play always ends with a win of player 0."""

    def playout(self, state, words):
        assert words.shape == (2,)
        assert state.terminal.shape == ()
        return jnp.array([1.0, -1.0])


@pytest.mark.slow
def test_a_game_may_draw_the_end_of_random_play_itself():
    game = _WonHex(size=3)
    assert (MCTS(game, MCTSSpec(9)).search(_start(game, 2), jax.random.key(1)).values == 1).all()
    # Not where play may be cut off before its end.
    cut = MCTS(game, MCTSSpec(9, tree_depth=1, rollout_depth=3)).search(
        _start(game, 2), jax.random.key(1)
    )
    assert (cut.values == 0.5).all()
    # An end within the tree counts as it is: player 1 wins with 3, 4 and 2 or 5.
    ready = _after(game, [0, 3, 1, 4, 8])
    roots = MCTS(game, MCTSSpec(4)).search(ready, jax.random.key(1))
    assert roots.visits.tolist() == [[0, 0, 1, 0, 0, 1, 1, 1, 0]]
    assert roots.values.tolist() == [[0, 0, 1, 0, 0, 1, 0, 0, 0]]


@pytest.mark.slow
def test_a_playout_of_the_game_is_used_like_random_play():
    class Played(TicTacToe):
        def playout(self, state, words):
            def step(ply, state):
                draw = jax.random.gumbel(
                    jax.random.fold_in(jax.random.wrap_key_data(words), ply), (9,)
                )
                action = jnp.where(self.legal_actions(state), draw, -jnp.inf).argmax()
                return self.afterstate(state, action)

            return jax.lax.fori_loop(0, 9, step, state).rewards

    key = jax.random.key(5)
    means = [
        np.asarray(MCTS(game, MCTSSpec(200)).search(_start(game, 100), key).values)
        for game in (TicTacToe(), Played())
    ]
    error = np.sqrt((means[0].var(0) + means[1].var(0)) / 100)
    assert (np.abs(means[0].mean(0) - means[1].mean(0)) < 4 * error).all()


def _made(game=None, reward_range=None, **settings):
    return MCTS(game or TicTacToe(), MCTSSpec(**settings), reward_range)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations": 0}, "iterations"),
        ({"iterations": 2**24}, "iterations"),
        ({"exploration": -0.1}, "exploration"),
        ({"exploration": math.nan}, "exploration"),
        ({"tree_depth": 0}, "tree_depth"),
        ({"tree_depth": 9, "rollout_depth": 8}, "rollout_depth"),
        ({"reward_range": (1.0, 1.0)}, "reward_range"),
        ({"megabytes": 0}, "megabytes"),
        ({"game": Game2048(), "reward_range": (0.0, 1.0)}, "2048 has chance, where the range"),
    ],
)
def test_settings_out_of_range_are_refused_in_one_line(settings, message):
    with pytest.raises(ValueError, match=message) as error:
        _made(**settings)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_it_is_as_strong_as_openspiels_search_in_hex():
    pyspiel = pytest.importorskip("pyspiel")
    games, simulations = 800, 100
    game, theirs = Hex(), pyspiel.load_game("hex(board_size=6)")
    # Rewards in [-1, 1] there, in [0, 1] here: hence twice the exploration.
    rng = np.random.RandomState(1)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(theirs, evaluator, 2 * 1.414, simulations, 1000, False, 1, False)
    player, step = MCTS(game, MCTSSpec(simulations)), jax.jit(jax.vmap(game.afterstate))
    seat = np.arange(games) % 2
    states, boards = _start(game, games), [theirs.new_initial_state() for _ in range(games)]
    for ply in range(game.max_plies):
        over = np.asarray(states.terminal)
        assert over.tolist() == [board.is_terminal() for board in boards]
        if over.all():
            break
        mine = seat == ply % 2
        positions = states._replace(terminal=states.terminal | ~mine)
        actions = np.array(player.choose(positions, jax.random.key(ply)))
        for number in np.flatnonzero(~over & ~mine):
            # Their bot would play the most visited child, ours plays the best mean.
            children = bot.mcts_search(boards[number]).children
            means = [child.total_reward / max(child.explore_count, 1e-9) for child in children]
            best = np.flatnonzero(np.array(means) == max(means))
            actions[number] = children[rng.choice(best)].action
        for number in np.flatnonzero(~over):
            boards[number].apply_action(int(actions[number]))
        states = step(states, jnp.asarray(actions))
    score = (1 + np.asarray(states.rewards)[np.arange(games), seat].mean()) / 2
    # The standard error of the score is 0.018.
    assert 0.45 < score < 0.55, score
