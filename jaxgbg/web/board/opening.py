"""Open a board: games, agents, runs, and the players of the seats."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jaxgbg.games import Game, make
from jaxgbg.players import GreedyAgent, MissingExtra, Player
from jaxgbg.players.registry import name_of
from jaxgbg.runs import RunFolder
from jaxgbg.runs.opponents import names_agent
from jaxgbg.specs import shown
from jaxgbg.types import SettingValue

if TYPE_CHECKING:
    from jaxgbg.web.board.widget import Board


def board(
    *what: GreedyAgent | RunFolder | Game | str | Path,
    moves: str | Sequence[int] = "",
    seats: Sequence[str | Player] = (),
    **parameters: SettingValue,
) -> "Board":
    """A board to play on in a notebook, with the agents' values of each move.

    `what` is an agent, a run or its folder (for its first agent; of an unfinished run that of its
    latest checkpoint), or a game or its name with its `parameters`; several agents of one game are
    possible. `moves` lead to the position, by their numbers. `seats` are "person", "agent" (then
    "agent-1" ...), "agent:look-ahead=3", "agent:search=puct-200" (with proofs
    "agent:search=puct-200,solver=1"), "mcts-1000" and other names of players, or a player of a
    class of your own; by default a person plays with the first agent. The board is that of the play
    page, and a picture where widgets do not work. It answers while no cell is running.

    Raises ValueError for agents of several games, a run without agents, a damaged file, an illegal
    move and a player that does not support the game; MissingExtra without anywidget.
    """
    try:
        from jaxgbg.web.board.widget import Board
    except ImportError as error:
        raise MissingExtra("a board needs anywidget: pip install 'jaxgbg[notebooks]'") from error
    from jaxgbg.web.play.loaded_agents import load_agents
    from jaxgbg.web.play.table import Table

    games, agents = _sorted(what, parameters)
    loaded = load_agents(agents, games[0] if games else None)
    line = moves if isinstance(moves, str) else ",".join(map(str, moves))
    if isinstance(seats, str):
        raise ValueError(f"seats must be a list of players, one for each seat: [{seats!r}]")
    return Board(Table(*loaded), line, [_seat(seat) for seat in seats])


def _seat(seat: object) -> str:
    name = name_of(seat)
    if not isinstance(name, str):
        raise ValueError(f"a seat is 'person', 'agent' or a player's name, not {shown(name)}")
    return name


def _sorted(
    what: Sequence[object], parameters: dict[str, SettingValue]
) -> tuple[list[Game], list[GreedyAgent | Path]]:
    """Return (the game, if one is named, agents and their paths); raises ValueError."""
    games: list[Game] = []
    agents: list[GreedyAgent | Path] = []
    for each in what:
        if isinstance(each, Game):
            games.append(each)
        elif isinstance(each, GreedyAgent):
            agents.append(each)
        elif isinstance(each, RunFolder):
            agents.append(each.path)
        elif isinstance(each, Path) or (
            isinstance(each, str) and (names_agent(each) or Path(each).is_dir())
        ):
            agents.append(Path(each))
        elif isinstance(each, str):
            games.append(make(each, **parameters))
        else:
            raise ValueError(
                "a board shows a game, an agent, what train(...) returned, or the path of one of"
                f" these, not a {type(each).__name__}; set look-ahead and search in seats"
            )
    if not what:
        raise ValueError("name a game, an agent or a run: board('tictactoe'), board(agent)")
    if len(games) > 1:
        raise ValueError(f"a board is of one game, not {' and '.join(each.name for each in games)}")
    if parameters and not (games and any(each == games[0].name for each in what)):
        raise ValueError("parameters are for a game's name: others know their own")
    return games, agents
