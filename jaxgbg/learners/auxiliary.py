"""Auxiliary outputs: a value function that also learns what the next board of its player is like.

The value function makes the targets of its outputs (`HasAuxiliary`); a rule of afterstates hands
them to each update. After the end of a game all its final updates are followed by the final board,
and that of part 2, which changes the value of this board, by none.
Source: Sasso & van Lohuizen 2018.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.rule import Rule
from jaxgbg.learners.state import Hyperparameters, Lane, Move
from jaxgbg.values.core import HasAuxiliary, ValueFunction

if TYPE_CHECKING:
    from jaxgbg.learners.tick import Learner


def learn(
    learner: Learner, lane: Lane, move: Move, alpha: jax.Array, hyper: Hyperparameters
) -> Lane:
    """Learn at once, auxiliary outputs too."""
    games, value = lane.games, learner.value
    assert isinstance(value, HasAuxiliary)
    target = learner.rule.target(learner, games, move, hyper)
    features = value.features(lane.params, learner.observe(move.afterstates))
    final = games.stage == learner.game.num_players
    following = jnp.where(final[:, None], -1, features)
    extra = value.auxiliary_targets(following, target.player)
    return learner.apply(lane, target, alpha, hyper, extra)


def with_auxiliary(rule: Rule, value: ValueFunction) -> Rule:
    """Return `rule`, which learns the auxiliary outputs of `value` too if it has any."""
    return dataclasses.replace(rule, learn=learn) if isinstance(value, HasAuxiliary) else rule
