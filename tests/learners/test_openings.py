"""Openings lead to positions where there is something to play, by moves as legal as any other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import Nim
from jaxgbg.learners import TD, Learner
from jaxgbg.learners.openings import opening_lines
from tests.learners.replay import (
    CASES,
    made,
    named,
    ntuple,
    played,
    reference_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.reference.td_farl import Parameters, SerialTDFarl


def hyperparameters(episodes: int):
    return stack_hyperparameters([named(True, True, True, False)], 0.5, 0.0, episodes)


@pytest.mark.slow
def test_openings_of_2048_have_their_tiles_and_no_move_is_illegal():
    game, plies, episodes = jaxgbg.make("2048"), 2, 400
    value = ntuple(game, ((0, 1), (5, 6)), sigmoid=False)
    learner = Learner(game, value, TD, 64, 1, plies, opening_share=1.0)
    hyper = jax.tree.map(lambda leaf: leaf[0], hyperparameters(episodes))

    @jax.jit
    def run(lane):
        def step(lane, _):
            after, record = learner.advance(lane, hyper, jnp.uint32(episodes), 1)
            record = jax.tree.map(lambda leaf: leaf[0], record)
            legal = jax.vmap(game.legal_actions)(lane.games.state)
            chosen = jnp.take_along_axis(legal, record.action[:, None], 1)[:, 0]
            state = after.games.state
            playable = jax.vmap(game.legal_actions)(state).any(1) & ~state.terminal
            return after, (record, chosen, playable, state.tiles)

        return jax.lax.scan(step, lane, length=300)

    lane, (record, legal, playable, tiles) = run(learner.init(jax.random.key(0)))
    record, legal, playable, tiles = jax.tree.map(np.asarray, (record, legal, playable, tiles))
    assert int(lane.moves) == record.moved.sum() == (record.moved & legal).sum() > 5000
    started = record.started
    assert started.sum() == int(lane.started) > 64
    assert playable[started].all()
    # A slide keeps the sum of the tiles, and every ply adds a 2 or a 4 to the first two.
    sums = np.where(tiles > 0, 2.0**tiles, 0).sum(-1)[started]
    plies_made = (record.opening[started] >= 0).sum(1)
    assert (plies_made == plies).all()
    assert (sums >= 4 + 2 * plies_made).all()
    assert (sums <= 8 + 4 * plies_made).all()
    assert len(set(sums)) > 2


@pytest.mark.slow
def test_openings_of_nim_stop_before_the_last_item():
    """Fourteen plies would finish most games; those that would are not made."""
    episodes, (plain, layout, _) = 100, CASES["nim"]
    value = ntuple(Nim(), layout, combine="sum")
    learner = Learner(Nim(), value, TD, 1, 1, opening_plies=14, opening_share=1.0)
    _, lane, record = played(learner, hyperparameters(episodes), 1, episodes)
    found = transcripts(record, 0)
    starts = []
    for opening, moves in found:
        state = plain.initial()
        for action in opening:
            state = plain.play(state, action)
        assert not state.terminal
        assert moves
        starts.append(state)
    assert len(found) == episodes
    # All of them are played to the end by the learner, and learned as the reference does.
    assert len(set(starts)) > 3
    parameters = Parameters(alpha_start=0.5, alpha_end=0.25, episodes=episodes)
    reference = SerialTDFarl(plain, layout, parameters)
    for opening, moves in found:
        reference.episode(opening, made(moves))
    weights, _, _ = reference_tables(reference, value)
    assert np.abs(weights).max() > 0.1
    np.testing.assert_allclose(lane.params.weights[0], weights, atol=1e-4)


@pytest.mark.slow
def test_the_share_of_the_episodes_that_open_is_the_one_asked_for():
    episodes, (_, layout, _) = 400, CASES["nim"]
    learner = Learner(Nim(), ntuple(Nim(), layout, combine="sum"), TD, 1, 1, 3, opening_share=0.25)
    _, _, record = played(learner, hyperparameters(episodes), 1, episodes)
    opened = [opening for opening, _ in transcripts(record, 0) if opening]
    # Standard deviation of the count: sqrt(400 * 1/4 * 3/4) = 8.7.
    assert abs(len(opened) - 100) < 40


def test_listed_openings_lead_to_each_position_once():
    game = jaxgbg.make("othello")
    lines = opening_lines(game, 4)
    # Van der Ree & Wiering 2013, footnote 1.
    assert len(lines) == 236
    step, found = jax.jit(game.afterstate), set()
    for line in lines:
        state = game.init(None)
        for action in line:
            assert bool(game.legal_actions(state)[action])
            state = step(state, jnp.int32(action))
        assert not bool(state.terminal)
        found.add((np.asarray(game.cells(state)).tobytes(), int(state.player)))
    assert len(found) == 236
    with pytest.raises(ValueError, match="without chance, not 2048"):
        opening_lines(jaxgbg.make("2048"), 1)
    with pytest.raises(ValueError, match="9 plies of tictactoe lead to no positions"):
        opening_lines(jaxgbg.make("tictactoe"), 9)


@pytest.mark.slow
def test_with_three_players_three_episodes_begin_alike():
    game, episodes = jaxgbg.make("nim3p"), 90
    lines = opening_lines(game, 1)
    learner = Learner(game, ntuple(game, ((0, 1, 2),)), TD, 4, 1, 1, 1.0, opening_lines=lines)
    _, _, record = played(learner, hyperparameters(episodes), 1, episodes)
    openings = np.asarray(record.opening)[np.asarray(record.started)].tolist()
    assert len(lines) == 15
    assert openings == [list(lines[at // 3 % 15]) for at in range(episodes)]


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 7])
def test_listed_openings_are_played_in_turn_by_each_seat_and_learned_after(batch):
    episodes, (plain, layout, _) = 200, CASES["nim"]
    lines = opening_lines(Nim(), 2)
    assert 2 * len(lines) < episodes
    value = ntuple(Nim(), layout, combine="sum")
    learner = Learner(
        Nim(), value, TD, batch, 1, opening_plies=2, opening_share=1.0, opening_lines=lines
    )
    _, lane, record = played(learner, hyperparameters(episodes), 1, episodes)
    openings = np.asarray(record.opening)[np.asarray(record.started)].tolist()
    assert openings == [list(lines[at // 2 % len(lines)]) for at in range(episodes)]
    if batch == 1:
        parameters = Parameters(alpha_start=0.5, alpha_end=0.25, episodes=episodes)
        reference = SerialTDFarl(plain, layout, parameters)
        for opening, moves in transcripts(record, 0):
            reference.episode(opening, made(moves))
        weights, _, _ = reference_tables(reference, value)
        np.testing.assert_allclose(lane.params.weights[0], weights, atol=1e-4)
