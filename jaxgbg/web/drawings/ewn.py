"""EinStein wuerfelt nicht: numbered discs, and the die of the player to move below the board."""

from jaxgbg.games import EinStein
from jaxgbg.games.ewn import STEPS
from jaxgbg.types import AnyArray
from jaxgbg.web.drawings.core import Drawing, coordinates, grid, named_squares, square, text

_COLOURS = ("var(--first)", "var(--second)", "var(--s2)", "var(--s4)")


def drawing(game: EinStein) -> Drawing:
    """Boards are `display_cells`: the cells, then the die and the player to move."""
    size, stones, side, margin = game.size, game.num_stones, 46, 24
    spots = grid(size, size, side, margin, margin)
    cells = "".join(
        f'<rect x="{x - side / 2}" y="{y - side / 2}" width="{side}" height="{side}" class="cell"/>'
        for x, y in spots
    )
    below = margin + size * side + 30
    die, passing = (margin + side * 0.5, below), (margin + side * 1.6, below)
    squares = named_squares(size)
    passes, nothing = game.num_actions == 3 * stones + 1, size**2

    def kinds(board: AnyArray) -> list[AnyArray]:
        rolled = board[-2]
        return [*board[:-2], (rolled > 0) * (game.players * stones + rolled), 0 * rolled]

    def origin(board: AnyArray, action: int) -> AnyArray | int:
        if action >= 3 * stones:
            return -1
        return (board[:-2] == 1 + stones * board[-1] + action // 3).argmax()

    def target(board: AnyArray, action: int) -> AnyArray | int:
        if action >= 3 * stones:
            return size**2 + 1
        ways = STEPS[: game.players, action % 3] @ (size, 1)
        return origin(board, action) + sum(
            (board[-1] == player) * int(way) for player, way in enumerate(ways)
        )

    def name(board: AnyArray, action: int) -> list[AnyArray | int]:
        if action >= 3 * stones:
            return [nothing + 3, nothing, nothing, nothing]
        start, end = origin(board, action), target(board, action)
        return [nothing + 4 + action // 3, start, nothing + 1 + (board[end] > 0), end]

    ways = ("row", "column", "diagonal")
    return Drawing(
        width=size * side + margin + 8,
        height=below + 26,
        ground=cells + coordinates(size, side, margin),
        spots=[*spots, die, passing],
        pieces=_pieces(game),
        halo=square(side - 6),
        actions=[f"stone {n + 1}, {way}" for n in range(stones) for way in ways]
        + ["pass"] * passes,
        kinds=kinds,
        spot_of=target,
        origin_of=origin,
        words=[*squares, "", "-", "x", "pass", *(f"{n + 1}: " for n in range(stones))],
        name_of=name,
        spot_names=[*squares, "die", "pass"],
        piece_names=_piece_names(game),
        # Cells that stand for stones have no place on the board.
        cells=[*(range(size**2) if game.coding != "squares" else [-1] * size**2), -1, -1],
        colours=_COLOURS[: game.players],
    )


def _pieces(game: EinStein) -> list[str]:
    """Nothing, the stones of every player, the faces of the die."""
    numbers = [text(0, 0, str(number), "digit") for number in range(1, game.num_stones + 1)]
    face = square(34, ' class="cell"', 6)
    discs = [f'<circle r="17" style="fill:{colour}"/>' for colour in _COLOURS[: game.players]]
    return ["", *(under + number for under in [*discs, face] for number in numbers)]


def _piece_names(game: EinStein) -> list[str]:
    owners = [*game.sides, "die"]
    return ["empty", *(f"{each} {n + 1}" for each in owners for n in range(game.num_stones))]
