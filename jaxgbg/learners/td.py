"""TD-FARL: values of afterstates, each updated towards the next one of the same player.

Stage 0 plays: the target of the mover's last afterstate is its reward since then plus the value of
the new afterstate. Stages 1..N-1 adapt the other players to their final rewards (FARL part 1).
Stage N adapts the last mover's terminal afterstate towards 0 (part 2).
Source: Konen & Bagheri 2021, Algorithms 2, 6 and 7.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxgbg.games.core import Game, of_player
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.auxiliary import with_auxiliary
from jaxgbg.learners.replay import check_capacity, replayed
from jaxgbg.learners.rule import Rule, no_exploration
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.spec import RANDOM_TESTS, LearnerParts, LearnerSpec
from jaxgbg.learners.state import (
    IDLE,
    Choice,
    Games,
    Hyperparameters,
    Move,
    NextBoards,
    Target,
    Transition,
)
from jaxgbg.learners.tick import Learner
from jaxgbg.specs import setting
from jaxgbg.types import State
from jaxgbg.values.core import ValueSpec


def transition(
    learner: Learner, games: Games, states: State, choice: Choice, hyper: Hyperparameters
) -> Transition:
    """Return the parts of each game's target; rewards and the end are those of `states` [B]."""
    players = learner.game.num_players
    playing = games.stage == 0
    other = games.stage - 1
    other += (other >= games.mover).astype(jnp.int8)
    adapting = (games.stage > 0) & (games.stage < players)
    subject = jnp.where(adapting, other, games.player)
    # In stages 1..N the state is terminal, and no action changes it.
    gain = of_player(states.rewards, subject) - of_player(games.last_reward, subject)
    gain = jnp.where(games.stage == players, 0.0, gain)
    skipped = playing & choice.explored & ~hyper.learn_from_random
    bootstrap = playing & ~states.terminal
    if learner.game.eliminates:
        # A player who leaves by its own move has received its whole reward.
        bootstrap &= of_player(jax.vmap(learner.game.active)(states), subject)
    return Transition(subject, gain, bootstrap, skipped)


def target_of(
    learner: Learner, games: Games, states: State, choice: Choice, hyper: Hyperparameters
) -> Target:
    """Return the target: the gain and, before the end, the discounted value of the choice."""
    step = transition(learner, games, states, choice, hyper)
    ahead = step.gain + learner.rule.bootstrap(learner, hyper).discounted(choice.value)
    return Target(step.player, jnp.where(step.bootstrap, ahead, step.gain), step.skipped)


def target(learner: Learner, games: Games, move: Move, hyper: Hyperparameters) -> Target:
    """Return the target by the rewards of the states after the move."""
    return target_of(learner, games, move.next_states, move.choice, hyper)


def next_stage(
    learner: Learner, stage: jax.Array, terminal: jax.Array, hyper: Hyperparameters
) -> tuple[jax.Array, jax.Array]:
    """Go through the final updates of FARL."""
    players = learner.game.num_players
    following = stage + 1
    skip_others = (following < players) & ~hyper.final_others
    following = jnp.where(skip_others, jnp.int8(players), following)
    over = (following > players) | ((following == players) & ~hyper.final_zero)
    running = (stage == IDLE) | ((stage == 0) & ~terminal)
    return jnp.where(running, stage, following), over & ~running


def remember_states(
    learner: Learner,
    games: Games,
    move: Move,
    states: State,
    memory: jax.Array,
    boards: NextBoards,
) -> Games:
    """Let each mover remember `memory` int32[B, F], with the rewards and the end of `states` [B].

    The start position is the last afterstate of the player before the first mover, except where it
    counts as none (`Learner.start_is_known`).
    """
    game, begins = learner.game, boards.restart[:, None]
    seats, mine, first = np.arange(game.num_players), games.moving, boards.start.player
    before_first = (seats == (first[:, None] - 1) % game.num_players) & learner.start_is_known
    # An end that a look-ahead only foresees is known: there is nothing to learn.
    foreseen = states.terminal & ~move.next_states.terminal
    if game.eliminates:
        now, then = (jax.vmap(game.active)(each) for each in (move.next_states, states))
        foreseen |= of_player(now, games.player) & ~of_player(then, games.player)
    has_last = jnp.where(mine, ~foreseen[:, None], games.has_last)
    has_last = jnp.where(begins, before_first, has_last)
    mine = mine | begins
    # A player who left in the opening has received its rewards.
    paid = boards.start.rewards if game.eliminates else 0.0
    last_reward = jnp.where(begins, paid, states.rewards)
    return games._replace(
        mover=games.player,
        last=jnp.where(mine[..., None], memory[:, None], games.last),
        has_last=has_last,
        last_reward=jnp.where(mine, last_reward, games.last_reward),
    )


