"""The registry of searches, their text form, and the contract that each of them keeps."""

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners.action_values import UNDISCOUNTED
from jaxgbg.players import make_player
from jaxgbg.search import (
    ExpectimaxSpec,
    LookAheadSpec,
    MCTSSpec,
    PUCTSpec,
    SearchSpec,
    search_kinds,
)
from tests.search.agents import make_small, random_agent, random_positions


def test_the_registry_knows_what_each_search_can_do():
    assert {**search_kinds()} == {
        "puct": PUCTSpec,
        "look-ahead": LookAheadSpec,
        "mcts": MCTSSpec,
        "expectimax": ExpectimaxSpec,
    }
    assert {*search_kinds(with_agent=True)} == {"puct", "look-ahead"}
    assert {*search_kinds(alone=True)} == {"mcts", "expectimax"}
    assert {*search_kinds(trains=True)} == {"puct"}


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("puct", PUCTSpec()),
        (
            "puct-50,exploration=2,temperature=.5,unvisited=-1,width=3,megabytes=9,solver=1",
            PUCTSpec(50, 2.0, 0.5, -1.0, 3, 9, True),
        ),
        ("puct-50,solver=0", PUCTSpec(50)),
        ("puct,iterations=50", PUCTSpec(50)),
        ("mcts-7,exploration=2", MCTSSpec(7, 2.0)),
        ("expectimax-3", ExpectimaxSpec(3)),
        ("look-ahead", LookAheadSpec()),
        ("look-ahead-4,width=3,1,2,reply=value", LookAheadSpec(4, (3, 1, 2), "value")),
        ("look-ahead-1,ranks=.6,.4,samples=3", LookAheadSpec(1, (), "own", (0.6, 0.4), 3)),
        ("look-ahead-2,width=,max-spawns=9", LookAheadSpec(2, max_spawns=9)),
    ],
)
def test_a_search_is_named_in_one_text_form(text, spec):
    assert SearchSpec.parse(text) == spec


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "unknown search ''"),
        ("uct-50", "unknown search 'uct-50': did you mean puct"),
        ("lookahead-3", "unknown search 'lookahead-3': did you mean look-ahead"),
        ("puct50", "unknown search 'puct50': did you mean puct"),
        ("chess-50", "choose one of .*mcts-N.*, or name the module .*--import MODULE"),
        ("puct-x", "'puct-x': iterations must be a whole number, not 'x'"),
        ("puct-", "iterations must be a whole number, not ''"),
        ("puct-1_000", "iterations must be a whole number, not '1_000'"),
        ("puct-\u0663", "iterations must be a whole number"),
        ("puct-50,c=2", "unknown setting 'c'; known are iterations, exploration"),
        ("puct-50,explorations=2", "unknown setting 'explorations': did you mean exploration"),
        ("puct-5,width", "expected key=value, not 'width'"),
        ("puct-5,6", "expected key=value, not '6'"),
        ("puct-5,iterations=6", "iterations is given twice"),
        ("puct-5,width=2,width=3", "width is given twice"),
        ("puct-5,width=2,3", "width must be a whole number, not '2,3'"),
        ("puct-5,solver=yes", "solver must be true or false, not 'yes'"),
        ("mcts-5,exploration=nan", "exploration must be a number"),
        ("mcts-5,tree_depth=9,rollout_depth=8", "tree_depth must not exceed rollout_depth"),
        ("expectimax-11", r"plies must lie in \[1, 10\], not 11"),
        ("look-ahead-3,reply=worst", "reply must be one of own, value, not 'worst'"),
        (None, "search must be text, not None"),
    ],
)
def test_what_names_no_search_is_refused_in_one_line(text, line):
    with pytest.raises(ValueError, match=line) as error:
        SearchSpec.parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", search_kinds())
def test_usage_names_every_setting(kind):
    spec = search_kinds()[kind]
    usage = spec.usage()
    assert usage.startswith(f"{kind}-N for N {spec.strength}")
    # What help says of a setting can be typed.
    inner = usage.partition(" (")[2].rstrip(")")
    text = ",".join([kind, *inner.split(", ")] if inner else [kind])
    assert SearchSpec.parse(text) == spec()


@pytest.mark.parametrize("kind", search_kinds())
@pytest.mark.parametrize("name", ["tictactoe", "nim3p"])
@pytest.mark.slow
def test_every_search_chooses_legal_moves_and_the_same_by_the_same_key(kind, name):
    game = make_small(name)
    agent = random_agent(game)
    spec = search_kinds()[kind]
    search = spec(**{spec.strength: 2}).build(game, agent.value)
    assert search == spec(**{spec.strength: 2}).build(game, agent.value)
    assert hash(search) == hash(spec(**{spec.strength: 2}).build(game, agent.value))
    states = random_positions(game, 6, 2)[0]
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    chosen, again = (
        np.asarray(search.choose(states, jax.random.key(1), params, UNDISCOUNTED)) for _ in "12"
    )
    assert chosen.tolist() == again.tolist()
    legal = np.asarray(jax.vmap(game.legal_actions)(states))
    going = ~np.asarray(states.terminal)
    assert going.any()
    assert legal[np.arange(len(legal)), chosen][going].all()


def test_python_takes_the_text_form_too():
    game = make_small("tictactoe")
    agent = random_agent(game)
    player = jaxgbg.search(agent, "puct-9,width=3", exploration=2.0)
    assert player.search.settings == PUCTSpec(64, 2.0, width=3)
    assert player.iterations == 9
    deep = jaxgbg.search(agent, "look-ahead-2,width=3")
    assert deep.search == jaxgbg.look_ahead(agent, 2, 3).search
    assert make_player("mcts-5,exploration=2", game).search.settings == MCTSSpec(5, 2.0)
    with pytest.raises(ValueError, match="unknown setting 'depth'"):
        jaxgbg.search(agent, depth=3)
    with pytest.raises(ValueError, match="search mcts uses no agent"):
        jaxgbg.search(agent, "mcts-5")
