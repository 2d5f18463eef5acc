"""Boards as SVG: where the cells lie, what stands on them, and where a move's value is written."""

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from jaxgbg.games import ConnectFour, Game, Game2048, Hex, Nim, Othello, TicTacToe


def _no_place(digits: np.ndarray, action: int) -> int:
    """Moves of unknown games have no place on the board."""
    del digits, action
    return -1


def _as_they_are(digits: np.ndarray) -> list[int]:
    return [int(digit) for digit in digits]


@dataclasses.dataclass(frozen=True)
class Drawing:
    """How positions of one game are drawn, `width` x `height` units.

    `ground` is the empty board, `spots` the centres on which pieces stand and values are written,
    `pieces` the markup of each kind around the origin, `halo` the shape that marks a move. `show`
    gives the kind of piece on each spot, `place` the spot of an action or -1, for a board of
    digits. `actions` names every action and `sides` every player. Colours are CSS variables.
    """

    width: float
    height: float
    ground: str
    spots: Sequence[tuple[float, float]]
    pieces: Sequence[str]
    halo: str
    actions: Sequence[str]
    sides: Sequence[str]
    show: Callable[[np.ndarray], list[int]] = _as_they_are
    place: Callable[[np.ndarray, int], int] = _no_place


def drawing_of(game: Game) -> Drawing:
    """The drawing of a game; of one that is not known here, its cells with their digits."""
    if isinstance(game, TicTacToe):
        return _tictactoe()
    if isinstance(game, ConnectFour):
        return _connectfour()
    if isinstance(game, Hex):
        return _hex(game)
    if isinstance(game, Othello):
        return _othello(game)
    if isinstance(game, Nim):
        return _nim(game)
    if isinstance(game, Game2048):
        return _game2048()
    return _cells(game)


def _disc(colour: str, radius: float) -> str:
    return f'<circle r="{radius}" class="piece {colour}"/>'


def _square(side: float, look: str = "", corner: float = 4) -> str:
    at = -side / 2
    return f'<rect x="{at}" y="{at}" width="{side}" height="{side}" rx="{corner}"{look}/>'


def _text(x: float, y: float, words: str, look: str = "coordinate") -> str:
    return f'<text x="{x}" y="{y}" class="{look}">{words}</text>'


def _grid(
    rows: int, columns: int, side: float, left: float, top: float
) -> list[tuple[float, float]]:
    """The centres of cells, row by row."""
    return [
        (left + (column + 0.5) * side, top + (row + 0.5) * side)
        for row in range(rows)
        for column in range(columns)
    ]


def _named_squares(size: int) -> list[str]:
    """Columns are letters from the left, rows numbers from the top, as engines have them."""
    return [f"{chr(ord('a') + cell % size)}{cell // size + 1}" for cell in range(size**2)]


def _coordinates(size: int, side: float, margin: float) -> str:
    return "".join(
        _text(margin + (at + 0.5) * side, margin - 8, chr(ord("a") + at))
        + _text(margin - 11, margin + (at + 0.5) * side, str(at + 1))
        for at in range(size)
    )


def _tictactoe() -> Drawing:
    margin, side = 24, 64
    lines = "".join(
        f'<path class="line" d="M{margin + at * side} {margin}v{3 * side}'
        f'M{margin} {margin + at * side}h{3 * side}"/>'
        for at in (1, 2)
    )
    nought = '<circle r="19" class="stroke second"/>'
    cross = '<path d="M-17-17L17 17M-17 17L17-17" class="stroke first"/>'
    return Drawing(
        width=2 * margin + 3 * side,
        height=2 * margin + 3 * side,
        ground=lines + _coordinates(3, side, margin),
        spots=_grid(3, 3, side, margin, margin),
        pieces=(nought, "", cross),
        halo=_square(side - 12),
        actions=_named_squares(3),
        sides=("X", "O"),
        place=lambda digits, action: action,
    )


