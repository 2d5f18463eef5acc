"""One tick of B self-play games in lockstep on one shared value function, for every learner.

Each game spends a tick on one move (stage 0) or, once its episode is over, on one of its final
updates (stages 1..N). So a tick makes at most one update a game, and with one game it is the serial
algorithm update for update. A tick has four steps: select a move, find the target of an update,
learn, advance. The learner's `Rule` defines the targets: see `td` and `sarsa`.
Source: Konen & Bagheri 2021, Algorithms 2, 5, 6 and 7.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np

from jaxgbg.games.core import Game, of_player
from jaxgbg.games.rollout import select
from jaxgbg.lazy import jax, jnp
from jaxgbg.learners.openings import Lines, start_positions
from jaxgbg.learners.parameter_traces import ParameterTraces, no_parameter_traces, push_gradient
from jaxgbg.learners.policy import EpsilonGreedy, Exploration
from jaxgbg.learners.rule import Rule
from jaxgbg.learners.schedules import decayed
from jaxgbg.learners.state import (
    IDLE,
    Choice,
    Games,
    Hyperparameters,
    Lane,
    Move,
    NextBoards,
    Record,
    Target,
    Words,
    check_scalars,
    split_words,
)
from jaxgbg.learners.traces import (
    Push,
    Traces,
    no_traces,
    push_delayed,
    push_immediate,
)
from jaxgbg.types import Params, PyTree, State
from jaxgbg.values.core import (
    HasGradients,
    IncrementalByPattern,
    Updates,
    ValueFunction,
    observe_all,
)
from jaxgbg.xla import materialize

# Keys of other draws; the number of a tick never becomes so large.
_KEY_OF_NETWORK, _KEY_OF_PARTNER = np.uint32(2**32 - 1), np.uint32(2**32 - 2)


@dataclasses.dataclass(frozen=True)
class Learner:
    """A learner of one game: `rule` on a value function, with moves by `policy`; static under jit.

    `batch` games play in lockstep. `horizon` is the length of the eligibility list, including the
    current state, and `delayed` its kind (see `traces`). With `parameter_traces` there is no list,
    but this number of decaying gradients for each game. The share `opening_share` of the episodes
    begins with `opening_plies` plies: random ones, or `opening_lines` in turn. With `one_explores`
    only one player explores in each episode. With `linear_alpha` the step size falls linearly.
    With `learn_start` the start board counts as an afterstate, where values are those of boards.
    """

    game: Game
    value: ValueFunction
    rule: Rule
    batch: int
    horizon: int = 1
    opening_plies: int = 0
    opening_share: float = 0.5
    opening_lines: Lines = ()
    delayed: bool = False
    parameter_traces: int = 0
    one_explores: bool = False
    linear_alpha: bool = False
    learn_start: bool = True
    policy: EpsilonGreedy = EpsilonGreedy()

    def init(self, key: jax.Array, drawn: jax.Array | None = None, partner: PyTree = None) -> Lane:
        """Return a lane before its first tick: every game is idle and starts an episode in it.

        `drawn` is what the seed has drawn for itself (`ValueSpec.drawn`), `partner` a player to
        train against instead of self-play.
        """
        players, features = self.game.num_players, self.value.num_features
        params = self.value.init(drawn, jax.random.fold_in(key, _KEY_OF_NETWORK))
        games = Games(
            state=jax.vmap(self.game.init)(jax.random.split(key, self.batch)),
            features=jnp.zeros((self.batch, features), jnp.int32),
            stage=jnp.full(self.batch, IDLE, jnp.int8),
            mover=jnp.zeros(self.batch, jnp.int8),
            last=jnp.zeros((self.batch, players, features), jnp.int32),
            has_last=jnp.zeros((self.batch, players), bool),
            last_reward=jnp.zeros((self.batch, players), jnp.float32),
            rule=self.rule.init(self),
            seat=jnp.zeros(self.batch if partner is not None or self.one_explores else 0, jnp.int8),
            traces=self._no_traces(params),
        )
        return Lane(params, games, key, zero := jnp.uint32(0), zero, zero, zero, partner)

    def step_size(self, lane: Lane, hyper: Hyperparameters) -> jax.Array:
        """Return alpha float32[] after the episodes that the lane has finished."""
        return decayed(hyper.alpha, hyper.alpha_factors, lane.finished, self.linear_alpha)

    def after_block(self, lanes: Lane, hyper: Hyperparameters, limits: jax.Array) -> Lane:
        """Apply the rule's `after_block` to all lanes together, after each block of ticks."""
        return self.rule.after_block(self, lanes, hyper, limits)

    def _no_traces(self, params: Params) -> Traces | ParameterTraces:
        players, features = self.game.num_players, self.value.num_features
        if self.parameter_traces:
            assert isinstance(self.value, HasGradients)
            return no_parameter_traces(self.value, params, self.batch, self.parameter_traces)
        return no_traces(self.batch, players, self.horizon - 1, features, self.delayed)

    @property
    def start_is_known(self) -> bool:
        """Whether start boards count as afterstates; in a game of chance they are none."""
        return self.learn_start and not self.game.stochastic

    @property
    def word_counts(self) -> tuple[int, ...]:
        """Number of random words that a game needs in a tick for each field of `Words`."""
        opening_spawn = self.opening_plies * self.game.spawn_words
        openings, start = self.opening_plies // 2, self.game.init_words
        return 2, self.game.spawn_words, openings, start, 2 * self.rule.replan, opening_spawn

    def advance(
        self, lane: Lane, hyper: Hyperparameters, limit: jax.Array, ticks: int
    ) -> tuple[Lane, Record]:
        """`ticks` ticks of one lane; no episode starts beyond number `limit` uint32[].

        The random words of a tick depend only on the lane's key and the tick's number. So the
        result does not depend on how ticks are divided into calls. The records have leading axes
        [ticks, B].
        """
        limit = self.rule.last_episode(self, lane, limit)
        numbers = lane.ticks + jnp.arange(ticks, dtype=jnp.uint32)
        keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(lane.key, numbers)
        shape = (self.batch, sum(self.word_counts))
        words = jax.vmap(lambda key: jax.random.bits(key, shape, jnp.uint32))(keys)
        return jax.lax.scan(lambda lane, bits: self.tick(lane, hyper, limit, bits), lane, words)

    def tick(
        self, lane: Lane, hyper: Hyperparameters, limit: jax.Array, bits: jax.Array
    ) -> tuple[Lane, Record]:
        """One tick of all games of a lane; `bits` uint32[B, words a tick]."""
        check_scalars(hyper, limit)
        words = split_words(bits, self.batch, self.word_counts)
        games = lane.games
        progress = lane.finished.astype(jnp.float32) / hyper.episodes.astype(jnp.float32)
        # Materialize it once; otherwise XLA recomputes it for every table row.
        (alpha,) = materialize(self.step_size(lane, hyper))
        progress = jnp.minimum(progress / hyper.epsilon_share, 1)
        epsilon = hyper.epsilon + progress * (hyper.epsilon_end - hyper.epsilon)

        choice = foreseen = self._select(lane, words.select, epsilon, hyper)
        if self.rule.of_actions:
            # Values of actions are learned before the move is made.
            unmoved = Move(choice, games.state, games.state)
            lane = self.rule.learn(self, lane, unmoved, alpha, hyper)
            if self.rule.replan:
                choice = self._select(lane, words.replan, epsilon, hyper)
            move = self._move(games, choice, words.spawn)
        else:
            move = self._move(games, choice, words.spawn)
            lane = self.rule.learn(self, lane, move, alpha, hyper)
        playing = games.stage == 0
        lane, restart, opening = self._advance(lane, move, words, limit, hyper)
        record = Record(playing, foreseen.action, choice.action, choice.explored, restart, opening)
        return lane, record

    def _select(
        self, lane: Lane, words: jax.Array, epsilon: jax.Array, hyper: Hyperparameters
    ) -> Choice:
        """Each game's choice by the policy, drawn by `words` uint32[B, 2], or the partner's."""
        games, imposed = lane.games, None
        seated: jax.Array | None = games.state.player == games.seat if games.seat.size else None
        if lane.partner is not None:
            assert seated is not None
            key = jax.random.fold_in(jax.random.fold_in(lane.key, _KEY_OF_PARTNER), lane.ticks)
            # Mark games where the partner is not to move as terminal so that it skips them.
            states = games.state._replace(terminal=games.state.terminal | seated)
            imposed = jnp.where(seated, -1, lane.partner.act(states, key))
        exploration = Exploration(words, epsilon, imposed, seated)
        games = games._replace(features=self.features_to_move(lane))
        known = self.game, self.value, lane.params, games, self.rule.bootstrap(self, hyper)
        return self.policy.select(*known, exploration)

    def features_to_move(self, lane: Lane) -> jax.Array:
        """Features int32[B, F] of the positions in which the players are to move.

        In a game of chance, `Games.features` are those before chance if values are those of boards.
        """
        if self.game.stochastic and not self.rule.of_actions:
            return self.value.features(lane.params, self.observe(lane.games.state))
        return lane.games.features

    def _move(self, games: Games, choice: Choice, words: jax.Array) -> Move:
        """Make the chosen actions; `words` draw chance. The states before and after chance."""
        after = jax.vmap(self.game.afterstate)(games.state, choice.action)
        if not self.game.stochastic:
            return Move(choice, after, after)
        return Move(choice, after, jax.vmap(self.game.spawn_from)(after, words))

    def live(
        self, lane: Lane, player: jax.Array, skipped: jax.Array, hyper: Hyperparameters
    ) -> tuple[jax.Array, jax.Array]:
        """Return which games make the update of `player` int8[B], and which skip it, bool[B] each.

        The rule leaves out `skipped` bool[B]. There is no update of a player who remembers nothing,
        and none of a training partner, unless the learner also learns from its moves.
        """
        games = lane.games
        known = of_player(games.has_last, player) & (games.stage != IDLE)
        skipped = skipped & known
        live = known & ~skipped
        if lane.partner is not None:
            live &= (player == games.seat) | hyper.learn_from_partner
        return live, skipped

    def apply(
        self,
        lane: Lane,
        target: Target,
        alpha: jax.Array,
        hyper: Hyperparameters,
        extra: PyTree = (),
    ) -> Lane:
        """Move V(last[player] | player), and the states in its trace, towards the target.

        `extra` is that of `Updates`, for updates without traces.
        """
        params, games, player = lane.params, lane.games, target.player
        live, skipped = self.live(lane, player, target.skipped, hyper)
        features = of_player(games.last, player)
        value = self.value.value(params, features, player)
        slope, error, player, live = materialize(
            jnp.where(live, self.value.slope(value), 0),
            jnp.where(live, target.value - value, 0),
            player,
            live,
        )
        push = Push(features, player, error, slope, live)
        params, traces = self._push(params, games.traces, push, alpha, hyper, extra)
        traces = traces.emptied(skipped & hyper.reset_traces)
        return lane._replace(params=params, games=games._replace(traces=traces))

    def _push(
        self,
        params: Params,
        traces: Traces | ParameterTraces,
        push: Push,
        alpha: jax.Array,
        hyper: Hyperparameters,
        extra: PyTree,
    ) -> tuple[Params, Traces | ParameterTraces]:
        """The parameters and traces after one update for each game, for any kind of traces."""
        decay = hyper.trace_decay * hyper.discount
        if isinstance(traces, ParameterTraces):
            assert isinstance(self.value, HasGradients)
            return push_gradient(params, traces, push, decay, self.value, alpha)
        update = partial(self.value.update, alpha=alpha, hyper=hyper.value)
        if self.horizon == 1:
            change = push.error * push.slope
            size = jnp.abs(change)
            new = Updates(push.features, push.player, change, size, push.live, extra)
            return update(params, new), traces
        if self.delayed:
            return push_delayed(params, traces, push, decay, update)
        one_by_one = self.batch == 1 and self.value.serial_list
        return push_immediate(params, traces, push, decay, update, one_by_one)

    def _advance(
        self, lane: Lane, move: Move, words: Words, limit: jax.Array, hyper: Hyperparameters
    ) -> tuple[Lane, jax.Array, jax.Array]:
        """Advance all games by a stage: (lane, where an episode starts bool[B], its opening plies).

        The n-th idle game starts the n-th of the episodes to be started.
        """
        games, next_states = lane.games, move.next_states
        playing = games.stage == 0
        stage, over = self.rule.next_stage(self, games.stage, next_states.terminal, hyper)
        idle = over | (stage == IDLE)
        number = lane.started + jnp.cumsum(idle.astype(jnp.uint32))
        restart = idle & (number <= limit)
        begin = partial(start_positions, self.game, self.opening_plies, self.opening_share)
        start, opening = begin(self.opening_lines, words, restart, number)
        features = self._features_after(lane.params, games, move, start, restart)
        games = self.rule.remember(self, games, move, NextBoards(features, start, restart))
        if games.seat.size:
            # The only player that learns or explores has another seat in each episode.
            turn = ((number - 1) % self.game.num_players).astype(jnp.int8)
            games = games._replace(seat=jnp.where(restart, turn, games.seat))
        if isinstance(games.traces, ParameterTraces):
            games = games._replace(traces=games.traces.emptied(restart))
        games = games._replace(
            state=select(restart, start, next_states),
            features=features,
            stage=jnp.where(restart, jnp.int8(0), jnp.where(idle, jnp.int8(IDLE), stage)),
        )
        # An idle lane counts no ticks, so waiting for a higher limit changes nothing later.
        busy = (lane.games.stage != IDLE).any() | restart.any()
        lane = lane._replace(
            games=games,
            ticks=lane.ticks + busy.astype(jnp.uint32),
            started=lane.started + restart.sum(dtype=jnp.uint32),
            finished=lane.finished + over.sum(dtype=jnp.uint32),
            moves=lane.moves + playing.sum(dtype=jnp.uint32),
        )
        return lane, restart, opening

    def observe(self, states: State) -> jax.Array:
        """Return the value function's observations int[B, D] of the positions states[B]."""
        return observe_all(self.game, self.value, states)

    def _features_after(
        self, params: Params, games: Games, move: Move, start: State, restart: jax.Array
    ) -> jax.Array:
        """Features int32[B, F] of the boards before the next moves; of `start` where `restart`.

        They are boards before chance, but those after it where values are those of actions.
        """
        if self.game.stochastic or not isinstance(self.value, IncrementalByPattern):
            moved = move.next_states if self.rule.of_actions else move.afterstates
            boards = select(restart, start, moved)
            return self.value.features(params, self.observe(boards))
        (changes,) = materialize(jax.vmap(self.game.change)(games.state, move.choice.action))
        shifted = self.value.shift(params, games.features, changes)
        boards = self.observe(start)
        # If there is only one start position, its features are constant.
        several = self.opening_plies or self.game.init_words
        begun = self.value.features(params, boards if several else boards[:1])
        return jnp.where(restart[:, None], begun, shifted)
