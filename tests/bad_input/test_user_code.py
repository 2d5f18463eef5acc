"""A user's own games and players at fault: every command names what and where, in a line."""

import re
import subprocess
import sys
import threading

import jax
import jax.numpy as jnp
import pytest

import jaxgbg as package
from jaxgbg import extensions
from jaxgbg.games import TicTacToe, check_game, check_own, register, time_limit
from jaxgbg.games.registry import GAMES
from jaxgbg.players import PLAYERS, PlayerBase, make_player, register_player

MODULE = """
import dataclasses
from jaxgbg.games import TicTacToe, register

@dataclasses.dataclass(frozen=True)
class BadInit(TicTacToe):
    name = "bad_init"
    def init_from(self, words):
        raise KeyError("start")

@dataclasses.dataclass(frozen=True)
class BadCells(TicTacToe):
    name = "bad_cells"
    def cells(self, state):
        return {}["board"]

@dataclasses.dataclass(frozen=True)
class Decides(TicTacToe):
    name = "decides"
    def afterstate(self, state, action):
        if action > 3:
            return state
        return super().afterstate(state, action)

@dataclasses.dataclass(frozen=True)
class BadImages(TicTacToe):
    name = "bad_images"
    @property
    def symmetries(self):
        raise ZeroDivisionError("no images")

@dataclasses.dataclass(frozen=True)
class Unhashable(TicTacToe):
    name = "unhashable"
    pips: list = dataclasses.field(default_factory=list)

@dataclasses.dataclass(frozen=True)
class Eternal(TicTacToe):
    name, max_plies = "eternal", 10**12

@dataclasses.dataclass(frozen=True)
class Halves(TicTacToe):
    name, num_actions = "halves", 9.5

for game in (BadInit, BadCells, Decides, BadImages, Unhashable, Eternal, Halves):
    register(game.name, game)
"""
GAMES_AT_FAULT = {
    "bad_init": r"KeyError: 'start' \(faulty.py, line 9, in init_from\)",
    "bad_cells": r"KeyError: 'board' \(faulty.py, line 15, in cells\)",
    "decides": r"Python decides on a traced value \(faulty.py, line 21, in afterstate\): choose",
    "bad_images": r"ZeroDivisionError: no images \(faulty.py, line 30, in symmetries\)",
    "unhashable": "unhashable",
    "eternal": "max_plies must be at most 2,147,483,647, .*, not 1,000,000,000,000",
    "halves": "num_actions must be a whole number of at least 1, not 9.5",
}
COMMANDS = {
    "train": "train {game} --episodes 20 --eval-every 20 --opponents random",
    "tournament": "tournament random random --game {game}",
    "perft": "perft {game}",
    "bench": "bench {game}",
    "bench-rules": "bench {game} --rules",
    "sweep": "sweep {game}.toml",
    "export": "play {game} --export x.html",
}


