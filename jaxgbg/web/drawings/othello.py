"""Othello: black and white discs on felt."""

from jaxgbg.games import Othello
from jaxgbg.web.drawings.core import Drawing, coordinates, disc, grid, named_squares, square


def drawing(game: Othello) -> Drawing:
    size, side, margin = game.size, 42, 24
    felt = f'<rect x="{margin}" y="{margin}" width="{size * side}" height="{size * side}"'
    lines = "".join(
        f'<path class="thin" d="M{margin + at * side} {margin}v{size * side}'
        f'M{margin} {margin + at * side}h{size * side}"/>'
        for at in range(size + 1)
    )
    return Drawing(
        width=size * side + margin + 6,
        height=size * side + margin + 6,
        ground=f'{felt} class="felt"/>{lines}{coordinates(size, side, margin)}',
        spots=grid(size, size, side, margin, margin),
        pieces=(disc("black", 16.5), disc("white", 16.5), "", ""),
        halo=square(side - 4),
        actions=named_squares(size),
        spot_of=lambda board, action: action,
        spot_names=named_squares(size),
        piece_names=("black", "white", "empty", "empty"),
        colours=("var(--black)", "var(--white)"),
        turns=True,
    )
