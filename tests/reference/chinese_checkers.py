"""Plain rules of Chinese checkers, by coordinates on the plane: x in half cells, y in rows."""

from __future__ import annotations

from typing import NamedTuple

Place = tuple[int, int]
STEPS = ((-1, -1), (1, -1), (-2, 0), (2, 0), (-1, 1), (1, 1))
SEATS = {2: (0, 3), 3: (0, 2, 4), 4: (0, 1, 3, 4), 6: (0, 1, 2, 3, 4, 5)}


class State(NamedTuple):
    """A position; `chain` are the places that the hopping stone has been on, its own last."""

    stones: dict[Place, int]
    player: int | None
    terminal: bool
    rewards: tuple[float, ...]
    chain: tuple[Place, ...]
    turn: int
    finished: tuple[int, ...]
    cells: tuple[int, ...]


class ChineseCheckers:
    def __init__(
        self, rows: int, players: int, backward: bool, goal: str, turns: int, ranks: bool = False
    ) -> None:
        self.players, self.backward, self.goal = players, backward, goal
        self.turns, self.ranks, self.rows = turns, ranks, rows
        # Two large triangles, one upright and one on its tip, make the star.
        self.places = [
            (x, y)
            for y in range(-2 * rows, 2 * rows + 1)
            for x in range(-6 * rows, 6 * rows + 1)
            if (x + y) % 2 == 0
            and (max(self.heights((x, y))) <= rows or min(self.heights((x, y))) >= -rows)
        ]
        self.number = {place: at for at, place in enumerate(self.places)}
        self.homes = {
            seat: [place for place in self.places if self.height(place, seat) > rows]
            for seat in range(6)
        }

    @staticmethod
    def heights(place: Place) -> tuple[int, int, int]:
        x, y = place
        return y, (x - y) // 2, (-x - y) // 2

    def height(self, place: Place, triangle: int) -> int:
        """How far a place is from the middle, towards a triangle: 0 is the upper one."""
        y, right, left = self.heights(place)
        return (-y, right, -left, y, -right, left)[triangle]

    def initial(self) -> State:
        stones = {
            place: player
            for player, seat in enumerate(SEATS[self.players])
            for place in self.homes[seat]
        }
        return self._shown(State(stones, 0, False, (0.0,) * self.players, (), 0, (), ()))

    def _shown(self, state: State) -> State:
        digits = [1 + state.stones.get(place, -1) for place in self.places]
        if state.chain:
            digits[self.number[state.chain[-1]]] = self.players + 1
        return state._replace(cells=tuple(digits))

    def _moves(self, state: State) -> dict[int, tuple[Place, Place, bool]]:
        found = {}
        goal = (SEATS[self.players][state.player] + 3) % 6
        for place, owner in state.stones.items():
            if owner != state.player or (state.chain and place != state.chain[-1]):
                continue
            for direction, (right, down) in enumerate(STEPS):
                one = (place[0] + right, place[1] + down)
                two = (one[0] + right, one[1] + down)
                if not self.backward and self.height(one, goal) < self.height(place, goal):
                    continue
                action = 6 * self.number[place] + direction
                if one in state.stones:
                    if two in self.number and two not in state.stones and two not in state.chain:
                        found[action] = (place, two, True)
                elif one in self.number and not state.chain:
                    found[action] = (place, one, False)
        return found

    def legal(self, state: State) -> list[int]:
        if state.terminal:
            return []
        moves = sorted(self._moves(state))
        return [*moves, 6 * len(self.places)] if state.chain or not moves else moves

    def play(self, state: State, action: int) -> State:
        assert action in self.legal(state)
        player, stones, chain = state.player, dict(state.stones), ()
        if action < 6 * len(self.places):
            start, end, hop = self._moves(state)[action]
            stones[end] = stones.pop(start)
            if hop:
                chain = (*(state.chain or (start,)), end)
        moved = state._replace(stones=stones, chain=chain)
        if chain and self._moves(moved):
            return self._shown(moved)
        goal = self.homes[(SEATS[self.players][player] + 3) % 6]
        held = [stones.get(place) for place in goal]
        wins = all(owner == player for owner in held)
        if self.goal == "filled":
            wins = None not in held and player in held
        turn, finished = state.turn + 1, state.finished + (player,) * wins
        left = [seat for seat in range(self.players) if seat not in finished]
        paid, terminal = dict(enumerate(state.rewards)), turn >= self.turns
        pays = [1 - 2 * rank / (self.players - 1) for rank in range(self.players)]
        if wins and not self.ranks:
            terminal = True
            paid = {seat: -1 / (self.players - 1) for seat in range(self.players)} | {player: 1.0}
        elif self.ranks:
            if wins:
                paid[player] = pays[len(finished) - 1]
            terminal |= len(left) == 1
            if terminal:
                rest = pays[len(finished) :]
                paid |= dict.fromkeys(left, sum(rest) / len(rest))
        order = [(player + step) % self.players for step in range(1, self.players + 1)]
        following = (
            None if terminal else next(seat for seat in order if seat in left or not self.ranks)
        )
        rewards = tuple(paid[seat] for seat in range(self.players))
        return self._shown(State(stones, following, terminal, rewards, (), turn, finished, ()))
