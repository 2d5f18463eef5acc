"""Max-N in games of chance: which it solves, and what each of its moves is worth."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games.rollout import select_states
from jaxgbg.players import MaxN
from jaxgbg.players.analysis import analyze
from jaxgbg.search import expectations
from jaxgbg.web.play.perfect import Perfect
from tests.games.pig import ROLL, Pig, positions


@dataclasses.dataclass(frozen=True)
class _LongPig(Pig):
    """Pig on a board with so many empty cells that its boards have too many codes."""

    name = "long_pig"
    num_cells = 20

    def cells(self, state):
        return jnp.append(super().cells(state), jnp.zeros(17, jnp.int8))


def test_positions_count_with_chance_and_not_what_cells_could_say(monkeypatch):
    for player in (0, 1):
        states, chances = positions(_LongPig(5, faces=3), player)
        values = np.asarray(MaxN(_LongPig(5, faces=3)).values(states))
        reached = ~np.isnan(values).any(1)
        assert reached.sum() > 12
        expected = 2 * chances[reached].max(1) - 1
        np.testing.assert_allclose(values[reached, player], expected, atol=1e-6)
    monkeypatch.setattr(expectations, "MOST_POSITIONS", 50)
    with pytest.raises(ValueError, match=r"long_pig has too many \(more than 50\)"):
        MaxN(_LongPig(6, faces=3))


def test_a_move_is_worth_what_chance_makes_of_it_on_average():
    game = Pig(5, faces=3)
    for player in (0, 1):
        states, chances = positions(game, player)
        solver = MaxN(game)
        reached = np.flatnonzero(~np.isnan(np.asarray(solver.values(states))).any(1))
        states, expected = select_states(states, reached), 2 * chances[reached] - 1
        found = analyze(game, solver, states)
        np.testing.assert_allclose(found.values, expected, atol=1e-6)
        assert np.ptp(expected[:, ROLL]) > 0.3
        # The play page says the same.
        for row in (0, len(reached) // 2):
            verdicts = Perfect(game).verdicts(select_states(states, np.array([row])))
            for verdict, value in zip(verdicts, expected[row], strict=True):
                figure = float(verdict.words.removesuffix(" %"))
                assert figure == pytest.approx(50 + 50 * value, abs=0.051)
                assert verdict.best == np.isclose(value, expected[row].max())
                assert verdict.sign == np.sign(value)
