"""Trees that are kept between moves, against a plain search in float64 and against themselves."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg import Protocol
from jaxgbg.evaluation.matches import compete
from jaxgbg.players import GreedyAgent
from jaxgbg.players.search import _act_on
from jaxgbg.search.in_training import TDSearchSpec
from jaxgbg.search.puct import PUCT, PUCTSpec
from jaxgbg.search.reuse import no_trees, reroot, search_on
from jaxgbg.search.tree import CHILD, VISITS
from tests.games.batches import each
from tests.reference.puct import PUCT as Reference
from tests.search.agents import (
    CLOSE,
    make_small,
    random_agent,
    random_positions,
    reference_states,
    reference_value,
)

_GAMES = 8
_slow = pytest.mark.slow


def _search(name, iterations, **settings):
    """(search, its compiled `search_on` of (states, key, trees), the agent's choice)."""
    game = make_small(name)
    agent = random_agent(game, few_digits=True)
    search = PUCT(game, agent.value, PUCTSpec(iterations, reuse=True, **settings))
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)

    @jax.jit
    def on(states, key, trees):
        return search_on(search, params, states, iterations, key, trees)

    return search, on, agent


def _live(states):
    return ~np.asarray(states.terminal)


@_slow
@pytest.mark.parametrize(
    ("name", "plies", "settings"),
    [
        ("tictactoe", 1, {}),
        ("nim3p", 1, {"exploration": 0.5}),
        ("connectfour", 7, {}),
        ("connectfour", 6, {"leaves": 4}),
        ("connectfour", 15, {"solver": True}),
        ("othello", 3, {"exploration": 1.7, "temperature": 0.5}),
    ],
)
def test_a_tree_that_is_kept_is_that_of_a_plain_search_which_keeps_its_nodes(name, plies, settings):
    iterations = 90
    search, on, agent = _search(name, iterations, **settings)
    game, trees = search.game, None
    states, actions = random_positions(game, _GAMES, plies)
    loss = {"loss": 0.0} if name == "nim3p" else {}
    plain = [
        Reference(*reference_value(name, agent), iterations, **settings, **loss)
        for _ in range(_GAMES)
    ]
    roots, compared, kept = [None] * _GAMES, 0, 0
    trees = no_trees(search, states)
    for move in range(3):
        found, trees = on(states, jax.random.key(move), trees)
        visits = np.asarray(found.visits)
        for row, state in enumerate(reference_states(name, states, actions)):
            if state.terminal:
                continue
            before = roots[row]
            roots[row] = plain[row].search(state, before)
            kept += before is not None and any(node is roots[row] for node in before.all())
            if plain[row].closest > CLOSE:
                expected = np.zeros(game.num_actions)
                expected[list(roots[row].visits)] = list(roots[row].visits.values())
                assert visits[row].tolist() == expected.tolist()
                compared += move > 0
        # A move of each player: what the tree thinks best, as far as it goes.
        nodes = list(roots)
        for turn in range(game.num_players):
            chosen = np.array(agent.act(states, jax.random.key(turn)))
            for row in np.flatnonzero(_live(states)):
                if nodes[row] is not None and nodes[row].children:
                    chosen[row] = max(nodes[row].visits, key=nodes[row].visits.__getitem__)
                    nodes[row] = nodes[row].children[chosen[row]]
            actions = np.vstack([actions, np.where(_live(states), chosen, -1)])
            states = each(game.afterstate, states, jnp.asarray(actions[-1]))
    assert compared >= 4
    assert kept >= 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("tictactoe", {}),
        ("nim3p", {"exploration": 0.5}),
        ("connectfour", {"solver": True}),
        ("othello", {"temperature": 0.5}),
    ],
)
def test_without_chance_a_kept_tree_is_the_one_that_would_have_grown_anew(name, settings):
    search, on, agent = _search(name, 100, **settings)
    game = search.game
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    anew = jax.jit(lambda states: search.search(params, states, 100, jax.random.key(0)))
    states = random_positions(game, _GAMES, 1)[0]
    trees, done = no_trees(search, states), []
    while _live(states).any():
        done.append(reroot(search, trees, jnp.arange(_GAMES), _GAMES, states)[1])
        found, trees = on(states, jax.random.key(1), trees)
        for one, other in zip(found, anew(states), strict=True):
            assert (np.asarray(one) == np.asarray(other)).all()
        # The best move, and now and then another one.
        moves = np.asarray(found.visits.argmax(1))
        last = (
            game.num_actions - 1 - np.asarray(each(game.legal_actions, states))[:, ::-1].argmax(1)
        )
        moves = np.where(np.arange(_GAMES) % 5 == len(done) % 5, last, moves)
        states = each(game.afterstate, states, jnp.asarray(moves))
    # Trees of unequal size have grown on in step.
    assert 10 < np.mean(done[1:]) < 90
    assert np.mean([np.ptp(each) for each in done[1:]]) > 10


