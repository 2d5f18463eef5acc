"""Serial TD from ply to ply for N players: every board moves towards the next one, for each player.

Source: Konen & Bagheri 2021, sections 2.4 and 3.5, on the older learners (their references 1 and
8), which connect each state with the next state of the episode. These have two players and one
value; here each player has values of all boards, so that there may be more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .board_rules import Game2048, TileState
from .lockstep_td_farl import LockstepTDFarl
from .rules import Cells, State
from .td_farl import Move, SerialTDFarl, Stage, Update


class SerialOnePlyTD(SerialTDFarl):
    """The tables of `SerialTDFarl` with other targets; N stages a move, one for each player."""

    def _stages(
        self, start: State | TileState, choose: Callable[[State | TileState], Move]
    ) -> Iterator[Stage]:
        p, players = self.parameters, range(self.game.num_players)
        board: Cells | None = None
        own: list[Cells | None] = [None for _ in players]
        own_reward = list(start.rewards)
        if p.learn_start and not isinstance(self.game, Game2048):
            board = own[start.player - 1] = start.cells
        state = start
        while not state.terminal:
            mover, earlier = state.player, state.rewards
            move = choose(state)
            after, state = self._play(state, move)
            for player in players:
                if board is None:
                    yield Stage()
                elif move[1] and not p.learn_from_random:
                    yield Stage(clears=p.trace_mode == "reset")
                else:
                    target = self._target(after, state, player, earlier[player])
                    yield Stage(Update(board, player, target))
            board = own[mover] = after.cells
            own_reward[mover] = state.rewards[mover]
        never = [False for _ in players]
        final = self._final_adaptation(after.cells, mover, state.rewards, own, own_reward, never)
        for stage in final:
            yield stage
            # A final update takes as long as a move.
            yield from [Stage()] * (len(players) - 1)


class LockstepOnePlyTD(SerialOnePlyTD, LockstepTDFarl):
    """The same of B games in lockstep: a tick of the learner is N ticks here."""

    def __init__(self, *arguments: Any, rule: str) -> None:
        LockstepTDFarl.__init__(self, *arguments, rule=rule)
