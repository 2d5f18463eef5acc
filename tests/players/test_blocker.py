"""The one-ply ConnectFour player against the same rules told in plain Python."""

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.evaluation import Protocol, compete
from jaxgbg.players import RandomPlayer, make_player
from tests.reference import rules

GAME, PLAIN = jaxgbg.make("connectfour"), rules.ConnectFour()


def expected_actions(state) -> set[int]:
    """The Benchmark Player's choices in a state of the plain rules."""
    legal = PLAIN.legal(state)

    def wins(seen, action: int) -> bool:
        after = PLAIN.play(seen, action)
        return after.rewards[seen.player] > 0

    other = state._replace(player=1 - state.player)
    for wish in (
        [a for a in legal if wins(state, a)],
        [a for a in legal if wins(other, a)],
        [a for a in legal if not gives(state, a, wins)],
    ):
        if wish:
            return set(wish)
    return set(legal)


def gives(state, action: int, wins) -> bool:
    """Whether the opponent wins on top of `action`."""
    after = PLAIN.play(state, action)
    return action in PLAIN.legal(after) and wins(after, action)


@pytest.mark.slow
def test_it_chooses_from_the_moves_that_the_rules_name():
    generator = np.random.default_rng(3)
    player, kinds = make_player("blocker", GAME), set()
    states, expected = [], []
    for _ in range(60):
        state, plain = GAME.init(jax.random.key(0)), PLAIN.initial()
        while not plain.terminal:
            states.append(state)
            expected.append(expected_actions(plain))
            action = int(generator.choice(PLAIN.legal(plain)))
            state, plain = STEP(state, action), PLAIN.play(plain, action)
    together = jax.tree.map(lambda *leaves: np.stack(leaves), *states)
    masks = np.asarray(jax.jit(player.best_actions)(together))
    for mask, actions in zip(masks, expected, strict=True):
        assert set(np.flatnonzero(mask).tolist()) == actions
        kinds.add(len(actions))
    assert kinds >= {1, 2, 3, 4, 5, 6, 7}
    chosen = np.asarray(player.act(together, jax.random.key(1)))
    assert masks[np.arange(len(chosen)), chosen].all()


STEP = jax.jit(GAME.afterstate)


@pytest.mark.slow
def test_it_beats_random_play_and_plays_no_other_game():
    protocol = Protocol("default", repeats=100)
    player = make_player("blocker", GAME)
    scores = compete(GAME, player, RandomPlayer(GAME), protocol, jax.random.key(0))
    assert scores.mean() > 0.8
    with pytest.raises(ValueError, match="blocker plays connectfour only"):
        make_player("blocker", jaxgbg.make("hex"))
