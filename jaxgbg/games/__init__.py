"""Rules of the games, and nothing else."""

from typing import TYPE_CHECKING

from jaxgbg import lazy
from jaxgbg.games.check import check_game, check_own, check_playable, is_own
from jaxgbg.games.core import Game
from jaxgbg.games.fingerprint import fingerprint
from jaxgbg.games.ludax_games import LUDAX_GAMES, ludax_game
from jaxgbg.games.pgx_games import PGX_GAMES, pgx_game
from jaxgbg.games.registry import (
    PACKAGES,
    Package,
    broken_games,
    game_names,
    make,
    register,
)
from jaxgbg.games.scale import SHARE, WIN_RATE, WINS, Scale

if TYPE_CHECKING:
    from jaxgbg.games.backgammon import Backgammon
    from jaxgbg.games.chinese_checkers import ChineseCheckers
    from jaxgbg.games.connectfour import ConnectFour
    from jaxgbg.games.ewn import EinStein
    from jaxgbg.games.game2048 import Game2048
    from jaxgbg.games.hex import Hex
    from jaxgbg.games.lines_of_action import LinesOfAction
    from jaxgbg.games.maedn import Maedn
    from jaxgbg.games.nim import Nim
    from jaxgbg.games.othello import Othello
    from jaxgbg.games.pig import Pig
    from jaxgbg.games.sim import Sim
    from jaxgbg.games.tictactoe import TicTacToe
    from jaxgbg.games.yavalath import Yavalath
else:
    __getattr__, __dir__ = lazy.attributes(
        __name__,
        {
            "jaxgbg.games.backgammon": "Backgammon",
            "jaxgbg.games.chinese_checkers": "ChineseCheckers",
            "jaxgbg.games.connectfour": "ConnectFour",
            "jaxgbg.games.ewn": "EinStein",
            "jaxgbg.games.game2048": "Game2048",
            "jaxgbg.games.hex": "Hex",
            "jaxgbg.games.lines_of_action": "LinesOfAction",
            "jaxgbg.games.maedn": "Maedn",
            "jaxgbg.games.nim": "Nim",
            "jaxgbg.games.othello": "Othello",
            "jaxgbg.games.pig": "Pig",
            "jaxgbg.games.sim": "Sim",
            "jaxgbg.games.tictactoe": "TicTacToe",
            "jaxgbg.games.yavalath": "Yavalath",
        },
    )

__all__ = [
    "SHARE",
    "WINS",
    "WIN_RATE",
    "Backgammon",
    "ChineseCheckers",
    "ConnectFour",
    "EinStein",
    "Game",
    "Game2048",
    "Hex",
    "LinesOfAction",
    "Maedn",
    "Nim",
    "Othello",
    "Pig",
    "Scale",
    "Sim",
    "TicTacToe",
    "Yavalath",
    "broken_games",
    "check_game",
    "check_own",
    "check_playable",
    "fingerprint",
    "game_names",
    "is_own",
    "make",
    "register",
]

PACKAGES["pgx"] = Package(PGX_GAMES, pgx_game)
PACKAGES["ludax"] = Package(LUDAX_GAMES, ludax_game)
