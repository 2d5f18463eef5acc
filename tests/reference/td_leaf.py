"""Serial TD-Leaf of n-tuple tables: the updates of TD-FARL, made on leaves of plain recursion.

Source: Baxter, Tridgell & Weaver 1998; what a player's leaf is: `jaxgbg.search.td_leaf`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .lookahead import LookAhead
from .rules import State
from .td_farl import SerialTDFarl


class SerialTDLeaf(SerialTDFarl):
    """`settings` are those of the recursion: plies, width, paranoid. No games of chance."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments)
        self._recursion = LookAhead(
            self.game, lambda cells, player: float(self.values(cells, player)), **settings
        )
        self.foreseen = 0
        """Ends of the game that a player has foreseen before the others moved on."""

    def learn(self, opening: Sequence[int], moves: Sequence[tuple[int, bool]]) -> None:
        """Learn from one recorded episode, see `SerialTDFarl.episode`."""
        p, players = self.parameters, range(self.game.num_players)
        state = self._start(opening)
        last: list[State | None] = [None for _ in players]
        last[state.player - 1] = state
        for action, was_random in moves:
            mover, previous = state.player, last[state.player]
            _, leaf = self._recursion.variation(state, action, mover)
            state = self.game.play(state, action)
            if previous is not None and was_random and not p.learn_from_random:
                if p.trace_mode == "reset" and not previous.terminal:
                    for traces in self.eligibility:
                        traces.clear()
            elif previous is not None and not previous.terminal:
                target = leaf.rewards[mover] - previous.rewards[mover]
                if not leaf.terminal:
                    target += p.gamma * float(self.values(leaf.cells, mover))
                self.update(previous.cells, mover, target)
            last[mover] = leaf
            self.foreseen += leaf.terminal and not state.terminal
        if p.final_others:
            for player in players:
                board = last[player]
                if player != mover and board is not None and not board.terminal:
                    gain = state.rewards[player] - board.rewards[player]
                    self.update(board.cells, player, gain)
        if p.final_zero:
            self.update(state.cells, mover, 0.0)
        self.episodes_done += 1
