"""Hex, Othello and 2048 one game at a time: the serial algorithm, update for update."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import Game2048, Hex, Othello
from jaxgbg.learners import TDLearner
from jaxgbg.values import NTuple, NTupleParams
from tests.learners.test_replay import NAMES, reference_tables, stack_hyperparameters
from tests.reference import board_rules
from tests.reference.td_farl import Parameters, SerialTDFarl

# Game, plain rules, layout, episodes, opening plies. Small boards: the reference is slow.
HEX = (Hex(size=3), board_rules.Hex(3), ((0, 1, 3), (4, 5, 8), (2, 4, 6)), 400, 1)
OTHELLO = (Othello(size=4), board_rules.Othello(4), ((0, 1, 4, 5), (1, 2, 6)), 200, 4)
TILES = (Game2048(), board_rules.Game2048(), ((0, 1, 5), (5, 6, 10)), 40, 0)
SWITCHES = [(True, True, True, False), (False, False, False, True)]


def played(learner: TDLearner, lane, hyper, episodes: int):
    """The lane after so many episodes, and the transcript of each: (opening, moves)."""
    game, limit = learner.game, jnp.uint32(episodes)

    @jax.jit
    def run(lane, hyper):
        def step(lane, number):
            key = jax.random.fold_in(lane.key, number)
            bits = jax.random.bits(key, (1, learner._words_a_tick))
            after, record = learner.tick(lane, hyper, limit, bits)
            state = jax.tree.map(lambda leaf: leaf[0], lane.games.state)
            slid = game.afterstate(state, record.action[0])
            fallen = game.spawn_from(slid, bits[0, 2 : 2 + game.spawn_words])
            new = game.cells(fallen) - game.cells(slid)
            return after, (record, new, game.cells(jax.tree.map(lambda x: x[0], after.games.state)))

        return jax.lax.scan(step, lane, jnp.arange(ticks, dtype=jnp.uint32))

    ticks = episodes * (400 if game.stochastic else game.max_plies + game.num_players) + 1
    lane, (record, new, cells) = run(lane, hyper)
    assert int(lane.finished) == episodes
    fields = (record.moved, record.action, record.random, record.started, record.opening)
    moved, action, was_random, started, opening = (np.asarray(leaf)[:, 0] for leaf in fields)
    new, cells = np.asarray(new), np.asarray(cells)
    episodes_found = []
    for tick in range(ticks):
        if moved[tick]:
            move = (int(action[tick]), bool(was_random[tick]))
            if game.stochastic:
                cell = int(new[tick].argmax())
                move = (*move, (cell, int(new[tick, cell])))
            episodes_found[-1][1].append(move)
        if started[tick]:
            begin = [int(ply) for ply in opening[tick] if ply >= 0]
            if game.stochastic:
                begin = [
                    (int(cell), int(cells[tick, cell])) for cell in np.flatnonzero(cells[tick])
                ]
            episodes_found.append((begin, []))
    return lane, episodes_found[:episodes]


@pytest.mark.parametrize(("tcl", "horizon"), [("none", 1), ("exp", 4)])
@pytest.mark.parametrize("case", [HEX, OTHELLO, TILES], ids=["hex", "othello", "2048"])
@pytest.mark.parametrize("switches", SWITCHES, ids=["farl", "none"])
def test_tables_agree_with_the_serial_reference(case, tcl, horizon, switches):
    game, plain, layout, episodes, opening_plies = case
    if game.name == "othello" and horizon == 1 and tcl == "none":
        pytest.skip("slow to compile, and the other cases hold all of it")
    if game.stone_digits is not None:
        assert len({len(cells) for cells in layout}) == 1
    sigmoid, alpha = not game.stochastic, 0.4
    value = NTuple.for_game(game, layout, sigmoid=sigmoid, tcl=tcl, combine="sum")
    learner = TDLearner(game, value, 1, horizon, opening_plies, opening_share=0.7)
    lane = dict(zip(NAMES, switches, strict=True))
    decay = 0.0 if horizon == 1 else 0.5
    stacked = stack_hyperparameters([lane], alpha, decay, episodes)
    hyper = jax.tree.map(lambda leaf: leaf[0], stacked)
    state, transcripts = played(learner, learner.init(jax.random.key(3)), hyper, episodes)

    reference = SerialTDFarl(
        plain,
        layout,
        Parameters(
            alpha_start=alpha,
            alpha_end=alpha / 2,
            episodes=episodes,
            lambda_=decay,
            horizon=horizon,
            trace_mode="reset" if lane["reset"] else "et",
            tcl=tcl,
            sigmoid=sigmoid,
            learn_from_random=lane["learn_from_random"],
            final_others=lane["final_others"],
            final_zero=lane["final_zero"],
        ),
    )
    for opening, moves in transcripts:
        reference.episode(opening, moves)
    weights, counter_n, counter_a = reference_tables(reference, value)
    params = NTupleParams(*(np.asarray(leaf) for leaf in state.params))
    scale = np.abs(weights).max()
    assert scale > (1e-5 if game.stochastic else 0.01)
    np.testing.assert_allclose(params.weights, weights, atol=1e-4 * scale, rtol=1e-3)
    if tcl != "none":
        rounding = 1e-3 * (counter_a + 0.1 * counter_a.max())
        assert (np.abs(params.counters[:, 0] - counter_n) <= rounding).all()
        assert (np.abs(params.counters[:, 1] - counter_a) <= rounding).all()


def test_the_openings_of_othello_vary_and_passes_occur():
    game, _, layout, episodes, _ = OTHELLO
    value = NTuple.for_game(game, layout, True, "none", "sum")
    learner = TDLearner(game, value, 1, 1, 4, opening_share=0.7)
    lane = dict(zip(NAMES, SWITCHES[0], strict=True))
    hyper = jax.tree.map(lambda leaf: leaf[0], stack_hyperparameters([lane], 0.4, 0.0))
    _, transcripts = played(learner, learner.init(jax.random.key(3)), hyper, episodes)
    opened = [tuple(opening) for opening, _ in transcripts if opening]
    assert 0.55 < len(opened) / episodes < 0.85
    assert {len(opening) for opening in opened} == {4}
    assert len(set(opened)) > 30
    plain, passes = board_rules.Othello(4), 0
    for opening, moves in transcripts:
        state = plain.initial()
        for action in [*opening, *(move[0] for move in moves)]:
            before, state = state, plain.play(state, action)
            passes += state.player == before.player and not state.terminal
    assert passes > 10


def test_make_builds_what_is_tested_here():
    assert jaxgbg.make("hex", size=3) == HEX[0]
    assert jaxgbg.make("othello", size=4) == OTHELLO[0]
    assert jaxgbg.make("2048") == TILES[0]
