"""Chinese checkers: stones in the holes of a star; rows are letters, holes of a row numbers."""

import math

import numpy as np

from jaxgbg.games import ChineseCheckers
from jaxgbg.games.hexagons import DIRECTIONS
from jaxgbg.types import AnyArray
from jaxgbg.web.drawings.core import Drawing, named_colour, stone, text


def drawing(game: ChineseCheckers) -> Drawing:
    step, margin = 34.0, 30.0
    up, passes = step * math.sqrt(3) / 2, game.num_actions - 1
    rows, columns = game.board.rows, game.board.columns
    spots = [
        (margin + step * (column + row / 2 - game.rows), margin + up * row)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    width = max(x for x, _ in spots) + margin
    height = max(y for _, y in spots) + margin
    names, nothing = _names(rows), game.num_cells
    beside, behind = (game.board.neighbours(steps) for steps in (1, 2))
    ground = _holes(game, spots)
    corner = width - 40, height - 20
    ground += text(*corner, "pass")
    ring = '<circle r="5" style="fill:var(--back)"/>'

    def end(board: AnyArray, action: int) -> AnyArray | int:
        """The hole where a move ends: the next one, or the one behind the stone on it."""
        if action == passes:
            return game.num_cells
        one, two = (int(places[divmod(action, 6)]) for places in (beside, behind))
        if one >= game.num_cells:
            return -1
        taken = board[one] > 0
        return taken * (two if two < game.num_cells else -1) + (1 - taken) * one

    def origin(board: AnyArray, action: int) -> int:
        return -1 if action == passes else action // 6

    def name(board: AnyArray, action: int) -> list[AnyArray | int]:
        if action == passes:
            return [nothing, nothing + 2, nothing]
        return [action // 6, nothing + 1, end(board, action)]

    return Drawing(
        width=width,
        height=height,
        ground=ground,
        spots=[*spots, corner],
        pieces=(
            "",
            *(stone(side, 14) for side in game.sides),
            *(stone(side, 14) + ring for side in game.sides),
        ),
        halo='<circle r="15"/>',
        actions=[f"{name} {way}" for name in names for way in DIRECTIONS] + ["pass"],
        kinds=lambda board: [*board, 0],
        spot_of=end,
        origin_of=origin,
        spot_names=[*names, "pass"],
        piece_names=("empty", *game.sides, *game.sides),
        cells=[*range(game.num_cells), -1],
        turns=game.players == 2,
        words=[*names, "", "-", "pass"],
        name_of=name,
    )


def _holes(game: ChineseCheckers, spots: list[tuple[float, float]]) -> str:
    """The empty board: lines between neighbors, and holes, those of a home in its color."""
    ground = ""
    for cell, others in enumerate(game.board.neighbours()[:, 3:].tolist()):
        for other in others:
            if other < game.num_cells:
                (a, b), (x, y) = spots[cell], spots[other]
                line = f'd="M{a:.1f} {b:.1f}L{x:.1f} {y:.1f}"'
                ground += f'<path class="thin" style="stroke:var(--rule)" {line}/>'
    for cell, (x, y) in enumerate(spots):
        owners = np.flatnonzero(game.homes[:, cell])
        rim = f"stroke:{named_colour(game.sides[owners[0]])};stroke-width:2" if len(owners) else ""
        ground += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="13" class="item" style="{rim}"/>'
    return ground


def _names(rows: np.ndarray) -> list[str]:
    """A letter for the row, and the number within it."""
    return [
        f"{chr(ord('a') + row)}{1 + int((rows[:cell] == row).sum())}"
        for cell, row in enumerate(rows.tolist())
    ]
