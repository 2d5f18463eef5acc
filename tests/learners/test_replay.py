"""With one game at a time the lockstep learner is the serial algorithm, update for update."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxgbg.training.config import preset

import jaxgbg
from jaxgbg.learners import Hyperparameters, TDLearner, decay_factors
from jaxgbg.values import NTuple, NTupleParams
from tests.reference import rules
from tests.reference.td_farl import Parameters, SerialTDFarl

EPISODES = 1000
# Game, its plain rules, layout, step size. The layouts are small: the reference is slow.
CASES = {
    "tictactoe": (rules.TicTacToe(), ((0, 1, 2, 3, 4, 5, 6, 7, 8), (0, 4, 8)), 0.5),
    "nim": (rules.Nim(), ((0, 1, 2),), 0.5),
    "nim3p": (rules.Nim3P(), ((0, 1, 2), (0, 1, 2)), 0.2),
    "connectfour": (rules.ConnectFour(), ((0, 6, 12, 18), (7, 8, 9, 14), (20, 21, 27)), 0.5),
}
# What the lanes of one program differ in: traced, so all of them are compiled once.
NAMES = ("final_others", "final_zero", "learn_from_random", "reset")
SWITCHES = {
    1: [(True, True, True, False), (True, False, False, False), (False, False, True, False)],
    4: [
        (True, True, True, False),
        (True, True, False, True),
        (True, False, False, False),
        (False, True, True, True),
        (False, False, True, False),
    ],
}


def lanes_for(horizon: int) -> list[dict[str, bool]]:
    return [dict(zip(NAMES, switches, strict=True)) for switches in SWITCHES[horizon]]


def stack_hyperparameters(
    switches: list[dict[str, bool]], alpha: float, trace_decay: float, episodes: int = EPISODES
) -> Hyperparameters:
    def each(name: str) -> jax.Array:
        return jnp.array([lane[name] for lane in switches])

    lanes = len(switches)
    full = lambda number: jnp.full(lanes, number, jnp.float32)  # noqa: E731
    return Hyperparameters(
        episodes=jnp.full(lanes, episodes, jnp.uint32),
        alpha_start=full(alpha),
        alpha_factors=jnp.tile(decay_factors(0.5, episodes), (lanes, 1)),
        epsilon_start=full(0.3),
        epsilon_end=full(0.1),
        trace_decay=full(trace_decay),
        beta=full(2.7),
        discount=full(1.0),
        learn_from_random=each("learn_from_random"),
        final_others=each("final_others"),
        final_zero=each("final_zero"),
        zero_terminal=each("learn_from_random"),
        reset_traces=each("reset"),
        learn_from_partner=jnp.zeros(lanes, bool),
    )


def transcripts(record, lane: int) -> list[tuple[list[int], list[tuple[int, bool]]]]:
    """The episodes of one lane as (opening plies, moves), the last one perhaps unfinished."""
    fields = (record.moved, record.action, record.random, record.started, record.opening)
    moved, action, was_random, started, opening = (np.asarray(leaf)[lane, :, 0] for leaf in fields)
    episodes: list[tuple[list[int], list[tuple[int, bool]]]] = []
    for tick in range(len(moved)):
        if moved[tick]:
            episodes[-1][1].append((int(action[tick]), bool(was_random[tick])))
        if started[tick]:
            episodes.append(([int(ply) for ply in opening[tick] if ply >= 0], []))
    return episodes


def reference_tables(reference: SerialTDFarl, params_like: NTuple) -> tuple[np.ndarray, ...]:
    """The reference's tables in the order of NTupleParams."""
    digits = params_like.num_cell_values
    sizes = [digits ** len(cells) for cells in params_like.tuples]

    def flat(table: np.ndarray) -> np.ndarray:
        return np.concatenate([row[i, :n] for row in table for i, n in enumerate(sizes)])

    return flat(reference.weights), flat(reference.counters_n), flat(reference.counters_a)


def assert_replays(name, layout, alpha, tcl, combine, horizon, all_switches) -> None:
    plain, tolerance = CASES[name][0], 1e-4
    trace_decay = 0.0 if horizon == 1 else 0.5
    game = jaxgbg.make(name)
    value = NTuple.for_game(game, layout, sigmoid=True, tcl=tcl, combine=combine)
    learner = TDLearner(game, value, batch=1, horizon=horizon, opening_plies=1)
    hyper = stack_hyperparameters(all_switches, alpha, trace_decay)
    lanes = len(all_switches)
    limit = jnp.full(lanes, EPISODES, jnp.uint32)
    lane = jax.vmap(learner.init)(jax.random.split(jax.random.key(1), lanes))
    ticks = EPISODES * (game.max_plies + game.num_players) + 1
    lane, record = jax.jit(jax.vmap(lambda *arguments: learner.advance(*arguments, ticks=ticks)))(
        lane, hyper, limit
    )
    assert (lane.finished == EPISODES).all()

    for i, switches in enumerate(all_switches):
        reference = SerialTDFarl(
            plain,
            layout,
            Parameters(
                alpha_start=alpha,
                alpha_end=alpha / 2,
                episodes=EPISODES,
                lambda_=trace_decay,
                horizon=horizon,
                trace_mode="reset" if switches["reset"] else "et",
                tcl=tcl,
                learn_from_random=switches["learn_from_random"],
                final_others=switches["final_others"],
                final_zero=switches["final_zero"],
            ),
        )
        for opening, moves in transcripts(record, i):
            reference.episode(opening, moves)
        params = NTupleParams(*(np.asarray(leaf[i]) for leaf in lane.params))
        weights, counter_n, counter_a = reference_tables(reference, value)
        # Nim3P pays its last mover nothing: without part 1 there is nothing to learn at all.
        learns = switches["final_others"] or name != "nim3p"
        assert (np.abs(weights).max() > 0.01) == learns
        np.testing.assert_allclose(params.weights, weights, atol=tolerance, rtol=tolerance)
        if tcl != "none":
            # N sums terms of both signs: its rounding is relative to A, the sum of their sizes.
            rounding = tolerance * (counter_a + 0.1)
            assert (np.abs(params.counters[:, 0] - counter_n) <= rounding).all()
            assert (np.abs(params.counters[:, 1] - counter_a) <= rounding).all()


@pytest.mark.parametrize(
    ("tcl", "horizon"),
    [
        ("none", 1),
        ("id", 4),
        ("exp", 1),
        ("exp", 4),
        pytest.param("none", 4, marks=pytest.mark.slow),
        pytest.param("id", 1, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", CASES)
def test_tables_agree_with_the_serial_reference(name, tcl, horizon):
    combine = {"none": "mean", "id": "saturating", "exp": "sum"}[tcl]
    _, layout, alpha = CASES[name]
    assert_replays(name, layout, alpha, tcl, combine, horizon, lanes_for(horizon))


@pytest.mark.slow
def test_published_connectfour_agrees_with_the_serial_reference():
    config = preset("connectfour")
    switches = lanes_for(1)[:1]
    assert_replays("connectfour", config.tuples, config.alpha_start, "exp", "sum", 1, switches)
