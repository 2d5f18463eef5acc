"""The agents at one table: loaded from files or runs, each with a unique label."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from jaxgbg.games import Game, check_own
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.opponents import agent_file, check_same_game
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.checkpoints import numbers_in, path_of
from jaxgbg.runs.storage.latest_agent import read_latest
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.web.play.tuples import Counters


class LoadedAgents(NamedTuple):
    """A game, its agents by label, and the TCL counters of those that have any."""

    game: Game
    agents: dict[str, GreedyAgent]
    counters: dict[str, Counters]


def load_agents(agents: Sequence[GreedyAgent | Path], game: Game | None = None) -> LoadedAgents:
    """Load the participants: the first agent of a run's folder, of an unfinished run that of its
    latest checkpoint.

    An agent is labeled by its file. Raises ValueError for a folder without agents, an invalid file,
    an agent of another game, or a user's own game that breaks its contract.
    """
    loaded: dict[str, GreedyAgent] = {}
    counters: dict[str, Counters] = {}
    for each in agents:
        if isinstance(each, GreedyAgent):
            label, agent = f"agent {len(loaded) + 1}" if loaded else "agent", each
            if agent.copies != 1:
                raise ValueError(f"these are {agent.copies} agents: choose one of them")
            if game is not None and agent.game != game:
                raise ValueError(f"{label} plays {agent.game.name}, not {game.name} as here")
        else:
            path, agent, known = _read(each, game)
            label = path.stem
            if label in loaded:
                label = f"{path.stem} of {path.parent.parent.name}"
            if label in loaded:
                label = str(path)
            if known is not None:
                counters[label] = known
        game = agent.game
        loaded[label] = agent
    assert game is not None, "a game or an agent is given"
    check_own(game)
    return LoadedAgents(game, loaded, counters)


def _read(place: Path, game: Game | None) -> tuple[Path, GreedyAgent, Counters | None]:
    """Load an agent: the path of its file (for a checkpoint, its future path), the agent, its
    counters.
    """
    file = _latest_checkpoint(place)
    agent: GreedyAgent
    if file is None:
        path = agent_file(place)
        saved = load_agent(path, game.name if game is not None else None)
        agent, known = saved.player(), None
    else:
        run = RunFolder.open(place).run
        latest = read_latest(file, run, counters=True)
        path, agent = place / "agents" / latest.lane.file, latest.agent
        origin = f"of the checkpoint after {latest.episodes:,} episodes"
        known = None if latest.counters is None else Counters(latest.counters, origin)
        if game is not None and agent.game.name != game.name:
            raise ValueError(f"the run in {place} is of {agent.game.name}, not {game.name}")
    if game is not None:
        check_same_game(path, agent.game, game)
    return path, agent, known


def _latest_checkpoint(place: Path) -> Path | None:
    """The latest checkpoint in the folder of a run without agents; None elsewhere."""
    if not place.is_dir() or any((place / "agents").glob("*.agent")):
        return None
    numbers = numbers_in(place / "checkpoints")
    return path_of(place / "checkpoints", numbers[-1]) if numbers else None
