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
            "jaxgbg.api": "Picture Sweep TrainedRun sweep tournament train",
            "jaxgbg.cli.building.build": "build_agent",
            "jaxgbg.evaluation": "Evaluator EvaluatorSpec Protocol compete",
            "jaxgbg.games": "Game check_game make register",
            "jaxgbg.games.environments": "to_pettingzoo to_pgx",
            "jaxgbg.games.notations": "Notation register_notation",
            "jaxgbg.learners": "QSpec SarsaSpec Schedule TDOffPolicySpec TDOnePlySpec TDSpec",
            "jaxgbg.players": "GreedyAgent LookAheadAgent SearchAgent make_player register_player",
            "jaxgbg.playing": "compare ensemble evaluate load look_ahead position position_text"
            " scores search shrink",
            "jaxgbg.results": "frame:results",
            "jaxgbg.results.ladder": "Ladder",
            "jaxgbg.runs": "Evaluation Run RunFolder StopTraining with_changes",
            "jaxgbg.runs.presets": "preset",
            "jaxgbg.runs.storage.agents": "LoadedAgent",
            "jaxgbg.runs.storage.recorded_games": "RecordedGame recorded_games",
            "jaxgbg.search": "QSearchSpec SarsaSearchSpec SearchSpec TDLeafSpec TDSearchSpec",
            "jaxgbg.values": "MLPSpec NTupleSpec",
            "jaxgbg.web.board.opening": "board",
            "jaxgbg.web.move_values": "analyze",
            "jaxgbg.web.report": "report",
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
