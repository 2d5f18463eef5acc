"""Mensch aergere dich nicht: a cross of fields, goals in its arms, waiting pieces in its corners.

A move is marked where it leads to. A click there or on the piece makes it.
"""

import numpy as np

from jaxgbg.games import Maedn
from jaxgbg.games.maedn import ENTER, FACES, MOVE, PASS
from jaxgbg.web.drawings.core import Drawing, named_colour, square, stone, text

_STEP, _RADIUS, _MARGIN = 34.0, 12, 20


def drawing(game: Maedn) -> Drawing:
    """Boards are `display_cells`: the cells, then the die and the player to move."""
    track, pieces, players = game.track, game.pieces, game.players
    on_board, (width, height) = _spots(game)
    below = [(_MARGIN + x, height) for x in (140.0, 16.0, 74.0)]
    again, die, passing = range(game.num_cells - 1, game.num_cells + 2)
    first_goal, first_waiting = track, track + players * pieces
    faces = 2 + players * (pieces + 1)

    def kinds(board: np.ndarray) -> list[int]:
        owner = np.arange(players)
        waiting = board[first_waiting:again]
        numbered = (waiting > 0) * (players + owner * pieces + waiting)
        rolled = board[die]
        return [
            *board[:first_waiting],
            *numbered,
            board[again] * (faces - 1),
            (rolled > 0) * (faces - 1 + rolled),
            0 * rolled,
        ]

    def spot(field: int, player: int) -> int:
        """The spot of a field as the player counts it."""
        inside = field >= track
        on_track = (field + player * int(game.starts[1])) % track
        goal = first_goal + player * pieces + field - track
        return inside * goal + (1 - inside) * on_track

    def end(board: np.ndarray, action: int) -> int:
        if action == PASS:
            return passing
        return spot(0 * board[-2] if action == ENTER else action - MOVE + board[-2], board[-1])

    def touched(board: np.ndarray, action: int) -> list[int]:
        if action == PASS:
            return [passing]
        if action == ENTER:
            return [end(board, action), first_waiting + board[-1]]
        return [end(board, action), spot(0 * board[-2] + action - MOVE, board[-1])]

    return Drawing(
        width=width,
        height=height + 40,
        ground=_fields(game, on_board) + text(below[2][0], height + 4, "pass"),
        spots=[*on_board, *below],
        pieces=_pieces(game),
        halo=f'<circle r="{_RADIUS}"/>',
        actions=["pass", "enter", *(f"from {field}" for field in range(game.num_actions - MOVE))],
        kinds=kinds,
        spot_of=end,
        touched_by=touched,
        spot_names=_spot_names(game),
        piece_names=_piece_names(game),
        cells=[*range(game.num_cells), -1, -1],
    )


def _pieces(game: Maedn) -> list[str]:
    """Nothing, a piece of each player, its numbers of waiting pieces, a remark, and the die."""
    numbers = [text(0, 0, str(number), "digit") for number in range(1, FACES + 1)]
    face = square(30, ' class="cell"', 6)
    return [
        "",
        *(stone(side, _RADIUS - 2) for side in game.sides),
        *(stone(side, 15) + number for side in game.sides for number in numbers[: game.pieces]),
        text(0, 4, "rolls again"),
        *(face + number for number in numbers),
    ]


def _piece_names(game: Maedn) -> list[str]:
    waiting = [f"{n + 1} {side}" for side in game.sides for n in range(game.pieces)]
    faces = [f"die {number}" for number in range(1, FACES + 1)]
    return ["empty", *game.sides, *waiting, "rolls again", *faces]


def _spot_names(game: Maedn) -> list[str]:
    goals = [f"goal of {side}, {n + 1}" for side in game.sides for n in range(game.pieces)]
    waiting = [f"{side} waiting" for side in game.sides]
    return [
        *(f"field {at}" for at in range(game.track)),
        *goals,
        *waiting,
        "rolls again",
        "die",
        "pass",
    ]


def _spots(game: Maedn) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """The spots of the track, the goals and the waiting pieces; width, and height so far.

    A quarter runs from the outer end of an arm of the cross inwards, along the next arm outwards,
    and across its end. With ten fields every inner corner has one. Goals must end before the
    center, so short arms are drawn larger.
    """
    arm = (game.quarter - 2) / 2
    apart = min(1.0, (arm + 0.5) / game.pieces)
    unit = _STEP / apart

    def on_quarter(steps: float) -> complex:
        if steps <= arm:
            return complex(1, steps - arm - 1)
        if steps <= 2 * arm:
            return complex(1 + steps - arm, -1)
        return complex(1 + arm, steps - 2 * arm - 1)

    points = [
        on_quarter(at % game.quarter) * 1j ** (at // game.quarter) for at in range(game.track)
    ]
    turns = [1j ** int(start // game.quarter) for start in game.starts]
    goal = [complex(0, apart * number - arm - 1) for number in range(1, game.pieces + 1)]
    points += [point * turn for turn in turns for point in goal]
    # The corners are free of fields where the arms are long enough.
    corner = arm + 1 + (_STEP / unit if arm < 1 else 0)
    points += [complex(corner, -corner) * turn for turn in turns]
    middle = _MARGIN + unit * corner
    spots = [(middle + unit * point.real, middle + unit * point.imag) for point in points]
    return spots, (2 * middle, 2 * middle + 20)


def _fields(game: Maedn, spots: list[tuple[float, float]]) -> str:
    """The empty board: starts, goals and corners have the color of their player."""
    colours = {int(start): side for start, side in zip(game.starts, game.sides, strict=True)}
    goals = [side for side in game.sides for _ in range(game.pieces)]
    colours |= dict(enumerate([*goals, *game.sides], start=game.track))
    ground = ""
    for at, (x, y) in enumerate(spots):
        radius = 17 if at >= len(spots) - game.players else _RADIUS
        rim = f"stroke:{named_colour(colours[at])};stroke-width:2" if at in colours else ""
        ground += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="item" style="{rim}"/>'
    return ground
