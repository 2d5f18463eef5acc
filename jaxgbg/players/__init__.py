"""Everything that chooses a move."""

from collections.abc import Callable

from jaxgbg.games import ConnectFour, Game, Othello
from jaxgbg.players.alphabeta import AlphaBeta
from jaxgbg.players.blocker import Blocker
from jaxgbg.players.core import EngineError, History, MissingExtra, Player, choose_uniformly
from jaxgbg.players.greedy import GreedyAgent
from jaxgbg.players.gtp import GRHINO, GTPEngine
from jaxgbg.players.maxn import MaxN
from jaxgbg.search.mcts import MCTS
from jaxgbg.players.positional import Positional
from jaxgbg.players.random_player import RandomPlayer
from jaxgbg.players.solver import Solver

__all__ = [
    "MCTS",
    "PLAYERS",
    "AlphaBeta",
    "Blocker",
    "EngineError",
    "GTPEngine",
    "GreedyAgent",
    "History",
    "MaxN",
    "MissingExtra",
    "Player",
    "Positional",
    "RandomPlayer",
    "Solver",
    "choose_uniformly",
    "make_opponent",
    "make_player",
]


def _alpha_beta(game: Game, distant_losses: bool) -> AlphaBeta:
    if not isinstance(game, ConnectFour):
        raise ValueError(f"alpha-beta plays connectfour only, not {game.name}")
    if game != ConnectFour():
        raise ValueError(f"alpha-beta knows no draw after {game.draw_after} plies")
    return AlphaBeta(distant_losses)


def _blocker(game: Game) -> Blocker:
    if not isinstance(game, ConnectFour):
        raise ValueError(f"blocker plays connectfour only, not {game.name}")
    return Blocker(game)


def _positional(game: Game, table: str) -> Positional:
    if not isinstance(game, Othello):
        raise ValueError(f"{table} plays othello only, not {game.name}")
    return Positional(game, table)


def _mcts(game: Game, iterations: int = 10_000) -> MCTS:
    # GBG maps the rewards of Nim3P, 0 to 1, as if they began at -1.
    return MCTS(game, iterations, reward_range=(-1.0, 1.0) if game.name == "nim3p" else None)


PLAYERS: dict[str, tuple[str, Callable[[Game], Player]]] = {
    "random": ("any game", RandomPlayer),
    "maxn": ("small games such as tictactoe, nim, nim3p", MaxN),
    "ab": ("connectfour", lambda game: _alpha_beta(game, distant_losses=False)),
    "ab-dl": ("connectfour", lambda game: _alpha_beta(game, distant_losses=True)),
    "blocker": ("connectfour", _blocker),
    "bench": ("othello", lambda game: _positional(game, "bench")),
    "grhino": ("othello", lambda game: GTPEngine(game, GRHINO, name="grhino")),
    "heur": ("othello", lambda game: _positional(game, "heur")),
    "mcts": ("any game without chance; mcts-100 for 100 iterations instead of 10,000", _mcts),
}
"""Name -> (the games it plays, how to build it for a game)."""


def make_player(name: str, game: Game) -> Player:
    """Build a player of `game` by its name, e.g. `make_player("maxn", make("nim"))`.

    Raises ValueError for an unknown name and for a game that this player cannot play, MissingExtra
    when the player needs a package that is not installed.
    """
    choices = "; ".join(f"{known} ({games})" for known, (games, _) in PLAYERS.items())
    kind, _, iterations = name.partition("-")
    if kind == "mcts" and iterations.isdecimal():
        return _mcts(game, int(iterations))
    if name not in PLAYERS:
        raise ValueError(f"unknown player {name!r}: choose one of {choices}")
    try:
        return PLAYERS[name][1](game)
    except ValueError as error:
        raise ValueError(f"{error}; players are {choices}") from error


def make_opponent(name: str, game: Game) -> Player | Solver | None:
    """What evaluates an agent: a player, the "solver" of ConnectFour, or nobody ("score")."""
    if (name == "score") != (game.num_players == 1):
        only = '"score" evaluates games of one player, and nothing else does'
        raise ValueError(f"{name!r} does not evaluate {game.name}: {only}")
    if name == "solver":
        return Solver(game)
    return None if name == "score" else make_player(name, game)
