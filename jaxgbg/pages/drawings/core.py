"""What a drawing of a game says, and the shapes that several games share."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np


def _no_spot(board: np.ndarray, action: int) -> int:
    del board, action
    return -1


@dataclasses.dataclass(frozen=True)
class Drawing:
    """How positions of one game are drawn, `width` x `height` units; colours are CSS variables.

    `ground` is the empty board, `spots` the centres on which pieces stand and values are written,
    `pieces` the markup of each kind around the origin, `halo` the shape that marks a move, and
    `actions` names every action. Of a board as `Game.display_cells` has it, `kinds` tells which of
    `pieces` stands on each spot, and `spot_of` on which spot an action is marked, -1 for none.
    """

    width: float
    height: float
    ground: str
    spots: Sequence[tuple[float, float]]
    pieces: Sequence[str]
    halo: str
    actions: Sequence[str]
    kinds: Callable[[np.ndarray], Sequence[int]] = list
    spot_of: Callable[[np.ndarray, int], int] = _no_spot


def disc(colour: str, radius: float) -> str:
    return f'<circle r="{radius}" class="piece {colour}"/>'


def square(side: float, look: str = "", corner: float = 4) -> str:
    at = -side / 2
    return f'<rect x="{at}" y="{at}" width="{side}" height="{side}" rx="{corner}"{look}/>'


def text(x: float, y: float, words: str, look: str = "coordinate") -> str:
    return f'<text x="{x}" y="{y}" class="{look}">{words}</text>'


def grid(
    rows: int, columns: int, side: float, left: float, top: float
) -> list[tuple[float, float]]:
    """The centres of cells, row by row."""
    return [
        (left + (column + 0.5) * side, top + (row + 0.5) * side)
        for row in range(rows)
        for column in range(columns)
    ]


def named_squares(size: int) -> list[str]:
    """Columns are letters from the left, rows numbers from the top, as engines have them."""
    return [f"{chr(ord('a') + cell % size)}{cell // size + 1}" for cell in range(size**2)]


def coordinates(size: int, side: float, margin: float) -> str:
    """The letters above and the numbers beside a square board."""
    return "".join(
        text(margin + (at + 0.5) * side, margin - 8, chr(ord("a") + at))
        + text(margin - 11, margin + (at + 0.5) * side, str(at + 1))
        for at in range(size)
    )
