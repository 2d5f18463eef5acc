"""The same mistakes from Python: ValueError in one line, before anything is begun."""

import math
import time

import numpy as np
import pytest

import jaxgbg
from jaxgbg import Evaluation, MLPSpec, NTupleSpec, Protocol, Run, Schedule, TDSpec, make
from jaxgbg.arena.comparison import compare
from jaxgbg.arena.sequential import SequentialTest
from jaxgbg.cli.benchmarks.training import bench
from jaxgbg.games import ConnectFour, Hex, Nim, Othello
from jaxgbg.games.perft import perft
from jaxgbg.players import GTPEngine, make_player
from jaxgbg.runs import train
from jaxgbg.runs.execution import train_together
from jaxgbg.runs.play import Play
from jaxgbg.runs.presets.table1 import table1_run
from jaxgbg.search.td_leaf import TDLeafSpec

HUGE = 10**30
GAME = Nim()

CASES = [
    # Games.
    (lambda: make("nim", heaps=2.5), "nim: heaps must be a whole number, not 2.5"),
    (lambda: make("nim", heaps=10**9), "nim: heaps must lie in [1, 100], not 1000000000"),
    (lambda: make("nim", players=HUGE), f"nim: players must lie in [2, 127], not {HUGE}"),
    (lambda: make("nim", players=math.nan), "nim: players must be a whole number, not nan"),
    (lambda: Nim(heaps=2.5), "nim: heaps must be a whole number, not 2.5"),
    (lambda: Nim(size=True), "nim: size must be a whole number, not True"),
    (lambda: Nim(rule=None), "nim: rule must be text, not None"),
    (lambda: Hex(size=3.0), "hex: size must be a whole number, not 3.0"),
    (lambda: Hex(misere=1), "hex: misere must be true or false, not 1"),
    (lambda: Othello(size=HUGE), "othello: size must be one of 4, 6, 8"),
    (lambda: ConnectFour(draw_after="9"), "connectfour: draw_after must be a whole number"),
    (
        lambda: make("pebbles"),
        "A game of your own needs --import MODULE, or in Python import MODULE",
    ),
    (lambda: make(3), "a game's name must be text, not 3"),
    # Specs.
    (lambda: Run(GAME, seeds=(0.5,)), "seeds must be a whole number, not 0.5"),
    (lambda: Run(GAME, seeds=range(10**9)), "seeds must have at most 100,000 entries"),
    (lambda: Run(GAME, seeds=range(HUGE)), "seeds must have at most 100,000 entries"),
    (lambda: Run(GAME, seeds=np.array(3)), "seeds must be a list, not array(3)"),
    (lambda: Run(GAME, seeds=(2**32,)), "seeds must lie in [0, 4,294,967,295], not 4294967296"),
    (lambda: Run(GAME, seeds={1}), "seeds must be a list, not {1}"),
    (
        lambda: Schedule(episodes=10**5000),
        "episodes must lie in [1, 2,147,483,648], not a very long number",
    ),
    (lambda: Schedule(alpha=10**400), "alpha must be a number, not 1000"),
    (lambda: Schedule(alpha=1j), "alpha must be a number, not 1j"),
    (lambda: Schedule(epsilon=np.float32("nan")), "epsilon must be a number, not"),
    (lambda: Evaluation(opponents=["random"] * 101), "opponents must have at most 100 entries"),
    (lambda: Evaluation(protocols=[{"starts": "bogus"}]), "starts must be one of default"),
    (lambda: Protocol(count=100_000, repeats=2), "must be at most 100,000 games, not 200,000"),
    (lambda: jaxgbg.preset("hex", layout=[[0]], walks=(3, 2)), "choose layout or walks, not both"),
    (lambda: NTupleSpec(layout=[[0]] * 1001), "layout must have at most 1,000 entries"),
    (lambda: MLPSpec(hidden=[1] * 101), "hidden must have at most 100 entries"),
    (lambda: MLPSpec(optimizer="apply_updates"), "optax has no optimizer 'apply_updates'"),
    (lambda: Play(reply=True), "reply must be text, not True"),
    (lambda: TDLeafSpec(reply="both"), "train_reply must be one of own, value, not 'both'"),
    (lambda: TDLeafSpec(reply=["own"]), "train_reply must be text, not ['own']"),
    (lambda: TDSpec(trace_decay=0.9999999999999999), "at most 128 are kept"),
    (
        lambda: jaxgbg.preset("hex", layout=[range(15)] * 75, value="ntuple"),
        "weights; at most 2,147,483,647 have an index",
    ),
    (lambda: jaxgbg.preset("nim", opponents=[3]), "opponents must be text, not 3"),
    (lambda: jaxgbg.preset("nim", value=["mlp"]), "value must be one of"),
    (lambda: jaxgbg.preset("nim", learner={}), "learner must be one of"),
    (lambda: make_player("a" * 10_000, GAME), "unknown player"),
    # Arguments of functions.
    (
        lambda: jaxgbg.evaluate(None, "random"),
        "an agent is evaluated, as load(...) returns it, not",
    ),
    (lambda: jaxgbg.evaluate(make_player("maxn", GAME), "random"), "not a MaxN: players of other"),
    (lambda: jaxgbg.evaluate("none.agent", "random"), "none.agent"),
    (lambda: jaxgbg.search(make_player("random", GAME)), "what searches is an agent of load(...)"),
    (lambda: jaxgbg.look_ahead(GAME), "what looks ahead is an agent of load(...), not a Nim"),
    (
        lambda: jaxgbg.board(GAME, seats=[3]),
        "a seat is 'person', 'agent' or a player's name, not 3",
    ),
    (lambda: jaxgbg.board(GAME, seats=[make_player("maxn", GAME)]), "not a MaxN but its name"),
    (lambda: jaxgbg.evaluate(None, "random", seed=2**70), "seed must lie in [0, 4,294,967,295]"),
    (lambda: jaxgbg.evaluate(None, "random", seed=0.5), "seed must be a whole number, not 0.5"),
    (lambda: make(GAME, heaps=2), "heaps: parameters are for a game's name"),
    (lambda: jaxgbg.position(3, "0"), "a game's name must be text, not 3"),
    (lambda: jaxgbg.to_pettingzoo("chess"), "unknown game 'chess'"),
    (lambda: jaxgbg.check_game("chess"), "unknown game 'chess'"),
    (lambda: jaxgbg.register_notation("nim", None), "game_class must be a class of games"),
    (lambda: jaxgbg.preset("hex", size=4), "size is a parameter of hex: choose it with the game"),
    (lambda: jaxgbg.preset("nim", seeds=4), "seeds must be a list, not 4: range(4) for so many"),
    (lambda: jaxgbg.with_changes("nim", alpha=1), "run must be a Run, such as preset(...) returns"),
    (lambda: jaxgbg.train("nim"), "run must be a Run, such as preset(...) returns, not 'nim'"),
    (lambda: jaxgbg.train(Run(GAME), callbacks=print), "such as [print], not <built-in function"),
    (lambda: jaxgbg.sweep(3), "spec must be a TOML file or a table of settings, not 3"),
    (
        lambda: jaxgbg.load(None),
        "path must be an agent of load(...), its file, zoo:NAME or its run",
    ),
    (lambda: jaxgbg.ensemble(3, "zoo:nim"), "agent 1 must be an agent of load(...), its file"),
    (lambda: jaxgbg.recorded_games(None), "a file is named by its path, not by a NoneType"),
    (lambda: jaxgbg.report(3), "folder must be a path or a URL, not 3"),
    (lambda: jaxgbg.build_agent(3), "a game's name must be text, not 3"),
    (lambda: jaxgbg.tournament([3], GAME), "a participant is a player's name, an agent's file"),
    (lambda: jaxgbg.tournament(3, GAME), "participants must be a list of players, not 3"),
    (
        lambda: jaxgbg.compete(GAME, make_player("maxn", GAME), "random", None, None),
        "opponent must be a player, not 'random'",
    ),
    (lambda: jaxgbg.analyze(3, "0"), "player must be a player, its name or what load(...) takes"),
    (lambda: jaxgbg.analyze("maxn", "0"), "game must name what maxn plays"),
    (
        lambda: jaxgbg.analyze("maxn", [], GAME),
        "positions must be a state, a text, or a list of them, not []",
    ),
    (lambda: jaxgbg.shrink("zoo:nim", "x.agent", bits=5), "bits must be 8 or 16, not 5"),
    (lambda: jaxgbg.shrink("zoo:nim", "zoo:new"), "zoo:new is the name of an agent of the zoo"),
    (
        lambda: jaxgbg.analyze("random", "2 2 0 0/0 0 0 0/0 0 0 0/0 0 0 0 0 afterstate", "2048"),
        "chance is due in this position of 2048, so nobody is to move",
    ),
    # Games that differ.
    (
        lambda: jaxgbg.position_text("tictactoe", Hex().init(None)),
        "state must be a TicTacToeState, a position of tictactoe, not a HexState",
    ),
    (
        lambda: jaxgbg.position_text(Hex(size=3), Hex(size=4).init(None)),
        "state is no position of Hex(size=3, misere=False): stones has shape (16,), not (9,)",
    ),
    (
        lambda: make_player("random", Hex()).play_move(GAME.init(None)),
        "state must be a HexState, a position of hex, not a NimState",
    ),
    (
        lambda: jaxgbg.load("zoo:tictactoe").action_values(GAME.init(None)),
        "state must be a TicTacToeState",
    ),
    (
        lambda: jaxgbg.evaluate("zoo:tictactoe", jaxgbg.load("zoo:nim")),
        "opponent agent was made for another game than tictactoe: it plays Nim(",
    ),
    (
        lambda: jaxgbg.compare("zoo:tictactoe", jaxgbg.load("zoo:nim")),
        "opponent agent was made for another game than tictactoe",
    ),
    (
        lambda: jaxgbg.tournament(["random", jaxgbg.load("zoo:nim")], "tictactoe"),
        "participant agent was made for another game than tictactoe",
    ),
    (
        lambda: jaxgbg.analyze("zoo:tictactoe", [GAME.init(None)]),
        "state must be a TicTacToeState",
    ),
    (lambda: SequentialTest(elo0=-1e308), "elo0 must lie in [-3,000, 3,000], not -1e+308"),
    (lambda: SequentialTest(beta=math.nan), "beta must be a number, not nan"),
    (lambda: compare(GAME, None, None, None, batch=True), "batch must be a whole number, not True"),
    (lambda: compare(GAME, None, None, None, seed=-1), "seed must lie in [0, 4,294,967,295]"),
    (lambda: GTPEngine(Othello(), "x", timeout=1e300), "timeout must lie in (0, 86,400]"),
    (lambda: perft(GAME, HUGE), "depth must lie in [1, 1,000]"),
    (lambda: perft(Nim(heaps=1, size=100), 50), "too many paths to count"),
    (lambda: bench("nim", seconds=math.nan), "seconds must be a number, not nan"),
    (lambda: table1_run("nim", 10**9, 1.0), "seeds must lie in [1, 100,000]"),
    (lambda: table1_run("nim", 1, math.inf), "scale must be a number, not inf"),
    (lambda: train(Run(GAME), checkpoint_every=math.nan), "checkpoint_every must be a number"),
    (lambda: train_together([Run(GAME)], "x", checkpoint_every="1"), "checkpoint_every must be"),
    (lambda: make_player("mcts-" + "9" * 5000, GAME), "iterations must be a whole number"),
]


@pytest.mark.parametrize(("call", "line"), CASES, ids=[line for _, line in CASES])
def test_it_is_a_value_error_of_one_line(call, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begun = time.process_time()
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        call()
    assert time.process_time() - begun < 10
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_numpy_are_numbers():
    assert Nim(heaps=np.int64(2)) == Nim(heaps=2)
    run = Run(GAME, seeds=np.arange(3), schedule=Schedule(alpha=np.float64(0.5), batch=np.int32(4)))
    assert run.seeds == (0, 1, 2)
    assert (type(run.schedule.alpha), type(run.schedule.batch)) == (float, int)
