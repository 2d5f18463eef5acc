"""Yavalath: stones on a hexagon of hexagonal cells; rows are letters, columns numbers."""

import math

from jaxgbg.games import Yavalath
from jaxgbg.web.drawings.core import Drawing, hexagon, hexagons, stone, text


def drawing(game: Yavalath) -> Drawing:
    size, radius, margin = game.size, 24.0, 34.0
    half, span = radius * math.sqrt(3) / 2, 2 * game.size - 1
    rows, columns = game.board.rows, game.board.columns
    spots = [
        (margin + half * (2 * column + row + 2 - size), margin + radius * (1.5 * row + 1))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    names = [
        f"{chr(ord('a') + row)}{column + 1}" for row, column in zip(rows, columns, strict=True)
    ]
    # A row is named left of its first cell, a column below its last one.
    labels = []
    for at in range(span):
        x, y = min(spots[cell] for cell in range(len(spots)) if rows[cell] == at)
        labels.append(text(x - half - 10, y, chr(ord("a") + at)))
        x, y = max(
            (spots[cell] for cell in range(len(spots)) if columns[cell] == at),
            key=lambda end: end[1],
        )
        labels.append(text(x + half * 0.7, y + radius * 1.25, str(at + 1)))
    return Drawing(
        width=2 * margin + 2 * half * span,
        height=2 * margin + radius * (1.5 * span + 0.5) - 20,
        ground=hexagons(spots, radius) + "".join(labels),
        spots=spots,
        pieces=("", *(stone(side, 16) for side in game.sides)),
        halo=f'<polygon points="{hexagon(0.84 * radius)}"/>',
        actions=names,
        spot_of=lambda board, action: action,
        spot_names=names,
        piece_names=("empty", *game.sides),
        turns=True,
    )
