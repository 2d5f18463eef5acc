"""COM: the Lines of Action player of Sasso & van Lohuizen, which gathers its stones."""

import dataclasses
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import LinesOfAction
from jaxgbg.games.lines_of_action import LinesOfActionState
from jaxgbg.learners.selection import nth_true, uniform
from jaxgbg.players.core import History, PlayerBase
from jaxgbg.types import State


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

    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0."""
        return _act(self.game, states, key)

    def probabilities(self, states: LinesOfActionState) -> jax.Array:
        """states[B] -> float32[B, A]: how likely `act` is to choose each action."""
        return jax.vmap(partial(_probabilities, self.game))(states)


class _Moves(NamedTuple):
    """`farthest` bool[C]: the movable stones at the greatest distance. Of each square's stone in
    each direction: `legal` bool[8, C], `target` int32[8, C] and how far that is from the centre,
    `left` int32[8, C].
    """

    farthest: jax.Array
    legal: jax.Array
    target: jax.Array
    left: jax.Array


def _moves(game: LinesOfAction, state: LinesOfActionState) -> _Moves:
    legal, target = game.moves(state)
    row, column = np.divmod(np.arange(game.num_cells, dtype=np.int32), game.size)
    own = (game.cells(state) == state.player).astype(jnp.int32)
    # Distances from the centre are in n-ths of a square, squared: whole numbers.
    number = own.sum()
    down, right = (number * at - (own * at).sum() for at in (row, column))
    distance = down**2 + right**2
    reach = jnp.where(legal.any(0), distance, -1)
    farthest = (reach == reach.max()) & (reach >= 0)
    return _Moves(farthest, legal, target, distance[jnp.clip(target, 0, game.num_cells - 1)])


def _chances(legal: jax.Array, left: jax.Array) -> jax.Array:
    """float32[8]: how likely each move bool[8] of one stone is, by what is `left` int32[8] then."""
    both = legal & legal[:, None]
    nearer = (both & (left < left[:, None])).sum(1)
    equal = (both & (left == left[:, None])).sum(1)
    # Moves that bring it equally near share the places from `nearer` to `nearer + equal`.
    places = jnp.exp(-nearer / 2) - jnp.exp(-(nearer + equal) / 2)
    whole = 1 - jnp.exp(-jnp.maximum(legal.sum(), 1) / 2)
    return jnp.where(legal, places / jnp.maximum(equal, 1) / whole, 0).astype(jnp.float32)


def _probabilities(game: LinesOfAction, state: LinesOfActionState) -> jax.Array:
    moves = _moves(game, state)
    chance = jax.vmap(_chances, (1, 1), 1)(moves.legal, moves.left)
    stones = jnp.maximum(moves.farthest.sum(), 1)
    chance = jnp.where(moves.farthest, chance / stones, 0)
    direction = np.arange(8)[:, None] * game.num_cells
    action = jnp.where(chance > 0, direction + moves.target, game.num_actions)
    chances = jnp.zeros(game.num_actions, jnp.float32).at[action].add(chance, mode="drop")
    passes = ~state.terminal & ~moves.farthest.any()
    return chances.at[-1].set(passes.astype(jnp.float32))


@partial(jax.jit, static_argnums=0)
def _act(game: LinesOfAction, states: LinesOfActionState, key: jax.Array) -> jax.Array:
    def choose(state: LinesOfActionState, words: jax.Array) -> jax.Array:
        moves = _moves(game, state)
        stone = nth_true(moves.farthest, uniform(words[0]))
        ladder = jnp.cumsum(_chances(moves.legal[:, stone], moves.left[:, stone]))
        # The product may round up to the sum itself, which nothing exceeds.
        most = jnp.nextafter(ladder[-1], jnp.float32(0))
        direction = jnp.argmax(ladder > jnp.minimum(uniform(words[1]) * ladder[-1], most))
        action = game.num_cells * direction + moves.target[direction, stone]
        passes = jnp.where(state.terminal, 0, game.num_actions - 1)
        return jnp.where(moves.farthest.any(), action, passes).astype(jnp.int32)

    words = jax.random.bits(key, (*states.terminal.shape, 2), jnp.uint32)
    return jax.vmap(choose)(states, words)
