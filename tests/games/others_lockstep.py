"""Random games of our rules and of OpenSpiel's or Ludax', ply by ply.

    python -m tests.games.others_lockstep [GAME ...] [--games 500]

Prints for each game how many positions were compared; a difference ends it. The tests play fewer.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from jaxgbg.games import Backgammon, ChineseCheckers, EinStein, Game, Maedn, Pig, Yavalath
from tests.games.backgammon import assert_same_rolls
from tests.games.dice import DiceOracle, assert_same_dice_games
from tests.games.lockstep import assert_same_games
from tests.games.test_chinese_checkers import OpenSpielStar, weights_towards_goals
from tests.games.test_dice_games import OpenSpielEinstein, OpenSpielPig
from tests.games.test_maedn import OpenSpielMaedn
from tests.games.test_yavalath import Ludax

SEED = 1


def yavalath(games: int) -> int:
    return assert_same_games(Yavalath(), Ludax(), games, SEED).positions


def star(players: int, turns: int, towards: float = 0.0) -> Callable[[int], int]:
    """Chinese checkers by OpenSpiel's rules, at random or with more weight on moves ahead."""

    def compared(games: int) -> int:
        game = ChineseCheckers(4, players, True, "own", turns)
        weights = weights_towards_goals(players, towards)
        found = assert_same_games(game, OpenSpielStar(players, turns), games, SEED, weights)
        print(f"won: {np.count_nonzero(found.rewards.any(1))} of {games}")
        return found.positions

    return compared


def with_dice(game: Game, oracle: Callable[[], DiceOracle]) -> Callable[[int], int]:
    return lambda games: assert_same_dice_games(game, oracle(), games, SEED)


def rolls(game: Backgammon) -> Callable[[int], int]:
    return lambda games: assert_same_rolls(game, games, SEED)


def maedn(players: int) -> Callable[[int], int]:
    name = f"maedn(players={players},twoPlayersOpposite=true)"
    return with_dice(Maedn(players), lambda: OpenSpielMaedn(name))


COMPARISONS: dict[str, Callable[[int], int]] = {
    "pig": with_dice(Pig(), lambda: OpenSpielPig(2, 100, 1000)),
    "pig-3": with_dice(Pig(3), lambda: OpenSpielPig(3, 100, 1000)),
    "ewn": with_dice(EinStein(coding="stones"), OpenSpielEinstein),
    "maedn": maedn(2),
    "maedn-3": maedn(3),
    "maedn-4": maedn(4),
    "backgammon": rolls(Backgammon(reward="gammons")),
    "hypergammon": rolls(Backgammon(3)),
    "yavalath": yavalath,
    **{f"chinese_checkers-{players}": star(players, 200) for players in (2, 3, 4, 6)},
    **{f"chinese_checkers-{players}-ahead": star(players, 1000, 3.0) for players in (2, 3, 4, 6)},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="GAME", help=", ".join(COMPARISONS))
    parser.add_argument("--games", type=int, default=500)
    options = parser.parse_args()
    for name in options.names or COMPARISONS:
        start = time.process_time()
        compared = COMPARISONS[name](options.games)
        spent = time.process_time() - start
        print(f"{name}: {options.games} games, {compared:,} positions, {spent:.0f} s", flush=True)


if __name__ == "__main__":
    main()
