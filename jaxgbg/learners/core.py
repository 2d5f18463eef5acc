"""One tick of B self-play games in lockstep on one shared value function, for every learner.

Each game spends a tick on one move (stage 0) or, once its episode is over, on one of its final
updates (stages 1..N). So a tick makes at most one update a game, and with one game it is the serial
algorithm update for update. What is compared with what is the learner's: see `td` and `sarsa`.
Source: Konen & Bagheri 2021, Algorithms 2, 5, 6 and 7.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, once
from jaxgbg.learners.parameter_traces import (
    ParameterTraces,
    no_parameter_traces,
    push_gradient,
)
from jaxgbg.learners.schedules import decayed
from jaxgbg.learners.selection import action_values, choose_action, uniform
from jaxgbg.learners.state import (
    IDLE,
    Choice,
    Games,
    Hyperparameters,
    Lane,
    Record,
    Task,
)
from jaxgbg.learners.traces import (
    Push,
    Traces,
    at,
    emptied,
    no_traces,
    push_delayed,
    push_immediate,
)
from jaxgbg.values.core import ValueFunction


@dataclasses.dataclass(frozen=True)
class Learner:
    """A learner of one game; static under jit.

    `batch` games in lockstep, `horizon` the length of the eligibility list with the current state
    counted, `delayed` its kind (see `traces`); with `parameter_traces` there is no such list but a
    decaying gradient (see `parameter_traces`). The share `opening_share` of the episodes begins
    `opening_plies` uniformly random plies after the start position, the others at the start.
    """

    game: Game
    value: ValueFunction
    batch: int
    horizon: int = 1
    opening_plies: int = 0
    opening_share: float = 0.5
    delayed: bool = False
    parameter_traces: bool = False

    # Whether values are those of afterstates, learned once the move is made, or of actions.
    of_afterstates = True
    # Whether the action that the update counted on is chosen anew after it.
    replan = False

    def _task(
        self, games: Games, seen: Any, choice: Choice, player: jax.Array, hyper: Hyperparameters
    ) -> Task:
        """Whose value is updated towards what, with the rewards of the states `seen`."""
        raise NotImplementedError

    def _next_stage(
        self, stage: jax.Array, terminal: jax.Array, hyper: Hyperparameters
    ) -> tuple[jax.Array, jax.Array]:
        """The stage after this one and whether the episode is over."""
        raise NotImplementedError

    def _worth(self, values: jax.Array, legal: jax.Array, action: jax.Array) -> jax.Array:
        """float32[B]: the value that an update counts on, of the `values` float32[B, A]."""
        del legal
        return jax.vmap(lambda row, action: row[action])(values, action)

    @property
    def _words_a_tick(self) -> int:
        """Random words of one game and tick: two for each choice, more for chance and openings."""
        other = self.opening_plies // 2 + self.game.spawn_words + self.game.init_words
        return 2 + other + 2 * self.replan

    def init(self, key: jax.Array, tuples: jax.Array | None = None, partner: Any = None) -> Lane:
        """A lane before its first tick: every game is idle and starts an episode in it.

        `tuples` int32[m, L] is the lane's layout where every seed has its own, `partner` a player
        to train against instead of self-play.
        """
        players, features = self.game.num_players, self.value.num_features
        # Ticks never get as far as this number.
        params = self.value.init(tuples, jax.random.fold_in(key, np.uint32(2**32 - 1)))
        games = Games(
            state=jax.vmap(self.game.init)(jax.random.split(key, self.batch)),
            features=jnp.zeros((self.batch, features), jnp.int32),
            stage=jnp.full(self.batch, IDLE, jnp.int8),
            mover=jnp.zeros(self.batch, jnp.int8),
            last=jnp.zeros((self.batch, players, features), jnp.int32),
            has_last=jnp.zeros((self.batch, players), bool),
            last_reward=jnp.zeros((self.batch, players), jnp.float32),
            last_explored=jnp.zeros((self.batch, 0 if self.of_afterstates else players), bool),
            seat=jnp.zeros(self.batch if partner is not None else 0, jnp.int8),
            traces=self._no_traces(params),
        )
        zero = jnp.uint32(0)
        return Lane(params, games, key, zero, zero, zero, zero, partner)

    def _no_traces(self, params: Any) -> Traces | ParameterTraces:
        players, features = self.game.num_players, self.value.num_features
        if self.parameter_traces:
            return no_parameter_traces(self.value, params, self.batch, players)
        return no_traces(self.batch, players, self.horizon - 1, features, self.delayed)

    def advance(
        self, lane: Lane, hyper: Hyperparameters, limit: jax.Array, ticks: int
    ) -> tuple[Lane, Record]:
        """`ticks` ticks of one lane; no episode starts beyond number `limit` uint32[].

        The random words of a tick depend on the lane's key and the tick's number alone, so how
        ticks are cut into calls changes nothing. The records have leading axes [ticks, B].
        """
        numbers = lane.ticks + jnp.arange(ticks, dtype=jnp.uint32)
        keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(lane.key, numbers)
        shape = (self.batch, self._words_a_tick)
        words = jax.vmap(lambda key: jax.random.bits(key, shape))(keys)
        return jax.lax.scan(lambda lane, bits: self.tick(lane, hyper, limit, bits), lane, words)

    def tick(
        self, lane: Lane, hyper: Hyperparameters, limit: jax.Array, bits: jax.Array
    ) -> tuple[Lane, Record]:
        """One tick of all games of a lane; `bits` uint32[B, words a tick]."""
        params, games = lane.params, lane.games
        progress = lane.finished.astype(jnp.float32) / hyper.episodes.astype(jnp.float32)
        alpha = decayed(hyper.alpha_start, hyper.alpha_factors, lane.finished)
        epsilon = hyper.epsilon_start + progress * (hyper.epsilon_end - hyper.epsilon_start)

        playing = games.stage == 0
        player = jnp.where(playing, games.state.player, games.mover)
        choice = foreseen = self._select(lane, params, bits[:, :2], epsilon, hyper)
        if self.of_afterstates:
            after, state = self._move(games, choice, bits)
            seen = state
        else:
            seen = games.state

        task = self._task(games, seen, choice, player, hyper)
        known = at(games.has_last, task.subject) & (games.stage != IDLE)
        skipped = task.skipped & playing & known
        live = known & ~skipped
        if lane.partner is not None:
            live &= (task.subject == games.seat) | hyper.learn_from_partner
        params, games = self._learn(params, games, task.subject, task.target, live, alpha, hyper)
        closed = skipped & hyper.reset_traces
        if isinstance(games.traces, ParameterTraces):
            fresh = games.traces.fresh | closed[:, None]
            games = games._replace(traces=games.traces._replace(fresh=fresh))
        else:
            games = games._replace(traces=emptied(games.traces, closed))

        if not self.of_afterstates:
            if self.replan:
                choice = self._select(lane, params, bits[:, -2:], epsilon, hyper)
            after, state = self._move(games, choice, bits)

        # On to the next stage; the n-th idle game starts the n-th of the episodes to be started.
        stage, over = self._next_stage(games.stage, state.terminal, hyper)
        idle = over | (stage == IDLE)
        number = lane.started + jnp.cumsum(idle.astype(jnp.uint32))
        restart = idle & (number <= limit)
        start, opening = self._start(bits, restart)
        shown = _where(restart, start, after)
        features = self._features_after(params, games, choice.action, shown, start, restart)

        seats = np.arange(self.game.num_players)
        mine = (seats == player[:, None]) & playing[:, None]
        reward = jnp.where(restart[:, None], 0.0, seen.rewards)
        if self.of_afterstates:
            # The mover's afterstate becomes its last one. A start position is the last afterstate
            # of the player before the first mover, except in a game of chance, where it is none.
            before_first = (seats == (start.player[:, None] - 1) % self.game.num_players) & (
                not self.game.stochastic
            )
            mine, memory, mover = mine | restart[:, None], features, player
            has_last = jnp.where(restart[:, None], before_first, games.has_last | mine)
            last_explored = games.last_explored
        else:
            memory = self.value.of_action(games.features, choice.action)
            mover = jnp.where(playing, state.player, player)
            has_last = ~restart[:, None] & (games.has_last | mine)
            last_explored = jnp.where(mine, choice.explored[:, None], games.last_explored)
        traces, seat = games.traces, games.seat
        if isinstance(traces, ParameterTraces):
            traces = traces._replace(fresh=traces.fresh | restart[:, None])
        if lane.partner is not None:
            # The learner takes the seats in turn, from episode to episode.
            turn = ((number - 1) % self.game.num_players).astype(jnp.int8)
            seat = jnp.where(restart, turn, seat)
        games = Games(
            state=_where(restart, start, state),
            features=features,
            stage=jnp.where(restart, jnp.int8(0), jnp.where(idle, jnp.int8(IDLE), stage)),
            mover=mover,
            last=jnp.where(mine[..., None], memory[:, None], games.last),
            has_last=has_last,
            last_reward=jnp.where(mine | restart[:, None], reward, games.last_reward),
            last_explored=last_explored,
            seat=seat,
            traces=traces,
        )
        # An idle lane stands still: how long it waits for a higher limit changes nothing later.
        busy = (lane.games.stage != IDLE).any() | restart.any()
        lane = Lane(
            params=params,
            games=games,
            key=lane.key,
            ticks=lane.ticks + busy.astype(jnp.uint32),
            started=lane.started + restart.sum(dtype=jnp.uint32),
            finished=lane.finished + over.sum(dtype=jnp.uint32),
            moves=lane.moves + playing.sum(dtype=jnp.uint32),
            partner=lane.partner,
        )
        record = Record(playing, foreseen.action, choice.action, choice.explored, restart, opening)
        return lane, record

    def _select(
        self, lane: Lane, params: Any, words: jax.Array, epsilon: jax.Array, hyper: Hyperparameters
    ) -> Choice:
        """Each game's action, epsilon-greedy by `words` uint32[B, 2] or the partner's."""
        games = lane.games
        legal = jax.vmap(self.game.legal_actions)(games.state)
        gains, values = action_values(
            self.game, self.value, params, games.state, games.features, hyper.zero_terminal
        )
        explored = uniform(words[:, 0]) < epsilon
        gains = jnp.where(explored[:, None], 0.0, gains)
        action = jax.vmap(choose_action)(gains, legal, uniform(words[:, 1]))
        if lane.partner is not None:
            # Ticks never get as far as this number.
            key = jax.random.fold_in(lane.key, np.uint32(2**32 - 2))
            theirs = games.state.player != games.seat
            moved = lane.partner.act(games.state, jax.random.fold_in(key, lane.ticks))
            action, explored = jnp.where(theirs, moved, action), explored & ~theirs
        return Choice(action, explored, self._worth(values, legal, action))

    def _move(self, games: Games, choice: Choice, bits: jax.Array) -> tuple[Any, Any]:
        """The states after the chosen actions, before and after chance had its turn."""
        after = jax.vmap(self.game.afterstate)(games.state, choice.action)
        if not self.game.stochastic:
            return after, after
        return after, jax.vmap(self.game.spawn_from)(after, bits[:, 2 : 2 + self.game.spawn_words])

    def _features_after(
        self,
        params: Any,
        games: Games,
        actions: jax.Array,
        shown: Any,
        start: Any,
        restart: jax.Array,
    ) -> jax.Array:
        """int32[B, F] of the boards `shown`: where `restart` of `start`, else after `actions`."""
        if self.value.patterns is None:
            return self.value.features(params, jax.vmap(self.game.cells)(shown))
        (changes,) = once(jax.vmap(self.game.change)(games.state, actions))
        moved = self.value.shift(games.features, changes)
        cells = jax.vmap(self.game.cells)(start)
        # Without openings there is one start position: its features are a constant.
        begun = self.value.features(params, cells if self.opening_plies else cells[:1])
        return jnp.where(restart[:, None], begun, moved)

    def _learn(
        self,
        params: Any,
        games: Games,
        subject: jax.Array,
        target: jax.Array,
        live: jax.Array,
        alpha: jax.Array,
        hyper: Hyperparameters,
    ) -> tuple[Any, Games]:
        """Move V(last[subject] | subject) and what its trace holds towards `target`."""
        features = at(games.last, subject)
        value = self.value.value(params, features, subject)
        slope, error, subject, live = once(
            jnp.where(live, self.value.slope(value), 0),
            jnp.where(live, target - value, 0),
            subject,
            live,
        )

        def update(
            features: jax.Array,
            subject: jax.Array,
            change: jax.Array,
            size: jax.Array,
            live: jax.Array,
        ) -> None:
            nonlocal params
            params = self.value.update(
                params, features, subject, change, size, live, alpha, hyper.beta
            )

        if isinstance(games.traces, ParameterTraces):
            new = Push(features, subject, error, slope, live)
            decay = hyper.trace_decay * hyper.discount
            pushed, params = push_gradient(games.traces, new, decay, self.value, params, alpha)
            return params, games._replace(traces=pushed)
        if self.horizon == 1:
            change = error * slope
            update(features, subject, change, jnp.abs(change), live)
            return params, games
        new = Push(features, subject, error, slope, live)
        decay = hyper.trace_decay * hyper.discount
        if self.delayed:
            traces = push_delayed(games.traces, new, decay, update)
        else:
            one_by_one = self.batch == 1 and self.value.serial_list
            traces = push_immediate(games.traces, new, decay, update, one_by_one)
        return params, games._replace(traces=traces)

    def _start(self, bits: jax.Array, restart: jax.Array) -> tuple[Any, jax.Array]:
        """A start position for each game, and the random plies that led there where `restart`."""
        opening = jnp.full((self.batch, self.opening_plies), -1)
        first = 2 + self.opening_plies // 2 + self.game.spawn_words
        start = jax.vmap(self.game.init_from)(bits[:, first : first + self.game.init_words])
        if not self.opening_plies:
            return start, opening
        # The move of this tick has used the upper 24 bits of the first two words.
        spare = ((bits[:, 0] & 0xFF) << 8) | (bits[:, 1] & 0xFF)
        draw = spare.astype(jnp.float32) / (2**16 * self.opening_share)
        begun, draws = (draw < 1) & restart, [draw]
        for ply in range(1, self.opening_plies):
            half = bits[:, 2 + self.game.spawn_words + (ply - 1) // 2] >> (16 * (ply % 2))
            draws.append((half & 0xFFFF).astype(jnp.float32) / 2**16)

        def random_ply(played: Any, draw: jax.Array) -> tuple[Any, jax.Array]:
            legal = jax.vmap(self.game.legal_actions)(played)
            (action,) = once(jax.vmap(choose_action)(jnp.zeros(legal.shape), legal, draw))
            return jax.vmap(self.game.afterstate)(played, action), jnp.where(begun, action, -1)

        # One ply is compiled in line: a loop would cost more than it does.
        if self.opening_plies == 1:
            played, action = random_ply(start, draws[0])
            return _where(begun, played, start), action[:, None]
        played, actions = jax.lax.scan(random_ply, start, jnp.stack(draws))
        return _where(begun, played, start), actions.T


def _where(chosen: jax.Array, new: Any, old: Any) -> Any:
    """Game by game `new` where `chosen` bool[B], else `old`: trees with leading axis B."""

    def choose(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(chosen.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return jax.tree.map(choose, new, old)
