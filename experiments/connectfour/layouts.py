"""What a layout of ConnectFour holds."""

from jaxgbg.games import ConnectFour
from jaxgbg.values import Layout


def held(layout: Layout) -> dict[str, int]:
    """How many fours of each direction lie within one n-tuple or its mirror image."""
    game = ConnectFour()
    images = [set(map(int, image[list(cells)])) for cells in layout for image in game.symmetries]
    found = dict.fromkeys(_DIRECTIONS.values(), 0)
    for line in game.lines:
        first, second = (divmod(int(cell), 6) for cell in sorted(line)[:2])
        name = _DIRECTIONS[second[0] - first[0], second[1] - first[1]]
        found[name] += any(set(map(int, line)) <= cells for cells in images)
    return found


_DIRECTIONS = {(0, 1): "vertical", (1, 0): "horizontal", (1, 1): "rising", (1, -1): "falling"}