def _rows(trees, number, searches):
    """The tree of one search: edges float32[K, C, A] and the states of its nodes."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[number::searches], tuple(trees))


@_slow
@pytest.mark.parametrize(
    ("name", "plies", "settings"),
    [
        ("tictactoe", 3, {}),
        ("connectfour", 7, {"leaves": 4, "solver": True}),
        ("nim3p", 1, {}),
        # What chance has brought is looked for among the children.
        ("2048", 30, {"width": 3}),
    ],
)
def test_whatever_is_known_below_a_position_is_kept_as_it_was(name, plies, settings):
    search, on, _ = _search(name, 200, **settings)
    states = random_positions(search.game, _GAMES, plies)[0]
    trees = on(states, jax.random.key(1), no_trees(search, states))[1]
    assert trees.outcomes is None  # Who keeps trees does not sort outcomes of chance.
    nodes = trees.edges.shape[0] // _GAMES
    # Every node once, for a root of its own: all that have been made, and some that never were.
    anywhere = np.random.default_rng(0).permuted(np.tile(np.arange(nodes), (_GAMES, 1)), axis=1)
    move = jax.jit(partial(reroot, search, searches=_GAMES))
    children = slice(CHILD, CHILD + search.width)
    below, later = 0, 0
    for number in anywhere.T[:40]:
        rows = jnp.asarray(number * _GAMES + np.arange(_GAMES))
        wanted = jax.tree.map(lambda leaf, rows=rows: leaf[rows], trees.states)
        moved, done = move(trees, jnp.arange(_GAMES), states=wanted)
        for lane in range(_GAMES):
            (old, known, _), (new, kept, _) = (_rows(each, lane, _GAMES) for each in (trees, moved))
            equal = [
                (leaf.reshape(nodes, -1) == leaf[number[lane]].reshape(-1)).all(1)
                for leaf in jax.tree.leaves(known)
            ]
            same = np.all(equal, axis=0) & (old[:, -1] != 0).any(1)
            if not same.any():
                assert done[lane] == 0
                assert (new == 0).all()
                continue
            visits = old[:, VISITS].sum(1)
            assert done[lane] == visits[same].max()
            later += visits[same.argmax()] < visits[same].max()
            pairs = [(int(np.where(same, visits, -1).argmax()), 0)]
            for here, there in pairs:
                expected, got = old[here].copy(), new[there].copy()
                links = list(zip(expected[children].flat, got[children].flat, strict=True))
                assert all((one > 0) == (other > 0) for one, other in links)
                pairs += [(int(one), int(other)) for one, other in links if one > 0]
                expected[children] = got[children] = 0
                assert (expected == got).all()
                for one, other in zip(jax.tree.leaves(known), jax.tree.leaves(kept), strict=True):
                    assert (one[here] == other[there]).all()
            # In the order in which they were made, and nothing else with them.
            assert sorted(there for _, there in pairs) == list(range(len(pairs)))
            assert len(pairs) <= done[lane] + 1
            assert (new[len(pairs) :] == 0).all()
            below += len(pairs) - 1
    assert below > 100
    # The same position by other moves, of which it is not the first that counts.
    assert later > 0 or name not in ("tictactoe", "nim3p")


@_slow
def test_a_position_that_no_tree_knows_is_searched_as_without_re_use():
    search, on, agent = _search("tictactoe", 50)
    states, others = (random_positions(search.game, 40, plies)[0] for plies in (3, 2))
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    trees = no_trees(search, states)
    # Nothing has been known at first; then the trees are those of later positions.
    for key, asked in enumerate((states, others)):
        found, trees = on(asked, jax.random.key(key), trees)
        anew = jax.jit(search.search)(params, asked, 50, jax.random.key(key))
        for one, other in zip(found, anew, strict=True):
            assert (np.asarray(one) == np.asarray(other)).all()


@pytest.mark.slow
def test_games_of_others_leave_a_tree_as_it_is():
    search, on, _ = _search("tictactoe", 50)
    states = random_positions(search.game, 40, 3)[0]
    found, trees = on(states, jax.random.key(0), no_trees(search, states))
    resting = jnp.arange(40) % 3 != 0
    nothing, same = on(states._replace(terminal=resting), jax.random.key(1), trees)
    assert (np.asarray(nothing.visits)[np.asarray(resting)] == 0).all()
    # The others are where they were: all is done already.
    assert (np.asarray(nothing.visits) == np.where(resting[:, None], 0, found.visits)).all()
    for lane in np.flatnonzero(resting):
        for one, other in zip(_rows(trees, lane, 40), _rows(same, lane, 40), strict=True):
            jax.tree.map(np.testing.assert_array_equal, one, other)


@_slow
@pytest.mark.parametrize("name", ["nim3p", "2048"])
def test_whole_games_have_as_many_iterations_a_move_and_no_more_room(name):
    search, on, _ = _search(name, 40, width=2, leaves=3)
    game, key = search.game, jax.random.key(0)
    states = random_positions(game, 16, 0)[0]
    trees = empty = no_trees(search, states)
    reused = 0
    for ply in range(30):
        draw = jax.random.fold_in(key, ply)
        reused += int(reroot(search, trees, jnp.arange(16), 16, states)[1].sum())
        found, trees = on(states, draw, trees)
        assert np.asarray(found.visits).sum(1).tolist() == (40 * _live(states)).tolist()
        assert jax.tree.map(jnp.shape, trees) == jax.tree.map(jnp.shape, empty)
        moved = each(game.afterstate, states, found.visits.argmax(1))
        states = each(game.spawn, moved, jax.random.split(draw, 16))
    assert reused > 100


@_slow
def test_trees_of_all_games_share_the_memory_that_is_allowed():
    agent = random_agent(make_small("connectfour"))
    game = agent.game
    player = jaxgbg.search(agent, 1000, megabytes=20, reuse=True)
    # Those before a move and after it, and one that grows: as it was, and as it becomes.
    most = player.search.max_trees // 2 - 1
    states = random_positions(game, most + 1, 0)[0]
    room = jax.tree.map(lambda leaf: leaf[:most], states)
    trees = player.first_memory(room)
    program = _act_on.lower(player, trees, room, jax.random.key(0)).compile().memory_analysis()
    whole = program.temp_size_in_bytes + program.argument_size_in_bytes
    assert 15e6 < whole + program.output_size_in_bytes < 20e6
    line = f"trees of {most + 1} games that reuse=1 keeps do not fit into 20 megabytes"
    with pytest.raises(ValueError, match=line):
        player.first_memory(states)
    # Of two agents each has his own.
    weights = jax.tree.map(lambda leaf: jnp.concatenate([leaf, leaf]), agent.params)
    both = GreedyAgent(game, agent.value, weights, several=True)
    player = jaxgbg.search(both, 1000, megabytes=20, reuse=True)
    each = most // 2 + 1
    assert each + 1 < most
    with pytest.raises(ValueError, match=f"trees of {2 * each} games"):
        player.first_memory(random_positions(game, 2 * each, 0)[0])


@_slow
def test_a_match_keeps_the_trees_of_each_of_several_agents_and_seats():
    game = make_small("tictactoe")
    agents = [random_agent(game, seed) for seed in (1, 2)]
    params = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *(a.params for a in agents))
    both = GreedyAgent(game, agents[0].value, params, several=True)
    opponent, protocol = jaxgbg.search(agents[0], 30, reuse=True), Protocol("one_ply")
    anew, keeping = (jaxgbg.search(both, 50, reuse=reuse) for reuse in (False, True))
    assert anew.first_memory(random_positions(game, 4, 0)[0]) is None
    rewards = compete(game, keeping, opponent, protocol, jax.random.key(0))
    assert rewards.shape[:2] == (2, 2)
    # On the host, ply by ply, the games are the same as in one program.
    played = []
    again = compete(game, keeping, opponent, protocol, jax.random.key(0), on_games=played.append)
    assert sum(len(games.rewards) for games in played) == rewards.size
    assert (rewards == again).all()


def test_training_keeps_no_trees():
    with pytest.raises(ValueError, match="train_search: reuse is for play alone"):
        TDSearchSpec(search="puct-10,reuse=1")
