"""Rounds of games learned at once: their pairs, the order, the steps, replayed serially."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg import Schedule, TDSpec
from jaxgbg.learners.replay import capacity, replay_order
from jaxgbg.values import MLPSpec, NTupleSpec
from tests.learners.replay import (
    CASES,
    made,
    named,
    reference_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.learners.test_replay_networks import layers
from tests.reference.mlp_td import Network, inputs
from tests.reference.td_farl import Parameters, SerialTDFarl

SWITCHES = [named(True, True, True, False), named(False, False, False, True)]
GAMES = 6
"""Games a round; there are two rounds."""
TC_INIT = float(np.float32(1e-4))


class PairWriter(SerialTDFarl):
    """Writes down the pairs of its episodes, (board, player, gain, following board or None)."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.pairs: list[tuple] = []
        self._asked = None

    def values(self, cells, player):
        self._asked = tuple(cells)
        return np.float64(0)

    def update(self, cells, player, target) -> None:
        gain = float(np.float32(target))
        self.pairs.append((tuple(cells), player, gain, self._asked))
        self._asked = None


def two_rounds(learner, hyper, lanes: int, block: int):
    """The lanes and their records [ticks] at the end of each round, before and after learning."""
    limits = jnp.full(lanes, 2 * GAMES, jnp.uint32)
    lane = jax.vmap(learner.init)(jax.random.split(jax.random.key(1), lanes))
    advance = jax.jit(jax.vmap(partial(learner.advance, ticks=block)))
    between = jax.jit(learner.after_block)
    for end in (GAMES, 2 * GAMES):
        records = []
        while (lane.finished < end).any():
            lane, record = advance(lane, hyper, limits)
            records.append(record)
            before, lane = lane, between(lane, hyper, limits)
        record = jax.tree.map(lambda *leaves: np.concatenate(leaves, 1), *records)
        yield before, lane, record


def stored_transitions(lane) -> list[tuple]:
    seen = jax.tree.map(np.asarray, lane.games.rule)

    def board(number):
        return None if number < 0 else tuple(seen.boards[number].tolist())

    def following(i):
        """The board whose value counts."""
        return board(seen.next[i]) if seen.bootstrap[i] else None

    return [
        (board(seen.last[i]), int(seen.player[i]), float(seen.gain[i]), following(i))
        for i in range(int(seen.num_transitions))
    ]


def one_lane(tree, number):
    return jax.tree.map(lambda leaf: leaf[number], tree)


def rounds_and_pairs(learner, plain, hyper):
    """For each round and lane: (number, lane before, lane after, its pairs), pairs checked.

    The pairs are in the order of each pass, [passes][pairs].
    """
    writers = [
        PairWriter(
            plain,
            [[0]],
            Parameters(
                alpha_start=1.0,
                alpha_end=1.0,
                episodes=2 * GAMES,
                learn_from_random=switches["learn_from_random"],
                final_others=switches["final_others"],
                final_zero=switches["final_zero"],
            ),
        )
        for switches in SWITCHES
    ]
    for before, after, record in two_rounds(learner, hyper, len(SWITCHES), block=5):
        for i, writer in enumerate(writers):
            writer.pairs.clear()
            for opening, moves in transcripts(record, i):
                writer.episode(opening, made(moves))
            lane = one_lane(before, i)
            assert stored_transitions(lane) == writer.pairs
            passes = []
            for number in range(learner.rule.settings.passes):
                order = np.asarray(replay_order(learner, lane, jnp.int32(number)))
                order = order[: len(writer.pairs)]
                assert sorted(order) == list(range(len(writer.pairs)))
                passes.append([writer.pairs[at] for at in order])
            assert passes[0] != passes[1]
            yield i, lane, one_lane(after, i), passes


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["nim3p", "tictactoe", "connectfour"],
)
def test_tables_agree_with_the_serial_reference(name):
    plain, layout, alpha = CASES[name]
    spec = NTupleSpec(layout=layout, tcl="id")
    learner = TDSpec(replay_episodes=GAMES, passes=2).build(
        jaxgbg.make(name), spec, Schedule(batch=1)
    )
    settings = Parameters(
        alpha_start=alpha, alpha_end=alpha / 2, episodes=2 * GAMES, tcl="id", tc_init=TC_INIT
    )
    references = [SerialTDFarl(plain, layout, settings) for _ in SWITCHES]
    hyper = stack_hyperparameters(SWITCHES, alpha, 0.0, 2 * GAMES)
    for i, before, after, passes in rounds_and_pairs(learner, plain, hyper):
        reference = references[i]
        reference.episodes_done = int(before.finished)
        for cells, player, gain, following in (pair for one in passes for pair in one):
            ahead = 0.0 if following is None else float(reference.values(following, player))
            reference.update(cells, player, gain + ahead)
        weights, counter_n, counter_a = reference_tables(reference, learner.value)
        np.testing.assert_allclose(after.params.weights, weights, rtol=2e-5, atol=2e-5)
        rounding = 2e-5 * (counter_a + 0.1)
        counters = after.params.counters.reshape(learner.value.num_weights, -1)
        for number, counter in enumerate((counter_n, counter_a)):
            assert (np.abs(counters[:, number] - counter) <= rounding).all()
        # Nim3P pays its last mover nothing: without part 1 there is nothing to learn at all.
        assert (np.abs(weights).max() > 0.01) == (i == 0 or name != "nim3p")
        assert int(after.games.rule.num_transitions) == int(after.games.rule.num_boards) == 0


