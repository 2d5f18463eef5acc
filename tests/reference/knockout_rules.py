"""Plain rules of games in which players leave before the end, by coordinates and lists.

As in `rules`, every game has `initial()`, `legal(state)` and `play(state, action)`.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

Cells = tuple[int, ...]


class State(NamedTuple):
    """A position; `player` is None when the game is over, `out` those who have lost before."""

    cells: Cells
    player: int | None
    terminal: bool
    rewards: tuple[float, ...]
    out: frozenset[int]


class Knockout:
    """A stone a move; some moves win, some take their player out of the game."""

    def __init__(self, num_players: int, num_cells: int, ranks: bool = False) -> None:
        self.num_players, self.num_cells = num_players, num_cells
        self.num_actions, self.num_cell_values = num_cells, num_players + 1
        self.ranks = ranks

    def initial(self) -> State:
        nobody: frozenset[int] = frozenset()
        return State((0,) * self.num_cells, 0, False, (0.0,) * self.num_players, nobody)

    def judge(self, cells: Cells, player: int, cell: int) -> str:
        """What the stone on `cell` does: "wins", "loses" or "nothing"."""
        raise NotImplementedError

    def legal(self, state: State) -> list[int]:
        if state.terminal:
            return []
        return [cell for cell, digit in enumerate(state.cells) if digit == 0]

    def play(self, state: State, action: int) -> State:
        assert action in self.legal(state)
        player = state.player
        assert player is not None
        cells = (*state.cells[:action], player + 1, *state.cells[action + 1 :])
        verdict = self.judge(cells, player, action)
        inside = [seat for seat in range(self.num_players) if seat not in state.out]
        paid = dict(enumerate(state.rewards))
        terminal = False
        if verdict == "wins":
            terminal, others = True, [seat for seat in inside if seat != player]
            paid[player] = 1.0
            self._share(paid, others, [*range(2, len(inside) + 1)], -1.0)
            inside = []
        elif verdict == "loses":
            self._share(paid, [player], [len(inside)], -1.0)
            inside.remove(player)
        if len(inside) == 1:
            terminal, paid[inside[0]] = True, 1.0
        elif inside and 0 not in cells:
            terminal = True
            self._share(paid, inside, [*range(1, len(inside) + 1)], 0.0)
        out = state.out | {player} if verdict == "loses" else state.out
        after = [*range(player + 1, self.num_players), *range(player)]
        following = None if terminal else next(seat for seat in after if seat not in out)
        rewards = tuple(paid[seat] for seat in range(self.num_players))
        return State(cells, following, terminal, rewards, out)

    def _share(
        self, paid: dict[int, float], seats: list[int], ranks: list[int], fixed: float
    ) -> None:
        """Pay the seats the mean of these ranks, or a fixed reward."""
        pays = [1 - 2 * (rank - 1) / (self.num_players - 1) for rank in ranks]
        for seat in seats:
            paid[seat] = sum(pays) / len(pays) if self.ranks else fixed


class Sim(Knockout):
    """A stone is an edge; a triangle loses."""

    def __init__(self, nodes: int, num_players: int, coalition: bool = False) -> None:
        self.edges = list(combinations(range(nodes), 2))
        super().__init__(num_players, len(self.edges))
        self.nodes, self.coalition = nodes, coalition

    def judge(self, cells: Cells, player: int, cell: int) -> str:
        own = {edge for edge, digit in zip(self.edges, cells, strict=True) if digit == player + 1}
        triangles = combinations(range(self.nodes), 3)
        return "loses" if any(own >= set(combinations(each, 2)) for each in triangles) else ""

    def play(self, state: State, action: int) -> State:
        after = super().play(state, action)
        if not (self.coalition and after.out):
            return after
        pair = -1.0 if 0 not in after.out else 1.0
        return after._replace(player=None, terminal=True, rewards=(-pair, pair, pair))


class Yavalath(Knockout):
    """Cells have three coordinates, which add up to 0; rows run where one of them is constant."""

    def __init__(
        self, size: int, num_players: int, block: str = "must", swap: bool = False, **more: bool
    ) -> None:
        reach = range(1 - size, size)
        self.places = [(x, y, -x - y) for y in reach for x in reach if abs(x + y) < size]
        super().__init__(num_players, len(self.places), **more)
        self.number = {place: at for at, place in enumerate(self.places)}
        self.block, self.swap = block, swap

    def row(self, cells: Cells, cell: int, digit: int) -> list[int]:
        """How many stones of one digit are in a row with `cell`, itself included, on each axis."""
        counts = []
        for way in ((1, 0, -1), (0, 1, -1), (1, -1, 0)):
            count = 1
            for sign in (1, -1):
                place = self.places[cell]
                while True:
                    place = tuple(a + sign * b for a, b in zip(place, way, strict=True))
                    if place not in self.number or cells[self.number[place]] != digit:
                        break
                    count += 1
            counts.append(count)
        return counts

    def judge(self, cells: Cells, player: int, cell: int) -> str:
        rows = self.row(cells, cell, player + 1)
        return "wins" if max(rows) >= 4 else "loses" if 3 in rows else ""

    def legal(self, state: State) -> list[int]:
        free = super().legal(state)
        if state.player is None:
            return free
        stones = [cell for cell, digit in enumerate(state.cells) if digit]
        if self.swap and len(stones) == 1 and state.player == 1:
            return sorted([*free, *stones])
        if self.num_players == 2 or self.block == "free":
            return free
        seats = [*range(state.player + 1, self.num_players), *range(state.player)]
        following = next(seat for seat in seats if seat not in state.out)
        winning = [cell for cell in free if max(self.row(state.cells, cell, following + 1)) >= 4]
        own = [cell for cell in free if max(self.row(state.cells, cell, state.player + 1)) >= 4]
        if not winning:
            return free
        return sorted({*winning, *own}) if self.block == "must_or_win" else winning
