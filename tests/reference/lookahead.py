"""Look-ahead of some plies over a value function, by plain recursion in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .board_rules import Game2048, TileState
from .rules import Cells, Game, State, is_out

Value = Callable[[Cells, int], float]
"""V(s | player) of a board."""


@dataclass(frozen=True)
class LookAhead:
    """Max-N over V(s | player) of every player at the leaves or, with `paranoid`, the searcher
    against all others over V(s | searcher). Ply k < plies - 1 goes on from its `width[k]` best
    moves by their value at one ply; equal ones in the order of their numbers. Terminal: 0.
    """

    game: Game | Game2048
    value: Value
    plies: int
    width: Sequence[int] = ()
    paranoid: bool = False

    def scores(self, state: State | TileState) -> dict[int, float]:
        """What each action that is gone on from is worth to the player to move."""
        searcher = state.player
        return {
            action: self._aim(self._total(state, action, searcher, 0), searcher, searcher)
            for action in self._beam(state, searcher, 0)
        }

    def variation(
        self, state: State, action: int, searcher: int, ply: int = 0
    ) -> tuple[list[float], State]:
        """What every player gets from here on by `action`, and the board that this ends in.

        Not for games of chance.
        """
        after = self.game.play(state, action)
        gain = [new - old for new, old in zip(after.rewards, state.rewards, strict=True)]
        if after.terminal:
            return gain, after
        if ply == self.plies - 1:
            future, leaf = self._values(after), after
        else:
            future, leaf = max(
                (self.variation(after, reply, searcher, ply + 1)
                 for reply in self._beam(after, searcher, ply + 1)),
                key=lambda line: self._aim(line[0], after.player, searcher),
            )  # fmt: skip
        return [now + later for now, later in zip(gain, future, strict=True)], leaf

    def _values(self, after: State | TileState) -> list[float]:
        """V of every player, 0 for who is out."""
        return [
            0.0
            if isinstance(after, State) and is_out(self.game, after, player)
            else self.value(after.cells, player)
            for player in range(self.game.num_players)
        ]

    def _beam(self, state: State | TileState, searcher: int, ply: int) -> list[int]:
        legal = list(self.game.legal(state))
        if not self.width or ply == self.plies - 1:
            return legal
        last = self.plies - 1

        def score(action: int) -> float:
            return self._aim(self._total(state, action, searcher, last), state.player, searcher)

        return sorted(legal, key=lambda action: (-score(action), action))[: self.width[ply]]

    def _aim(self, total: list[float], player: int, searcher: int) -> float:
        if not self.paranoid:
            return total[player]
        return total[searcher] if player == searcher else -total[searcher]

    def _total(self, state: State | TileState, action: int, searcher: int, ply: int) -> list[float]:
        """What every player gets from here on."""
        if isinstance(self.game, Game2048):
            after = self.game.afterstate(state, action)
        else:
            after = self.game.play(state, action)
        gain = [new - old for new, old in zip(after.rewards, state.rewards, strict=True)]
        if after.terminal:
            return gain
        if ply == self.plies - 1:
            future = self._values(after)
        elif isinstance(self.game, Game2048):
            future = self._expected(after, searcher, ply)
        else:
            future = self._best(after, searcher, ply + 1)
        return [now + later for now, later in zip(gain, future, strict=True)]

    def _expected(self, after: TileState, searcher: int, ply: int) -> list[float]:
        empty = [cell for cell, tile in enumerate(after.tiles) if tile == 0]
        mean = 0.0
        for exponent, share in ((1, 0.9), (2, 0.1)):
            for cell in empty:
                placed = self.game.place(after, cell, exponent)
                mean += share / len(empty) * self._best(placed, searcher, ply + 1)[0]
        return [mean]

    def _best(self, state: State | TileState, searcher: int, ply: int) -> list[float]:
        if state.terminal:
            return [0.0] * self.game.num_players
        totals = [
            self._total(state, action, searcher, ply) for action in self._beam(state, searcher, ply)
        ]
        return max(totals, key=lambda total: self._aim(total, state.player, searcher))
