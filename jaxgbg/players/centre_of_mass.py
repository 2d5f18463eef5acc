"""COM: the Lines of Action player of Sasso & van Lohuizen, which gathers its stones."""

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import LinesOfAction
from jaxgbg.learners.selection import uniform
from jaxgbg.players.core import History, Opponent, PlayerBase


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class CentreOfMass(PlayerBase):
    """Moves the own stone that is farthest from the centre of mass of the own stones nearer to it.

    Its moves are put in order of how near they bring it to that centre, as it lies before the move;
    the move at place y is played, from 0 on, with a chance proportional to exp(-y / 2). A stone
    that cannot move is passed over for the next farthest; equals come in random order. It does not
    see whether a move wins. Raises ValueError for another game than Lines of Action.
    Source: Sasso & van Lohuizen (2018), where y = floor(-2 ln u); beyond the last move it is drawn
    again.
    """

    game: LinesOfAction
    name = "centre-of-mass"
    traceable = True

    def __post_init__(self) -> None:
        if not isinstance(self.game, LinesOfAction):
            raise ValueError(f"centre-of-mass plays lines_of_action only, not {self.game.name}")

    def act(self, states: Any, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0."""
        return _act(self.game, states, key)

    def probabilities(self, states: Any) -> jax.Array:
        """states[B] -> float32[B, A]: how likely `act` is to choose each action."""
        return jax.vmap(partial(_probabilities, self.game))(states)


def _chances(game: LinesOfAction, state: Any) -> tuple[jax.Array, jax.Array]:
    """(float32[8, C], int32[8, C]): chance and target of the move of each square's stone in each
    direction; the chances add up to 1, or to 0 where there is no move.
    """
    legal, target = game.moves(state)
    row, column = np.divmod(np.arange(game.num_cells, dtype=np.int32), game.size)
    own = (game.cells(state) == state.player).astype(jnp.int32)
    # Distances from the centre are in n-ths of a square, squared: whole numbers.
    number = own.sum()
    down, right = (number * at - (own * at).sum() for at in (row, column))
    distance = down**2 + right**2
    reach = jnp.where(legal.any(0), distance, -1)
    farthest = legal & (reach == reach.max())
    moves = jnp.maximum(farthest.sum(0), 1)
    left = distance[jnp.clip(target, 0, game.num_cells - 1)]
    both = farthest[:, None] & farthest[None]
    nearer = (both & (left[None] < left[:, None])).sum(1)
    equal = (both & (left[None] == left[:, None])).sum(1)
    # Moves that bring it equally near share the places from `nearer` to `nearer + equal`.
    places = jnp.exp(-nearer / 2) - jnp.exp(-(nearer + equal) / 2)
    chance = places / jnp.maximum(equal, 1) / (1 - jnp.exp(-moves / 2))
    stones = jnp.maximum(farthest.any(0).sum(), 1)
    return jnp.where(farthest, chance / stones, 0).astype(jnp.float32), target


def _probabilities(game: LinesOfAction, state: Any) -> jax.Array:
    chance, target = _chances(game, state)
    direction = np.arange(8)[:, None] * game.num_cells
    action = jnp.where(chance > 0, direction + target, game.num_actions)
    chances = jnp.zeros(game.num_actions, jnp.float32).at[action].add(chance, mode="drop")
    passes = ~state.terminal & (chances.sum() == 0)
    return chances.at[-1].set(passes.astype(jnp.float32))


@partial(jax.jit, static_argnums=0)
def _act(game: LinesOfAction, states: Any, key: jax.Array) -> jax.Array:
    def choose(state: Any, word: jax.Array) -> jax.Array:
        chance, target = _chances(game, state)
        ladder = jnp.cumsum(chance.reshape(-1))
        # The product may round up to the sum itself, which nothing exceeds.
        draw = jnp.minimum(uniform(word) * ladder[-1], jnp.nextafter(ladder[-1], jnp.float32(0)))
        place = jnp.argmax(ladder > draw)
        action = game.num_cells * (place // game.num_cells) + target.reshape(-1)[place]
        passes = jnp.where(state.terminal, 0, game.num_actions - 1)
        return jnp.where(ladder[-1] > 0, action, passes).astype(jnp.int32)

    words = jax.random.bits(key, states.terminal.shape)
    return jax.vmap(choose)(states, words)


OPPONENTS = {"centre-of-mass": Opponent("lines_of_action", CentreOfMass)}
