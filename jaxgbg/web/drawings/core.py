"""The parts of a drawing of a game, and shapes that several games share."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jaxgbg.types import AnyArray


def _no_spot(board: AnyArray, action: int) -> int:
    del board, action
    return -1


@dataclasses.dataclass(frozen=True)
class Drawing:
    """The drawing of positions of one game, `width` x `height` units; colors are CSS variables.

    `ground` is the empty board, `spots` the centers of pieces and values, `pieces` the markup of
    each kind around the origin, `halo` the shape that marks a move, and `actions` the name of every
    action. For a board from `Game.display_cells`, `kinds` returns the index into `pieces` for each
    spot, and `spot_of` the spot on which an action is marked, -1 for none.

    If a move takes a piece from spot to spot, `origin_of` returns the first spot; several moves may
    then be marked on one spot. A name that depends on the board is a row of `words`: `name_of`
    returns their indices, as many for every action.

    `play --export` compiles the functions of a board from a traced one: integers from it must stay
    in the board's array library, without `int`. They are computed for illegal actions too, of which
    the results are not read.

    For players: `spot_names` and `piece_names` describe each spot and each of `pieces`,
    `touched_by` returns the spots where a click makes a move (only that of `spot_of` if None),
    `keys` the action of a key, and `cells` the cell of each spot, -1 for none (spot i shows cell i
    if empty). `turns` says whether the board can be viewed from the other side, `colours` are those
    of the players, in CSS.
    """

    width: float
    height: float
    ground: str
    spots: Sequence[tuple[float, float]]
    pieces: Sequence[str]
    halo: str
    actions: Sequence[str]
    kinds: Callable[[AnyArray], Sequence[AnyArray | int]] = list
    spot_of: Callable[[AnyArray, int], AnyArray | int] = _no_spot
    origin_of: Callable[[AnyArray, int], AnyArray | int] = _no_spot
    words: Sequence[str] = ()
    name_of: Callable[[AnyArray, int], Sequence[AnyArray | int]] | None = None
    spot_names: Sequence[str] = ()
    piece_names: Sequence[str] = ()
    touched_by: Callable[[np.ndarray, int], Sequence[int]] | None = None
    keys: Mapping[str, int] = dataclasses.field(default_factory=dict)
    cells: Sequence[int] = ()
    turns: bool = False
    colours: Sequence[str] = ()

    def name(self, board: np.ndarray, action: int) -> str:
        """The name of an action on a board."""
        if self.name_of is None:
            return self.actions[action]
        return "".join(self.words[int(index)] for index in self.name_of(board, action))


# A named color, and the colors of the page's palette that resemble it.
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


def named_colour(side: str) -> str:
    """The color of a side that is named after one, in CSS."""
    return _NAMED[side][0]


def seat_colours(drawing: Drawing, sides: Sequence[str]) -> list[str]:
    """The color of each seat, in CSS: from the drawing, or that of its side."""
    return list(drawing.colours) if drawing.colours else side_colours(sides)


def side_colours(sides: Sequence[str]) -> list[str]:
    """The color of each side, in CSS: that which it is named after, or one of the palette.

    A side without a color in its name gets one from the page's palette that no other side
    resembles.
    """
    named = [_NAMED.get(side.lower(), ("", ())) for side in sides]
    taken = {number for _, alike in named for number in alike}
    free = itertools.cycle([number for number in range(8) if number not in taken] or range(8))
    return [colour or f"var(--s{next(free)})" for colour, _ in named]


def disc(colour: str, radius: float) -> str:
    return f'<circle r="{radius}" class="piece {colour}"/>'


def stone(side: str, radius: float) -> str:
    """A disc of the color that a side is named after."""
    return f'<circle r="{radius}" class="piece" style="fill:{named_colour(side)}"/>'


def hexagon(radius: float) -> str:
    """The corners of a hexagon that stands on a corner, around the origin, as SVG `points`."""
    half = radius * math.sqrt(3) / 2
    corners = ((0, -1), (1, -0.5), (1, 0.5), (0, 1), (-1, 0.5), (-1, -0.5))
    return " ".join(f"{half * x:.1f},{radius * y:.1f}" for x, y in corners)


def hexagons(spots: Sequence[tuple[float, float]], radius: float) -> str:
    """A hexagonal cell at every spot."""
    outline = hexagon(radius)
    return "".join(
        f'<polygon points="{outline}" transform="translate({x:.1f} {y:.1f})" class="cell"/>'
        for x, y in spots
    )


def square(side: float, look: str = "", corner: float = 4) -> str:
    at = -side / 2
    return f'<rect x="{at}" y="{at}" width="{side}" height="{side}" rx="{corner}"{look}/>'


def text(x: float, y: float, words: str, look: str = "coordinate") -> str:
    return f'<text x="{x}" y="{y}" class="{look}">{words}</text>'


def grid(
    rows: int, columns: int, side: float, left: float, top: float
) -> list[tuple[float, float]]:
    """The centers of cells, row by row."""
    return [
        (left + (column + 0.5) * side, top + (row + 0.5) * side)
        for row in range(rows)
        for column in range(columns)
    ]


def named_squares(size: int, from_top: bool = True) -> list[str]:
    """Name squares: columns are letters from the left, rows numbers.

    Rows count from the top, as GTP engines do, or from the bottom, as in chess.
    """
    return cell_names(size, size, from_top)


def cell_names(rows: int, columns: int, from_top: bool = True) -> list[str]:
    """As `named_squares`, for a board that need not be square."""
    numbers = range(1, rows + 1) if from_top else range(rows, 0, -1)
    return [f"{letters(column)}{row}" for row in numbers for column in range(columns)]


def letters(column: int) -> str:
    """a, b ... z, aa, ab ...: the name of a column."""
    before, letter = divmod(column, 26)
    return (letters(before - 1) if before else "") + chr(ord("a") + letter)


def coordinates(size: int, side: float, margin: float, from_top: bool = True) -> str:
    """The letters above and the numbers at the left of a square board."""
    return grid_coordinates(size, size, side, margin, from_top)


def grid_coordinates(
    rows: int, columns: int, side: float, margin: float, from_top: bool = True
) -> str:
    """As `coordinates`, for a board that need not be square."""
    above = (text(margin + (at + 0.5) * side, margin - 8, letters(at)) for at in range(columns))
    left = (
        text(margin - 11, margin + (at + 0.5) * side, str(at + 1 if from_top else rows - at))
        for at in range(rows)
    )
    return "".join((*above, *left))