def _connectfour() -> Drawing:
    side, top = 46, 24
    # The cells of the game go up the columns.
    spots = [
        ((column + 0.5) * side + 4, top + (5.5 - row) * side + 4)
        for column in range(7)
        for row in range(6)
    ]
    holes = "".join(f'<circle cx="{x}" cy="{y}" r="19" class="hole"/>' for x, y in spots)
    board = f'<rect x="2" y="{top}" width="{7 * side + 4}" height="{6 * side + 8}" rx="8"'
    names = "".join(_text((c + 0.5) * side + 4, top - 8, str(c + 1)) for c in range(7))

    def landing(digits: np.ndarray, action: int) -> int:
        return 6 * action + int(np.argmax(digits[6 * action : 6 * action + 6] == 3))

    return Drawing(
        width=7 * side + 8,
        height=top + 6 * side + 12,
        ground=f'{board} class="frame"/>{holes}{names}',
        spots=spots,
        pieces=("", _disc("first", 19), _disc("second", 19), ""),
        halo='<circle r="18"/>',
        actions=[f"column {column + 1}" for column in range(7)],
        sides=("red", "blue"),
        place=landing,
    )


def _hex(game: Hex) -> Drawing:
    size, radius, margin = game.size, 24.0, 30.0
    half = radius * math.sqrt(3) / 2
    spots = [
        (margin + half * (2 * column + row + 1), margin + radius * (1.5 * row + 1))
        for row in range(size)
        for column in range(size)
    ]
    corners = [(0, -1), (1, -0.5), (1, 0.5), (0, 1), (-1, 0.5), (-1, -0.5)]

    def corner(cell: int, number: int) -> str:
        x, y = spots[cell]
        return f"{x + half * corners[number][0]:.1f} {y + radius * corners[number][1]:.1f}"

    def edge(cells: Sequence[int], numbers: Sequence[int], side: str) -> str:
        path = "L".join(corner(cell, number) for cell in cells for number in numbers)
        return f'<path d="M{path}" class="edge {side}"/>'

    outline = " ".join(f"{half * x:.1f},{radius * y:.1f}" for x, y in corners)
    cells = "".join(
        f'<polygon points="{outline}" transform="translate({x:.1f} {y:.1f})" class="cell"/>'
        for x, y in spots
    )
    rows = range(size)
    edges = (
        edge([*rows], (5, 0, 1), "first")
        + edge([size * (size - 1) + at for at in rows], (4, 3, 2), "first")
        + edge([size * at for at in rows], (5, 4, 3), "second")
        + edge([size * at + size - 1 for at in rows], (0, 1, 2), "second")
    )
    names = "".join(
        _text(spots[at][0] - half / 2 - 4, spots[at][1] - radius - 8, chr(ord("a") + at))
        + _text(spots[size * at][0] - half - 14, spots[size * at][1], str(at + 1))
        for at in rows
    )
    inner = " ".join(f"{0.84 * half * x:.1f},{0.84 * radius * y:.1f}" for x, y in corners)
    return Drawing(
        width=2 * margin + half * (3 * size - 1),
        height=2 * margin + radius * (1.5 * size + 0.5) - 16,
        ground=cells + edges + names,
        spots=spots,
        pieces=("", _disc("first", 16), _disc("second", 16)),
        halo=f'<polygon points="{inner}"/>',
        actions=_named_squares(size),
        sides=("red", "blue"),
        place=lambda digits, action: action,
    )


def _othello(game: Othello) -> Drawing:
    size, side, margin = game.size, 42, 24
    felt = f'<rect x="{margin}" y="{margin}" width="{size * side}" height="{size * side}"'
    lines = "".join(
        f'<path class="thin" d="M{margin + at * side} {margin}v{size * side}'
        f'M{margin} {margin + at * side}h{size * side}"/>'
        for at in range(size + 1)
    )
    return Drawing(
        width=size * side + margin + 6,
        height=size * side + margin + 6,
        ground=f'{felt} class="felt"/>{lines}{_coordinates(size, side, margin)}',
        spots=_grid(size, size, side, margin, margin),
        pieces=(_disc("black", 16.5), _disc("white", 16.5), "", ""),
        halo=_square(side - 4),
        actions=_named_squares(size),
        sides=("black", "white"),
        place=lambda digits, action: action,
    )


