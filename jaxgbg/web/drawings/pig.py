"""Pig: the scores of all players, the points of the turn, and two buttons."""

from jaxgbg.games import Pig
from jaxgbg.web.drawings.core import Drawing, text


def drawing(game: Pig) -> Drawing:
    side, margin, top = 92, 12, 34
    players, target = game.players, game.target
    names = [*game.sides, "this turn"]
    # The page says of a roll: 8 points at stake.
    spots = [(margin + (at + 0.5) * side, top + 30.0) for at in range(players + 1)]
    buttons = [(margin + (at + 0.5) * side, top + 96.0) for at in range(2)]
    box = '<rect x="-38" y="-26" width="76" height="52" rx="8" class="cell"/>'
    ground = "".join(
        text(x, top - 12, name) + f'<g transform="translate({x} {y})">{box}</g>'
        for (x, y), name in zip(spots, names, strict=True)
    )
    ground += "".join(
        f'<g transform="translate({x} {y})">{box}</g>{text(x, y + 44, name)}'
        for (x, y), name in zip(buttons, ("roll", "hold"), strict=True)
    )
    return Drawing(
        width=2 * margin + (players + 1) * side,
        height=top + 156,
        ground=ground,
        spots=spots + buttons,
        pieces=[text(0, 0, str(points), "digit") for points in range(target + 1)] + [""],
        halo='<rect x="-35" y="-23" width="70" height="46" rx="7"/>',
        actions=["roll", "hold"],
        kinds=lambda board: [*board, target + 1, target + 1],
        spot_of=lambda board, action: players + 1 + action,
        spot_names=[*(f"score of {name}" for name in game.sides), "stake", "roll", "hold"],
        piece_names=[*(f"{points} points" for points in range(target + 1)), "empty"],
        cells=[*range(players + 1), -1, -1],
    )
