"""Flat Monte Carlo: try every move by random games, and make the one that is best on average."""

import dataclasses

import jax
import jax.numpy as jnp

from jaxgbg.games import Game
from jaxgbg.games.rollout import play_ply, roll_out
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.players import RandomPlayer
from jaxgbg.search import RootStatistics, SearchSpec
from jaxgbg.specs import setting


@dataclasses.dataclass(frozen=True)
class FlatMonteCarloSpec(SearchSpec):
    """Random games after every move, without a tree.

    Attributes:
      playouts: Random games for each legal move.
      steps: How many random games of a move are played side by side.
    """

    playouts: int = setting(50, low=1, high=10_000)
    steps: int = setting(1, low=1, high=100)

    kind = "flat-mc"
    strength = "playouts"
    alone = True
    trains = True

    def build(self, game, value):
        return FlatMonteCarlo(game, self)


@dataclasses.dataclass(frozen=True)
class FlatMonteCarlo:
    """Chooses by the mean gain of random games; it asks no value function."""

    game: Game
    settings: FlatMonteCarloSpec

    traceable = True

    def choose(self, states, key, params, bootstrap):
        """int32[B]: a legal action of the greatest mean gain, ties at random."""
        search, ties = jax.random.split(key)
        visits, values = self.statistics(states, search, params, bootstrap)
        means = jnp.where(visits > 0, values, -jnp.inf)
        return choose_uniformly((visits > 0) & (means == means.max(1, keepdims=True)), ties)

    def statistics(self, states, key, params, bootstrap):
        """Random games and mean gain of each action, for learners (`trains`)."""
        playouts = self.settings.playouts
        legal = jax.vmap(self.game.legal_actions)(states) & ~states.terminal[:, None]
        keys = jax.random.split(key, playouts)
        gains = jax.lax.map(
            lambda key: self._gains(states, legal, key), keys, batch_size=self.settings.steps
        )
        visits = jnp.where(legal, jnp.int32(playouts), 0)
        return RootStatistics(visits, jnp.where(legal, gains.mean(0), 0.0))

    def _gains(self, states, legal, key):
        """float32[B, A]: what the mover gains by each action and one random game after it."""
        game, (batch, count) = self.game, legal.shape
        first, rest = jax.random.split(key)
        before = jax.tree.map(lambda leaf: jnp.repeat(leaf, count, axis=0), states)
        after = play_ply(game, before, jnp.tile(jnp.arange(count), batch), first)
        after = after._replace(terminal=after.terminal | ~legal.reshape(-1))

        def move(states, key, memory):
            key, draw = jax.random.split(key)
            return RandomPlayer(game).act(states, draw), key, memory

        gained = roll_out(game, after, move, rest).rewards - before.rewards
        mover = before.player[:, None].astype(jnp.int32)
        return jnp.take_along_axis(gained, mover, 1).reshape(batch, count)
