"""Games that say nothing about their boards: the rules of shipped games without their extras."""

import dataclasses

from jaxgbg.games import Game, TicTacToe


class Undeclared(Game):
    """The rules of another game that says nothing about its board."""

    inner: Game = TicTacToe()
    name = "undeclared"

    num_players = property(lambda self: self.inner.num_players)
    num_actions = property(lambda self: self.inner.num_actions)
    num_cells = property(lambda self: self.inner.num_cells)
    num_cell_values = property(lambda self: self.inner.num_cell_values)
    max_plies = property(lambda self: self.inner.max_plies)

    def init(self, key):
        return self.inner.init(key)

    def legal_actions(self, state):
        return self.inner.legal_actions(state)

    def afterstate(self, state, action):
        return self.inner.afterstate(state, action)

    def cells(self, state):
        return self.inner.cells(state)


def undeclared(game: Game, **members: object) -> Game:
    kind = type("Undeclared", (Undeclared,), {"inner": game, **members})
    return dataclasses.dataclass(frozen=True)(kind)()
