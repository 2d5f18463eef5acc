"""Proofs in a search tree: bounds on the value of every move if both players play perfectly.

MCTS-Solver (Winands, Bjornsson & Saito 2008) for PUCT. Wins, draws and losses are proved alike, by
a lower and an upper bound for each action (Score Bounded MCTS, Cazenave & Saffidine 2010).
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.search.tree import Leaves, RootStatistics
from jaxgbg.types import PyTree, State
from jaxgbg.values.indices import look_up

# Lines of a node's row, counted from its end: for who is to move there, the whole game's reward.
_LOW, _HIGH = -3, -2


class SolvedStatistics(NamedTuple):
    """Statistics of the actions at the roots of B searches, and their proved bounds.

    Attributes:
      visits: int32[B, A] the visits of each action; a solved root is searched no more.
      values: float32[B, A] the mover's mean gain after it; 0 if untried.
      low: float32[B, A] lower bound of the mover's gain; -inf for illegal actions.
      high: float32[B, A] upper bound, as `low`; if both are equal, the value is proved.
    """

    visits: jax.Array
    values: jax.Array
    low: jax.Array
    high: jax.Array


@dataclasses.dataclass(frozen=True)
class Solver:
    """Proofs for two players whose final rewards sum to 0, without chance; static under jit.

    The end of a game has the value of its rewards. The value of a node for the player to move is at
    least the greatest lower bound of its actions, and at most the greatest upper bound. Actions
    that cannot be better than a proved one are tried no more. Raises ValueError for other games.
    """

    game: Game

    def __post_init__(self) -> None:
        low, high = self.game.reward_range
        if self.game.stochastic or self.game.num_players != 2 or low != -high:
            raise ValueError(
                "search: solver=1 needs two players, no chance and rewards that sum to 0:"
                f" {self.game.name} is not such a game"
            )

    def unproved(self, legal: jax.Array) -> jax.Array:
        """float32[B, 2, A]: both bounds of new nodes with `legal` bool[B, A] actions."""
        bounds = [jnp.where(legal, bound, -jnp.inf) for bound in self.game.reward_range]
        return jnp.stack(bounds, 1).astype(jnp.float32)

    def may_be_best(self, edges: jax.Array) -> jax.Array:
        """bool[B, A]: of rows [B, C, A], the actions that may beat all that is proved there."""
        return edges[:, _HIGH] > edges[:, _LOW].max(1, keepdims=True)

    def solved(self, edges: jax.Array) -> jax.Array:
        """bool[B]: whether a node's value is proved, by its row [B, C, A], or the game over."""
        return ~self.may_be_best(edges).any(1)

    def prove(self, edges: jax.Array, leaves: Leaves) -> jax.Array:
        """The trees' edges [R, C, A] with all that follows from the ends of games among `leaves`.

        An end whose rewards do not sum to 0 proves nothing.
        """
        rewards, actions = leaves.states.rewards, jnp.arange(edges.shape[2])
        lines = edges.shape[1] + jnp.array([_LOW, _HIGH])

        def step(carry: tuple[PyTree, ...]) -> tuple[PyTree, ...]:
            ply, edges, going, low, high = carry
            here = going & (ply < leaves.depth)
            rows, action = leaves.rows[ply], leaves.actions[ply]
            bounds = look_up(edges, rows)[:, _LOW : _HIGH + 1]
            chosen = (actions == action[:, None])[:, None] & here[:, None, None]
            below = jnp.stack(_from_seat(leaves.players[ply], low, high), 1)
            after = jnp.where(chosen, below[..., None], bounds)
            place = edges.at[rows[:, None], lines, action[:, None]]
            entries = jnp.take_along_axis(after, action[:, None, None], 2)[..., 0]
            edges = place.set(entries, mode="promise_in_bounds", unique_indices=True)
            known = after.max(2)
            going &= ~here | (known != bounds.max(2)).any(1)
            above = _from_seat(leaves.players[ply], known[:, 0], known[:, 1])
            low, high = (
                jnp.where(here, new, old) for new, old in zip(above, (low, high), strict=True)
            )
            return ply - 1, edges, going, low, high

        # Bounds are handed up as those of player 0; most iterations meet no end and take no step.
        ended = leaves.states.terminal & (rewards.sum(1) == 0) & (leaves.depth > 0)
        start: tuple[PyTree, ...] = (
            leaves.depth.max() - 1,
            edges,
            ended,
            rewards[:, 0],
            rewards[:, 0],
        )
        return jax.lax.while_loop(lambda carry: (carry[0] >= 0) & carry[2].any(), step, start)[1]

    def statistics(self, edges: jax.Array, roots: State, found: RootStatistics) -> SolvedStatistics:
        """With the bounds in the rows `edges` [B, C, A] of roots[B], for gains from there on."""
        paid = jnp.take_along_axis(roots.rewards, roots.player[:, None].astype(jnp.int32), 1)
        return SolvedStatistics(*found, edges[:, _LOW] - paid, edges[:, _HIGH] - paid)

    def nothing(self, found: RootStatistics) -> SolvedStatistics:
        """The statistics of terminal positions, shaped like `found`."""
        none = jnp.full_like(found.values, -jnp.inf)
        return SolvedStatistics(*found, none, none)


def _from_seat(seat: jax.Array, low: jax.Array, high: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Bounds [B] of player 0 as those of `seat` int32[B], or the other way round."""
    return jnp.where(seat == 1, -high, low), jnp.where(seat == 1, -low, high)


def worth_playing(roots: SolvedStatistics) -> jax.Array:
    """bool[B, A]: the actions among which the most visited is played.

    Those that may be best, unless the most visited of them has not done better than what others
    are sure of: then these others. So a proved win is played and a proved loss is not, where there
    is anything else.
    """
    low = jnp.where(jnp.isfinite(roots.low), roots.low, jnp.inf)
    sure = roots.low.max(1, keepdims=True)
    may_be_best = roots.high > sure
    tries = jnp.where(may_be_best, roots.visits, -1)
    most = may_be_best & (tries == tries.max(1, keepdims=True)) & (roots.visits > 0)
    mean = jnp.where(most, roots.values, -jnp.inf).max(1, keepdims=True)
    content = (low < sure).any(1, keepdims=True) & (mean <= sure)
    content |= ~may_be_best.any(1, keepdims=True)
    return jnp.where(content, low == sure, may_be_best)
