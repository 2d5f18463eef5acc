"""General board game learning in JAX: TD-FARL on n-tuple value functions, in lockstep."""

import contextlib
from pathlib import Path

import jax
import numpy as np

from jaxgbg.arena import make_judge
from jaxgbg.games import make
from jaxgbg.players import GreedyAgent
from jaxgbg.training import Config, RunFolder, load_agent, preset, protocol_for, run

__all__ = ["Config", "evaluate", "load", "make", "preset", "train"]


def train(config: Config, out: str | Path = "runs") -> RunFolder:
    """Train all seeds and variants of `config`, or find them done, in a folder below `out`.

    Raises ValueError where the folder cannot be written.
    """
    return run(config, out)


def load(path: str | Path) -> GreedyAgent:
    """The agent in a file that a run has left, as a player.

    Raises ValueError if the file is missing, damaged or no agent.
    """
    return load_agent(path).player()


def evaluate(agent: GreedyAgent, opponent: str, seed: int = 0) -> np.ndarray:
    """The agent's final reward in every game against `opponent`, float32[seats, games].

    Starts and seats are those of the published evaluation. In a game of one player the opponent is
    "score"; against ConnectFour's "solver" float32[P] is 1 for each solved position where the
    agent's move keeps the game value. Raises ValueError for an opponent that does not play this
    game, MissingExtra if it is not installed.
    """
    judge = make_judge(opponent, agent.game, protocol_for(agent.game.name, opponent))
    with contextlib.closing(judge):
        return judge.scores(agent, jax.random.key(seed))[0]