def remember(learner: Learner, games: Games, move: Move, boards: NextBoards) -> Games:
    """Let each mover remember its afterstate."""
    return remember_states(learner, games, move, move.next_states, boards.features, boards)


TD = Rule(target=target, next_stage=next_stage, remember=remember)
"""TD-FARL on a value function of states."""


def _adapted_target(learner: Learner, games: Games, move: Move, hyper: Hyperparameters) -> Target:
    """Skip the update of an afterstate that a random move made (`games.rule`)."""
    found = target(learner, games, move, hyper)
    tested = (games.stage == 0) | (learner.rule.settings == "letter")
    skipped = tested & of_player(games.rule, found.player) & ~hyper.learn_from_random
    return found._replace(skipped=skipped)


def _remember_explored(learner: Learner, games: Games, move: Move, boards: NextBoards) -> Games:
    """Also remember which player's last afterstate was made by a random move."""
    explored = jnp.where(games.moving, move.choice.explored[:, None], games.rule)
    games = games._replace(rule=explored & ~boards.restart[:, None])
    return remember(learner, games, move, boards)


# GBG tests the current move.
_CURRENT = ("gbg", "current")


def with_random_test(random_test: str) -> Rule:
    """Return TD with a test for random moves: see `TDSpec.random_test`."""
    if random_test in _CURRENT:
        return TD
    return dataclasses.replace(
        TD,
        target=_adapted_target,
        remember=_remember_explored,
        init=no_exploration,
        settings=random_test,
    )


@dataclasses.dataclass(frozen=True)
class AfterstatesSpec(LearnerSpec):
    """Settings and parts that learners of values of afterstates share.

    Attributes:
      learn_start: The start board is the last afterstate of the player before the first mover, who
        learns its value; never in games of chance.
    """

    learn_start: bool = True

    def parts(self, game: Game, value: ValueSpec, schedule: Schedule) -> LearnerParts:
        return super().parts(game, value, schedule) | {"learn_start": self.learn_start}


@dataclasses.dataclass(frozen=True)
class TDSpec(AfterstatesSpec):
    """TD(lambda) with Final Adaptation on afterstates (Konen & Bagheri 2021, Algorithms 2, 6).

    Attributes:
      random_test: Which updates to skip around random moves, without learn_from_random; see the
        page How we read the papers. current: the one whose new move is random. adapted: the one
        after a random move. letter: as adapted, in Final Adaptation too (Algorithm 7). gbg: as the
        program GBG, current for td, adapted for sarsa and q.
      replay_episodes: Games to play with fixed values before all their moves are learned in random
        order; 0 learns move by move.
      passes: Number of times that the moves of a round are learned.
      minibatch: Moves of a round that are learned in one step.
    """

    random_test: str = setting("gbg", choices=RANDOM_TESTS)
    replay_episodes: int = setting(0, former="round_games", low=0, high=2**20)
    passes: int = setting(1, low=1, high=1000)
    minibatch: int = setting(1, low=1, high=2**20)

    kind = "td"
    learns_auxiliary = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.replay_episodes and (self.passes, self.minibatch) != (1, 1):
            raise ValueError("passes and minibatch are for replay_episodes of 1 or more")
        if self.replay_episodes and (self.parameter_traces or self.horizon > 1):
            raise ValueError("moves learned by rounds have no traces: set trace_decay 0")
        if self.replay_episodes and self.random_test not in _CURRENT:
            raise ValueError("random_test is for learning move by move: leave out replay_episodes")

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        parts = self.parts(game, value, schedule)
        if not self.replay_episodes:
            rule = with_auxiliary(with_random_test(self.random_test), parts["value"])
            return Learner(**parts, rule=rule)
        rule = replayed(TD, transition, self.replay_episodes, self.passes, self.minibatch)
        learner = Learner(**parts, rule=rule)
        check_capacity(learner)
        return learner
