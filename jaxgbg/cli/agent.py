"""The command `agent`: from rules to a rated agent."""

import sys
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.arguments import Minutes
from jaxgbg.cli.common import Parameters, Size, optional, read_game
from jaxgbg.cli.session import start_jax
from jaxgbg.specs import checked


@checked
def agent(
    game: Annotated[
        Positional[str],
        arg(
            metavar="FILE|GAME",
            help="A Python file that registers a game, a file of Ludax (.ldx), or a game's name.",
        ),
    ],
    minutes: Annotated[Minutes, arg(metavar="MINUTES")] = 10.0,
    size: Size = None,
    parameters: Parameters = (),
    out: Annotated[Path | None, optional("DIR", "agents/GAME")] = None,
) -> None:
    """Train, rate and export an agent of any game: rules in, agent out.

    Checks the rules, finds symmetries, chooses value function and budget by the size of the game
    and the time, trains, meets random, MCTS and earlier versions, and leaves the agent with its
    card, ladder, report and page to play on. The same command resumes what was interrupted.

    Args:
      minutes: Time for everything, compiling and matches included.
      out: Folder for the agent and all files about it.
    """
    from jaxgbg.cli.building.rules import named_rules

    rules = read_game(named_rules(game), size, parameters)
    start_jax()
    from jaxgbg.cli.building.build import build_agent

    try:
        build_agent(rules, minutes, out, say=lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        print("jaxgbg: the same command resumes, once the training has begun", file=sys.stderr)
        raise
