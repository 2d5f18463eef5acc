"""Hex: a rhombus of hexagons, with edges in the colors of their players."""

import math
from collections.abc import Sequence

from jaxgbg.games import Hex
from jaxgbg.web.drawings.core import Drawing, disc, hexagon, hexagons, named_squares, text


def drawing(game: Hex) -> Drawing:
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

    rows = range(size)
    edges = (
        edge([*rows], (5, 0, 1), "first")
        + edge([size * (size - 1) + at for at in rows], (4, 3, 2), "first")
        + edge([size * at for at in rows], (5, 4, 3), "second")
        + edge([size * at + size - 1 for at in rows], (0, 1, 2), "second")
    )
    names = "".join(
        text(spots[at][0] - half / 2 - 4, spots[at][1] - radius - 8, chr(ord("a") + at))
        + text(spots[size * at][0] - half - 14, spots[size * at][1], str(at + 1))
        for at in rows
    )
    return Drawing(
        width=2 * margin + half * (3 * size - 1),
        height=2 * margin + radius * (1.5 * size + 0.5) - 16,
        ground=hexagons(spots, radius) + edges + names,
        spots=spots,
        pieces=("", disc("first", 16), disc("second", 16)),
        halo=f'<polygon points="{hexagon(0.84 * radius)}"/>',
        actions=named_squares(size),
        spot_of=lambda board, action: action,
        spot_names=named_squares(size),
        piece_names=("empty", "red", "blue"),
        colours=("var(--first)", "var(--second)"),
        turns=True,
    )
