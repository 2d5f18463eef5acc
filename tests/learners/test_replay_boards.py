"""Hex, Othello and 2048 one game at a time: the serial algorithm, update for update."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import Game2048, Hex, Othello
from jaxgbg.learners import TD, Learner
from tests.learners.replay import (
    Choices,
    made,
    named,
    ntuple,
    played,
    reference_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.reference import board_rules
from tests.reference.td_farl import Parameters, SerialTDFarl

# Game, plain rules, layout, opening plies. Small boards: the reference is slow.
CASES = {
    "hex": (Hex(size=3), board_rules.Hex(3), ((0, 1, 3), (4, 5, 8), (2, 4, 6)), 1),
    "othello": (Othello(size=4), board_rules.Othello(4), ((0, 1, 4, 5), (1, 2, 6)), 4),
    "2048": (Game2048(), board_rules.Game2048(), ((0, 1, 5), (5, 6, 10)), 0),
}
SWITCHES = [named(True, True, True, False), named(False, False, False, True)]


def last_tile(plain: board_rules.Game2048, slid: np.ndarray) -> board_rules.Spawn:
    """A tile that ends the game on the one free cell of the board `slid`."""
    board = board_rules.TileState(tuple(slid.tolist()), 0, False)
    cell = board.tiles.index(0)
    return cell, next(tile for tile in (1, 2) if plain.place(board, cell, tile).terminal)


def played_with_chance(learner: Learner, hyper, episodes: int, plain: board_rules.Game2048):
    """The lanes after so many episodes of 2048, and the transcripts of each lane.

    Where a tile has fallen is seen in the positions before and after a tick.
    """
    game, limit, ticks = learner.game, jnp.uint32(episodes), 400 * episodes
    lanes = len(hyper.episodes)

    def step(carry, _):
        lane, hyper = carry
        after, record = learner.advance(lane, hyper, limit, 1)
        one, new = (jax.tree.map(lambda leaf: leaf[0], x.games.state) for x in (lane, after))
        slid = game.cells(game.afterstate(one, record.action[0, 0]))
        seen = (record.moved, record.action, record.random, record.started)
        return (after, hyper), (*(leaf[0, 0] for leaf in seen), slid, game.cells(new))

    start = jax.vmap(learner.init)(jax.random.split(jax.random.key(3), lanes))
    run = jax.jit(jax.vmap(lambda *carry: jax.lax.scan(step, carry, length=ticks)))
    (lane, _), seen = run(start, hyper)
    assert (lane.finished == episodes).all()
    return lane, [
        tile_transcripts(plain, *map(np.asarray, each)) for each in zip(*seen, strict=True)
    ]


def tile_transcripts(plain, moved, action, was_random, started, slid, cells):
    """The episodes of one lane as ([two tiles], [(action, was random, tile)])."""
    episodes: list = []
    for tick in np.flatnonzero(moved | started):
        new = cells[tick] - slid[tick]
        if moved[tick]:
            # Where an episode starts at once, the board that ended the last one is gone.
            fallen = (int(new.argmax()), int(new.max()))
            tile = last_tile(plain, slid[tick]) if started[tick] else fallen
            episodes[-1][1].append((int(action[tick]), bool(was_random[tick]), tile))
        if started[tick]:
            tiles = [(int(cell), int(cells[tick, cell])) for cell in np.flatnonzero(cells[tick])]
            episodes.append((tiles, []))
    return episodes


ALPHA = 0.4


def decay_of(horizon: int) -> float:
    return 0.0 if horizon == 1 else 0.5


@functools.cache
def trained(name: str, tcl: str, horizon: int, episodes: int, discount: float = 1.0):
    """(value function, lanes after training, the transcripts of each)."""
    game, plain, layout, opening_plies = CASES[name]
    value = ntuple(game, layout, sigmoid=not game.stochastic, tcl=tcl, combine="sum")
    learner = Learner(game, value, TD, 1, horizon, opening_plies, opening_share=0.7)
    hyper = stack_hyperparameters(SWITCHES, ALPHA, decay_of(horizon), episodes)
    hyper = hyper._replace(discount=jnp.full(len(SWITCHES), discount, jnp.float32))
    if game.stochastic:
        return value, *played_with_chance(learner, hyper, episodes, plain)
    _, lane, record = played(learner, hyper, len(SWITCHES), episodes)
    every = [transcripts(record, i) for i in range(len(SWITCHES))]
    found = [[(opening, made(moves)) for opening, moves in each] for each in every]
    return value, lane, found


def assert_replays(name: str, tcl: str, horizon: int, episodes: int, discount: float = 1.0) -> None:
    """Tables, counters and greedy moves of all lanes are those of the reference."""
    game, plain, layout, _ = CASES[name]
    sigmoid, decay = not game.stochastic, decay_of(horizon)
    value, lane, found = trained(name, tcl, horizon, episodes, discount)
    for i, switches in enumerate(SWITCHES):
        reference = SerialTDFarl(
            plain,
            layout,
            Parameters(
                alpha_start=ALPHA,
                alpha_end=ALPHA / 2,
                episodes=episodes,
                lambda_=decay,
                horizon=horizon,
                trace_mode="reset" if switches["reset"] else "et",
                tcl=tcl,
                sigmoid=sigmoid,
                gamma=discount,
                learn_from_random=switches["learn_from_random"],
                final_others=switches["final_others"],
                final_zero=switches["final_zero"],
            ),
        )
        choices = Choices()
        for opening, moves in found[i]:
            reference.episode(opening, moves, choices)
        assert reference.episodes_done == episodes
        weights, counter_n, counter_a = reference_tables(reference, value)
        scale = np.abs(weights).max()
        assert scale > discount * (1e-5 if game.stochastic else 0.01)
        choices.assert_best(1e-4 * scale)
        ours = np.asarray(lane.params.weights[i])
        counters = np.asarray(lane.params.counters[i]).reshape(ours.size, -1)
        np.testing.assert_allclose(ours, weights, atol=1e-4 * scale, rtol=1e-3)
        if tcl != "none":
            rounding = 1e-3 * (counter_a + 0.1 * counter_a.max())
            assert (np.abs(counters[:, 0] - counter_n) <= rounding).all()
            assert (np.abs(counters[:, 1] - counter_a) <= rounding).all()


@pytest.mark.slow
def test_tables_agree_with_the_serial_reference():
    assert_replays("hex", "exp", 4, 100)


@pytest.mark.slow
@pytest.mark.parametrize(("tcl", "horizon"), [("none", 1), ("exp", 4)])
@pytest.mark.parametrize(("name", "episodes"), [("hex", 400), ("othello", 200), ("2048", 40)])
def test_tables_agree_with_the_serial_reference_for_longer(name, tcl, horizon, episodes):
    assert_replays(name, tcl, horizon, episodes)


@pytest.mark.slow
def test_moves_count_the_future_at_its_discount():
    """2048 pays on the way: at a discount a move that pays now is often the better one."""
    assert_replays("2048", "exp", 4, 40, discount=0.6)


@pytest.mark.slow
def test_the_openings_of_othello_vary_and_passes_occur():
    plain, episodes = CASES["othello"][1], 200
    found = trained("othello", "exp", 4, episodes)[2][0]
    opened = [tuple(opening) for opening, _ in found if opening]
    assert 0.55 < len(opened) / episodes < 0.85
    assert {len(opening) for opening in opened} == {4}
    assert len(set(opened)) > 30
    passes = 0
    for opening, moves in found:
        state = plain.initial()
        for action in [*opening, *(move[0] for move in moves)]:
            before, state = state, plain.play(state, action)
            passes += state.player == before.player and not state.terminal
    assert passes > 10


def test_make_builds_what_is_tested_here():
    assert jaxgbg.make("hex", size=3) == CASES["hex"][0]
    assert jaxgbg.make("othello", size=4) == CASES["othello"][0]
    assert jaxgbg.make("2048") == CASES["2048"][0]
