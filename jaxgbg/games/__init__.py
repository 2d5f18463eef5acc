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
            "Backgammon": "jaxgbg.games.backgammon",
            "ChineseCheckers": "jaxgbg.games.chinese_checkers",
            "ConnectFour": "jaxgbg.games.connectfour",
            "EinStein": "jaxgbg.games.ewn",
            "Game2048": "jaxgbg.games.game2048",
            "Hex": "jaxgbg.games.hex",
            "LinesOfAction": "jaxgbg.games.lines_of_action",
            "Maedn": "jaxgbg.games.maedn",
            "Nim": "jaxgbg.games.nim",
            "Othello": "jaxgbg.games.othello",
            "Pig": "jaxgbg.games.pig",
            "Sim": "jaxgbg.games.sim",
            "TicTacToe": "jaxgbg.games.tictactoe",
            "Yavalath": "jaxgbg.games.yavalath",
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
