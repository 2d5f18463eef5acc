"""A recorded game as the page shows it: stills in SVG, and data for the script to turn pages."""

import dataclasses
import json
from html import escape
from typing import Any

import numpy as np

from jaxgbg.games import Scale
from jaxgbg.pages.drawings import Drawing, drawing_of
from jaxgbg.pages.figures import short_text
from jaxgbg.pages.records import GameRecord

STILLS = 6
_MOVES_IN_PRINT = 120
_LABEL_DIGITS = 2


@dataclasses.dataclass(frozen=True)
class Still:
    """One position: its board as markup, and a sentence about it."""

    board: str
    caption: str


@dataclasses.dataclass(frozen=True)
class _Position:
    """`pieces` names the kind on each spot; `moves` are (action, value, spot, value in words).

    `played` is the action that follows, `came` the spot of the one before; -1 where there is none.
    `names` are those of the moves where they depend on the board. `ways` are the paths from spot to
    spot, as SVG, of the move before and the one that follows; "" where nothing goes.
    """

    pieces: list[int]
    moves: list[tuple[int, float | None, int, str]]
    played: int
    came: int
    halos: list[float]
    caption: str
    names: list[str]
    ways: list[str]


class RecordView:
    """A record with its drawing; `shapes` is the prefix of the ids that `shape_markup` defines."""

    def __init__(self, record: GameRecord, shapes: str) -> None:
        game = record.game
        self.record = record
        self.shapes = shapes
        self.drawing = drawing_of(game)
        seats = zip(game.sides, record.names, strict=True)
        self._seats = [side if side == name else f"{side} ({name})" for side, name in seats]
        self._alone = game.num_players == 1
        # What two players learn are rewards from loss to win, which a share of wins would hide.
        scale = Scale("value") if game.num_players == 2 else game.scale
        self._value_scale = scale._replace(digits=min(scale.digits, _LABEL_DIGITS))
        self.positions = [self._position(at) for at in range(self.plies + 1)]

    @property
    def plies(self) -> int:
        return len(self.record.actions)

    @property
    def title(self) -> str:
        """Who plays whom, and what came of it."""
        if self._alone:
            return f"One game: {self._outcome()}"
        return f"{' – '.join(self._seats)}: {self._outcome()}"

    @property
    def moves(self) -> str:
        """The moves in words, the first ones of a long game."""
        names = [self._name(at) for at in range(min(self.plies, _MOVES_IN_PRINT))]
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
                f'<use href="#{self.shapes}-{position.pieces[number]}"/>'
                f'<use href="#{self.shapes}-halo" class="halo" style="fill-opacity:{halo}"/>'
                f'<text class="value">{words}</text></g>'
            )
        ways = "".join(
            f'<path class="way {which}" d="{way}"/>'
            for which, way in zip(("came", "played"), position.ways, strict=False)
        )
        return (
            f'<svg class="board" viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}" role="img"'
            f' aria-label="{escape(position.caption)}">'
            f'<use href="#{self.shapes}-ground"/>{ways}{"".join(spots)}</svg>'
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
        record, drawing = self.record, self.drawing
        board, over = record.boards[at], at == self.plies
        came = -1
        if at:
            came = drawing.spot_of(record.boards[at - 1], int(record.actions[at - 1]))
        moves: list[tuple[int, float | None, int, str]] = []
        if not over:
            for action in np.flatnonzero(record.values[at] != -np.inf).tolist():
                value = self._value(at, action)
                spot = drawing.spot_of(board, action)
                moves.append((action, value, spot, self._value_text(value)))
        if drawing.name_of:
            # Of several moves to one spot the last one is written: the one played, else the best.
            played = -1 if over else int(record.actions[at])
            moves.sort(
                key=lambda move: (move[0] == played, -np.inf if move[1] is None else move[1])
            )
        return _Position(
            pieces=[int(kind) for kind in drawing.kinds(board)],
            moves=moves,
            played=-1 if over else int(record.actions[at]),
            came=came,
            halos=_halos([value for _, value, _, _ in moves]),
            caption=self._caption(at),
            names=[drawing.name(board, move[0]) for move in moves] if drawing.name_of else [],
            ways=[self._way(at - 1), self._way(at)] if drawing.name_of else [],
        )

    def _name(self, at: int) -> str:
        """What the move of a position is called."""
        return self.drawing.name(self.record.boards[at], int(self.record.actions[at]))

    def _way(self, at: int) -> str:
        """The path of the move that is made in a position, "" where it has none."""
        if not 0 <= at < self.plies:
            return ""
        board, action = self.record.boards[at], int(self.record.actions[at])
        ends = self.drawing.origin_of(board, action), self.drawing.spot_of(board, action)
        if -1 in ends:
            return ""
        (x, y), (to_x, to_y) = (self.drawing.spots[end] for end in ends)
        return f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"

    def _value(self, at: int, action: int) -> float | None:
        """The value of an action on the page's scale; None where a network has diverged."""
        value = float(self.record.values[at, action])
        return float(f"{self._value_scale.figure(value):.6g}") if np.isfinite(value) else None

    def _value_text(self, value: float | None) -> str:
        return "?" if value is None else _figure_text(self._value_scale, value)

    def _caption(self, at: int) -> str:
        record = self.record
        if at == self.plies:
            return f"End after {self.plies:,} moves: {self._outcome()}."
        action = int(record.actions[at])
        move, value = self._name(at), self._value_text(self._value(at, action))
        who = f"{self._seats[int(record.players[at])]} plays {move}"
        if self._alone:
            who = f"{self._score(at)} so far; the agent plays {move}"
        judge = "it" if self._alone else "the agent"
        return f"Move {at + 1:,} of {self.plies:,}: {who}, which {judge} values at {value}."

    def _score(self, at: int) -> str:
        """What a single player has, e.g. "1,024 points"."""
        return f"{self._reward_text(at, 0)} {self.record.game.scale.unit}"

    def _reward_text(self, at: int, seat: int) -> str:
        scale = self.record.game.scale
        return _figure_text(scale, scale.figure(float(self.record.rewards[at, seat])), short=True)

    def _outcome(self) -> str:
        game, rewards = self.record.game, self.record.rewards[-1]
        if self._alone:
            return self._score(-1)
        if game.num_players == 2:
            winner = int(np.argmax(rewards))
            return "a draw" if rewards[0] == rewards[1] else f"{self._seats[winner]} wins"
        figures = [
            f"{self._reward_text(-1, seat)} for {side}" for seat, side in enumerate(game.sides)
        ]
        return f"{game.scale.unit} {', '.join(figures)}"


def _figure_text(scale: Scale, figure: float, short: bool = False) -> str:
    """A figure as tables show it, if `short` without digits that are 0."""
    text = short_text(scale, figure) if short else scale.text(figure)
    if not text.strip("-0."):
        text = text.removeprefix("-")
    return text.replace("-", "−") + " %" * scale.percent


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
