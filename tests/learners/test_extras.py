"""What updates predict: the extras of the player's next board, up to the end of the episode."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games.nim import Nim
from jaxgbg.learners import Schedule, TDSpec
from jaxgbg.learners.replay import board_shape, replay_order
from jaxgbg.values import AuxiliaryMLP, MLPSpec
from jaxgbg.values.core import Updates
from tests.learners.replay import made, named, stack_hyperparameters, transcripts
from tests.learners.test_replay_networks import layers
from tests.reference import rules
from tests.reference.mlp_td import Network, inputs
from tests.values.test_extras import reference_step

PLAIN = rules.Nim(heaps=2, heap_size=3, num_players=3)
NETWORK = MLPSpec(hidden=(4,), extras=("left", "wait"))
EPISODES, TICKS = 12, 120


class Counted(Nim):
    """Nim for three players with numbers to predict: whose turn it is, and what is left."""

    extra_names = ("wait", "left")
    extra_scales = (2.0, 8.0)

    def extras(self, state):
        seats = jnp.arange(3)
        left = state.heaps.sum(dtype=jnp.int32) + seats
        return jnp.stack([(seats - state.player) % 3, left], 1).astype(jnp.int32)


GAME = Counted(heaps=2, size=3, players=3, rule="nim3p")


def board(state: rules.State) -> tuple[int, ...]:
    """The features of a position: cells, then for each player what is left and how long to wait."""
    extras = [(sum(state.cells) + seat, (seat - state.player) % 3) for seat in range(3)]
    return (*state.cells, *(number for pair in extras for number in pair))


def looked(features, player) -> np.ndarray:
    """What the network sees of a board."""
    return np.append(inputs(PLAIN, features[:2], player), own_first(features, player))


def own_first(features, player) -> np.ndarray:
    extras = np.array(features[2:], float).reshape(3, 2) / [8, 2]
    return np.roll(extras, -player, 0).ravel()


def updates_of(moves, final_others: bool, final_zero: bool) -> list[tuple]:
    """(board, player, board to predict or None) of each update of one episode, in its order."""
    state = PLAIN.initial()
    last, found = {2: state}, []
    for action, _ in moves:
        mover, state = state.player, PLAIN.play(state, action)
        if mover in last:
            found.append((board(last[mover]), mover, board(state)))
        last[mover] = state
    for other in range(3):
        if other != mover and other in last and final_others:
            found.append((board(last[other]), other, board(state)))
    return [*found, (board(state), mover, None)] if final_zero else found


class Noting(AuxiliaryMLP):
    """Keeps the updates of each tick, with the next boards themselves, as its optimizer's state."""

    def auxiliary_targets(self, following, player):
        return following

    def init(self, drawn=None, key=None):
        flat, rows = np.zeros(1, np.float32), np.zeros((1, self.num_features), np.int32)
        none = Updates(rows, np.zeros(1, np.int8), flat, flat, np.zeros(1, bool), rows)
        return super().init(drawn, key)._replace(optimizer=jax.tree.map(jnp.asarray, none))

    def update(self, params, updates, alpha, hyper):
        return params._replace(optimizer=updates)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [(True, True), (False, False)])
def test_each_update_predicts_the_next_board_of_its_player(parts):
    learner = TDSpec().build(GAME, NETWORK, Schedule(batch=1))
    value = Noting(spec=NETWORK, game=GAME)
    learner = dataclasses.replace(learner, value=value)
    hyper = jax.tree.map(
        lambda leaf: leaf[0],
        stack_hyperparameters([named(*parts, True, False)], 0.1, 0.0, EPISODES),
    )

    @jax.jit
    def ticks(key):
        def one(lane, bits):
            lane, record = learner.tick(lane, hyper, jnp.uint32(EPISODES), bits)
            return lane, (record, lane.params.optimizer)

        shape = (TICKS, 1, sum(learner.word_counts))
        lane, seen = jax.lax.scan(one, learner.init(key), jax.random.bits(key, shape))
        return lane.finished, seen

    finished, (record, noted) = jax.tree.map(np.asarray, ticks(jax.random.key(1)))
    assert finished == EPISODES
    found = [
        (tuple(features[0]), player[0], None if after[0][0] < 0 else tuple(after[0]))
        for features, player, _, _, live, after in zip(*noted, strict=True)
        if live[0]
    ]
    played = transcripts(jax.tree.map(lambda leaf: leaf[None], record), 0)
    expected = [each for _, moves in played for each in updates_of(made(moves), *parts)]
    assert found == expected
    assert sum(after is None for _, _, after in found) == EPISODES * parts[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts", [(True, True), pytest.param((True, False), marks=pytest.mark.slow)]
)
def test_a_round_of_games_predicts_the_same_boards_and_learns_them(parts):
    spec = TDSpec(replay_episodes=EPISODES, minibatch=3)
    learner = spec.build(GAME, NETWORK, Schedule(batch=1))
    hyper = stack_hyperparameters([named(*parts, True, False)], 0.1, 0.0, EPISODES)
    limits = jnp.full(1, EPISODES, jnp.uint32)
    lanes = jax.vmap(learner.init)(jax.random.split(jax.random.key(1), 1))
    lanes, record = jax.jit(jax.vmap(lambda *given: learner.advance(*given, ticks=TICKS)))(
        lanes, hyper, limits
    )
    after = jax.jit(learner.after_block)(lanes, hyper, limits)
    lane = jax.tree.map(lambda leaf: leaf[0], lanes._replace(key=None))
    seen = jax.tree.map(np.asarray, lane.games.rule)
    count = int(seen.num_transitions)
    found = [
        (
            tuple(seen.boards[seen.last[i]]),
            seen.player[i],
            None if seen.next[i] < 0 else tuple(seen.boards[seen.next[i]]),
        )
        for i in range(count)
    ]
    played = transcripts(record, 0)
    assert found == [each for _, moves in played for each in updates_of(made(moves), *parts)]

    weights, biases = layers(lane.params.network)
    network = Network([2 * 4 + 3 + 6, 4, 7], weights=weights, biases=biases)
    order = np.asarray(replay_order(learner, lane._replace(key=lanes.key[0]), jnp.int32(0)))[:count]
    alpha = 0.1 * 0.5 ** (int(lane.finished) / EPISODES)
    for first in range(0, count, 3):
        pairs = []
        for i in order[first : first + 3]:
            features, player, coming = found[i]
            target = float(seen.gain[i])
            if seen.bootstrap[i]:
                assert coming is not None
                target += network.values(looked(coming, player))[0]
            here = looked(features, player)
            wanted = None if coming is None else own_first(coming, player)
            pairs.append((here, target - network.values(here)[0], wanted))
        reference_step(network, pairs, alpha)
    learned = jax.tree.map(lambda leaf: leaf[0], after.params.network)
    parts_found = [part for kind in layers(learned) for part in kind]
    for new, old, expected in zip(
        parts_found, [*weights, *biases], network.parameters, strict=True
    ):
        assert np.abs(new - old).max() > 1e-3
        np.testing.assert_allclose(new, expected, atol=1e-5)


@pytest.mark.slow
def test_boards_of_a_round_hold_what_the_network_observes():
    plain = TDSpec(replay_episodes=2).build(GAME, MLPSpec(), Schedule(batch=1))
    board = board_shape(plain)
    assert (board.shape, board.dtype) == ((2,), np.int8)
    auxiliary = TDSpec(replay_episodes=2).build(GAME, NETWORK, Schedule(batch=1))
    board = board_shape(auxiliary)
    assert (board.shape, board.dtype) == ((8,), np.int32)