def _nim(game: Nim) -> Drawing:
    heaps, size, most = game.heaps, game.size, game.max_take or game.size
    side, step, margin = 74, 34, 10
    spots = [
        (margin + (heap + 0.5) * side, margin + (size - item - 0.5) * step)
        for heap in range(heaps)
        for item in range(size)
    ]
    floor = margin + size * step + 4
    ground = "".join(
        f'<path class="line" d="M{margin + heap * side + 6} {floor}h{side - 12}"/>'
        + _text(margin + (heap + 0.5) * side, floor + 16, f"heap {heap + 1}")
        for heap in range(heaps)
    )

    def items(digits: np.ndarray) -> list[int]:
        return [int(item < left) for left in digits for item in range(size)]

    def lowest_taken(digits: np.ndarray, action: int) -> int:
        heap, taken = divmod(action, most)
        return size * heap + int(digits[heap]) - taken - 1

    bar = '<rect x="-29" y="-14" width="58" height="28" rx="8"'
    return Drawing(
        width=2 * margin + heaps * side,
        height=floor + 26,
        ground=ground,
        spots=spots,
        pieces=("", f'{bar} class="item"/>'),
        halo=f"{bar}/>",
        actions=[f"heap {a // most + 1}, take {a % most + 1}" for a in range(heaps * most)],
        sides=[f"player {seat + 1}" for seat in range(game.num_players)],
        show=items,
        place=lowest_taken,
    )


def _game2048() -> Drawing:
    side, margin = 62, 58
    tiles = [""]
    for power in range(1, 16):
        number = str(2**power)
        look = f' class="tile" style="--share:{round(100 * power / 15)}%"'
        tall = {1: 26, 2: 24, 3: 21, 4: 17}.get(len(number), 14)
        tiles.append(
            _square(side - 6, look, 6)
            + f'<text class="tile-number" style="font-size:{tall}px">{number}</text>'
        )
    hole = _square(side - 6, ' class="cell"', 6)
    holes = "".join(
        f'<g transform="translate({x} {y})">{hole}</g>'
        for x, y in _grid(4, 4, side, margin, margin)
    )
    middle, far = margin + 2 * side, 4 * side + 2 * margin
    walls = [(margin / 2, middle), (middle, margin / 2 - 4)]
    walls += [(far - margin / 2, middle), (middle, far - margin / 2 + 4)]
    return Drawing(
        width=far,
        height=far,
        ground=holes,
        spots=_grid(4, 4, side, margin, margin) + walls,
        pieces=tiles,
        halo='<rect x="-26" y="-13" width="52" height="26" rx="6"/>',
        actions=["left", "up", "right", "down"],
        sides=("agent",),
        show=lambda digits: _as_they_are(digits) + [0] * 4,
        place=lambda digits, action: 16 + action,
    )


def _cells(game: Game) -> Drawing:
    columns = math.ceil(math.sqrt(game.num_cells))
    rows, side = math.ceil(game.num_cells / columns), 44
    spots = _grid(rows, columns, side, 4, 4)[: game.num_cells]
    ground = "".join(
        f'<rect x="{x - side / 2}" y="{y - side / 2}" width="{side}" height="{side}" class="cell"/>'
        for x, y in spots
    )
    return Drawing(
        width=columns * side + 8,
        height=rows * side + 8,
        ground=ground,
        spots=spots,
        pieces=[_text(0, 0, str(digit), "digit") for digit in range(game.num_cell_values)],
        halo=_square(side - 8),
        actions=[f"action {action}" for action in range(game.num_actions)],
        sides=[f"player {seat + 1}" for seat in range(game.num_players)],
    )
