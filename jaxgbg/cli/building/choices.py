"""What is chosen for a game by its size and the time: value function, n-tuples, games of matches.

Shipped games have settings of their own, published or ours. The rules for all other games:

- If all boards fit into one table of 2**16 rows, the whole board is one n-tuple.
- Otherwise n-tuples are walks of as many cells as 2**13 rows have room for, around the winning
  lines if the game names some. There are two for each cell, less if a board would need more than
  1,024 look-ups with all its symmetric images, or the tables more than 128 MB.
- If 2**13 rows have not even room for three cells, a network takes the place of the tables.
- The learner is TD with FARL and TCL step sizes, with 64 games in lockstep (a network: 16).
"""

from typing import NamedTuple

import numpy as np

from jaxgbg.evaluation import Protocol
from jaxgbg.games import Game, is_own
from jaxgbg.games.borrowed import Borrowed
from jaxgbg.games.sampling import sample_games
from jaxgbg.runs.presets import preset
from jaxgbg.runs.run import Run
from jaxgbg.types import SettingValue
from jaxgbg.values.layouts import MOST_TUPLES, different_lines, whole_board

MOST_ROWS = 2**13
LEAST_LENGTH = 3
MOST_LOOK_UPS = 1_024
MOST_BYTES = 2**27
# A weight, its two TCL counters and the count of its updates, four bytes each.
_BYTES_A_ROW = 16
SYMMETRY_SHARE = 1 / 6
"""Share of the time after which symmetries are no longer looked for."""
MATCH_SHARE = 0.3
"""Share of the time for matches, report and page."""
LEAST_TRAINING = 0.25
"""Share of the time for the training, however long everything before it took."""
LEAST_MATCHES = 0.2
"""Share of the time that games against mcts-100 may take, however late it is."""
LEAST_GAMES, MOST_GAMES = 20, 100
EVALUATIONS = 10
# A few games from each seat, for the learning curve.
_CURVE_GAMES = 10


class Size(NamedTuple):
    """What decides the n-tuples of a game; `images` are those of a board, itself among them."""

    cells: int
    digits: int
    players: int
    images: int

    @property
    def length(self) -> int:
        """Cells of an n-tuple whose table has at most 2**13 rows."""
        return max(n for n in range(1, self.cells + 1) if n == 1 or self.digits**n <= MOST_ROWS)


def tuples_for(size: Size) -> tuple[int, int] | None:
    """Number and length of the walks of a game; None if tables are not for so many digits."""
    length = size.length
    if length < min(LEAST_LENGTH, size.cells):
        return None
    table = size.digits**length * size.players * _BYTES_A_ROW
    most = min(MOST_LOOK_UPS // size.images, MOST_BYTES // table, MOST_TUPLES)
    return max(1, min(2 * size.cells, most)), length


def run_for(game: Game, images: np.ndarray) -> tuple[Run, str]:
    """The run of a game, its budget still to be set, and in words why it has these settings.

    `images` int32[S, C] are the symmetries that simulation has found, the identity first.
    """
    alone = game.num_players == 1
    fixed: dict[str, SettingValue] = {"variants": ("farl",), "seeds": (0,)}
    fixed["opponents"] = ("score" if alone else "random",)
    starts = "choose_01" if sample_games(game).plies.min() > 1 else "default"
    fixed["protocols"] = (Protocol(starts, count=_CURVE_GAMES).for_game(game),)
    found = len(game.symmetries) == 1 and len(images) > 1
    if found:
        fixed["images"] = images.tolist()
    count = len(images) if found else len(game.symmetries)
    if not is_own(game) and not isinstance(game, Borrowed):
        return preset(game, **fixed), "the settings that come with jaxgbg for this game"
    if game.own_tuples:
        return preset(game, **fixed), "the n-tuples that the game names"
    if whole_board(game):
        return preset(game, **fixed), "one table of all boards"
    lines = different_lines(game)
    line = len(lines[0]) if lines else 0
    walks = tuples_for(Size(game.num_cells, game.num_cell_values, game.num_players, count))
    if walks is None:
        fixed.pop("images", None)
        digits = game.num_cell_values
        why = f"a network: {digits} digits of a cell are too many for tables"
        return preset(game, value="mlp", **fixed), why
    around = 0 < line <= walks[1]
    words = "around winning lines" if around else "random walks"
    why = f"{walks[0]} n-tuples of {walks[1]} cells, {words}, {count} symmetric images of a board"
    return preset(game, walks=walks, from_lines=around, **fixed), why


def training_seconds(total: float, used: float) -> float:
    """Seconds for the training, compiling included, of `total`, when `used` are over."""
    return max(total * (1 - MATCH_SHARE) - used, LEAST_TRAINING * total)


def games_for(seconds: float, game_seconds: float) -> int:
    """Games of a match, 20 to 100, when one game of mcts-100 takes `game_seconds`.

    As many as let mcts-1000, which takes ten times as long, use half of the `seconds`, or at least
    mcts-100 if that is not possible.
    """
    for times in (10, 1):
        games = int(seconds / 2 / (times * game_seconds))
        if games >= LEAST_GAMES:
            return min(games, MOST_GAMES)
    return LEAST_GAMES
