"""2048: numbered tiles; the moves are marked at the four walls."""

from jaxgbg.games import Game2048
from jaxgbg.web.drawings.core import Drawing, grid, square


def drawing(game: Game2048) -> Drawing:
    del game
    side, margin = 62, 58
    tiles = [""]
    for power in range(1, 16):
        number = str(2**power)
        look = f' class="tile" style="--share:{round(100 * power / 15)}%"'
        tall = {1: 26, 2: 24, 3: 21, 4: 17}.get(len(number), 14)
        tiles.append(
            square(side - 6, look, 6)
            + f'<text class="tile-number" style="font-size:{tall}px">{number}</text>'
        )
    hole = square(side - 6, ' class="cell"', 6)
    holes = "".join(
        f'<g transform="translate({x} {y})">{hole}</g>' for x, y in grid(4, 4, side, margin, margin)
    )
    middle, far = margin + 2 * side, 4 * side + 2 * margin
    walls = [(margin / 2, middle), (middle, margin / 2 - 4)]
    walls += [(far - margin / 2, middle), (middle, far - margin / 2 + 4)]
    return Drawing(
        width=far,
        height=far,
        ground=holes,
        spots=grid(4, 4, side, margin, margin) + walls,
        pieces=tiles,
        halo='<rect x="-26" y="-13" width="52" height="26" rx="6"/>',
        actions=["left", "up", "right", "down"],
        kinds=lambda board: [*board, 0, 0, 0, 0],
        spot_of=lambda board, action: 16 + action,
        spot_names=[f"row {at // 4 + 1}, column {at % 4 + 1}" for at in range(16)]
        + ["left wall", "upper wall", "right wall", "lower wall"],
        piece_names=["empty", *(str(2**power) for power in range(1, 16))],
        keys={"ArrowLeft": 0, "ArrowUp": 1, "ArrowRight": 2, "ArrowDown": 3},
        cells=[*range(16), -1, -1, -1, -1],
    )
