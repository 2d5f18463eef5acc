"""A simple player of backgammon: it hits, bears off, and leaves few checkers alone."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp

from jaxgbg.games import Backgammon
from jaxgbg.games.backgammon import BackgammonState
from jaxgbg.learners.selection import nth_true, uniform
from jaxgbg.players.core import History, PlayerBase
from jaxgbg.types import State

_PIPS, _BLOTS, _OFF = (Backgammon.extra_names.index(name) for name in ("pips", "blots", "off"))


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class PipCount(PlayerBase):
    """Chooses the move after which the other has most pips to go, so it hits whenever it can.

    A roll brings its own checkers equally far with any move. Among equals it takes one that bears
    off, then one that leaves the fewest own points with one checker, and draws among what is left.
    Raises ValueError for another game than backgammon.
    """

    game: Backgammon
    name = "pip-count"
    traceable = True

    def __post_init__(self) -> None:
        if not isinstance(self.game, Backgammon):
            raise ValueError(f"pip-count plays backgammon only, not {self.game.name}")

    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0."""
        return _act(self.game, states, key)


@partial(jax.jit, static_argnums=0)
def _act(game: Backgammon, states: BackgammonState, key: jax.Array) -> jax.Array:
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    # No player has so many checkers borne off or alone.
    most = game.checkers + 1

    def choose(state: BackgammonState, word: jax.Array) -> jax.Array:
        after = jax.vmap(game.afterstate, (None, 0))(state, actions)
        extras = jax.vmap(game.extras)(after)
        own, other = extras[:, state.player], extras[:, 1 - state.player]
        score = (other[:, _PIPS] * most + own[:, _OFF]) * most - own[:, _BLOTS]
        legal = game.legal_actions(state)
        best = legal & (score == jnp.where(legal, score, score.min() - 1).max())
        return jnp.where(state.terminal, 0, nth_true(best, uniform(word))).astype(jnp.int32)

    words = jax.random.bits(key, states.terminal.shape, jnp.uint32)
    return jax.vmap(choose)(states, words)
