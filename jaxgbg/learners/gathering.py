"""Play first, learn after: a round of games with fixed values, then all its pairs in random order.

A pair is what one update of TD needs: the board that a player remembers, the next board of the same
player or none, and the rewards between them. Targets are made anew from the values as they stand.
Source: Sasso & van Lohuizen 2018 (500 games a round, three passes).
"""

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.learners.schedules import decayed
from jaxgbg.learners.state import Games, Hyperparameters, Lane, Move, Record, Target, Words
from jaxgbg.learners.td import TDLearner
from jaxgbg.learners.traces import at
from jaxgbg.values.core import SeesInputs, Updates

_KEY_OF_ORDER = np.uint32(2**32 - 3)
# So many steps see their boards together.
_STEPS_TOGETHER = 64
# And so many of them are one round of a loop, whose own work takes as long as that of a small step.
_UNROLLED = 4


class Gathered(NamedTuple):
    """What the games of a round have shown so far; R places for boards and as many for pairs.

    `boards` int[R, D], as the value function observes them. A pair: the number of the board that is
    learned `last` int32[R], that of the one counted on `following` int32[R], -1 for none, whose
    value moves, `player` int8[R], and its rewards between them, `gain` float32[R]. `remembered`
    int32[B, N] are the numbers of the boards that the players of each game remember. `rounds`
    uint32[] were learned before.
    `predicted` int32[R] are the numbers of the boards that pairs are to predict, -1 for none; None
    if nobody predicts.
    """

    boards: jax.Array
    num_boards: jax.Array
    last: jax.Array
    following: jax.Array
    player: jax.Array
    gain: jax.Array
    num_pairs: jax.Array
    remembered: jax.Array
    rounds: jax.Array
    predicted: jax.Array | None


