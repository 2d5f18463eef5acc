"""A game from the perspective of one of its players: its view of the board and its numbers."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import State
from jaxgbg.xla import materialize


class View(NamedTuple):
    """A player's view of the game: cells and actions as on an image of the board.

    `cells[i]` is the cell seen at place i, `actions[a]` what action a is called there.
    """

    cells: tuple[int, ...]
    actions: tuple[int, ...]


def views_of(game: Game) -> tuple[View, ...]:
    """The view of each player, () if all see the board as it is."""
    views, images = game.player_views, game.symmetries
    if (views == np.arange(game.num_cells)).all():
        return ()
    rows = [(images == view).all(1).argmax() for view in views]
    names = game.action_symmetries[rows].tolist()
    return tuple(
        View(tuple(cells), tuple(actions))
        for cells, actions in zip(views.tolist(), names, strict=True)
    )


def from_player_view(
    array: jax.Array, views: Sequence[tuple[int, ...]], player: jax.Array
) -> jax.Array:
    """[..., C]: the entries in the order of each player's view, for `player` int[...]."""
    found = rearranged(array, views[0])
    for owner, view in enumerate(views[1:], 1):
        found = jnp.where((player == owner)[..., None], rearranged(array, view), found)
    return found


def rearranged(array: jax.Array, order: tuple[int, ...]) -> jax.Array:
    """`array[..., order]`, without a look-up for each entry where there is an easier way."""
    count = len(order)
    side = math.isqrt(count)
    places = np.arange(count)
    if (places == order).all():
        return array
    if side**2 == count and (places.reshape(side, side).T.ravel() == order).all():
        square = array.reshape(*array.shape[:-1], side, side)
        return square.swapaxes(-1, -2).reshape(array.shape)
    return array[..., np.array(order)]


@dataclasses.dataclass(frozen=True)
class Extras:
    """M of a game's extras: numbers of each of its N players in addition to the cells.

    Raises ValueError where the game has no extra of a name.
    """

    game: Game
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        known = self.game.extra_names
        for name in self.names:
            if name not in known:
                choices = f": its extras are {', '.join(known)}" if known else ", nor any other"
                raise ValueError(f"{self.game.name} has no extra {name!r}{choices}")

    @property
    def size(self) -> int:
        """N * M."""
        return self.game.num_players * len(self.names)

    @functools.cached_property
    def indices(self) -> list[int]:
        """int[M]: their indices among all extras of a player."""
        return [self.game.extra_names.index(name) for name in self.names]

    def of(self, state: State) -> jax.Array:
        """int32[N * M] of a position, player by player."""
        extras = self.game.extras(state)
        # Slices, so that XLA removes unused numbers.
        numbers = [
            jax.lax.slice(extras, (player, place), (player + 1, place + 1)).reshape(())
            for player in range(self.game.num_players)
            for place in self.indices
        ]
        # Otherwise XLA recomputes them for every cell of the board, one position at a time, because
        # it does not vectorize concatenations.
        return jnp.stack(materialize(*numbers))

    def scaled(self, extras: jax.Array, player: jax.Array) -> jax.Array:
        """float32[..., N * M] of int32[..., N * M], over their scales.

        Those of `player` int[...] come first, then those of the others in turn.
        """
        players = range(self.game.num_players)
        places = np.arange(self.size).reshape(len(players), -1)
        orders = [tuple(np.roll(places, -seat, 0).ravel().tolist()) for seat in players]
        scales = np.array(self.game.extra_scales, np.float32)[self.indices]
        return from_player_view(
            extras.astype(jnp.float32) / np.tile(scales, len(players)), orders, player
        )
