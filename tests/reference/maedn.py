"""Plain rules of Mensch aergere dich nicht, written to be obviously right.

`initial(roll)` and `play(state, action, roll)` let chance bring `roll`, a face counted from 0.
"""

from __future__ import annotations

from typing import NamedTuple

WAITING = -1


class MaednState(NamedTuple):
    """`pieces`: the field of every piece of every player, counted from its own start, or WAITING.

    `ranked`: who has brought in all pieces, in order.
    """

    pieces: tuple[tuple[int, ...], ...]
    die: int
    player: int
    again: bool
    plies: int
    ranked: tuple[int, ...]
    terminal: bool
    rewards: tuple[float, ...]


class Maedn:
    def __init__(
        self,
        players: int,
        quarter: int,
        pieces: int,
        opposite: bool = True,
        max_plies: int = 2000,
        ranks: bool = False,
    ) -> None:
        self.players, self.pieces, self.max_plies, self.ranks = players, pieces, max_plies, ranks
        self.track = 4 * quarter
        apart = 2 * quarter if players == 2 and opposite else quarter
        self.starts = [apart * player for player in range(players)]

    def initial(self, roll: int) -> MaednState:
        waiting = ((WAITING,) * self.pieces,) * self.players
        return MaednState(waiting, roll + 1, 0, False, 0, (), False, (0.0,) * self.players)

    def _free(self, state: MaednState, field: int) -> bool:
        """Whether a piece of the player to move may land on a field."""
        return field < self.track + self.pieces and field not in state.pieces[state.player]

    def legal(self, state: MaednState) -> list[int]:
        if state.terminal:
            return []
        own, die = state.pieces[state.player], state.die
        if WAITING in own:
            if 0 in own and self._free(state, die):
                return [2]
            if die == 6 and 0 not in own:
                return [1]
        movable = [field for field in own if field != WAITING and self._free(state, field + die)]
        return sorted(2 + field for field in movable) or [0]

    def play(self, state: MaednState, action: int, roll: int) -> MaednState:
        mover = state.player
        pieces = [list(own) for own in state.pieces]
        if action > 0:
            origin = WAITING if action == 1 else action - 2
            target = 0 if action == 1 else origin + state.die
            pieces[mover][pieces[mover].index(origin)] = target
            for other in range(self.players):
                for number, field in enumerate(pieces[other]):
                    if other != mover and WAITING < field < self.track and target < self.track:
                        here = (self.starts[mover] + target) % self.track
                        if (self.starts[other] + field) % self.track == here:
                            pieces[other][number] = WAITING
        ranked = state.ranked
        if min(pieces[mover]) >= self.track:
            ranked = (*ranked, mover)
        finished = mover in ranked
        most = self.players - 1 if self.ranks else 1
        last = state.plies + 1 == self.max_plies
        terminal = last or len(ranked) == most
        again = state.die == 6 and not finished and not terminal
        following = mover
        if not again:
            following = (mover + 1) % self.players
            # Without ranks the game is over where somebody has finished.
            while following in ranked and self.ranks:
                following = (following + 1) % self.players
        return MaednState(
            tuple(tuple(own) for own in pieces),
            0 if terminal else roll + 1,
            following,
            again,
            state.plies + 1,
            ranked,
            terminal,
            tuple(self._rewards(ranked, terminal)),
        )

    def _rewards(self, ranked: tuple[int, ...], terminal: bool) -> list[float]:
        if not self.ranks:
            lost = -1.0 / (self.players - 1) if ranked else 0.0
            return [1.0 if player in ranked else lost for player in range(self.players)]
        pay = [1 - 2 * rank / (self.players - 1) for rank in range(self.players)]
        rest = pay[len(ranked) :]
        share = sum(rest) / len(rest) if terminal else 0.0
        return [
            pay[ranked.index(player)] if player in ranked else share
            for player in range(self.players)
        ]

    def cells(self, state: MaednState) -> tuple[int, ...]:
        track, goals = [0] * self.track, []
        for player, own in enumerate(state.pieces):
            for field in range(self.track, self.track + self.pieces):
                goals.append((1 + player) * (field in own))
            for field in own:
                if WAITING < field < self.track:
                    track[(self.starts[player] + field) % self.track] = 1 + player
        waiting = [own.count(WAITING) for own in state.pieces]
        return (*track, *goals, *waiting, int(state.again))
