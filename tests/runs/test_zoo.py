"""The zoo: agents that come with the package are what their cards say, and agents everywhere."""

import functools
import hashlib
import itertools
import operator
import re

import numpy as np
import pytest

import jaxgbg
from jaxgbg.arena.participants import enter, named
from jaxgbg.games import Nim, make
from jaxgbg.games.nim import NimState
from jaxgbg.games.tictactoe import TicTacToeState
from jaxgbg.players import LookAheadAgent
from jaxgbg.runs.opponents import file_of, make_opponent, names_agent
from jaxgbg.runs.run import plain_game
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.zoo import FOLDER, PREFIX, card_of, zoo_agent_for, zoo_names

NAMES = zoo_names()
MOST_BYTES = 15_000_000


def test_all_agents_together_are_small():
    files = list(FOLDER.iterdir())
    assert {each.suffix for each in files} == {".agent", ".json"}
    assert sum(each.stat().st_size for each in files) < MOST_BYTES
    assert sorted(each.stem for each in FOLDER.glob("*.json")) == NAMES


# The rules of this game take long to compile.
LONG = {"lines_of_action": pytest.mark.slow}


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in NAMES])
def test_a_card_says_what_its_agent_is(name):
    card, saved = card_of(name), load_agent(PREFIX + name)
    content = (FOLDER / f"{name}.agent").read_bytes()
    assert card.game == plain_game(saved.run.game)
    assert (card.bytes, card.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert (card.weights, card.active) == (saved.weights.size, np.count_nonzero(saved.weights))
    assert (card.seeds[0], card.episodes) == (saved.seed, saved.run.schedule.episodes)
    assert len(card.seeds) == max(1, len(saved.members))
    assert card.command == f"python -m experiments.zoo.run {name}"
    assert card.scores
    assert all(each["low"] <= each["mean"] <= each["high"] for each in card.scores)
    assert zoo_agent_for(saved.run.game) == PREFIX + name


def chosen_moves(agent, states) -> np.ndarray:
    """bool[B, A]: the moves that the agent may choose."""
    values = np.asarray(agent.action_values(states))
    return np.asarray(values == values.max(axis=1, keepdims=True))


LINES = [*(7 << 3 * i for i in range(3)), *(73 << i for i in range(3)), 273, 84]
Stones = tuple[int, int]


def moves_from(stones: Stones, mover: int) -> dict[int, Stones]:
    """Each free cell of a TicTacToe board, and the stones after a move there."""
    free = [cell for cell in range(9) if not (stones[0] | stones[1]) >> cell & 1]
    first, second = stones
    if mover == 0:
        return {cell: (first | 1 << cell, second) for cell in free}
    return {cell: (first, second | 1 << cell) for cell in free}


@functools.cache
def tictactoe_value(stones: Stones, mover: int) -> int:
    """What the mover gets with best play."""
    if any(stones[1 - mover] & line == line for line in LINES):
        return -1
    following = moves_from(stones, mover).values()
    return max((-tictactoe_value(each, 1 - mover) for each in following), default=0)


def test_tictactoe_is_perfect_in_every_position():
    found, level = [], {(0, 0)}
    for ply in range(9):
        level = {each for each in level if not any(s & x == x for s in each for x in LINES)}
        found += [(stones, ply % 2) for stones in sorted(level)]
        level = {after for each in level for after in moves_from(each, ply % 2).values()}
    assert len(found) == 4_520
    zeros = np.zeros((len(found), 2), np.float32)
    states = TicTacToeState(
        np.array([stones for stones, _ in found], np.int32),
        np.array([mover for _, mover in found], np.int8),
        zeros[:, 0] > 0,
        zeros,
    )
    chosen = chosen_moves(jaxgbg.load("zoo:tictactoe"), states)
    for (stones, mover), moves in zip(found, chosen, strict=True):
        value, following = tictactoe_value(stones, mover), moves_from(stones, mover)
        for cell in np.flatnonzero(moves).tolist():
            assert -tictactoe_value(following[cell], 1 - mover) == value, (stones, mover)


Heaps = tuple[int, ...]


def nim_moves(game: Nim) -> dict[tuple[Heaps, int], list[int]]:
    """By heaps and mover the moves that the agent of a game of Nim may choose, in all positions."""
    boards = itertools.product(range(game.size + 1), repeat=game.heaps)
    found = [(heaps, mover) for heaps in boards if any(heaps) for mover in range(game.players)]
    zeros = np.zeros((len(found), game.players), np.float32)
    states = NimState(
        np.array([heaps for heaps, _ in found], np.int8),
        np.array([mover for _, mover in found], np.int8),
        zeros[:, 0] > 0,
        zeros,
    )
    chosen = chosen_moves(jaxgbg.load(f"zoo:{game.name}"), states)
    return {one: np.flatnonzero(row).tolist() for one, row in zip(found, chosen, strict=True)}


def taken(game: Nim, heaps: Heaps, action: int) -> Heaps:
    heap, items = divmod(action, game.size)
    return tuple(size - (items + 1) * (place == heap) for place, size in enumerate(heaps))


def reached(game: Nim) -> set[tuple[Heaps, int]]:
    """Positions that play from the start reaches."""
    level, found = {((game.size,) * game.heaps, 0)}, set()
    while level:
        found |= level
        level = {
            (after, (mover + 1) % game.players)
            for heaps, mover in level
            for heap in range(game.heaps)
            for items in range(heaps[heap])
            if any(after := taken(game, heaps, heap * game.size + items))
        }
    return found


def test_nim_is_perfect_in_every_position():
    """Bouton 1901: a position is lost if and only if the exclusive or of the heaps is 0."""
    game = Nim()
    chosen = nim_moves(game)
    positions = reached(game)
    assert len(positions) == 422
    for heaps, mover in positions:
        for action in chosen[heaps, mover]:
            lost = functools.reduce(operator.xor, heaps) == 0
            assert lost or functools.reduce(operator.xor, taken(game, heaps, action)) == 0


def test_nim3p_is_an_equilibrium_in_every_position():
    """No player gains, in any position, by another move if all play on as the agent does."""
    game = make("nim3p")
    chosen = nim_moves(game)

    @functools.cache
    def value(heaps: Heaps, mover: int) -> tuple[float, ...]:
        ends = [result(heaps, mover, action) for action in chosen[heaps, mover]]
        return tuple(np.mean(ends, axis=0).tolist())

    def result(heaps: Heaps, mover: int, action: int) -> tuple[float, ...]:
        after = taken(game, heaps, action)
        if any(after):
            return value(after, (mover + 1) % 3)
        shares = {mover: 0.0, (mover + 1) % 3: 1.0, (mover + 2) % 3: 0.2}
        return tuple(shares[player] for player in range(3))

    positions = reached(game)
    assert len(positions) == 617
    for heaps, mover in positions:
        legal = [game.size * heap + n for heap in range(game.heaps) for n in range(heaps[heap])]
        best = max(result(heaps, mover, action)[mover] for action in legal)
        assert value(heaps, mover)[mover] == pytest.approx(best), (heaps, mover)


def test_an_agent_of_the_zoo_is_named_like_a_file():
    assert names_agent("zoo:nim")
    assert file_of("zoo:nim:search=puct-20") == "zoo:nim"
    assert isinstance(make_opponent("zoo:nim:look-ahead=2", make("nim")), LookAheadAgent)
    with pytest.raises(ValueError, match="agent file zoo:nim plays nim, not hex"):
        make_opponent("zoo:nim", make("hex"))
    with pytest.raises(ValueError, match="plays nim with other parameters"):
        make_opponent("zoo:nim", make("nim", heaps=2))
    agent = jaxgbg.load("zoo:nim")
    np.testing.assert_array_equal(jaxgbg.evaluate(agent, "zoo:nim").sum(0), 0)


def test_agents_of_the_zoo_take_part_in_tournaments():
    one, other = enter(named(["zoo:nim", "zoo:nim:search=puct-20"]), make("nim"))
    assert (one.name, one.what) == ("zoo:nim", "zoo:nim")
    assert one.identity.startswith("agent ")
    assert other.identity == f"{one.identity}:search=puct-20"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("zoo:xyz123", "no agent 'zoo:xyz123' comes with jaxgbg: choose one of zoo:"),
        (
            "zoo:tictactoo",
            "no agent 'zoo:tictactoo' comes with jaxgbg: did you mean zoo:tictactoe?",
        ),
        ("zoo:../zoo/nim", "no agent 'zoo:../zoo/nim' comes with jaxgbg"),
    ],
)
def test_an_unknown_agent_is_one_line_with_the_list(name, says):
    with pytest.raises(ValueError, match=re.escape(says)) as error:
        jaxgbg.load(name)
    assert "\n" not in str(error.value)
