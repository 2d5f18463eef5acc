"""Agents that meet at one table: read from where they are, each called by a name of its own."""

from collections.abc import Sequence
from pathlib import Path

from jaxgbg.games import Game
from jaxgbg.players import GreedyAgent
from jaxgbg.training.agents import load_agent
from jaxgbg.training.opponents import agent_file


def met(
    agents: Sequence[GreedyAgent | Path], game: Game | None = None
) -> tuple[Game, dict[str, GreedyAgent]]:
    """The game, and the agents by what they are called: of a run's folder its first, by its file.

    Raises ValueError for a folder without agents, a file that is none, an agent of another game.
    """
    guests: dict[str, GreedyAgent] = {}
    for each in agents:
        if isinstance(each, GreedyAgent):
            label, agent = f"agent {len(guests) + 1}" if guests else "agent", each
            if agent.copies != 1:
                raise ValueError(f"these are {agent.copies} agents: give one of them")
            if game is not None and agent.game != game:
                raise ValueError(f"{label} plays {agent.game.name}, not {game.name} as here")
        else:
            path = agent_file(each)
            saved = load_agent(path, game.name if game is not None else None)
            if game is not None and saved.run.game != game:
                raise ValueError(f"agent file {path} plays {game.name} with other parameters")
            label, agent = path.stem, saved.player()
            if label in guests:
                label = f"{path.stem} of {path.parent.parent.name}"
            if label in guests:
                label = str(path)
        game = agent.game
        guests[label] = agent
    assert game is not None, "a game or an agent is given"
    return game, guests
