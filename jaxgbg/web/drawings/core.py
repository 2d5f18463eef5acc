"""What a drawing of a game says, and the shapes that several games share."""

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence

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

    Where a move takes a piece from spot to spot, `origin_of` tells the first of them, and `name_of`
    may name the move by both; several moves may then be marked on one spot.

    A file of `play --export` compiles `kinds`, `spot_of` and `touched_by` from a board that is
    traced: whole numbers that come from it stay those of the board's library, without `int`.

    For those who play on it: `spot_names` and `piece_names` say in words what a spot and each of
    `pieces` is, `touched_by` on which spots a click makes a move (that of `spot_of` alone if None),
    `keys` which action a key makes, and `cells` which cell each spot shows, -1 for none (spot i
    cell i if empty). `turns` tells whether the board may be looked at from the other side,
    `colours` those of the players, in CSS.
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
    origin_of: Callable[[np.ndarray, int], int] = _no_spot
    name_of: Callable[[np.ndarray, int], str] | None = None
    spot_names: Sequence[str] = ()
    piece_names: Sequence[str] = ()
    touched_by: Callable[[np.ndarray, int], Sequence[int]] | None = None
    keys: Mapping[str, int] = dataclasses.field(default_factory=dict)
    cells: Sequence[int] = ()
    turns: bool = False
    colours: Sequence[str] = ()

    def name(self, board: np.ndarray, action: int) -> str:
        """What an action on a board is called."""
        return self.name_of(board, action) if self.name_of else self.actions[action]


# A named colour, and the colours of the page's palette that look like it.
_NAMED = {
    "red": ("var(--first)", (1,)),
    "blue": ("var(--second)", (0, 5)),
    "black": ("var(--black)", (6,)),
    "white": ("var(--white)", (6,)),
    "green": ("var(--s2)", (2,)),
    "yellow": ("var(--heat)", (4,)),
    "orange": ("var(--s1)", (1,)),
    "purple": ("var(--s7)", (7,)),
    "pink": ("var(--s3)", (3,)),
    "grey": ("var(--s6)", (6,)),
    "gray": ("var(--s6)", (6,)),
}


def seat_colours(drawing: Drawing, sides: Sequence[str]) -> list[str]:
    """The colour of each seat, in CSS: the drawing's, else the one that its side is named after.

    A side that is not named after a colour has one of the page's palette that looks like no other.
    """
    if drawing.colours:
        return list(drawing.colours)
    named = [_NAMED.get(side.lower(), ("", ())) for side in sides]
    taken = {number for _, alike in named for number in alike}
    free = itertools.cycle([number for number in range(8) if number not in taken] or range(8))
    return [colour or f"var(--s{next(free)})" for colour, _ in named]


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


def named_squares(size: int, from_top: bool = True) -> list[str]:
    """Columns are letters from the left, rows numbers from the top, as GTP engines have them, or
    from the bottom, as in chess.
    """
    rows = range(1, size + 1) if from_top else range(size, 0, -1)
    return [f"{chr(ord('a') + column)}{row}" for row in rows for column in range(size)]


def coordinates(size: int, side: float, margin: float, from_top: bool = True) -> str:
    """The letters above and the numbers beside a square board."""
    return "".join(
        text(margin + (at + 0.5) * side, margin - 8, chr(ord("a") + at))
        + text(margin - 11, margin + (at + 0.5) * side, str(at + 1 if from_top else size - at))
        for at in range(size)
    )
