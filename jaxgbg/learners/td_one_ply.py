"""TD from ply to ply: the value of a board moves towards that of the board after the next move.

This is the older scheme that Konen & Bagheri 2021 compare with theirs (sections 2.4 and 3.5; their
references 1 and 8). TD-FARL moves a player's last afterstate towards the next afterstate of the
same player, one round later. Here, after each move, the board before it moves towards the board
after it, whoever made them. So the move that ends a game teaches the board before it, which the
loser made, also without Final Adaptation.

The older learners have one value, which one player maximizes and the other minimizes. For N players
every player p has values V(board | p) of all boards, and after each move all N of them are updated:

    V(board before | p) <- R(after)[p] - R(before)[p] + gamma * V(board after | p)

With two players, rewards that sum to 0 and tables, V(. | 1) is -V(. | 0): one value again. Final
Adaptation is that of TD-FARL: each player's own last afterstate moves towards its final reward.
"""

from __future__ import annotations

import dataclasses

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners import td
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.state import Games, Hyperparameters, Lane, Move, NextBoards, Target
from jaxgbg.learners.tick import Learner
from jaxgbg.values.core import ValueSpec


def _no_board(learner: Learner) -> jax.Array:
    """Return bool[B]: whether each game has a board before its next move, `games.features`."""
    return jnp.zeros(learner.batch, bool)


def _remember(learner: Learner, games: Games, move: Move, boards: NextBoards) -> Games:
    """Let each mover remember its afterstate; the board before the next move counts from now on."""
    known = games.rule | (games.stage == 0)
    games = games._replace(rule=jnp.where(boards.restart, learner.start_is_known, known))
    return td.remember(learner, games, move, boards)


def _learn(
    learner: Learner, lane: Lane, move: Move, alpha: jax.Array, hyper: Hyperparameters
) -> Lane:
    """Move the values of the board before the move, one player after the other.

    Games that are over make their final update in the first player's turn.
    """
    games, states = lane.games, move.next_states
    playing, board = games.stage == 0, games.features[:, None]
    after = learner.value.features(lane.params, learner.observe(move.afterstates))
    final = td.target(learner, games, move, hyper)
    ongoing = ~states.terminal[:, None] & jax.vmap(learner.game.active)(states)
    for player in range(learner.game.num_players):
        subject = jnp.full_like(final.player, player)
        value = learner.value.value(lane.params, after, subject)
        ahead = learner.rule.bootstrap(learner, hyper).discounted(value)
        gain = states.rewards[:, player] - games.state.rewards[:, player]
        reached = gain + jnp.where(ongoing[:, player], ahead, 0.0)
        target = Target(
            jnp.where(playing, subject, final.player),
            jnp.where(playing, reached, final.value),
            playing & move.choice.explored & ~hyper.learn_from_random,
        )
        known = jnp.where(playing[:, None], games.rule[:, None], games.has_last & (player == 0))
        before = games._replace(
            last=jnp.where(playing[:, None, None], board, games.last),
            has_last=known,
            traces=lane.games.traces,
        )
        lane = learner.apply(lane._replace(games=before), target, alpha, hyper)
    return lane._replace(games=games._replace(traces=lane.games.traces))


TD_ONE_PLY = dataclasses.replace(td.TD, remember=_remember, init=_no_board, learn=_learn)
"""TD from each board to the next, for all players."""


@dataclasses.dataclass(frozen=True)
class TDOnePlySpec(td.AfterstatesSpec):
    """TD from ply to ply with Final Adaptation (Konen & Bagheri 2021, section 3.5)."""

    kind = "td-one-ply"

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        return Learner(**self.parts(game, value, schedule), rule=TD_ONE_PLY)
