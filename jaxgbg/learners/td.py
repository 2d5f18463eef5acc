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

from jaxgbg.games.core import Game
from jaxgbg.learners.selection import action_values, choose_action, uniform
from jaxgbg.values.ntuple import NTuple, NTupleParams, once

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
    """B self-play games of one seed; every leaf has leading axis B. F features, h horizon.

    Invariant: outside its final updates, `features` are those of `state`'s board.
    `last` int32[N, F], `has_last` bool[N], `last_reward` float32[N]: every player's last afterstate
    and its own reward then. `trace` int32[N, h-1, F] with `trace_slope` float32[N, h-1]: what each
    player updated before, newest first; slope 0 marks an empty place.
    """

    state: Any
    features: jax.Array
    stage: jax.Array
    mover: jax.Array
    last: jax.Array
    has_last: jax.Array
    last_reward: jax.Array
    trace: jax.Array
    trace_slope: jax.Array


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

    `opening` is the random action before a newly started episode, -1 where it starts at the start.
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
    counted, `choose_start` begins half of the episodes one random ply after the start position.
    """

    game: Game
    value: NTuple
    batch: int
    horizon: int = 1
    choose_start: bool = False

    def init(self, key: jax.Array) -> Lane:
        """A lane before its first tick: every game is idle and starts an episode in it."""
        players, features = self.game.num_players, self.value.num_features
        games = Games(
            state=jax.vmap(self.game.init)(jax.random.split(key, self.batch)),
            features=jnp.zeros((self.batch, features), jnp.int32),
            stage=jnp.full(self.batch, IDLE, jnp.int8),
            mover=jnp.zeros(self.batch, jnp.int8),
            last=jnp.zeros((self.batch, players, features), jnp.int32),
            has_last=jnp.zeros((self.batch, players), bool),
            last_reward=jnp.zeros((self.batch, players), jnp.float32),
            trace=jnp.zeros((self.batch, players, self.horizon - 1, features), jnp.int32),
            trace_slope=jnp.zeros((self.batch, players, self.horizon - 1), jnp.float32),
        )
        zero = jnp.uint32(0)
        return Lane(self.value.init(), games, key, zero, zero, zero, zero)

    def advance(
        self, lane: Lane, hyper: Hyperparameters, limit: jax.Array, ticks: int
    ) -> tuple[Lane, Record]:
        """`ticks` ticks of one lane; no episode starts beyond number `limit` uint32[].

        The random words of a tick depend on the lane's key and the tick's number alone, so how
        ticks are cut into calls changes nothing. The records have leading axes [ticks, B].
        """
        numbers = lane.ticks + jnp.arange(ticks, dtype=jnp.uint32)
        keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(lane.key, numbers)
        shape = (self.batch, 2)
        words = jax.vmap(lambda key: jax.random.bits(key, shape))(keys)
        return jax.lax.scan(lambda lane, bits: self.tick(lane, hyper, limit, bits), lane, words)

    def tick(
        self, lane: Lane, hyper: Hyperparameters, limit: jax.Array, bits: jax.Array
    ) -> tuple[Lane, Record]:
        """One tick of all games of a lane; `bits` uint32[B, 2]."""
        params, games = lane.params, lane.games
        progress = lane.finished.astype(jnp.float32) / hyper.episodes.astype(jnp.float32)
        decay = jnp.log(hyper.alpha_end / hyper.alpha_start)
        alpha = hyper.alpha_start * jnp.exp(progress * decay)
        epsilon = hyper.epsilon_start + progress * (hyper.epsilon_end - hyper.epsilon_start)

        playing = games.stage == 0
        player = jnp.where(playing, games.state.player, games.mover)
        actions, explored, next_value = jax.vmap(self._select, in_axes=(None, 0, 0, 0, None, None))(
            params, games.state, games.features, bits, epsilon, hyper.zero_terminal
        )
        state = jax.vmap(self.game.afterstate)(games.state, actions)
        features = jax.vmap(self._features_after)(games.state, games.features, actions, state)

        # One update a game: whose value, towards what.
        other = games.stage - 1
        other += (other >= games.mover).astype(jnp.int8)
        adapting = (games.stage > 0) & (games.stage < self.game.num_players)
        subject = jnp.where(adapting, other, player)
        # Stages 1..N hold the terminal state, which no action alters.
        gain = _at(state.rewards, subject) - _at(games.last_reward, subject)
        target = jnp.where(playing & ~state.terminal, gain + next_value, gain)
        target = jnp.where(games.stage == self.game.num_players, 0.0, target)
        known = _at(games.has_last, subject) & (games.stage != IDLE)
        skipped = playing & known & explored & ~hyper.learn_from_random
        params, games = self._learn(params, games, subject, target, known & ~skipped, alpha, hyper)
        emptied = (skipped & hyper.reset_traces)[:, None, None]
        games = games._replace(trace_slope=jnp.where(emptied, 0.0, games.trace_slope))

        # The mover's afterstate becomes its last one; then on to the next stage.
        mine = (jnp.arange(self.game.num_players) == player[:, None]) & playing[:, None]
        games = games._replace(
            state=state,
            features=features,
            mover=player,
            last=jnp.where(mine[..., None], features[:, None], games.last),
            has_last=games.has_last | mine,
            last_reward=jnp.where(mine, state.rewards, games.last_reward),
        )
        stage, over = self._next_stage(games.stage, state.terminal, hyper)
        games = games._replace(stage=jnp.where(over, jnp.int8(IDLE), stage))
        idle = games.stage == IDLE
        # The n-th idle game starts the n-th of the episodes still to be started.
        restart = idle & (lane.started + jnp.cumsum(idle.astype(jnp.uint32)) <= limit)
        games, opening = jax.vmap(self._start)(games, bits, restart)
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
        state: Any,
        features: jax.Array,
        bits: jax.Array,
        epsilon: jax.Array,
        zero_terminal: jax.Array,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """One game's epsilon-greedy action, whether it was random, and V(afterstate | mover)."""
        legal = self.game.legal_actions(state)
        gains, values = action_values(self.game, self.value, params, state, features, zero_terminal)
        explored = uniform(bits[0]) < epsilon
        action = choose_action(jnp.where(explored, 0.0, gains), legal, uniform(bits[1]))
        return action, explored, values[action]

    def _features_after(
        self, state: Any, features: jax.Array, action: jax.Array, after: Any
    ) -> jax.Array:
        """int32[F] of the board `after`, which `action` makes of `state` with `features`."""
        if self.value.patterns is None:
            return self.value.features(self.game.cells(after))
        (change,) = once(self.game.change(state, action))
        return self.value.shift(features, change)

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
        """Move V(last[subject] | subject) towards `target`, and what the trace still holds of it.

        The list is walked newest first, each place seeing the TCL counters left by the one before.
        """
        features = _at(games.last, subject)
        value = self.value.value(params, features, subject)
        slope, error, subject, live = once(
            jnp.where(live, self.value.slope(value), 0),
            jnp.where(live, target - value, 0),
            subject,
            live,
        )
        params = self.value.update(
            params, features, subject, error * slope, live, alpha, hyper.beta
        )
        if self.horizon == 1:
            return params, games
        trace, trace_slope = _at(games.trace, subject), _at(games.trace_slope, subject)
        for k in range(1, self.horizon):
            change = error * hyper.trace_decay**k * trace_slope[:, k - 1]
            params = self.value.update(
                params,
                trace[:, k - 1],
                subject,
                change,
                live & (trace_slope[:, k - 1] > 0),
                alpha,
                hyper.beta,
            )
        pushed = jnp.concatenate([features[:, None], trace[:, :-1]], 1)
        pushed_slope = jnp.concatenate([slope[:, None], trace_slope[:, :-1]], 1)
        theirs = (jnp.arange(self.game.num_players) == subject[:, None]) & live[:, None]
        return params, games._replace(
            trace=jnp.where(theirs[..., None, None], pushed[:, None], games.trace),
            trace_slope=jnp.where(theirs[..., None], pushed_slope[:, None], games.trace_slope),
        )

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

    def _start(self, games: Games, bits: jax.Array, restart: jax.Array) -> tuple[Games, jax.Array]:
        """One game (no leading axis) back at a start position where `restart`, and its opening ply.

        The player before the first mover gets the start position as its last afterstate.
        """
        # Only start positions drawn at random would use the key.
        state = self.game.init(jax.random.key(0))
        features = self.value.features(self.game.cells(state))
        opening = jnp.int32(-1)
        if self.choose_start:
            legal = self.game.legal_actions(state)
            # The move of this tick has used the upper 24 bits of both words.
            spare = ((bits[0] & 0xFF) << 24) | ((bits[1] & 0xFF) << 16)
            action = choose_action(jnp.zeros(legal.shape), legal, uniform(spare << 1))
            begun = (spare >> 31) == 1
            opening = jnp.where(begun & restart, action, -1)
            played = self.game.afterstate(state, action)
            shifted = self._features_after(state, features, action, played)
            state, features = jax.tree.map(
                lambda new, old: jnp.where(begun, new, old), (played, shifted), (state, features)
            )
        players = jnp.arange(self.game.num_players)
        before_first = players == (state.player - 1) % self.game.num_players
        fresh = games._replace(
            state=state,
            features=features,
            stage=jnp.int8(0),
            last=jnp.broadcast_to(features, games.last.shape),
            has_last=before_first,
            last_reward=jnp.zeros_like(games.last_reward),
        )
        idle = games._replace(stage=jnp.where(restart, jnp.int8(0), games.stage))
        return jax.tree.map(lambda new, old: jnp.where(restart, new, old), fresh, idle), opening


def _at(array: jax.Array, player: jax.Array) -> jax.Array:
    """`array` [B, N, ...] at each game's player int[B] -> [B, ...], by selection, not by gather."""
    chosen = array[:, 0]
    for n in range(1, array.shape[1]):
        mine = (player == n).reshape(-1, *([1] * (array.ndim - 2)))
        chosen = jnp.where(mine, array[:, n], chosen)
    return chosen


def horizon_of(trace_decay: float, cut: float) -> int:
    """Length of the eligibility list: 1 + floor(ln cut / ln lambda), and 1 for lambda = 0."""
    return 1 if trace_decay == 0 else 1 + int(np.floor(np.log(cut) / np.log(trace_decay)))