@pytest.mark.slow
def test_a_network_agrees_with_the_serial_reference():
    plain, _, _ = CASES["tictactoe"]
    learner = TDSpec(replay_episodes=GAMES, passes=2, minibatch=3).build(
        jaxgbg.make("tictactoe"), MLPSpec(hidden=(7,), combine="mean"), Schedule(batch=1)
    )
    hyper = stack_hyperparameters(SWITCHES, 0.1, 0.0, 2 * GAMES)
    for i, before, after, passes in rounds_and_pairs(learner, plain, hyper):
        weights, biases = layers(before.params.network)
        network = Network([9, 7, 1], weights=weights, biases=biases)
        alpha = 0.1 * 0.5 ** (int(before.finished) / (2 * GAMES))
        for pairs in passes:
            for first in range(0, len(pairs), 3):
                batch = pairs[first : first + 3]
                step = [np.zeros_like(each) for each in network.parameters]
                for cells, player, gain, following in batch:
                    seen = inputs(plain, cells, player)
                    target = gain
                    if following is not None:
                        target += network.values(inputs(plain, following, player))[0]
                    error = target - network.values(seen)[0]
                    for total, part in zip(step, network.gradient(seen, 0), strict=True):
                        total += alpha * error * part / len(batch)
                for parameter, change in zip(network.parameters, step, strict=True):
                    parameter += change
        found = layers(after.params.network)
        np.testing.assert_allclose(found[0][0], network.weights[0], atol=2e-6)
        np.testing.assert_allclose(found[1][1], network.biases[1], atol=2e-6)
        assert np.abs(network.weights[0] - weights[0]).max() > 1e-3, i


@pytest.mark.slow
def test_rounds_of_which_nothing_is_learned_end():
    learner = TDSpec(replay_episodes=GAMES).build(
        jaxgbg.make("nim3p"), NTupleSpec(layout=((0,),)), Schedule()
    )
    nothing = named(False, False, False, False)
    hyper = stack_hyperparameters([nothing], 1.0, 0.0, 2 * GAMES)
    hyper = hyper._replace(epsilon=jnp.ones(1), epsilon_end=jnp.ones(1))
    limits = jnp.full(1, 2 * GAMES, jnp.uint32)
    lane = jax.vmap(learner.init)(jax.random.split(jax.random.key(1), 1))
    advance = jax.jit(jax.vmap(partial(learner.advance, ticks=200)))
    for rounds in (1, 2):
        lane, _ = advance(lane, hyper, limits)
        assert int(lane.finished[0]) == rounds * GAMES
        assert int(lane.games.rule.num_transitions[0]) == 0 < int(lane.games.rule.num_boards[0])
        lane = learner.after_block(lane, hyper, limits)
        assert int(lane.games.rule.rounds[0]) == rounds


@pytest.mark.slow
def test_how_ticks_are_cut_and_many_games_in_lockstep():
    learner = TDSpec(replay_episodes=GAMES, passes=2).build(
        jaxgbg.make("tictactoe"), MLPSpec(hidden=(5,)), Schedule(batch=4)
    )
    hyper = stack_hyperparameters(SWITCHES, 0.1, 0.0, 2 * GAMES)
    found = []
    for block in (3, 40):
        before, after, _ = list(two_rounds(learner, hyper, len(SWITCHES), block))[-1]
        found.append(after)
        for i in range(len(SWITCHES)):
            pairs = stored_transitions(one_lane(before, i))
            following = [(np.array(a), np.array(b)) for a, _, _, b in pairs if b is not None]
            # Of one player, with one move of the other in between.
            assert {int((a != b).sum()) for a, b in following} == {2}
            ends = [gain for _, _, gain, board in pairs if board is None]
            # With FARL: the last move, the other player, the last afterstate.
            assert len(ends) == 3 * GAMES if i == 0 else 0 < len(ends) <= GAMES
    jax.tree.map(np.testing.assert_array_equal, *[lane._replace(key=None) for lane in found])


@pytest.mark.slow
def test_the_order_is_the_same_however_small_the_room_that_is_sorted():
    learner = TDSpec(replay_episodes=GAMES).build(
        jaxgbg.make("tictactoe"), MLPSpec(hidden=(2,)), Schedule(batch=1)
    )
    lane = learner.init(jax.random.key(1))
    buffer = lane.games.rule._replace(num_transitions=jnp.int32(20))
    lane = lane._replace(games=lane.games._replace(rule=buffer))
    whole, part = (replay_order(learner, lane, jnp.int32(0), places) for places in (None, 32))
    assert capacity(learner) > 32
    np.testing.assert_array_equal(whole[:20], part[:20])
    assert sorted(part[:20].tolist()) == list(range(20))
    assert part.shape == whole.shape


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"passes": 3}, "are for replay_episodes"),
        ({"replay_episodes": 5, "trace_decay": 0.5}, "no traces"),
        ({"replay_episodes": -1}, "replay_episodes"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        TDSpec(**settings)


def test_a_round_that_takes_too_much_memory_is_refused():
    with pytest.raises(ValueError, match=r"replay_episodes 1000000 of hex.* MB"):
        TDSpec(replay_episodes=10**6).build(jaxgbg.make("hex"), MLPSpec(), Schedule())
