"""The rule of a learner: its targets and final updates, as a small record of functions.

The tick (`learners.tick`) is the same for all learners. A rule defines what differs by functions
that are passed in, as in mctx; there are no methods to override. Their first argument is the
`Learner`, which has the game, the value function and, in `learner.rule.settings`, the rule's own
settings. Rules made of the same module functions compare equal, and equal learners share one
compiled program. So do not pass lambdas or closures.

The state of a rule beyond `Games` is a pytree of its own, `Games.rule`: `init` makes it, `learn`
and `remember` replace it. Its own numbers that may differ between lanes are in `hyper.rule`. The
plain rules are `td.TD` and `sarsa.SARSA`; `td_off_policy`, `replay`, `auxiliary` and
`search.td_leaf` are made of other rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.learners.state import Games, Hyperparameters, Lane, Move, NextBoards, Target
from jaxgbg.types import PyTree

if TYPE_CHECKING:
    from jaxgbg.learners.tick import Learner


RuleSettings: TypeAlias = Any
"""The settings of one rule: hashable, None where it has none."""


def no_state(learner: Learner) -> PyTree:
    """Return the state of a rule that keeps nothing."""
    return ()


def no_exploration(learner: Learner) -> jax.Array:
    """Return bool[B, N] for rules that track who has explored."""
    return jnp.zeros((learner.batch, learner.game.num_players), bool)


def learn_at_once(
    learner: Learner, lane: Lane, move: Move, alpha: jax.Array, hyper: Hyperparameters
) -> Lane:
    """Move the value of each player's memory towards the target of this tick."""
    target = learner.rule.target(learner, lane.games, move, hyper)
    return learner.apply(lane, target, alpha, hyper)


def bootstrap_as_set(learner: Learner, hyper: Hyperparameters) -> BootstrapRule:
    """Count values as the settings say."""
    return hyper.bootstrap


def whole_budget(learner: Learner, lane: Lane, limit: jax.Array) -> jax.Array:
    """Let all episodes up to `limit` start."""
    return limit


def nothing_after_block(
    learner: Learner, lanes: Lane, hyper: Hyperparameters, limits: jax.Array
) -> Lane:
    """Return the lanes as they are."""
    return lanes


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rule:
    """The functions of a learner in the steps of a tick; hashable, static under jit.

    Attributes:
      target: (learner, games, move, hyper) -> the `Target` of each game's update in this tick.
      next_stage: (learner, stage int8[B], terminal bool[B], hyper) -> the stage after this one and
        whether the episode is over, bool[B]. Stage 0 plays; later ones are final updates.
      remember: (learner, games, move, boards) -> games with every player's memory after the move
        or, in some games, after the start of an episode.
      init: (learner) -> the rule's own state before the first tick, a pytree.
      learn: (learner, lane, move, alpha, hyper) -> lane after the updates of a tick.
      bootstrap: (learner, hyper) -> how values count in the choice of moves and in targets.
      last_episode: (learner, lane, limit uint32[]) -> the number of the last episode that may
        start before the next call of `after_block`.
      after_block: (learner, lanes, hyper, limits) -> lanes, all lanes together after each block of
        ticks.
      of_actions: Whether values are those of actions, learned before the move is made, instead of
        afterstates, learned after it.
      replan: Whether the move is chosen again after the update.
      settings: The rule's own settings, hashable.
    """

    target: Callable[[Learner, Games, Move, Hyperparameters], Target]
    next_stage: Callable[
        [Learner, jax.Array, jax.Array, Hyperparameters], tuple[jax.Array, jax.Array]
    ]
    remember: Callable[[Learner, Games, Move, NextBoards], Games]
    init: Callable[[Learner], PyTree] = no_state
    learn: Callable[[Learner, Lane, Move, jax.Array, Hyperparameters], Lane] = learn_at_once
    bootstrap: Callable[[Learner, Hyperparameters], BootstrapRule] = bootstrap_as_set
    last_episode: Callable[[Learner, Lane, jax.Array], jax.Array] = whole_budget
    after_block: Callable[[Learner, Lane, Hyperparameters, jax.Array], Lane] = nothing_after_block
    of_actions: bool = False
    replan: bool = False
    settings: RuleSettings = None
