"""Max-N: perfect play in small games, by the values of all positions.

In Max-N (Luckhardt & Irani 1986) each player maximizes its own entry of the tuple of final rewards.
A depth-limited search that reaches the end of the game from its start position, such as depth 10 in
TicTacToe or depth 15 in Nim with three heaps of five, sees the whole game. So the tuple of every
position is computed once here, and a move is a table lookup. In games of chance the tuples are
expectations (`search.expectations`).
"""

from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.rollout import chunked
from jaxgbg.players.core import PytreePlayer, UniformPlayer
from jaxgbg.search import expectations
from jaxgbg.types import AnyArray, State
from jaxgbg.values.indices import look_up

_MOST_CODES = 1_000_000
_CHUNK = 256


class _Tables(NamedTuple):
    """`row` int32[codes], `values` float32[P + 1, N], `best` bool[P + 1, A].

    Row P stands for the positions that no play from the start reaches: values NaN, nothing best.
    """

    row: jax.Array
    values: jax.Array
    best: jax.Array


@jax.tree_util.register_pytree_node_class
class MaxN(PytreePlayer, UniformPlayer):
    """Perfect play: each player maximizes its own final reward.

    Every action with the best reward for the mover is equally likely at the root; inside the tree
    the first (lowest) best action counts. A quick win counts no more than a slow one. A position
    that cannot arise in play has no value (NaN) and gets a random legal action.

    Raises ValueError for a game with too many positions, for one of chance that does not list its
    outcomes, and for one without chance where positions can repeat. Without chance the cells and
    the player to move must name a position, and rewards must fall at the end of the game only.
    """

    name = "maxn"
    leaves = ("_tables",)

    def __init__(self, game: Game) -> None:
        self.game = game
        self._tables = _solve(game)

    def best_actions(self, states: State) -> jax.Array:
        return _look_up(self.game, self._tables, states)[1]

    def values(self, states: State) -> jax.Array:
        """states[B] -> float32[B, N]: what each player ends with when all play perfectly."""
        return _look_up(self.game, self._tables, states)[0]


def _num_codes(game: Game) -> int:
    return game.num_players * game.num_cell_values**game.num_cells


def _code(game: Game, state: State) -> jax.Array:
    """int32[]: the cells as one number in base `num_cell_values`, with the player on top."""
    powers = game.num_cell_values ** np.arange(game.num_cells + 1)
    digits = jnp.append(game.cells(state).astype(jnp.int32), state.player.astype(jnp.int32))
    return (digits * powers.astype(np.int32)).sum()


@partial(jax.jit, static_argnums=0)
def _look_up(
    game: Game, tables: _Tables | expectations.Tables, states: State
) -> tuple[jax.Array, jax.Array]:
    """(values float32[B, N], best bool[B, A]) of states[B]."""
    if isinstance(tables, expectations.Tables):
        return _look_up_expected(game, tables, states)
    row = tables.row[jax.vmap(partial(_code, game))(states)]
    unknown = row == tables.values.shape[0] - 1
    legal = jax.vmap(game.legal_actions)(states)
    return tables.values[row], jnp.where(unknown[:, None], legal, tables.best[row])


def _look_up_expected(
    game: Game, tables: expectations.Tables, states: State
) -> tuple[jax.Array, jax.Array]:
    """As `_look_up`, in games of chance."""
    row, found = expectations.find(tables, states)
    over, legal = states.terminal[:, None], jax.vmap(game.legal_actions)(states)
    future = jnp.where(found[:, None], look_up(tables.values, row), jnp.nan)
    best = jnp.where(found[:, None], look_up(tables.best, row), legal)
    return states.rewards + jnp.where(over, 0, future), best & legal


class _Expansion(NamedTuple):
    """Of B states: `player` int8[B], `rewards` float32[B, N], `legal` bool[B, A] and the
    positions one ply on, `child_codes` int32[B, A]. Traced in `_expand`, NumPy after it.
    """

    player: AnyArray
    rewards: AnyArray
    legal: AnyArray
    child_codes: AnyArray


@partial(jax.jit, static_argnums=0)
def _expand(game: Game, states: State) -> tuple[_Expansion, State]:
    """states[B] -> (expansion with leading axis B, child states[B * A])."""
    every_action = jax.vmap(game.afterstate, (None, 0))
    children = jax.vmap(every_action, (0, None))(states, jnp.arange(game.num_actions))
    codes = jax.vmap(jax.vmap(partial(_code, game)))(children)
    legal = jax.vmap(game.legal_actions)(states)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), children)
    return _Expansion(states.player, states.rewards, legal, codes), flat


def _enumerate(game: Game) -> tuple[np.ndarray, _Expansion]:
    """Find every position that play can reach, breadth first.

    Returns (row int32[codes], -1 where no play comes; the expansion of all P positions by row).
    """
    key = jax.random.key(0)
    level = jax.tree.map(lambda leaf: np.asarray(leaf)[None], game.init(key))
    row = np.full(_num_codes(game), -1, np.int32)
    row[int(_code(game, jax.tree.map(lambda leaf: leaf[0], level)))] = 0
    size, known, parts = 1, 1, []
    while size:
        next_levels = []
        for states, real in chunked(level, size, _CHUNK):
            expansion, children = jax.device_get(_expand(game, states))
            parts.append(_Expansion(*(field[:real] for field in expansion)))
            codes = np.where(expansion.legal, expansion.child_codes, -1)[:real].ravel()
            codes, first = np.unique(codes, return_index=True)
            new = (codes >= 0) & (row[codes] < 0)
            row[codes[new]] = known + np.arange(new.sum())
            known += int(new.sum())
            next_levels.append(jax.tree.map(lambda leaf, pick=first[new]: leaf[pick], children))
        level = jax.tree.map(lambda *leaves: np.concatenate(leaves), *next_levels)
        size = len(level.player)
    return row, _Expansion(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


@lru_cache(maxsize=16)
def _solve(game: Game) -> _Tables | expectations.Tables:
    if game.stochastic:
        return expectations.solve(game)
    if _num_codes(game) > _MOST_CODES:
        raise ValueError(
            f"maxn looks at every position: {game.name} has too many"
            f" (up to {float(_num_codes(game)):.0e}; the limit is {_MOST_CODES})"
        )
    row, positions = _enumerate(game)
    values, best = _backward_induction(game, positions, row[positions.child_codes])
    row[row < 0] = len(values)
    values = np.append(values, np.full((1, game.num_players), np.nan, np.float32), axis=0)
    best = np.append(best, np.zeros((1, game.num_actions), bool), axis=0)
    # Put there as it is: with jax_debug_nans what JAX makes may hold no nan.
    return _Tables(*jax.device_put((row, values, best)))


def _backward_induction(
    game: Game, positions: _Expansion, children: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Solve all positions whose children are solved, until none is left.

    children int32[P, A], rows of the positions. Returns (values float32[P, N], best bool[P, A]).
    """
    legal = positions.legal
    values, best = positions.rewards.copy(), np.zeros_like(legal)
    solved = ~legal.any(axis=1)
    while not solved.all():
        left = np.flatnonzero(~solved)
        ready = left[(solved[children[left]] | ~legal[left]).all(axis=1)]
        if ready.size == 0:
            raise ValueError(f"maxn: positions of {game.name} repeat, so they have no depth")
        # q[i, a]: what the mover of position i ends with after action a.
        q = values[children[ready], positions.player[ready, None]]
        q = np.where(legal[ready], q, -np.inf)
        best[ready] = q == q.max(axis=1, keepdims=True)
        values[ready] = values[children[ready, q.argmax(axis=1)]]
        solved[ready] = True
    return values, best
