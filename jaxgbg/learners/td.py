"""TD-FARL: one tick of B self-play games in lockstep on one shared value function.

Each game spends a tick on one move, or, once its episode is over, on one of its final updates:
stage 0 plays, stages 1..N-1 adapt the other players (FARL part 1), stage N adapts the last
mover's terminal afterstate towards 0 (part 2). So a tick makes at most one update a game, and with
one game it is the serial algorithm update for update.
Source: Konen & Bagheri 2021, Algorithms 2, 6 and 7.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.core import Game, once
from jaxgbg.learners.selection import action_values, choose_action, uniform
from jaxgbg.learners.traces import (
    Push,
    Traces,
    at,
    emptied,
    no_traces,
    push_delayed,
    push_immediate,
)
from jaxgbg.values.ntuple import NTuple, NTupleParams

IDLE = -1


class Hyperparameters(NamedTuple):
    """Traced scalars, one set for each seed: an ablation over them is one compiled program.

    `episodes` is the budget over which alpha decays geometrically and epsilon linearly.
    `final_others` and `final_zero` switch FARL parts 1 and 2. `zero_terminal` takes the value of a
    terminal afterstate as 0 in move selection; False reads it from the tables, as the paper's
    runs of 2020 did. `reset_traces` empties all eligibility lists when the update after a random
    move is left out (mode RESET); False keeps them (mode ET).
    """

    episodes: jax.Array
    alpha_start: jax.Array
    alpha_end: jax.Array
    epsilon_start: jax.Array
    epsilon_end: jax.Array
    trace_decay: jax.Array
    beta: jax.Array
    learn_from_random: jax.Array
    final_others: jax.Array
    final_zero: jax.Array
    zero_terminal: jax.Array
    reset_traces: jax.Array


class Games(NamedTuple):
    """B self-play games of one seed; every leaf has leading axis B. F features.

    Invariant: outside its final updates, `features` are those of `state`'s board.
    `last` int32[N, F], `has_last` bool[N], `last_reward` float32[N]: every player's last afterstate
    and its own reward then.
    """

    state: Any
    features: jax.Array
    stage: jax.Array
    mover: jax.Array
    last: jax.Array
    has_last: jax.Array
    last_reward: jax.Array
    traces: Traces


class Lane(NamedTuple):
    """All that one seed carries: tables, games, its random key, and counts of what it did.

    The counts are uint32[]: `ticks` gone by, episodes `started` and `finished`, `moves` made.
    """

    params: NTupleParams
    games: Games
    key: jax.Array
    ticks: jax.Array
    started: jax.Array
    finished: jax.Array
    moves: jax.Array


class Record(NamedTuple):
    """What happened in a tick, leading axis B: enough to replay it elsewhere.

    `opening` int32[B, opening_plies] are the random actions before a newly started episode, -1
    where it starts at the start.
    """

    moved: jax.Array
    action: jax.Array
    random: jax.Array
    started: jax.Array
    opening: jax.Array


@dataclasses.dataclass(frozen=True)
class TDLearner:
    """TD-FARL on one game; static under jit.

    `batch` games in lockstep, `horizon` the length of the eligibility list with the current state
    counted, `delayed` its kind (see `traces`). The share `opening_share` of the episodes begins
    `opening_plies` uniformly random plies after the start position, the others at the start.
    """

    game: Game
    value: NTuple
    batch: int
    horizon: int = 1
    opening_plies: int = 0
    opening_share: float = 0.5
    delayed: bool = False

    @property
    def _words_a_tick(self) -> int:
        """Random words of one game and tick: two for the move, more for chance and openings."""
        return 2 + self.opening_plies // 2 + self.game.spawn_words + self.game.init_words

    def init(self, key: jax.Array, tuples: jax.Array | None = None) -> Lane:
        """A lane before its first tick: every game is idle and starts an episode in it.

        `tuples` int32[m, L] is the lane's layout where every seed has its own.
        """
        players, features = self.game.num_players, self.value.num_features
        games = Games(
            state=jax.vmap(self.game.init)(jax.random.split(key, self.batch)),
            features=jnp.zeros((self.batch, features), jnp.int32),
            stage=jnp.full(self.batch, IDLE, jnp.int8),
            mover=jnp.zeros(self.batch, jnp.int8),
            last=jnp.zeros((self.batch, players, features), jnp.int32),
            has_last=jnp.zeros((self.batch, players), bool),
            last_reward=jnp.zeros((self.batch, players), jnp.float32),
            traces=no_traces(self.batch, players, self.horizon - 1, features, self.delayed),
        )
        zero = jnp.uint32(0)
        return Lane(self.value.init(tuples), games, key, zero, zero, zero, zero)

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
        decay = jnp.log(hyper.alpha_end / hyper.alpha_start)
        alpha = hyper.alpha_start * jnp.exp(progress * decay)
        epsilon = hyper.epsilon_start + progress * (hyper.epsilon_end - hyper.epsilon_start)

        playing = games.stage == 0
        player = jnp.where(playing, games.state.player, games.mover)
        actions, explored, next_value = self._select(
            params, games, bits, epsilon, hyper.zero_terminal
        )
        state = after = jax.vmap(self.game.afterstate)(games.state, actions)
        if self.game.stochastic:
            state = jax.vmap(self.game.spawn_from)(after, bits[:, 2 : 2 + self.game.spawn_words])

        # One update a game: whose value, towards what.
        other = games.stage - 1
        other += (other >= games.mover).astype(jnp.int8)
        adapting = (games.stage > 0) & (games.stage < self.game.num_players)
        subject = jnp.where(adapting, other, player)
        # Stages 1..N hold the terminal state, which no action alters.
        gain = at(state.rewards, subject) - at(games.last_reward, subject)
        target = jnp.where(playing & ~state.terminal, gain + next_value, gain)
        target = jnp.where(games.stage == self.game.num_players, 0.0, target)
        known = at(games.has_last, subject) & (games.stage != IDLE)
        skipped = playing & known & explored & ~hyper.learn_from_random
        params, games = self._learn(params, games, subject, target, known & ~skipped, alpha, hyper)
        traces = emptied(games.traces, skipped & hyper.reset_traces)

        # On to the next stage; the n-th idle game starts the n-th of the episodes to be started.
        stage, over = self._next_stage(games.stage, state.terminal, hyper)
        idle = over | (stage == IDLE)
        restart = idle & (lane.started + jnp.cumsum(idle.astype(jnp.uint32)) <= limit)
        start, opening = self._start(bits, restart)
        shown = _where(restart, start, after)
        features = self._features_after(params, games, actions, shown, start, restart)

        # The mover's afterstate becomes its last one. A start position is the last afterstate of
        # the player before the first mover, except in a game of chance, where it is none.
        seats = np.arange(self.game.num_players)
        mine = ((seats == player[:, None]) & playing[:, None]) | restart[:, None]
        before_first = (seats == (start.player[:, None] - 1) % self.game.num_players) & (
            not self.game.stochastic
        )
        reward = jnp.where(restart[:, None], 0.0, state.rewards)
        games = Games(
            state=_where(restart, start, state),
            features=features,
            stage=jnp.where(restart, jnp.int8(0), jnp.where(idle, jnp.int8(IDLE), stage)),
            mover=player,
            last=jnp.where(mine[..., None], features[:, None], games.last),
            has_last=jnp.where(restart[:, None], before_first, games.has_last | mine),
            last_reward=jnp.where(mine, reward, games.last_reward),
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
        )
        return lane, Record(playing, actions, explored, restart, opening)

    def _select(
        self,
        params: NTupleParams,
        games: Games,
        bits: jax.Array,
        epsilon: jax.Array,
        zero_terminal: jax.Array,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Each game's epsilon-greedy action, whether it was random, and V(afterstate | mover)."""
        legal = jax.vmap(self.game.legal_actions)(games.state)
        gains, values = action_values(
            self.game, self.value, params, games.state, games.features, zero_terminal
        )
        explored = uniform(bits[:, 0]) < epsilon
        worth = jnp.where(explored[:, None], 0.0, gains)
        action = jax.vmap(choose_action)(worth, legal, uniform(bits[:, 1]))
        return action, explored, jax.vmap(lambda row, action: row[action])(values, action)

    def _features_after(
        self,
        params: NTupleParams,
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
        params: NTupleParams,
        games: Games,
        subject: jax.Array,
        target: jax.Array,
        live: jax.Array,
        alpha: jax.Array,
        hyper: Hyperparameters,
    ) -> tuple[NTupleParams, Games]:
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

        if self.horizon == 1:
            change = error * slope
            update(features, subject, change, jnp.abs(change), live)
            return params, games
        push = push_delayed if self.delayed else push_immediate
        new = Push(features, subject, error, slope, live)
        traces = push(games.traces, new, hyper.trace_decay, update)
        return params, games._replace(traces=traces)

    def _next_stage(
        self, stage: jax.Array, terminal: jax.Array, hyper: Hyperparameters
    ) -> tuple[jax.Array, jax.Array]:
        """The stage after this one and whether the episode is over."""
        players = self.game.num_players
        following = stage + 1
        skip_others = (following < players) & ~hyper.final_others
        following = jnp.where(skip_others, jnp.int8(players), following)
        over = (following > players) | ((following == players) & ~hyper.final_zero)
        running = (stage == IDLE) | ((stage == 0) & ~terminal)
        return jnp.where(running, stage, following), over & ~running

    def _start(self, bits: jax.Array, restart: jax.Array) -> tuple[Any, jax.Array]:
        """A start position for each game, and the random plies that led there where `restart`."""
        opening = jnp.full((self.batch, self.opening_plies), -1)
        start = jax.vmap(self.game.init_from)(bits[:, bits.shape[1] - self.game.init_words :])
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


def horizon_of(trace_decay: float, cut: float) -> int:
    """Length of the eligibility list: 1 + floor(ln cut / ln lambda), and 1 for lambda = 0."""
    return 1 if trace_decay == 0 else 1 + int(np.floor(np.log(cut) / np.log(trace_decay)))
