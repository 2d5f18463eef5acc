"""A position as one self-contained SVG, shown where widgets do not work."""

import hashlib
from html import escape
from importlib import resources

from jaxgbg.types import JSON
from jaxgbg.web.play.requests import PositionRequest
from jaxgbg.web.play.table import Table
from jaxgbg.web.positions import Position, board_markup, shape_markup

_EDGE, _CAPTION = 6, 26
# With its own background, because the surroundings may be light or dark.
_STYLE = (
    resources.files("jaxgbg.web").joinpath("page", "board.css").read_text("utf-8")
    + """.ground { fill: var(--back); }
.caption { text-anchor: middle; dominant-baseline: central; fill: var(--ink); }
svg { font: 13px system-ui, "DejaVu Sans", sans-serif; }"""
)


def still(table: Table, moves: str) -> str:
    """The position after `moves`, with the first agent's values if there is one."""
    drawing = table.drawing
    answer = table.position(PositionRequest(moves, "mover" if table.seats.agents else "none"))
    # One document may contain pictures of two games.
    prefix = f"still-{hashlib.sha256(shape_markup(drawing, '').encode()).hexdigest()[:8]}"
    words = _caption(table, answer)
    position = _position(answer, words)
    width = round(drawing.width) + 2 * _EDGE
    height = round(drawing.height) + 2 * _EDGE + _CAPTION
    # The board's own viewBox would be scaled to that of the picture.
    board = board_markup(drawing, prefix, position).partition(">")[2].removesuffix("</svg>")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" role="img" aria-label="{escape(words)}">'
        f"<style>{escape(_STYLE, quote=False)}</style>"
        f"<defs>{shape_markup(drawing, prefix)}</defs>"
        '<rect class="ground" width="100%" height="100%" rx="8"/>'
        f'<g class="board" transform="translate({_EDGE} {_EDGE})">{board}</g>'
        f'<text class="caption" x="50%" y="{height - 14}">{escape(words)}</text></svg>'
    )


def _position(answer: dict[str, JSON], caption: str) -> Position:
    """Convert the table's answer for a drawing; of several moves to one spot, show the best."""
    moves = sorted(
        answer["legal"], key=lambda move: (move["value"] is not None, move["value"] or 0.0)
    )
    last = answer["last"] or {"spot": -1, "way": ""}
    return Position(
        pieces=answer["pieces"],
        moves=[(move["action"], move["value"], move["spot"], move["words"]) for move in moves],
        played=-1,
        came=last["spot"],
        halos=[move["shade"] for move in moves],
        caption=caption,
        names=[],
        ways=[last["way"], ""],
    )


def _caption(table: Table, answer: dict[str, JSON]) -> str:
    if answer["outcome"]:
        return f"the game is over: {answer['outcome']}"
    if table.game.num_players == 1:
        return str(answer["score"])
    return f"{table.game.sides[answer['player']]} to move"
