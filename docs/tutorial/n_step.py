"""A learner: n-step TD on afterstates.

The target of a player's afterstate is known after n more moves of the player: the rewards since
then plus gamma**n times the value of the newest afterstate. After the end of the episode, the
target of the remaining afterstates is the rewards up to the end. With one step it is TD with Final
Adaptation.
Source: Sutton & Barto 2018, section 7.1.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.core import of_player
from jaxgbg.learners import Learner, LearnerSpec, Rule, Schedule
from jaxgbg.learners.state import IDLE, Games, Hyperparameters, Move, NextBoards, Target
from jaxgbg.specs import setting
from jaxgbg.values import ValueSpec


class Queue(NamedTuple):
    """The last n afterstates of each player, newest first, and the player's rewards at each."""

    features: jax.Array
    rewards: jax.Array
    size: jax.Array


def empty(learner: Learner) -> Queue:
    """Return a queue with leaves [B, N, n, ...]."""
    shape = learner.batch, learner.game.num_players, learner.rule.settings
    return Queue(
        jnp.zeros((*shape, learner.value.num_features), jnp.int32),
        jnp.zeros(shape, jnp.float32),
        jnp.zeros(shape[:2], jnp.int32),
    )


def target(learner: Learner, games: Games, move: Move, hyper: Hyperparameters) -> Target:
    """Return the rewards of n moves and the value of the newest afterstate, or those to the end."""
    steps, players = learner.rule.settings, learner.game.num_players
    playing, states = games.stage == 0, move.next_states
    number = (games.stage - 1) // steps
    other = number + (number >= games.mover)
    ending = jnp.where(number < players - 1, other, games.mover)
    player = jnp.where(playing, games.player, ending).astype(jnp.int8)
    gain = of_player(states.rewards, player) - of_player(games.last_reward, player)
    ahead = gain + hyper.discount**steps * move.choice.value
    value = jnp.where(playing & ~states.terminal, ahead, gain)
    return Target(player, value, playing & move.choice.explored & ~hyper.learn_from_random)


def next_stage(
    learner: Learner, stage: jax.Array, terminal: jax.Array, hyper: Hyperparameters
) -> tuple[jax.Array, jax.Array]:
    """Go through all that all players remember; without FARL the episode is over at once."""
    running = (stage == IDLE) | ((stage == 0) & ~terminal)
    over = (stage + 1 > learner.rule.settings * learner.game.num_players) | ~hyper.final_others
    return jnp.where(running, stage, stage + 1), over & ~running


def remember(learner: Learner, games: Games, move: Move, boards: NextBoards) -> Games:
    """Queue the new afterstate; what the next update changes is `games.last`."""
    game, steps, queue = learner.game, learner.rule.settings, games.rule
    begins, mine, first = boards.restart[:, None], games.moving, boards.start.player
    rewards = jnp.where(begins, 0.0, move.next_states.rewards)

    def pushed(new: jax.Array, old: jax.Array) -> jax.Array:
        new = jnp.broadcast_to(new, old[:, :, :1].shape)
        changed = (mine | begins).reshape(*mine.shape, *[1] * (old.ndim - 2))
        return jnp.where(changed, jnp.concatenate([new, old[:, :, :-1]], 2), old)

    before_first = np.arange(game.num_players) == (first[:, None] - 1) % game.num_players
    size = jnp.where(begins, before_first, jnp.minimum(queue.size + mine, steps))
    queue = Queue(
        pushed(boards.features[:, None, None], queue.features),
        pushed(rewards[:, :, None], queue.rewards),
        size,
    )
    # The oldest one or, after the end, the one whose turn it is.
    place = steps - 1 - jnp.where(games.stage > 0, games.stage % steps, 0).astype(jnp.int32)

    def chosen(leaf: jax.Array) -> jax.Array:
        return jax.vmap(lambda one, at: one[:, at])(leaf, place)

    return games._replace(
        mover=games.player,
        last=chosen(queue.features),
        has_last=size > place[:, None],
        last_reward=chosen(queue.rewards),
        rule=queue,
    )


def n_step(steps: int) -> Rule:
    """Return the rule for so many steps."""
    return Rule(target=target, next_stage=next_stage, remember=remember, init=empty, settings=steps)


@dataclasses.dataclass(frozen=True)
class NStepSpec(LearnerSpec):
    """n-step TD on afterstates.

    Attributes:
      steps: A player's own moves between an afterstate and the one that it learns from.
    """

    steps: int = setting(2, low=1, high=16)

    kind = "n-step"
    variants = ("farl", "none")

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        return Learner(**self.parts(game, value, schedule), rule=n_step(self.steps))
