"""A board in letters, for terminals."""

from itertools import groupby

import numpy as np

from jaxgbg.games import Game
from jaxgbg.types import State
from jaxgbg.web.drawings import Drawing

_EMPTY = ("empty", "free")


def board_rows(game: Game, drawing: Drawing, state: State) -> list[str]:
    """A line for each row of spots: pieces by their first letters, or by their names or numbers."""
    board = np.asarray(game.display_cells(state))
    kinds = [int(kind) for kind in drawing.kinds(board)]
    signs = _signs(drawing)
    spots = sorted((round(y), x, spot) for spot, (x, y) in enumerate(drawing.spots))
    wide = max(len(sign) for sign in signs)
    return [
        " ".join(f"{signs[kinds[spot]]:>{wide}}" for _, _, spot in row)
        for _, row in groupby(spots, key=lambda spot: spot[0])
    ]


def _signs(drawing: Drawing) -> list[str]:
    """The sign of each kind of piece."""
    names = list(drawing.piece_names)
    pieces = dict.fromkeys(name for name in names if name not in _EMPTY)
    letters = {name: name[:1].upper() for name in pieces}
    if all(name.isdigit() for name in pieces):
        letters = {name: name for name in pieces}
    elif len(set(letters.values())) < len(letters):
        letters = {name: str(number) for number, name in enumerate(pieces, 1)}
    return ["." if name in _EMPTY else letters[name] for name in names]
