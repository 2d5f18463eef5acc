"""TD-Leaf: moves are chosen by look-ahead, and the values of its leaves are learned.

The tick and its stages are those of TD-FARL (`learners.td`), with a leaf in place of each
afterstate. A player's leaf is the board at the end of the principal variation below its move:
`plies` moves ahead, including that move, or at the end of the game. Its value is from that player's
side, V(leaf | player), with any player to move there. R(leaf) is the player's reward on that board,
which includes rewards between the move and the leaf.

- Stage 0, the player's move: V(last leaf) moves towards R(leaf) - R(last leaf) + discount *
  V(leaf). The end of the game is known, so a terminal leaf counts as R alone.
- A terminal leaf that lies ahead of the game has no update, neither when its player moves again nor
  at the end of the game.
- After a random move, or one of a training partner, the variation starts below the move made.
- Stages 1..N-1 (FARL part 1): V(last leaf) of each other player moves towards its rewards since
  that leaf, R(end) - R(last leaf). If the player's look-ahead saw the end, there is no update: its
  move before has learned it in stage 0.
- Stage N (part 2): below the last move there is no variation. Its leaf is the terminal afterstate,
  whose value moves towards 0.

With one ply the leaf is the afterstate. Source: Baxter, Tridgell & Weaver 1998 (KnightCap), for two
players and one value. Leaves for each player, from its own side, are our addition.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.learners.auxiliary import with_auxiliary
from jaxgbg.learners.policy import EpsilonGreedy, Exploration
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.state import Choice, Games, Hyperparameters, Move, NextBoards, Target
from jaxgbg.learners.td import TD, AfterstatesSpec, remember_states, target_of
from jaxgbg.learners.tick import Learner
from jaxgbg.search.lookahead import PLIES, WIDTH, LookAhead, LookAheadSpec, Reply
from jaxgbg.specs import setting
from jaxgbg.types import Params, State
from jaxgbg.values.core import HasAuxiliary, ValueFunction, ValueSpec, features_of


class Leaf(NamedTuple):
    """The leaves below the moves that were made: states [B], and their features int32[B, F]."""

    states: State
    features: jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class PrincipalVariation(EpsilonGreedy):
    """The best action by `search`, or a random one; passes the leaves to its rule."""

    search: LookAhead

    def select(
        self,
        game: Game,
        value: ValueFunction,
        params: Params,
        games: Games,
        bootstrap: BootstrapRule,
        exploration: Exploration,
    ) -> Choice:
        """See `EpsilonGreedy.select`; the value is that of the leaves below the moves."""
        legal = jax.vmap(game.legal_actions)(games.state)
        # The key breaks ties at the edge of a beam.
        first = exploration.words[0]
        key = jax.random.fold_in(jax.random.key(first[0]), first[1])
        search = self.search.counting(bootstrap)
        q = search.action_values(params, games.state, key)
        action, explored = self.choose(q, legal, exploration)
        leaf = search.leaves(params, games.state, action)
        memory = features_of(game, value, params, leaf)
        ahead = value.value(params, memory, games.state.player)
        return Choice(action, explored, ahead, action, Leaf(leaf, memory))


def _target(learner: Learner, games: Games, move: Move, hyper: Hyperparameters) -> Target:
    """Return the target by the rewards and values of the leaves."""
    return target_of(learner, games, move.choice.extra.states, move.choice, hyper)


def _remember(learner: Learner, games: Games, move: Move, boards: NextBoards) -> Games:
    """Let each mover remember its leaf."""
    leaf = move.choice.extra
    memory = jnp.where(boards.restart[:, None], boards.features, leaf.features)
    return remember_states(learner, games, move, leaf.states, memory, boards)


TD_LEAF = dataclasses.replace(TD, target=_target, remember=_remember)
"""TD-FARL from leaf to leaf, for a policy that is a `PrincipalVariation`."""


@dataclasses.dataclass(frozen=True)
class TDLeafSpec(AfterstatesSpec):
    """TD-Leaf(lambda) with Final Adaptation (Baxter, Tridgell & Weaver 1998; `search.td_leaf`).

    Attributes:
      plies: Plies that training looks ahead; 1 is the learner td.
      width: Moves to follow at each ply before the last: one number, or one for each; all if empty.
      reply: The other players maximize their own V (own) or minimize the mover's (value).
    """

    plies: int = setting(2, short="train_plies", **PLIES)
    width: tuple[int, ...] = setting((), short="train_width", **WIDTH)
    reply: Reply = setting("own", short="train_reply")

    kind = "td-leaf"
    learns_auxiliary = True

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        parts = self.parts(game, value, schedule)
        if game.stochastic and self.plies > 1:
            raise ValueError(
                f"{game.name} is a game of chance, so a variation has no single leaf: choose"
                " train_plies 1, or the learner td"
            )
        if isinstance(parts["value"], HasAuxiliary) and self.plies > 1:
            raise ValueError(
                "extras as outputs are predicted move by move, not from leaf to leaf: choose"
                " extras_as inputs, or train_plies 1"
            )
        search = LookAhead(game, parts["value"], LookAheadSpec(self.plies, self.width, self.reply))
        if self.plies == 1:
            return Learner(**parts, rule=with_auxiliary(TD, parts["value"]))
        parts["policy"] = PrincipalVariation(
            ranks=self.ranks, temperature=self.temperature, search=search
        )
        return Learner(**parts, rule=TD_LEAF)
