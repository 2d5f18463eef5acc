"""Van der Ree & Wiering's backpropagation, worked out by hand in their own units."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.runs.presets import ree2013
from jaxgbg.values.core import Updates


def sigmoid(total: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-total))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("result", [0.0, 0.5, 1.0])
def test_a_quarter_of_the_step_size_makes_the_paper_s_step(player, result):
    """Outputs from 0 to 1, rewards 0, 1/2 and 1 and step .001 there; from -1 to 1 here."""
    game = jaxgbg.make("othello")
    value = ree2013.othello().value.build(game, False, 1)
    params = value.init(key=jax.random.key(3))
    layers = params.network["params"]
    names = sorted(layers, key=lambda name: layers[name]["kernel"].shape[1], reverse=True)
    (into, b1), (out, b2) = (
        (np.float64(layers[n]["kernel"]), np.float64(layers[n]["bias"])) for n in names
    )
    assert (into.shape, out.shape) == ((64, 50), (50, 1))
    assert max(np.abs(each).max() for each in (into, b1, out, b2)) <= 0.5
    # d3, of four possible first moves: Black, who is player 0, has four discs and White one.
    state = game.afterstate(game.init(jax.random.key(0)), jnp.int32(19))
    cells = np.asarray(game.cells(state))
    board = np.where(cells == 0, 1.0, np.where(cells == 1, -1.0, 0.0))
    assert ((board == 1).sum(), (board == -1).sum()) == (4, 1)
    seen = board if player == 0 else -board

    hidden = sigmoid(seen @ into + b1)
    y = sigmoid(hidden @ out + b2)[0]
    signal = (result - y) * y * (1 - y)
    back = signal * out[:, 0] * hidden * (1 - hidden)
    wanted = [into + 0.001 * np.outer(seen, back), b1 + 0.001 * back]
    wanted += [out + 0.001 * signal * hidden[:, None], b2 + 0.001 * signal]

    features = value.features(params, game.cells(state)[None])
    players = jnp.array([player], jnp.int8)
    assert value.value(params, features, players)[0] == pytest.approx(2 * y - 1, abs=1e-5)
    change = (2 * result - 1) - value.value(params, features, players)
    updates = Updates(features, players, change, jnp.abs(change), jnp.array([True]))
    step = ree2013.step_size("td", "squared")
    after = value.update(params, updates, step, {}).network["params"]
    found = [after[n][part] for n in names for part in ("kernel", "bias")]
    for old, new, by_hand in zip((into, b1, out, b2), found, wanted, strict=True):
        # The change itself, not the weight, of which the change is a thousandth.
        assert np.asarray(new) - old == pytest.approx(by_hand - old, rel=0.02, abs=6e-8)
