"""Games of other packages behind pgx's interface (`init`, `step`, a mask of legal actions)."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from jaxgbg.games.core import Game, keep_if
from jaxgbg.games.grids import grid_adjacency
from jaxgbg.games.registry import make
from jaxgbg.lazy import jax, jnp
from jaxgbg.xla import fast_compile_options

Inner: TypeAlias = Any
"""A state of the other package."""

HasInner: TypeAlias = Any
"""A `BorrowedState`, or the state of a game that has more fields than it."""


class BorrowedState(NamedTuple):
    """`inner` is the state of the other package, without what only its networks look at."""

    inner: Inner
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class Borrowed(Game[HasInner]):
    """A game of perfect information of another package, played by that package's own rules.

    Its class is made by `borrow`, once for each game. Player 0 moves first, and rewards are
    cumulative. When a game is over there is no legal action. If its rules leave the mover without a
    legal action, the game is over and all rewards are 0.
    """

    environment: ClassVar[Any]
    start: ClassVar[Inner]
    """Of `inner`, as NumPy arrays."""
    board: ClassVar[tuple[int, int] | None]
    """Rows and columns of the first cells; None where they lie otherwise."""
    digit_owners: ClassVar[tuple[int, ...]] = ()
    """The seat of the player whose piece each digit of the board is, -1 for an empty cell; for
    drawings. () if digits are something else.
    """

    def __reduce__(self) -> tuple[Callable[..., Game], tuple[str]]:
        # The class has no name of its own by which another process could import it.
        return make, (self.name,)

    @property
    def num_players(self) -> int:
        return int(self.start.rewards.size)

    @property
    def num_actions(self) -> int:
        return int(self.start.legal_action_mask.size)

    @property
    def adjacency(self) -> np.ndarray:
        # A cell that is not on the board is a neighbour of every other cell.
        joined = ~np.eye(self.num_cells, dtype=bool)
        if self.board is not None:
            rows, columns = self.board
            size = rows * columns
            joined[:size, :size] = grid_adjacency(rows, columns, diagonal=True)
        return joined

    def init(self, key: jax.Array) -> HasInner:
        return self.begun(jax.tree.map(jnp.asarray, self.start))

    def begun(self, inner: Inner) -> BorrowedState:
        """The start position that `inner` is."""
        nobody = jnp.zeros(self.num_players, jnp.float32)
        return BorrowedState(inner, jnp.int8(0), jnp.bool_(False), nobody)

    def legal_actions(self, state: HasInner) -> jax.Array:
        # The other packages allow everything when a game is over.
        return state.inner.legal_action_mask & ~state.terminal

    def afterstate(self, state: HasInner, action: jax.Array) -> HasInner:
        place = jnp.clip(action, 0, self.num_actions - 1)
        legal = self.in_range(action) & self.legal_actions(state)[place]
        moved = self.stepped(state, self.inner_step(state.inner, place, jax.random.key(0)))
        return keep_if(legal, moved, state)

    def inner_step(self, inner: Inner, action: jax.Array, key: jax.Array) -> Inner:
        """`inner` after a whole move, every array of the dtype that it had at the start."""
        after = bare(self.environment.step(inner, action, key))
        return jax.tree.map(lambda leaf, like: jnp.asarray(leaf, like.dtype), after, self.start)

    def stepped(self, state: HasInner, inner: Inner) -> HasInner:
        """`state` after the move that made `inner`."""
        over = inner.terminated | inner.truncated | ~inner.legal_action_mask.any()
        return state._replace(
            inner=inner,
            player=inner.current_player.astype(jnp.int8),
            terminal=over,
            rewards=state.rewards + inner.rewards,
        )


def bare(inner: Inner) -> Inner:
    """A state without what it shows to a network, which can be had again from the rest."""
    return inner.replace(observation=None) if hasattr(inner, "observation") else inner


def borrow(kind: type[Borrowed], name: str, environment: Any, **members: object) -> type[Borrowed]:
    """The class of one borrowed game: `kind` with its name, environment and constants.

    Where the package draws who begins, one of its draws in which player 0 does is the start.
    """
    begin = jax.jit(
        lambda key: bare(environment.init(key)), compiler_options=fast_compile_options()
    )
    keys = (jax.random.PRNGKey(seed) for seed in range(64))
    starts = (jax.device_get(begin(key)) for key in keys)
    start = next(start for start in starts if start.current_player == 0)
    members = {"name": name, "environment": environment, "start": start, **members}
    return type(name, (kind,), members)


def import_package(package: str, name: str) -> ModuleType:
    """The package that has a game; ValueError, in one line, where it is not installed."""
    # Such a package imports JAX itself, which a command must set up before.
    _ = jax.config
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ValueError(
            f"{name}: {package} cannot be imported: pip install 'jaxgbg[{package}]' ({error})"
        ) from error
