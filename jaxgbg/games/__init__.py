"""Rules of the games, and nothing else."""

from jaxgbg.games.check import check_game, check_own, check_playable
from jaxgbg.games.chinese_checkers import ChineseCheckers
from jaxgbg.games.connectfour import ConnectFour
from jaxgbg.games.core import Game
from jaxgbg.games.ewn import EinStein
from jaxgbg.games.fingerprint import fingerprint
from jaxgbg.games.game2048 import Game2048
from jaxgbg.games.hex import Hex
from jaxgbg.games.lines_of_action import LinesOfAction
from jaxgbg.games.ludax_games import LUDAX_GAMES, ludax_game
from jaxgbg.games.maedn import Maedn
from jaxgbg.games.nim import Nim
from jaxgbg.games.othello import Othello
from jaxgbg.games.pgx_games import PGX_GAMES, pgx_game
from jaxgbg.games.pig import Pig
from jaxgbg.games.registry import (
    PACKAGES,
    Package,
    broken_games,
    game_names,
    make,
    register,
)
from jaxgbg.games.scale import SHARE, WIN_RATE, WINS, Scale
from jaxgbg.games.sim import Sim
from jaxgbg.games.tictactoe import TicTacToe
from jaxgbg.games.yavalath import Yavalath
from jaxgbg.types import SettingValue

__all__ = [
    "SHARE",
    "WINS",
    "WIN_RATE",
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
    "make",
    "register",
]


def _nim3p(**parameters: SettingValue) -> Nim:
    return Nim(**{"players": 3, "rule": "nim3p", **parameters})


register("tictactoe", TicTacToe)
register("nim", Nim)
register("nim3p", _nim3p)
register("connectfour", ConnectFour)
register("hex", Hex)
register("othello", Othello)
register("2048", Game2048)
register("lines_of_action", LinesOfAction)
register("pig", Pig)
register("ewn", EinStein)
register("sim", Sim)
register("yavalath", Yavalath)
register("chinese_checkers", ChineseCheckers)
register("maedn", Maedn)

PACKAGES["pgx"] = Package(PGX_GAMES, pgx_game)
PACKAGES["ludax"] = Package(LUDAX_GAMES, ludax_game)