@dataclasses.dataclass(frozen=True)
class GatheringLearner(TDLearner):
    """TD-FARL that learns `round_games` games at once, `passes` times, a `minibatch` a step."""

    round_games: int = 1
    passes: int = 1
    minibatch: int = 1

    @property
    def capacity(self) -> int:
        """R: the most boards or pairs that a round can bring."""
        return self.round_games * (self.game.max_plies + self.game.num_players)

    @property
    def board(self) -> jax.ShapeDtypeStruct:
        """Shape and dtype of one of the boards that are kept."""
        state = jax.eval_shape(self.game.init, jax.random.key(0))
        found = jax.eval_shape(partial(self.value.observe, self.game), state)
        return jax.ShapeDtypeStruct(found.shape, found.dtype)

    def init(self, key: jax.Array, drawn: jax.Array | None = None, partner: Any = None) -> Lane:
        """A lane before its first tick, with nothing gathered; see `Learner.init`."""
        places, players = self.capacity, self.game.num_players
        zero, board = jnp.int32(0), self.board
        nothing = Gathered(
            boards=jnp.zeros((places, *board.shape), board.dtype),
            num_boards=zero,
            last=jnp.zeros(places, jnp.int32),
            following=jnp.zeros(places, jnp.int32),
            player=jnp.zeros(places, jnp.int8),
            gain=jnp.zeros(places, jnp.float32),
            num_pairs=zero,
            remembered=jnp.zeros((self.batch, players), jnp.int32),
            rounds=jnp.uint32(0),
            predicted=jnp.zeros(places, jnp.int32) if self.value.predicts else None,
        )
        return super().init(key, drawn, partner)._replace(gathered=nothing)

    def advance(
        self, lane: Lane, hyper: Hyperparameters, limit: jax.Array, ticks: int
    ) -> tuple[Lane, Record]:
        """`ticks` ticks of one lane, to the end of its round at most; see `Learner.advance`."""
        return super().advance(lane, hyper, jnp.minimum(limit, self._round_end(lane)), ticks)

    def _round_end(self, lane: Lane) -> jax.Array:
        """The number uint32[...] of episodes after which the round's pairs are learned."""
        return (lane.gathered.rounds + 1) * np.uint32(self.round_games)

    def _learn(self, lane: Lane, target: Target, alpha: jax.Array, hyper: Hyperparameters) -> Lane:
        """Note the pair of each game's update instead of making it."""
        seen, playing = lane.gathered, lane.games.stage == 0
        live, _ = self._live(lane, target, hyper)
        number = seen.num_boards + jnp.cumsum(playing, dtype=jnp.int32) - 1
        place = _places(seen.num_pairs, live, self.capacity)
        gathered = seen._replace(
            last=seen.last.at[place].set(at(seen.remembered, target.player), mode="drop"),
            following=seen.following.at[place].set(
                jnp.where(target.counted, number, -1), mode="drop"
            ),
            player=seen.player.at[place].set(target.player, mode="drop"),
            gain=seen.gain.at[place].set(target.gain, mode="drop"),
            num_pairs=seen.num_pairs + live.sum(dtype=jnp.int32),
        )
        if seen.predicted is not None:
            # After the end the last mover remembers the final board, and nothing follows on it.
            final = at(seen.remembered, lane.games.mover)
            nothing = lane.games.stage == self.game.num_players
            coming = jnp.where(nothing, -1, jnp.where(playing, number, final))
            gathered = gathered._replace(
                predicted=seen.predicted.at[place].set(coming, mode="drop")
            )
        return lane._replace(gathered=gathered)

    def _advance(
        self, lane: Lane, move: Move, words: Words, limit: jax.Array, hyper: Hyperparameters
    ) -> tuple[Lane, jax.Array, jax.Array]:
        """All games one stage on, and the boards that their players will remember."""
        before: Games = lane.games
        lane, restart, opening = super()._advance(lane, move, words, limit, hyper)
        playing, seats = before.stage == 0, np.arange(self.game.num_players)
        mine = (seats == before.player[:, None]) & playing[:, None]
        gathered = self._noted(lane.gathered, move.afterstates, playing, mine)
        gathered = self._noted(gathered, lane.games.state, restart, restart[:, None])
        return lane._replace(gathered=gathered), restart, opening

    def _noted(self, seen: Gathered, states: Any, new: jax.Array, mine: jax.Array) -> Gathered:
        """With the boards of `states` where `new` bool[B], which the players `mine` remember."""
        place = _places(seen.num_boards, new, self.capacity)
        boards = self._observed(states)
        return seen._replace(
            boards=seen.boards.at[place].set(boards, mode="drop"),
            num_boards=seen.num_boards + new.sum(dtype=jnp.int32),
            remembered=jnp.where(mine, place[:, None], seen.remembered),
        )

    def between_blocks(self, lanes: Lane, hyper: Hyperparameters, limits: jax.Array) -> Lane:
        """The lanes, their pairs learned if all have played their rounds to the end."""
        ended = (lanes.finished >= self._round_end(lanes)) | (lanes.finished == hyper.episodes)
        # A round may bring boards and no pairs: random moves that nobody learns from.
        due = ended & (lanes.gathered.num_boards > 0)
        # Lanes that only fill up a device never play.
        ready = (due | (limits == 0)).all() & due.any()
        return jax.lax.cond(ready, self._learned, lambda lanes, _: lanes, lanes, hyper)

    def _learned(self, lanes: Lane, hyper: Hyperparameters) -> Lane:
        seen = lanes.gathered
        if isinstance(self.value, SeesInputs):
            # Networks are small, and their products are made faster for one lane than for several.
            params = jax.lax.map(lambda one: self._lane_learned(*one), (lanes, hyper))
        else:
            params = self._lanes_learned(lanes, hyper)
        none = jnp.zeros_like(seen.num_pairs)
        emptied = seen._replace(num_boards=none, num_pairs=none, rounds=seen.rounds + 1)
        return lanes._replace(params=params, gathered=emptied)

    def _lanes_learned(self, lanes: Lane, hyper: Hyperparameters) -> Any:
        """The parameters of all lanes, step by step together: tables are not moved."""
        steps = -(-lanes.gathered.num_pairs.max() // self.minibatch)

        def one_pass(number: jax.Array, params: Any) -> Any:
            order = jax.vmap(self._order, (0, None))(lanes, number)
            every = jax.vmap(self._step, (0, None, 0, 0, 0))
            return jax.lax.fori_loop(
                0, steps, lambda step, params: every(params, step, order, lanes, hyper), params
            )

        return jax.lax.fori_loop(0, self.passes, one_pass, lanes.params)

    def _lane_learned(self, lane: Lane, hyper: Hyperparameters) -> Any:
        """The parameters of one lane, whose value function `SeesInputs`.

        Most of a small step is to find the pair and see its boards: that is done for many together.
        """
        seen, steps = lane.gathered, -(-lane.gathered.num_pairs // self.minibatch)
        # The order costs what there is room for: most rounds need a small part of it.
        rooms = [-(-self.capacity >> halvings) for halvings in range(6)]
        room = (seen.num_pairs <= np.array(rooms)).sum() - 1
        orders = [partial(self._order, places=places) for places in rooms]

        def one_pass(number: jax.Array, params: Any) -> Any:
            order = jax.lax.switch(room, orders, lane, number)

            def portion(at: jax.Array, params: Any) -> Any:
                return self._steps(params, at * _STEPS_TOGETHER, order, lane, hyper)

            return jax.lax.fori_loop(0, -(-steps // _STEPS_TOGETHER), portion, params)

        return jax.lax.fori_loop(0, self.passes, one_pass, lane.params)

    def _steps(
        self, params: Any, first: jax.Array, order: jax.Array, lane: Lane, hyper: Hyperparameters
    ) -> Any:
        """The parameters after several minibatches from number `first` on: see `_step`."""
        seen, value = lane.gathered, self.value
        assert isinstance(value, SeesInputs)
        shape = (_STEPS_TOGETHER, self.minibatch)
        numbers = first * self.minibatch + np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        pair = order[jnp.minimum(numbers, self.capacity - 1)]
        live, player, following = numbers < seen.num_pairs, seen.player[pair], seen.following[pair]
        here, after = (
            value.seen_by(value.features(params, seen.boards[board]), player)
            for board in (seen.last[pair], following)
        )
        coming = None
        if seen.predicted is not None:
            coming = value.coming(self._to_predict(params, seen, pair), player)
        gain, discount = seen.gain[pair], jnp.where(following < 0, 0, hyper.discount)
        alpha = decayed(hyper.alpha, hyper.alpha_factors, lane.finished)

        def step(at: jax.Array, params: Any) -> Any:
            now, ahead = value.value_seen(params, here[at]), value.value_seen(params, after[at])
            change = (gain[at] + discount[at] * ahead - now) * self.value.slope(now)
            told = None if coming is None else coming[at]
            return value.update_seen(params, here[at], change, live[at], alpha, told)

        return jax.lax.fori_loop(0, _STEPS_TOGETHER, step, params, unroll=_UNROLLED)

    def _to_predict(self, params: Any, seen: Gathered, pair: jax.Array) -> jax.Array:
        """int32[..., F]: `Updates.following` of pairs int32[...]."""
        assert seen.predicted is not None
        board = seen.predicted[pair]
        features = self.value.features(params, seen.boards[board])
        return jnp.where(board[..., None] < 0, -1, features)

    def _order(self, lane: Lane, number: jax.Array, places: int | None = None) -> jax.Array:
        """int32[R]: the pairs of one lane in an order drawn for this pass, then empty places.

        Faster where all pairs stand in the first `places`, if that is given.
        """
        seen = lane.gathered
        key = jax.random.fold_in(lane.key, _KEY_OF_ORDER)
        key = jax.random.fold_in(key, seen.rounds * np.uint32(self.passes) + number)
        places = self.capacity if places is None else places
        draws = jax.random.uniform(key, (self.capacity,), jnp.float32)[:places]
        order = jnp.argsort(jnp.where(np.arange(places) < seen.num_pairs, draws, 2.0))
        return jnp.pad(order, (0, self.capacity - places))

    def _step(
        self, params: Any, step: jax.Array, order: jax.Array, lane: Lane, hyper: Hyperparameters
    ) -> Any:
        """The parameters after one minibatch of pairs."""
        seen, value = lane.gathered, self.value
        numbers = step * self.minibatch + np.arange(self.minibatch, dtype=np.int32)
        pair = order[jnp.minimum(numbers, self.capacity - 1)]
        live, player, following = numbers < seen.num_pairs, seen.player[pair], seen.following[pair]
        features = value.features(params, seen.boards[seen.last[pair]])
        ahead = value.value(params, value.features(params, seen.boards[following]), player)
        target = seen.gain[pair] + jnp.where(following < 0, 0, hyper.discount * ahead)
        now = value.value(params, features, player)
        change = jnp.where(live, (target - now) * value.slope(now), 0)
        alpha = decayed(hyper.alpha, hyper.alpha_factors, lane.finished)
        updates = Updates(features, player, change, jnp.abs(change), live)
        if seen.predicted is not None:
            updates = updates._replace(following=self._to_predict(params, seen, pair))
        return value.update(params, updates, alpha, hyper.value)


def _places(count: jax.Array, new: jax.Array, capacity: int) -> jax.Array:
    """int32[B]: places from `count` on, in turn, where `new`, and beyond all others elsewhere."""
    return jnp.where(new, count + jnp.cumsum(new, dtype=jnp.int32) - 1, capacity)
