"""Pebbles: three players empty cups; who takes the last pebble of a cup is paid for it."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game, register
from jaxgbg.games.core import keep_if


class PebblesState(NamedTuple):
    """`cups` int8[cups]: the pebbles left in each cup; the other fields every game has."""

    cups: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Pebbles(Game):
    """Take one pebble, action = cup. The last one of a cup pays its share of 1."""

    cups: int = 5
    pebbles: int = 3

    name = "pebbles"
    num_players = 3
    reward_range = (0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cups < 1 or not 1 <= self.pebbles <= 9:
            raise ValueError("pebbles: needs a cup or more, with 1 to 9 pebbles each")

    num_actions = property(lambda self: self.cups)
    num_cells = property(lambda self: self.cups)
    num_cell_values = property(lambda self: self.pebbles + 1)
    max_plies = property(lambda self: self.cups * self.pebbles)

    @property
    def symmetries(self) -> np.ndarray:
        # The cups stand in a ring: wherever one begins to count, it is the same position.
        cup = np.arange(self.cups, dtype=np.int32)
        return (cup + cup[:, None]) % self.cups

    @property
    def action_symmetries(self) -> np.ndarray:
        return np.argsort(self.symmetries, axis=1).astype(np.int32)

    def init(self, key: jax.Array) -> PebblesState:
        full = jnp.full(self.cups, self.pebbles, jnp.int8)
        return PebblesState(full, jnp.int8(0), jnp.bool_(False), jnp.zeros(3, jnp.float32))

    def legal_actions(self, state: PebblesState) -> jax.Array:
        return state.cups > 0

    def afterstate(self, state: PebblesState, action: jax.Array) -> PebblesState:
        taken = jnp.arange(self.cups) == action
        cups = state.cups - taken.astype(jnp.int8)
        emptied = (taken & (cups == 0)).any()
        mover = jnp.arange(3) == state.player
        moved = PebblesState(
            cups=cups,
            player=((state.player + 1) % 3).astype(jnp.int8),
            terminal=(cups == 0).all(),
            rewards=state.rewards + jnp.where(mover & emptied, jnp.float32(1 / self.cups), 0),
        )
        return keep_if((taken & (state.cups > 0)).any(), moved, state)

    def cells(self, state: PebblesState) -> jax.Array:
        return state.cups


register("pebbles", Pebbles)
