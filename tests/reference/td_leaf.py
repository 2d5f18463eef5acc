"""Serial TD-Leaf: the updates of TD-FARL, made on leaves that plain recursion finds.

Source: Baxter, Tridgell & Weaver 1998; what a player's leaf is: `jaxgbg.search.td_leaf`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .lookahead import LookAhead
from .mlp_td import SerialNetworkLearner
from .rules import Cells, State, is_out
from .td_farl import SerialTDFarl


class SerialTDLeaf:
    """Trains tables, or a network with eligibility lists, that another learner updates.

    `settings` are those of the recursion: plies, width, paranoid. No games of chance.
    """

    def __init__(self, learner: SerialTDFarl | SerialNetworkLearner, **settings: Any) -> None:
        self.learner = learner
        self.foreseen = 0
        """How often a player has seen the end of the game that was not yet reached."""
        self._recursion = LookAhead(learner.game, self._value, **settings)

    def _value(self, cells: Cells, player: int) -> float:
        if isinstance(self.learner, SerialTDFarl):
            return float(self.learner.values(cells, player))
        return float(self.learner.q_values(cells, player)[0])

    def _update(self, board: State, player: int, target: float) -> None:
        if isinstance(self.learner, SerialTDFarl):
            self.learner.update(board.cells, player, target)
        else:
            self.learner.update(board.cells, 0, player, target)

    def episode(self, opening: Sequence[int], moves: Sequence[tuple[int, bool]]) -> None:
        """Learn from one recorded episode, see `SerialTDFarl.episode`."""
        p, game = self.learner.parameters, self.learner.game
        state = game.initial()
        for action in opening:
            state = game.play(state, action)
        last: list[State | None] = [None] * game.num_players
        last[state.player - 1] = state
        for action, was_random in moves:
            mover, previous = state.player, last[state.player]
            _, leaf = self._recursion.variation(state, action, mover)
            state = game.play(state, action)
            if previous is not None:
                if not was_random or p.learn_from_random:
                    ends = leaf.terminal or is_out(game, leaf, mover)
                    ahead = 0.0 if ends else p.gamma * self._value(leaf.cells, mover)
                    gain = leaf.rewards[mover] - previous.rewards[mover]
                    self._update(previous, mover, gain + ahead)
                elif p.trace_mode == "reset":
                    for traces in self.learner.eligibility:
                        traces.clear()
            foreseen = leaf.terminal and not state.terminal
            foreseen |= is_out(game, leaf, mover) and not is_out(game, state, mover)
            last[mover] = None if foreseen else leaf
            self.foreseen += foreseen
        for player, board in enumerate(last if p.final_others else []):
            if player != mover and board is not None:
                self._update(board, player, state.rewards[player] - board.rewards[player])
        if p.final_zero:
            # The last leaf of the last mover, whose value is 0.
            self._update(state, mover, 0.0)
        self.learner.episodes_done += 1
