"""A recorded game as the page shows it: stills in SVG, and data for the script to turn pages."""

import dataclasses
import json
from html import escape
from typing import Any

import numpy as np

from jaxgbg.games.game2048 import MAX_SCORE
from jaxgbg.pages.board_svg import Drawing, drawing_of
from jaxgbg.pages.replay import Replay

STILLS = 6
_MOVES_IN_PRINT = 120
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclasses.dataclass(frozen=True)
class Still:
    """One position: its board as markup, and a sentence about it."""

    board: str
    caption: str


@dataclasses.dataclass(frozen=True)
class _Position:
    """`pieces` names the kind on each spot; `moves` are (action, value, spot, value in words)."""

    pieces: str
    moves: list[tuple[int, float | None, int, str]]
    played: int
    came: int
    halos: list[float]
    caption: str


class Film:
    """A replay with its drawing; `shapes` is the prefix of the ids that `shape_markup` defines."""

    def __init__(self, replay: Replay, shapes: str) -> None:
        self.replay = replay
        self.shapes = shapes
        self.drawing = drawing_of(replay.game)
        seats = zip(self.drawing.sides, replay.names, strict=True)
        self._seats = [side if side == name else f"{side} ({name})" for side, name in seats]
        self._alone = replay.game.num_players == 1
        self.positions = [self._position(at) for at in range(self.plies + 1)]

    @property
    def plies(self) -> int:
        return len(self.replay.actions)

    @property
    def title(self) -> str:
        """Who plays whom, and what came of it."""
        if self._alone:
            return f"One game: {self._outcome()}"
        return f"{' – '.join(self._seats)}: {self._outcome()}"

    @property
    def moves(self) -> str:
        """The moves in words, the first ones of a long game."""
        names = [self.drawing.actions[action] for action in self.replay.actions[:_MOVES_IN_PRINT]]
        more = self.plies - len(names)
        comma = "; " if any("," in name for name in names) else ", "
        return comma.join(names) + (f" and {more:,} more" if more else "")

    def board(self, at: int) -> str:
        """The markup of a position."""
        drawing, position = self.drawing, self.positions[at]
        marks = {
            spot: (action, value, words, halo)
            for (action, value, spot, words), halo in zip(
                position.moves, position.halos, strict=True
            )
        }
        best = max((v for _, v, _, _ in position.moves if v is not None), default=None)
        spots = []
        for number, (x, y) in enumerate(drawing.spots):
            action, value, words, halo = marks.get(number, (None, None, "", 0))
            look = "spot" + " came" * (number == position.came)
            look += " best" * (value is not None and value == best)
            look += " played" * (action is not None and action == position.played)
            spots.append(
                f'<g class="{look}" transform="translate({x:.1f} {y:.1f})">'
                f'<use href="#{self.shapes}-{int(position.pieces[number], 36)}"/>'
                f'<use href="#{self.shapes}-halo" class="halo" style="fill-opacity:{halo}"/>'
                f'<text class="value">{words}</text></g>'
            )
        return (
            f'<svg class="board" viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}" role="img"'
            f' aria-label="{escape(position.caption)}">'
            f'<use href="#{self.shapes}-ground"/>{"".join(spots)}</svg>'
        )

    def stills(self) -> list[Still]:
        """Positions from the start to the end, evenly spread."""
        chosen = np.unique(np.linspace(0, self.plies, STILLS).round().astype(int))
        return [Still(self.board(at), self.positions[at].caption) for at in chosen]

    def data(self) -> str:
        """JSON for the page's script, safe inside a script element."""
        content = {
            "shapes": self.shapes,
            "actions": list(self.drawing.actions),
            "positions": [list(vars(position).values()) for position in self.positions],
        }
        return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")

    def _position(self, at: int) -> _Position:
        replay, drawing = self.replay, self.drawing
        digits, over = replay.digits[at], at == self.plies
        came = -1
        if at:
            came = drawing.place(replay.digits[at - 1], int(replay.actions[at - 1]))
        moves: list[tuple[int, float | None, int, str]] = []
        if not over:
            for action in np.flatnonzero(replay.values[at] != -np.inf).tolist():
                value = self._in_unit(float(replay.values[at, action]))
                spot = drawing.place(digits, action)
                moves.append((action, value, spot, self._words(value)))
        return _Position(
            pieces="".join(_DIGITS[kind] for kind in drawing.show(digits)),
            moves=moves,
            played=-1 if over else int(replay.actions[at]),
            came=came,
            halos=_halos([value for _, value, _, _ in moves]),
            caption=self._caption(at),
        )

    def _in_unit(self, value: float) -> float | None:
        """A value as the page tells it, points in 2048; None where a network has diverged."""
        if not np.isfinite(value):
            return None
        return float(f"{value * MAX_SCORE if self._alone else value:.6g}")

    def _words(self, value: float | None) -> str:
        if value is None:
            return "?"
        # Adding 0 takes the sign from a zero.
        return f"{value:,.0f}" if self._alone else f"{round(value, 2) + 0:.2f}".replace("-", "−")

    def _caption(self, at: int) -> str:
        replay = self.replay
        if at == self.plies:
            return f"End after {self.plies:,} moves: {self._outcome()}."
        move = self.drawing.actions[int(replay.actions[at])]
        value = self._words(self._in_unit(float(replay.values[at, replay.actions[at]])))
        who = f"{self._seats[int(replay.players[at])]} plays {move}"
        if self._alone:
            points = self._points(at)
            who = f"{points} points so far; the agent plays {move}"
        judge = "it" if self._alone else "the agent"
        return f"Move {at + 1:,} of {self.plies:,}: {who}, which {judge} values at {value}."

    def _points(self, at: int) -> str:
        return f"{float(self.replay.rewards[at, 0]) * MAX_SCORE:,.0f}"

    def _outcome(self) -> str:
        rewards = self.replay.rewards[-1]
        if self._alone:
            return f"{self._points(-1)} points"
        if len(rewards) == 2:
            winner = int(np.argmax(rewards))
            return "a draw" if rewards[0] == rewards[1] else f"{self._seats[winner]} wins"
        return "rewards " + ", ".join(f"{reward:g}" for reward in rewards)


def shape_markup(drawing: Drawing, shapes: str) -> str:
    """The definitions that all positions of one drawing share."""
    kinds = "".join(
        f'<g id="{shapes}-{kind}">{piece}</g>' for kind, piece in enumerate(drawing.pieces)
    )
    return (
        f'<g id="{shapes}-ground" class="board">{drawing.ground}</g>{kinds}'
        f'<g id="{shapes}-halo">{drawing.halo}</g>'
    )


def _halos(values: list[Any]) -> list[float]:
    """How strongly each move is marked, from the worst to the best of the position."""
    finite = [value for value in values if value is not None]
    if not finite:
        return [0.0] * len(values)
    low, reach = min(finite), max(finite) - min(finite)
    return [
        0.0 if value is None else round(0.05 + 0.45 * ((value - low) / reach if reach else 1), 2)
        for value in values
    ]
