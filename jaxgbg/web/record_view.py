"""A recorded game as the page shows it: stills in SVG, and data for the script."""

import dataclasses
import json

import numpy as np

from jaxgbg.web.drawings import drawing_of
from jaxgbg.web.positions import (
    Position,
    board_markup,
    halos,
    outcome_text,
    reward_text,
    value_on,
    value_scale,
    value_text,
    way,
)
from jaxgbg.web.records import GameRecord

STILLS = 6
_MOVES_IN_PRINT = 120


@dataclasses.dataclass(frozen=True)
class Still:
    """One position: its board as markup, and a sentence about it."""

    board: str
    caption: str


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
        self._value_scale = value_scale(game)
        self.positions = [self._position(at) for at in range(self.plies + 1)]

    @property
    def plies(self) -> int:
        return len(self.record.actions)

    @property
    def title(self) -> str:
        """The players and the outcome."""
        if self._alone:
            return f"One game: {self._outcome()}"
        return f"{' – '.join(self._seats)}: {self._outcome()}"

    @property
    def moves(self) -> str:
        """The names of the moves; of a long game the first ones."""
        names = [self._name(at) for at in range(min(self.plies, _MOVES_IN_PRINT))]
        more = self.plies - len(names)
        comma = "; " if any("," in name for name in names) else ", "
        return comma.join(names) + (f" and {more:,} more" if more else "")

    def board(self, at: int) -> str:
        """The markup of a position."""
        return board_markup(self.drawing, self.shapes, self.positions[at])

    def stills(self) -> list[Still]:
        """Positions from start to end, evenly spaced."""
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

    def _position(self, at: int) -> Position:
        record, drawing = self.record, self.drawing
        board, over = record.boards[at], at == self.plies
        came = -1
        if at:
            came = int(drawing.spot_of(record.boards[at - 1], int(record.actions[at - 1])))
        moves: list[tuple[int, float | None, int, str]] = []
        if not over:
            for action in np.flatnonzero(record.values[at] != -np.inf).tolist():
                value = self._value(at, action)
                spot = int(drawing.spot_of(board, action))
                moves.append((action, value, spot, value_text(self._value_scale, value)))
        if drawing.name_of:
            # If several moves share a spot, the last one is shown: the played one, or the best.
            played = -1 if over else int(record.actions[at])
            moves.sort(
                key=lambda move: (move[0] == played, -np.inf if move[1] is None else move[1])
            )
        return Position(
            pieces=[int(kind) for kind in drawing.kinds(board)],
            moves=moves,
            played=-1 if over else int(record.actions[at]),
            came=came,
            halos=halos([value for _, value, _, _ in moves]),
            caption=self._caption(at),
            names=[drawing.name(board, move[0]) for move in moves] if drawing.name_of else [],
            ways=[self._way(at - 1), self._way(at)] if drawing.name_of else [],
        )

    def _name(self, at: int) -> str:
        """The name of the move of a position."""
        return self.drawing.name(self.record.boards[at], int(self.record.actions[at]))

    def _way(self, at: int) -> str:
        """The path of the move of a position, "" if it has none."""
        if not 0 <= at < self.plies:
            return ""
        return way(self.drawing, self.record.boards[at], int(self.record.actions[at]))

    def _value(self, at: int, action: int) -> float | None:
        """The value of an action on the page's scale; None if a network has diverged."""
        return value_on(self._value_scale, self.record.values[at, action])

    def _caption(self, at: int) -> str:
        record = self.record
        if at == self.plies:
            return f"End after {self.plies:,} moves: {self._outcome()}."
        action = int(record.actions[at])
        move, value = self._name(at), value_text(self._value_scale, self._value(at, action))
        who = f"{self._seats[int(record.players[at])]} plays {move}"
        if self._alone:
            who = f"{self._score(at)} so far; the agent plays {move}"
        judge = "it" if self._alone else "the agent"
        return f"Move {at + 1:,} of {self.plies:,}: {who}, which {judge} values at {value}."

    def _score(self, at: int) -> str:
        """The score of a single player, e.g. "1,024 points"."""
        game = self.record.game
        return f"{reward_text(game, self.record.rewards[at, 0])} {game.scale.unit}"

    def _outcome(self) -> str:
        return outcome_text(self.record.game, self._seats, self.record.rewards[-1])
