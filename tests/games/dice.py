"""Random games of dice, ours and another implementation's, compared at every ply."""

from typing import Any, Protocol

import jax
import numpy as np

from jaxgbg.games import Game
from tests.games.backgammon import first_rolls
from tests.games.lockstep import View


class DiceOracle(Protocol):
    """Another implementation of a game, speaking our actions; `play` may alter its argument.

    `roll` is the number of the outcome that chance brings at the start and, if a roll is due, after
    a move. `chances` are the probabilities of these outcomes after a move, None if it does not say.
    """

    def initial(self, roll: int) -> Any: ...
    def view(self, state: Any) -> View: ...
    def play(self, state: Any, action: int, roll: int) -> Any: ...
    def chances(self, state: Any, action: int) -> list[float] | None: ...


def _first_rolls(states: Any) -> list[int]:
    """The numbers of the first rolls: 0 without one."""
    if hasattr(states, "dice"):
        return first_rolls(states)
    dice = getattr(states, "die", np.ones(len(states.player)))
    first: list[int] = (np.asarray(dice, int) - 1).tolist()
    return first


def assert_same_dice_games(game: Game, oracle: DiceOracle, batch: int, seed: int) -> int:
    """Play `batch` random games to their ends; returns their plies.

    Which outcome of chance follows is drawn among those that our side lists.
    """
    rng = np.random.default_rng(seed)

    @jax.jit
    @jax.vmap
    def see(state: Any) -> Any:
        seen = state.player, state.terminal, state.rewards, game.cells(state)
        return game.legal_actions(state), *seen

    @jax.jit
    @jax.vmap
    def move(state: Any, action: jax.Array) -> Any:
        after = game.afterstate(state, action)
        return after, game.spawn_probabilities(after)

    outcome = jax.jit(jax.vmap(game.spawn_outcome))
    words = rng.integers(2**32, size=(batch, game.init_words), dtype=np.uint32)
    ours = jax.jit(jax.vmap(game.init_from))(words)
    theirs = [oracle.initial(roll) for roll in _first_rolls(ours)]
    total = 0
    for _ in range(game.max_plies + 1):
        legal, player, terminal, rewards, cells = jax.device_get(see(ours))
        views = [oracle.view(state) for state in theirs]
        expected = np.zeros_like(legal)
        for i, view in enumerate(views):
            expected[i, list(view.legal)] = True
            assert view.player is None or view.terminal or view.player == player[i]
            assert view.cells is None or tuple(view.cells) == tuple(cells[i].tolist())
        np.testing.assert_array_equal(legal, expected)
        np.testing.assert_array_equal(terminal, [view.terminal for view in views])
        np.testing.assert_allclose(rewards, [view.rewards for view in views], rtol=1e-6)
        live = np.flatnonzero(~terminal)
        if not live.size:
            return total
        total += live.size
        actions, rolls = np.zeros((2, batch), np.int32)
        actions[live] = [rng.choice(np.flatnonzero(legal[i])) for i in live]
        after, shares = jax.device_get(move(ours, actions))
        rolls[live] = [rng.choice(np.flatnonzero(shares[i] > 0)) for i in live]
        for i in live:
            chances = oracle.chances(theirs[i], int(actions[i]))
            if chances is not None and not after.terminal[i]:
                padded = np.pad(chances, (0, shares.shape[1] - len(chances)))
                np.testing.assert_allclose(shares[i], padded, rtol=1e-6)
            theirs[i] = oracle.play(theirs[i], int(actions[i]), int(rolls[i]))
        ours = outcome(after, rolls)
    raise AssertionError(f"{game.name}: games go on after {game.max_plies} plies")
