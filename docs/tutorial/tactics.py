"""An evaluator with two scores: whether an agent wins at once, and how soon it wins."""

import dataclasses
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg import Evaluator, EvaluatorSpec, Game, Protocol
from jaxgbg.evaluation import start_states
from jaxgbg.games import SHARE, Scale
from jaxgbg.games.rollout import after_each, play_ply, select_states
from jaxgbg.specs import setting


@dataclasses.dataclass(frozen=True)
class TacticsSpec(EvaluatorSpec):
    """Positions after random plies.

    Attributes:
      positions: How many positions are drawn.
      plies: Random plies before each of them.
    """

    positions: int = setting(100, low=1, high=10_000)
    plies: int = setting(5, low=0, high=100)

    kind = "tactics"
    scores: ClassVar = {"accuracy": SHARE, "mean depth": Scale("plies", digits=1)}

    def build(self, game):
        if game.num_players != 2:
            raise ValueError(f"tactics evaluates games of two players, not {game.name}")
        return Tactics(game, self)


@dataclasses.dataclass
class Tactics(Evaluator):
    """Scores agents in new random positions for every key."""

    game: Game
    settings: TacticsSpec

    def scores(self, agent, key, seeds=()):
        """accuracy [C, W]: 1 where a copy wins at once, in W positions in which this is possible;
        mean depth [C, P]: plies until each of P games ends that a copy plays against itself.
        """
        draw, play = jax.random.split(key)
        count, plies = self.settings.positions, self.settings.plies
        protocol = Protocol("random_plies", count=count, plies=plies)
        states, _ = start_states(self.game, protocol, draw)
        winning = np.asarray(winning_moves(self.game, states))
        # The copies of an agent choose in blocks of equal length.
        states = select_states(states, np.tile(np.arange(count), agent.copies))
        depths = np.zeros(agent.copies * count, np.float32)
        chosen = np.zeros(depths.shape, np.int32)
        while not np.all(states.terminal):
            play, moves, chance = jax.random.split(play, 3)
            actions = np.asarray(agent.act(states, moves))
            chosen = np.where(depths == 0, actions, chosen)
            depths += ~np.asarray(states.terminal)
            states = play_ply(self.game, states, actions, chance)
        won = winning[np.arange(count), chosen.reshape(agent.copies, count)]
        return {
            "accuracy": won[:, winning.any(1)].astype(np.float32),
            "mean depth": depths.reshape(agent.copies, count),
        }


@partial(jax.jit, static_argnums=0)
def winning_moves(game, states):
    """bool[P, A]: the legal actions that end the game with a gain for the player to move."""
    legal, after = jax.vmap(lambda state: after_each(game, state))(states)
    mover = states.player[:, None, None].astype(jnp.int32)
    gain = after.rewards - states.rewards[:, None]
    return legal & after.terminal & (jnp.take_along_axis(gain, mover, 2)[..., 0] > 0)
