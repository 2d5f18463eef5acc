"""General board game learning in JAX: TD-FARL on n-tuple value functions, in lockstep.

>>> import tempfile
>>> import jaxgbg
>>> nim = jaxgbg.make("nim", heaps=2, size=3)
>>> run = jaxgbg.preset(nim, seeds=[0], episodes=400, eval_every=200)
>>> run.schedule.describe()
'episodes 400, alpha 0.5, epsilon_end 0'
>>> with tempfile.TemporaryDirectory() as out:
...     folder = jaxgbg.train(run, out)
...     agent = jaxgbg.load(folder.path / "agents" / "seed0-farl.agent")
>>> jaxgbg.evaluate(agent, "random").shape
(2, 40)
"""

import importlib
from typing import TYPE_CHECKING

from jaxgbg import lazy

if TYPE_CHECKING:
    from jaxgbg.api import Picture, Sweep, TrainedRun, sweep, tournament, train
    from jaxgbg.cli.building.build import build_agent
    from jaxgbg.evaluation import Evaluator, EvaluatorSpec, Protocol, compete
    from jaxgbg.games import Game, check_game, make, register
    from jaxgbg.games.environments import to_pettingzoo, to_pgx
    from jaxgbg.games.notations import Notation, register_notation
    from jaxgbg.learners import QSpec, SarsaSpec, Schedule, TDOffPolicySpec, TDOnePlySpec, TDSpec
    from jaxgbg.players import (
        GreedyAgent,
        LookAheadAgent,
        SearchAgent,
        make_player,
        register_player,
    )
    from jaxgbg.playing import (
        compare,
        ensemble,
        evaluate,
        load,
        look_ahead,
        position,
        position_text,
        scores,
        search,
        shrink,
    )
    from jaxgbg.results import frame as results
    from jaxgbg.results.ladder import Ladder
    from jaxgbg.runs import Evaluation, Run, RunFolder, StopTraining, with_changes
    from jaxgbg.runs.presets import preset
    from jaxgbg.runs.storage.agents import LoadedAgent
    from jaxgbg.runs.storage.recorded_games import RecordedGame, recorded_games
    from jaxgbg.search import (
        QSearchSpec,
        SarsaSearchSpec,
        SearchSpec,
        TDLeafSpec,
        TDSearchSpec,
    )
    from jaxgbg.values import MLPSpec, NTupleSpec
    from jaxgbg.web.board.opening import board
    from jaxgbg.web.move_values import analyze
    from jaxgbg.web.report import report
else:
    # Two functions have the names of packages. Python puts a package into this module when it is
    # first imported, so import them now and take them out.
    for _name in ("results", "search"):
        importlib.import_module(f"{__name__}.{_name}")
        del globals()[_name]
    __getattr__, __dir__ = lazy.attributes(
        __name__,
        {
            "Evaluation": "jaxgbg.runs",
            "Evaluator": "jaxgbg.evaluation",
            "EvaluatorSpec": "jaxgbg.evaluation",
            "Game": "jaxgbg.games",
            "GreedyAgent": "jaxgbg.players",
            "Ladder": "jaxgbg.results.ladder",
            "LoadedAgent": "jaxgbg.runs.storage.agents",
            "LookAheadAgent": "jaxgbg.players",
            "MLPSpec": "jaxgbg.values",
            "NTupleSpec": "jaxgbg.values",
            "Notation": "jaxgbg.games.notations",
            "Picture": "jaxgbg.api",
            "Protocol": "jaxgbg.evaluation",
            "QSearchSpec": "jaxgbg.search",
            "QSpec": "jaxgbg.learners",
            "RecordedGame": "jaxgbg.runs.storage.recorded_games",
            "Run": "jaxgbg.runs",
            "RunFolder": "jaxgbg.runs",
            "SarsaSearchSpec": "jaxgbg.search",
            "SarsaSpec": "jaxgbg.learners",
            "Schedule": "jaxgbg.learners",
            "SearchAgent": "jaxgbg.players",
            "SearchSpec": "jaxgbg.search",
            "StopTraining": "jaxgbg.runs",
            "Sweep": "jaxgbg.api",
            "TDLeafSpec": "jaxgbg.search",
            "TDOffPolicySpec": "jaxgbg.learners",
            "TDOnePlySpec": "jaxgbg.learners",
            "TDSearchSpec": "jaxgbg.search",
            "TDSpec": "jaxgbg.learners",
            "TrainedRun": "jaxgbg.api",
            "analyze": "jaxgbg.web.move_values",
            "board": "jaxgbg.web.board.opening",
            "build_agent": "jaxgbg.cli.building.build",
            "check_game": "jaxgbg.games",
            "compare": "jaxgbg.playing",
            "compete": "jaxgbg.evaluation",
            "ensemble": "jaxgbg.playing",
            "evaluate": "jaxgbg.playing",
            "load": "jaxgbg.playing",
            "look_ahead": "jaxgbg.playing",
            "make": "jaxgbg.games",
            "make_player": "jaxgbg.players",
            "position": "jaxgbg.playing",
            "position_text": "jaxgbg.playing",
            "preset": "jaxgbg.runs.presets",
            "recorded_games": "jaxgbg.runs.storage.recorded_games",
            "register": "jaxgbg.games",
            "register_notation": "jaxgbg.games.notations",
            "register_player": "jaxgbg.players",
            "report": "jaxgbg.web.report",
            "results": "jaxgbg.results:frame",
            "scores": "jaxgbg.playing",
            "search": "jaxgbg.playing",
            "shrink": "jaxgbg.playing",
            "sweep": "jaxgbg.api",
            "to_pettingzoo": "jaxgbg.games.environments",
            "to_pgx": "jaxgbg.games.environments",
            "tournament": "jaxgbg.api",
            "train": "jaxgbg.api",
            "with_changes": "jaxgbg.runs",
        },
    )

__version__ = "0.1.0"

__all__ = [
    "Evaluation",
    "Evaluator",
    "EvaluatorSpec",
    "Game",
    "GreedyAgent",
    "Ladder",
    "LoadedAgent",
    "LookAheadAgent",
    "MLPSpec",
    "NTupleSpec",
    "Notation",
    "Picture",
    "Protocol",
    "QSearchSpec",
    "QSpec",
    "RecordedGame",
    "Run",
    "RunFolder",
    "SarsaSearchSpec",
    "SarsaSpec",
    "Schedule",
    "SearchAgent",
    "SearchSpec",
    "StopTraining",
    "Sweep",
    "TDLeafSpec",
    "TDOffPolicySpec",
    "TDOnePlySpec",
    "TDSearchSpec",
    "TDSpec",
    "TrainedRun",
    "__version__",
    "analyze",
    "board",
    "build_agent",
    "check_game",
    "compare",
    "compete",
    "ensemble",
    "evaluate",
    "load",
    "look_ahead",
    "make",
    "make_player",
    "position",
    "position_text",
    "preset",
    "recorded_games",
    "register",
    "register_notation",
    "register_player",
    "report",
    "results",
    "scores",
    "search",
    "shrink",
    "sweep",
    "to_pettingzoo",
    "to_pgx",
    "tournament",
    "train",
    "with_changes",
]
