"""Backgammon: triangles with stacks of checkers, the bar between them, trays at the right.

A move is marked where it leads to. Every tray has two spots: a checker that leaves by the smaller
die is marked on the second.
"""

from jaxgbg.games import Backgammon
from jaxgbg.games.backgammon import BAR, PASS, POINTS
from jaxgbg.types import AnyArray
from jaxgbg.web.drawings.core import Drawing, disc, square, text

_RADIUS, _STEP, _LEFT, _TOP, _HEIGHT = 15, 34.0, 22.0, 30.0, 330.0
_BOTTOM = _TOP + _HEIGHT
_MIDDLE = _TOP + _HEIGHT / 2
# Checkers of a stack that are drawn; a larger stack shows its number.
_DRAWN = 5
_MOST = 15
_BARS, _TRAYS, _DICE, _PASSING = POINTS, POINTS + 2, POINTS + 6, POINTS + 9
# Where `display_cells` has the larger die, the repeats of a double and the player to move.
_DIE, _REPEAT, _PLAYER = 2 * (BAR + 1), 2 * (BAR + 1) + 2, 2 * (BAR + 1) + 3

# The words of names: those of the places have their number.
_WORDS = ("", *map(str, range(1, BAR)), "bar", "/", "off", "*", " by ", "pass")
_SLASH, _OFF, _HIT, _BY, _PASS = range(BAR + 1, BAR + 6)


def drawing(game: Backgammon) -> Drawing:
    """Boards are `display_cells`: the checkers on all places, the dice, repeats and the player."""
    spots = _spots()
    places = [*(f"{place}" for place in range(1, BAR)), "bar"]
    return Drawing(
        width=_LEFT + 14 * _STEP + 84,
        height=_BOTTOM + 28,
        ground=_ground(game, spots),
        spots=spots,
        pieces=_pieces(game),
        halo=f'<circle r="{_RADIUS + 1}"/>',
        actions=[f"{place} by the {die} die" for place in places for die in ("larger", "smaller")]
        + ["pass"],
        kinds=_kinds,
        spot_of=_target,
        origin_of=_origin,
        words=_WORDS,
        name_of=_name,
        spot_names=_spot_names(game),
        piece_names=_piece_names(game),
        # The cells of a tray are its number in two digits, the smaller one first.
        cells=[*range(game.num_cells), -1],
        colours=("var(--white)", "var(--black)"),
    )


def _kinds(board: AnyArray) -> list[AnyArray]:
    white, black = board[: BAR + 1], board[BAR + 1 : _DIE]
    nothing = 0 * white[0]
    points = [_stack_kind(white[k], black[BAR - k], k > 12) for k in range(1, BAR)]
    bars = [_stack_kind(white[BAR], nothing, False), _stack_kind(nothing, black[BAR], True)]
    trays = [_stack_kind(white[0], nothing, False), _stack_kind(nothing, black[0], True)]
    dice = [(die > 0) * (4 * _MOST + die) for die in board[_DIE:_REPEAT]]
    repeat = board[_REPEAT]
    times = (repeat > 0) * (4 * _MOST + 6 + repeat)
    return [*points, *bars, nothing, trays[0], nothing, trays[1], *dice, times, nothing]


def _stack_kind(white: AnyArray, black: AnyArray, top: bool) -> AnyArray:
    """The kind of a stack with checkers of one player or of none."""
    count = white + black
    return (count > 0) * (2 * _MOST * top + _MOST * (black > 0) + count)


def _spot(player: AnyArray, place: AnyArray) -> AnyArray:
    """The spot of a place from 1 to 25 as the player counts it."""
    on_bar = place == BAR
    point = player * (POINTS - place) + (1 - player) * (place - 1)
    return on_bar * (_BARS + player) + (1 - on_bar) * point


def _target(board: AnyArray, action: int) -> AnyArray:
    if action == PASS:
        return _PASSING
    place = action // 2 + 1 - board[_DIE + action % 2]
    leaves = place < 1
    # The tray's own spot is its second one.
    tray = _TRAYS + 2 * board[_PLAYER] + 1 - action % 2
    return leaves * tray + (1 - leaves) * _spot(board[_PLAYER], place)


def _origin(board: AnyArray, action: int) -> AnyArray:
    place = 0 * board[_PLAYER] + action // 2 + 1
    return -1 if action == PASS else _spot(board[_PLAYER], place)


def _name(board: AnyArray, action: int) -> list[AnyArray | int]:
    """As 8/5, 13/7*, bar/20, 3/off or 2/off by 6: start, slash, end, and what else happens."""
    if action == PASS:
        return [_PASS, 0, 0, 0, 0]
    place, die, player = action // 2 + 1, board[_DIE + action % 2], board[_PLAYER]
    leaves, larger = 1 * (place <= die), 1 * (place < die)
    end = place - (1 - leaves) * die
    hits = (1 - leaves) * (board[(BAR + 1) * (1 - player) + BAR - end] > 0)
    return [
        place,
        _SLASH,
        (1 - leaves) * end + leaves * _OFF,
        hits * _HIT + larger * _BY,
        larger * die,
    ]


