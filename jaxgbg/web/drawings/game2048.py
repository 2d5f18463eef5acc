"""2048: numbered tiles; the moves are marked at the four walls."""

from jaxgbg.games import Game2048
from jaxgbg.games.game2048 import LARGEST
from jaxgbg.web.drawings.core import Drawing, grid, square


def drawing(game: Game2048) -> Drawing:
    rows, columns, cells = game.rows, game.columns, game.num_cells
    side, margin = 62, 58
    tiles = [""]
    for power in range(1, LARGEST + 1):
        number = str(2**power)
        look = f' class="tile" style="--share:{round(100 * power / LARGEST)}%"'
        tall = {1: 26, 2: 24, 3: 21, 4: 17, 5: 14}.get(len(number), 12)
        tiles.append(
            square(side - 6, look, 6)
            + f'<text class="tile-number" style="font-size:{tall}px">{number}</text>'
        )
    hole = square(side - 6, ' class="cell"', 6)
    holes = "".join(
        f'<g transform="translate({x} {y})">{hole}</g>'
        for x, y in grid(rows, columns, side, margin, margin)
    )
    width, height = (each * side + 2 * margin for each in (columns, rows))
    walls = [(margin / 2, height / 2), (width / 2, margin / 2 - 4)]
    walls += [(width - margin / 2, height / 2), (width / 2, height - margin / 2 + 4)]
    return Drawing(
        width=width,
        height=height,
        ground=holes,
        spots=grid(rows, columns, side, margin, margin) + walls,
        pieces=tiles,
        halo='<rect x="-26" y="-13" width="52" height="26" rx="6"/>',
        actions=["left", "up", "right", "down"],
        kinds=lambda board: [*board, 0, 0, 0, 0],
        spot_of=lambda board, action: cells + action,
        spot_names=[f"row {at // columns + 1}, column {at % columns + 1}" for at in range(cells)]
        + ["left wall", "upper wall", "right wall", "lower wall"],
        piece_names=["empty", *(str(2**power) for power in range(1, LARGEST + 1))],
        keys={"ArrowLeft": 0, "ArrowUp": 1, "ArrowRight": 2, "ArrowDown": 3},
        cells=[*range(cells), -1, -1, -1, -1],
    )
