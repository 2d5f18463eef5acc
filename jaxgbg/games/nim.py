"""Nim for any number of players, and Nim3P."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game, keep_if
from jaxgbg.games.rotations import SeatRotations, rotations
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import setting
from jaxgbg.types import SettingValue

_RULES = ("last_wins", "last_loses", "nim3p")
# Cells and players are int8, and a random game is sampled with all actions of each ply.
_MOST_HEAPS, _LARGEST = 100, 126


class NimState(NamedTuple):
    """`heaps` int8[heaps]: items left in each heap."""

    heaps: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Nim(Game[NimState]):
    """Take 1..max_take items from one heap; action = heap * max_take + items - 1.

    `rule` gives the rewards after the last item is taken. "last_wins": its taker +1, all others -1;
    "last_loses": the reverse; "nim3p" (Konen & Bagheri 2021): the taker 0, the next player
    1.0, the previous player 0.2. `max_take` 0 allows a whole heap. The digit of a heap is its
    size; heaps stay unsorted.
    """

    heaps: int = setting(3, low=1, high=_MOST_HEAPS)
    size: int = setting(5, low=1, high=_LARGEST)
    players: int = setting(2, low=2, high=127)
    rule: str = setting("last_wins", choices=_RULES)
    max_take: int = setting(0, low=0, high=_LARGEST)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rule == "nim3p" and self.players < 3:
            raise ValueError(f"nim3p: players must be at least 3, not {self.players}")
        if self.max_take > self.size:
            raise ValueError(
                f"nim: max_take must lie between 0 and the heap size {self.size}, not"
                f" {self.max_take}"
            )

    @property
    def name(self) -> str:
        return "nim3p" if self.rule == "nim3p" else "nim"

    @property
    def title(self) -> str:
        return "Nim3P" if self.rule == "nim3p" else "Nim"

    @property
    def _most(self) -> int:
        return self.max_take or self.size

    @property
    def num_players(self) -> int:
        return self.players

    @property
    def num_actions(self) -> int:
        return self.heaps * self._most

    @property
    def num_cells(self) -> int:
        return self.heaps

    @property
    def num_cell_values(self) -> int:
        return self.size + 1

    @property
    def max_plies(self) -> int:
        return self.heaps * self.size

    @property
    def seat_rotations(self) -> SeatRotations:
        # The heaps are worth the same to every player who leaves them.
        return rotations(self)

    @property
    def reward_range(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.rule == "nim3p" else (-1.0, 1.0)

    def init(self, key: jax.Array) -> NimState:
        return NimState(
            jnp.full(self.heaps, self.size, jnp.int8),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(self.players, jnp.float32),
        )

    def legal_actions(self, state: NimState) -> jax.Array:
        items = np.arange(1, self._most + 1, dtype=np.int8)
        return (state.heaps[:, None] >= items).reshape(-1)

    def afterstate(self, state: NimState, action: jax.Array) -> NimState:
        heap, items = action // self._most, (action % self._most + 1).astype(jnp.int8)
        left = state.heaps - jnp.where(jnp.arange(self.heaps) == heap, items, jnp.int8(0))
        legal = self.in_range(action) & (left >= 0).all()
        terminal = (left == 0).all()
        # 0 for the taker of this move, 1 for the next player, ...
        seat = (jnp.arange(self.players) - state.player) % self.players
        moved = NimState(
            heaps=left,
            player=((state.player + 1) % self.players).astype(jnp.int8),
            terminal=terminal,
            rewards=jnp.where(terminal, self._payment()[seat], jnp.float32(0)),
        )
        return keep_if(legal, moved, state)

    def outcomes(self, state: NimState) -> tuple[jax.Array, jax.Array]:
        # Whoever ends the game takes from one heap as many items as all heaps have.
        items, legal = np.tile(np.arange(1, self._most + 1), self.heaps), self.legal_actions(state)
        ends = legal & (items == state.heaps.sum(dtype=jnp.int32))
        return jnp.where(ends, self._payment()[0], 0.0), ends | (~legal & state.terminal)

    def _payment(self) -> jax.Array:
        """float32[players]: final rewards, the taker of the last item first."""
        payment = np.full(self.players, -1.0, np.float32)
        payment[0] = 1.0
        if self.rule == "last_loses":
            payment = -payment
        elif self.rule == "nim3p":
            payment = np.zeros(self.players, np.float32)
            payment[1], payment[-1] = 1.0, 0.2
        return jnp.asarray(payment)

    def cells(self, state: NimState) -> jax.Array:
        return state.heaps

    @property
    def change_patterns(self) -> tuple[np.ndarray, np.ndarray]:
        heap, items = np.divmod(np.arange(self.num_actions), self._most)
        return np.append(0, heap)[:, None], np.append(0, -1 - items)[:, None]

    def change(self, state: NimState, action: jax.Array) -> jax.Array:
        enough = action % self._most + 1 <= state.heaps[action // self._most]
        return jnp.where(self.in_range(action) & enough, 1 + action, 0)


def nim3p(**parameters: SettingValue) -> Nim:
    """Nim of three players by the rule that the paper calls Nim3P."""
    return Nim(**{"players": 3, "rule": "nim3p", **parameters})