def _spots() -> list[tuple[float, float]]:
    """The points as white counts them, bars, two places of each tray, two dice, repeats, pass."""
    low, high = _BOTTOM - _RADIUS - 1, _TOP + _RADIUS + 1

    def column(at: int) -> float:
        """The middle of column 0 to 12 from the left; the bar is column 6."""
        return _LEFT + (at + 0.5) * _STEP

    lower = [(column(12 - k if k < 6 else 11 - k), low) for k in range(12)]
    upper = [(x, high) for x, _ in lower[::-1]]
    bars = [(column(6), _MIDDLE + 4.5 * _RADIUS), (column(6), _MIDDLE - 4.5 * _RADIUS)]
    tray = _LEFT + 13.9 * _STEP
    # Between two checkers of a stack.
    second = 5 * _RADIUS
    trays = [(tray, low - second), (tray, low), (tray, high + second), (tray, high)]
    side = tray + 52
    dice = [(side, _MIDDLE - 20), (side, _MIDDLE + 20), (side, _MIDDLE + 48)]
    return [*lower, *upper, *bars, *trays, *dice, (side, low)]


def _ground(game: Backgammon, spots: list[tuple[float, float]]) -> str:
    board = f'x="{_LEFT}" y="{_TOP}" width="{13 * _STEP}" height="{_HEIGHT}"'
    ground = f'<rect {board} class="felt"/>'
    for at, (x, y) in enumerate(spots[:POINTS]):
        low = at < 12
        base, tip = (_BOTTOM, _MIDDLE + 22) if low else (_TOP, _MIDDLE - 22)
        fill = ("var(--frame)", "var(--back)")[at % 2]
        corners = f"{x - _STEP / 2:.1f},{base} {x + _STEP / 2:.1f},{base} {x:.1f},{tip}"
        ground += f'<polygon points="{corners}" style="fill:{fill};fill-opacity:.55"/>'
        ground += text(x, y + (30 if low else -30), str(at + 1))
    left = _LEFT + 6 * _STEP
    ground += f'<rect x="{left}" y="{_TOP}" width="{_STEP}" height="{_HEIGHT}" class="frame"/>'
    tray = spots[_TRAYS][0]
    for top in (_TOP, _MIDDLE + 4):
        box = f'x="{tray - 18}" y="{top}" width="36" height="{_HEIGHT / 2 - 4}"'
        ground += f'<rect {box} class="frame"/>'
    x, y = spots[_PASSING]
    for side, height in zip(game.sides, (_BOTTOM + 14, _TOP - 14), strict=True):
        ground += text(tray, height, side)
    return ground + text(x, y + 30, "pass")


def _pieces(game: Backgammon) -> list[str]:
    """Nothing, the stacks of both players that grow up and down, the dice, and repeats."""
    stacks = [
        _stack(side, count, way) for way in (-1, 1) for side in game.sides for count in _counts()
    ]
    face = square(30, ' class="cell"', 6)
    dice = [face + text(0, 0, str(number), "digit") for number in range(1, 7)]
    return ["", *stacks, *dice, *(text(0, 0, f"×{1 + more}", "digit") for more in range(1, 4))]


def _stack(side: str, count: int, way: int) -> str:
    """Checkers on top of each other, upward with way -1; many have their number on the first."""
    discs = "".join(
        f'<g transform="translate(0 {way * 2 * _RADIUS * at})">{disc(side, _RADIUS - 0.5)}</g>'
        for at in range(min(count, _DRAWN))
    )
    if count <= _DRAWN:
        return discs
    ink = f"fill:{'#000000' if side == 'white' else '#ffffff'}"
    last = way * 2 * _RADIUS * (_DRAWN - 1)
    return discs + f'<text y="{last}" class="digit" style="{ink}">{count}</text>'


def _counts() -> range:
    return range(1, _MOST + 1)


def _piece_names(game: Backgammon) -> list[str]:
    stacks = [f"{count} {side}" for side in game.sides for count in _counts()]
    dice = [f"die {number}" for number in range(1, 7)]
    return [
        "empty",
        *stacks,
        *stacks,
        *dice,
        *(f"double, {1 + more} times" for more in range(1, 4)),
    ]


def _spot_names(game: Backgammon) -> list[str]:
    trays = [f"{side} off{which}" for side in game.sides for which in (", smaller die", "")]
    bars = [f"bar of {side}" for side in game.sides]
    points = [f"point {place}" for place in range(1, BAR)]
    return [*points, *bars, *trays, "larger die", "smaller die", "double", "pass"]
