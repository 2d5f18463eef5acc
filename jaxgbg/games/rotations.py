"""Seat rotations: the images of a board on which one player is seen as another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from jaxgbg.games.core import Game


class SeatRotations(NamedTuple):
    """For each of N players the image of a board on which it is seen as its `owner`.

    On the image of player p every player q is player q - p + owner[p] modulo N, and the game goes
    on there as on the board. So V(s | p) = V(image of s | owner[p]), and the players of one owner
    can share its n-tuple table. An owner owns itself, and its image is the board as it is.

    `owner` int32[N]. `cells` int32[N, C] and `digits` int32[N, C, V]: cell i of the image of player
    p has the digit `digits[p, i, board[cells[p, i]]]`. `actions` int32[N, A]: what action a on the
    board is on the image, `actions[p, a]`.
    """

    owner: np.ndarray
    cells: np.ndarray
    digits: np.ndarray
    actions: np.ndarray

    @property
    def owners(self) -> list[int]:
        """The players who own themselves, in rising order."""
        return sorted(set(self.owner.tolist()))

    @property
    def shift(self) -> np.ndarray:
        """int32[N]: by how much the numbers of players rise on the image of each player."""
        return (self.owner - np.arange(len(self.owner))) % len(self.owner)


def rotations(
    game: Game,
    owner: ArrayLike = 0,
    cells: ArrayLike | None = None,
    digits: ArrayLike | None = None,
    actions: ArrayLike | None = None,
) -> SeatRotations:
    """The rotations of `game`; cells, digits and actions that are left out stay as they are.

    `digits` may be int[N, V], the same for every cell. By default player 0 owns all.
    """

    def rows(given: ArrayLike | None, *shape: int) -> np.ndarray:
        known = np.arange(shape[-1]) if given is None else np.asarray(given)
        if len(shape) == 3 and known.ndim == 2:
            known = known[:, None]
        return np.broadcast_to(known, shape).astype(np.int32)

    players, count = game.num_players, game.num_cells
    return SeatRotations(
        np.broadcast_to(owner, players).astype(np.int32),
        rows(cells, players, count),
        rows(digits, players, count, game.num_cell_values),
        rows(actions, players, game.num_actions),
    )


def exchanged(pieces: ArrayLike, values: int, owner: ArrayLike = 0) -> np.ndarray:
    """int[N, values]: the digits on each player's image, where pieces belong to other players.

    `pieces` int[N] or int[N, K]: the digits of each player's pieces. Other digits stay.
    """
    own = np.asarray(pieces)
    players = len(own)
    digits = np.tile(np.arange(values), (players, 1))
    for player, first in enumerate(np.broadcast_to(owner, players)):
        digits[player, own] = np.roll(own, player - first, axis=0)
    return digits