@pytest.fixture
def folder(here, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    (here / "faulty.py").write_text(MODULE)
    yield here
    sys.modules.pop("faulty", None)
    for name in GAMES_AT_FAULT:
        GAMES.pop(name, None)
    extensions._imported[:] = []


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("game", GAMES_AT_FAULT)
def test_every_command_names_the_fault_and_the_line(game, command, folder, jaxgbg):
    (folder / f"{game}.toml").write_text(f'game = "{game}"\nseeds = "0:2"\n')
    words = COMMANDS[command].format(game=game).split()
    code, out, err = jaxgbg(*words, "--import", "faulty")
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert "Traceback" not in err
    assert game in err
    assert re.search(GAMES_AT_FAULT[game], err), err


def test_the_traceback_is_shown_to_who_asks_for_it(folder, jaxgbg):
    for command in ("check", "perft"):
        code, _, err = jaxgbg(command, "bad_cells", "--import", "faulty", "--traceback")
        assert code == 2
        assert "Traceback" in err
        assert 'faulty.py", line 15, in cells' in err


class Hangs(TicTacToe):
    """`cells` does not return until the test is over."""

    name = "hangs"
    free = threading.Event()

    def cells(self, state):
        self.free.wait(60)
        return super().cells(state)


@pytest.mark.slow
def test_a_loop_without_end_ends_the_check_with_a_line(monkeypatch):
    monkeypatch.setattr(time_limit, "PATIENCE", 0.5)
    monkeypatch.setattr(time_limit, "SECONDS_OF_A_CALL", 5.0)
    try:
        (line,) = check_game(Hangs())
        assert line.startswith("cells does not return within 5 s for one position")
        assert time_limit.calls_go_on()
    finally:
        Hangs.free.set()


LOOPY = """
import sys
import jax
import jax.numpy as jnp
from jaxgbg.games import TicTacToe, register, time_limit

class Loopy(TicTacToe):
    name = "loopy"

    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        last = jax.lax.while_loop(lambda n: n >= 0, lambda n: (n * 3 + 1) % 7, jnp.int32(action))
        return after._replace(player=after.player + (last < 0))

register("loopy", Loopy)
time_limit.PATIENCE, time_limit.SECONDS_OF_A_CALL = 0.5, 5.0
sys.argv = ["jaxgbg", "check", "loopy"]
from jaxgbg.cli.app import main
main()
"""


@pytest.mark.slow
def test_a_compiled_loop_without_end_ends_the_command_with_a_line():
    # Nothing can stop such a thread: the process has to end in spite of it.
    done = subprocess.run(
        [sys.executable, "-c", LOOPY], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("compiling")]
    assert line.startswith("loopy: afterstate does not return within 5 s for one position"), line


def test_the_same_class_again_replaces_it_and_another_one_is_refused(folder):
    extensions.import_modules(["faulty"])
    before = GAMES["eternal"]
    again: dict[str, object] = {"__name__": "faulty"}
    with pytest.raises(ValueError, match="another game of this name"):
        register("eternal", TicTacToe)
    exec(MODULE, again)
    assert GAMES["eternal"] is again["Eternal"] is not before


@pytest.mark.parametrize("bound", [{"max_plies": 2**31}, {"num_players": 128}])
def test_numbers_beyond_their_type_are_refused(bound):
    game = type("Wide", (TicTacToe,), {"name": "wide", **bound})()
    with pytest.raises(ValueError, match=f"^wide: {next(iter(bound))} must be at most "):
        check_own(game)


class First(PlayerBase):
    """Plays the first legal action, through a class of a user."""

    name = "firstly"

    def __init__(self, game=None):
        self.game = game

    def act(self, states, key, history=None):
        return jnp.argmax(jax.vmap(TicTacToe().legal_actions)(states), 1).astype(jnp.int32)


@pytest.fixture
def me():
    yield First(TicTacToe())
    PLAYERS.pop("firstly", None)


def test_a_player_of_a_users_own_is_taken_wherever_a_name_is(me):
    run = package.preset("tictactoe", opponents=(me,), partner=me, episodes=20)
    assert (run.evaluation.opponents, run.partner) == (("firstly",), "firstly")
    assert make_player("firstly", TicTacToe()) is me
    with pytest.raises(ValueError, match="firstly was made for another game than nim"):
        make_player("firstly", package.make("nim"))


def test_a_player_that_a_run_could_not_name_is_refused():
    with pytest.raises(ValueError, match=r"not a \w+ but its name, such as 'mcts-100'"):
        package.preset("tictactoe", opponents=(make_player("random", TicTacToe()),))


@pytest.mark.slow
def test_an_agent_is_evaluated_against_a_player_object(trained):
    agent = package.load(next((trained / "small").glob("nim-*/agents/seed0-farl.agent")))
    player = make_player("random", agent.game)
    scores = package.evaluate(agent, player)
    assert scores.shape == package.evaluate(agent, "random").shape
    with pytest.raises(ValueError, match="an opponent is a player or its name, not 3"):
        package.evaluate(agent, 3)


def test_players_are_registered_by_name(me):
    register_player("firstly", First)
    assert isinstance(make_player("firstly", TicTacToe()), First)
    register_player("firstly", First)
    with pytest.raises(ValueError, match="another player of this name"):
        register_player("firstly", TicTacToe)
    with pytest.raises(ValueError, match="letters, digits"):
        register_player("mcts-\u0663", First)
    with pytest.raises(ValueError, match="a class or a function"):
        register_player("second", 3)
