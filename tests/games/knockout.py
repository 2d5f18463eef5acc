"""A small game in which players leave before the end: `tests.reference.rules.Knockout`."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, keep_if
from jaxgbg.specs import setting


class KnockoutState(NamedTuple):
    heaps: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Knockout(Game):
    """Who takes the last item of a heap is out; action = heap * size + items - 1.

    If it `shoves`, the next player who is still in is out instead.
    """

    size: int = setting(3, low=1, high=20)
    players: int = setting(3, low=2, high=8)
    shoves: bool = False

    name = "knockout"

    @property
    def num_players(self):
        return self.players

    @property
    def num_cells(self):
        return self.players - 1

    @property
    def num_cell_values(self):
        return self.size + 1

    @property
    def num_actions(self):
        return self.num_cells * self.size

    @property
    def max_plies(self):
        return self.num_cells * self.size

    def init(self, key):
        return KnockoutState(
            jnp.full(self.num_cells, self.size, jnp.int8),
            jnp.int8(0),
            jnp.bool_(False),
            jnp.zeros(self.players, jnp.float32),
        )

    def active(self, state):
        return (state.rewards == 0) & ~state.terminal

    def legal_actions(self, state):
        items = np.arange(1, self.size + 1)
        return (state.heaps[:, None] >= items).reshape(-1) & ~state.terminal

    def afterstate(self, state, action):
        place = jnp.clip(action, 0, self.num_actions - 1)
        legal = self.in_range(action) & self.legal_actions(state)[place]
        taken = jnp.where(
            jnp.arange(self.num_cells) == place // self.size, place % self.size + 1, 0
        )
        heaps = state.heaps - taken
        seats = (state.player + np.arange(1, self.players + 1)) % self.players
        leaves = (heaps == 0).sum() > (state.heaps == 0).sum()
        following = seats[jnp.argmax(state.rewards[seats] == 0)]
        out = jnp.arange(self.players) == (following if self.shoves else state.player)
        rewards = jnp.where(out & leaves, -1 / (heaps == 0).sum(), state.rewards)
        staying = rewards == 0
        over = staying.sum() == 1
        moved = KnockoutState(
            heaps=heaps,
            player=seats[jnp.argmax(staying[seats])],
            terminal=over,
            rewards=jnp.where(over & staying, 1.0, rewards),
        )
        return keep_if(legal, moved, state)

    def cells(self, state):
        return state.heaps
