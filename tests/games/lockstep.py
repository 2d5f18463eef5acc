"""Random games of ours and of another implementation, compared at every ply."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from jaxgbg.games import Game


class View(NamedTuple):
    """What can be seen of a position; `player` and `cells` are None where they have no meaning."""

    legal: Sequence[int]
    player: int | None
    terminal: bool
    rewards: Sequence[float]
    cells: Sequence[int] | None


class Compared(NamedTuple):
    """How many positions were compared, and the final rewards float32[B, N]."""

    positions: int
    rewards: np.ndarray


class Oracle(Protocol):
    """Another implementation of a game, speaking our actions; `play` may alter its argument."""

    def initial(self) -> Any: ...
    def view(self, state: Any) -> View: ...
    def play(self, state: Any, action: int) -> Any: ...


def assert_same_games(
    game: Game, oracle: Oracle, batch: int, seed: int, weights: np.ndarray | None = None
) -> Compared:
    """Play `batch` random games to their ends, ours all at once and the oracle's one by one.

    Legal actions are drawn evenly, or by the weights float64[N, A] of the player to move.
    """
    rng = np.random.default_rng(seed)
    key = jax.random.key(seed)
    keys = jax.random.split(key, batch)

    @jax.jit
    @jax.vmap
    def step(state: Any, action: jax.Array, key: jax.Array) -> Any:
        return game.step(state, action, key)

    @jax.jit
    @jax.vmap
    def see(state: Any) -> tuple[jax.Array, ...]:
        shown = (state.player, state.terminal, state.rewards)
        return (game.legal_actions(state), *shown, game.cells(state))

    ours = jax.jit(jax.vmap(game.init))(keys)
    theirs = [oracle.initial() for _ in range(batch)]
    views = [oracle.view(state) for state in theirs]
    positions = 0
    for _ in range(game.max_plies + 1):
        legal, player, terminal, rewards, cells = jax.device_get(see(ours))
        expected = np.zeros_like(legal)
        for row, view in zip(expected, views, strict=True):
            row[list(view.legal)] = True
        np.testing.assert_array_equal(legal, expected)
        np.testing.assert_array_equal(terminal, [view.terminal for view in views])
        np.testing.assert_array_equal(rewards, np.float32([view.rewards for view in views]))
        for i, view in enumerate(views):
            assert view.player is None or view.player == player[i]
            assert view.cells is None or tuple(view.cells) == tuple(cells[i].tolist())
        live = np.flatnonzero(~terminal)
        positions += live.size
        if not live.size:
            return Compared(positions + batch, rewards)
        actions = np.zeros(batch, np.int32)
        for i in live:
            choices = np.array(views[i].legal)
            if weights is None:
                actions[i] = choices[rng.integers(len(choices))]
            else:
                shares = weights[player[i], choices]
                actions[i] = rng.choice(choices, p=shares / shares.sum())
            theirs[i] = oracle.play(theirs[i], int(actions[i]))
            views[i] = oracle.view(theirs[i])
        ours = step(ours, actions, keys)
    raise AssertionError(f"{game.name}: games go on after {game.max_plies} plies")
