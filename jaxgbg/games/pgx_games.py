"""The games of pgx (Koyamada et al. 2023) whose players see the whole board: `pgx:hex` etc.

A cell of ours is a cell of the board that pgx shows its networks, always as player 0 would see it:
digit 0 where no plane of today's pieces is set, else 1 + the number of the first that is. Planes
that are alike on the whole board (prisoners, rights) follow as one cell a group; its digit is the
number of planes that are set. Planes of earlier positions, of the player's colour, of counters and
of attacks are left out.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np

from jaxgbg.games.borrowed import Borrowed, BorrowedState, Inner, bare, borrow, import_package
from jaxgbg.games.core import keep_if
from jaxgbg.lazy import jax, jnp


class _Planes(NamedTuple):
    """`pieces` are the planes of today's board, `groups` (first, count) those of the whole board.

    A game is over after `max_plies` by the rules of pgx.
    """

    max_plies: int
    pieces: tuple[int, ...]
    groups: tuple[tuple[int, int], ...] = ()


_TWO = (0, 1)
# Prisoners of shogi: pawns to 8, lances, knights, silver and gold generals to 4, bishops, rooks.
_HAND = (8, 4, 4, 4, 4, 2, 2)
_SHOGI_GROUPS = tuple((62 + sum((_HAND * 2)[:kind]), count) for kind, count in enumerate(_HAND * 2))
_GAMES = {
    "animal_shogi": _Planes(256, tuple(range(10)), (*((k, 2) for k in range(10, 22, 2)), (23, 1))),
    "chess": _Planes(512, tuple(range(12)), ((13, 1), *((plane, 1) for plane in range(114, 118)))),
    "connect_four": _Planes(42, _TWO),
    "gardner_chess": _Planes(256, tuple(range(12)), ((13, 1),)),
    "go_19x19": _Planes(722, _TWO),
    "go_9x9": _Planes(162, _TWO),
    "hex": _Planes(122, _TWO, ((3, 1),)),
    # A pass is an action, and two in a row end the game.
    "othello": _Planes(122, _TWO),
    "shogi": _Planes(512, (*range(14), *range(31, 45)), _SHOGI_GROUPS),
    "tic_tac_toe": _Planes(9, _TWO),
}
PGX_GAMES = tuple(sorted((*_GAMES, "backgammon")))
"""What may follow "pgx:" in a game's name."""

_HIDDEN = "its players do not see the whole state, and every player here does"
_REFUSED = {
    "2048": "pgx slides and places the new tile in one step, which leaves no afterstate to learn:"
    " play 2048, the game of jaxgbg",
    "bridge_bidding": _HIDDEN,
    "kuhn_poker": _HIDDEN,
    "leduc_holdem": _HIDDEN,
    "sparrow_mahjong": _HIDDEN,
    **dict.fromkeys(
        ("minatar-asterix", "minatar-breakout", "minatar-freeway", "minatar-seaquest"),
        "it is an arcade game, not a board game",
    ),
    "minatar-space_invaders": "it is an arcade game, not a board game",
}


@cache
def pgx_game(title: str) -> type[Borrowed]:
    """The class of `pgx:title`; raises ValueError, in one line, for what cannot be had."""
    name = f"pgx:{title}"
    if title in _REFUSED:
        raise ValueError(f"{name} is not available: {_REFUSED[title]}")
    if title not in PGX_GAMES:
        raise ValueError(f"unknown game {name!r}: pgx has {', '.join(PGX_GAMES)}")
    environment = import_package("pgx", name).make(title)
    if title == "backgammon":
        return borrow(PgxBackgammon, name, environment, board=None)
    planes = _GAMES[title]
    shape = jax.eval_shape(environment.init, jax.random.key(0)).observation.shape
    return borrow(
        PgxGame,
        name,
        environment,
        board=shape[:2],
        planes=planes,
        # The first half of the planes of pieces are those of player 0.
        digit_owners=(-1, *np.repeat((0, 1), len(planes.pieces) // 2).tolist()),
        num_cells=shape[0] * shape[1] + len(planes.groups),
        num_cell_values=1 + max(len(planes.pieces), *(count for _, count in planes.groups), 0),
        max_plies=planes.max_plies,
    )


@dataclasses.dataclass(frozen=True)
class PgxGame(Borrowed):
    """A game of pgx without chance."""

    planes: ClassVar[_Planes]

    def cells(self, state: BorrowedState) -> jax.Array:
        seen = self.environment._observe(state.inner, jnp.int32(0)) != 0
        pieces = seen[:, :, np.array(self.planes.pieces)].reshape(-1, len(self.planes.pieces))
        digits = jnp.where(pieces.any(1), 1 + jnp.argmax(pieces, 1), 0)
        groups = [seen[0, 0, first : first + count].sum() for first, count in self.planes.groups]
        return jnp.concatenate([digits, *(group[None] for group in groups)]).astype(jnp.int8)


class PgxBackgammonState(NamedTuple):
    """A move that ends a turn leaves the dice to be `rolled`: the `action` made in `before`."""

    inner: Inner
    before: Inner
    action: jax.Array
    rolled: jax.Array
    player: jax.Array
    terminal: jax.Array
    rewards: jax.Array


@dataclasses.dataclass(frozen=True)
class PgxBackgammon(Borrowed):
    """Backgammon of pgx: an action moves one man by one die; 2 and 3 points for gammons.

    The cells, as player 0 sees them: 24 points, and the bar and the men borne off of each player,
    as 15 + its own men - the other's men. Then the number of times that each die may still be
    played, all 0 between two turns. If a game is not over after `max_plies` moves of men, all
    rewards are 0.
    """

    num_cells = 34
    num_cell_values = 31
    max_plies = 4096
    init_words = 2
    spawn_words = 2

    @property
    def reward_range(self) -> tuple[float, float]:
        return (-3.0, 3.0)

    def init(self, key: jax.Array) -> PgxBackgammonState:
        # Who begins is not drawn here, but the dice are.
        inner = bare(self.environment.init(key))
        inner = inner.replace(current_player=jnp.zeros_like(inner.current_player))
        inner = jax.tree.map(lambda leaf, like: jnp.asarray(leaf, like.dtype), inner, self.start)
        begun = self.begun(inner)
        return PgxBackgammonState(inner, inner, jnp.int32(0), jnp.bool_(True), *begun[1:])

    def legal_actions(self, state: PgxBackgammonState) -> jax.Array:
        return super().legal_actions(state) & state.rolled

    def stepped(self, state: PgxBackgammonState, inner: Inner) -> PgxBackgammonState:
        moved = super().stepped(state, inner)
        over = moved.terminal | (inner._step_count >= self.max_plies)
        rolled = over | (moved.player == state.player)
        return moved._replace(terminal=over, rolled=rolled)

    def afterstate(self, state: PgxBackgammonState, action: jax.Array) -> PgxBackgammonState:
        moved = super().afterstate(state, action)
        due = ~moved.rolled & state.rolled
        return keep_if(due, moved._replace(before=state.inner, action=jnp.int32(action)), moved)

    def spawn(self, state: PgxBackgammonState, key: jax.Array) -> PgxBackgammonState:
        # The same move again, now with its dice: they are all that it draws.
        inner = self.inner_step(state.before, state.action, key)
        rolled = state._replace(
            inner=inner, before=inner, action=jnp.int32(0), rolled=jnp.bool_(True)
        )
        return keep_if(state.rolled, state, rolled)

    def cells(self, state: PgxBackgammonState) -> jax.Array:
        seen = self.environment._observe(state.inner, state.inner.current_player)
        board, dice = seen[:28], seen[28:]
        turned = -jnp.concatenate([board[:24][::-1], board[24:26][::-1], board[26:][::-1]])
        board = 15 + jnp.where(state.player == 0, board, turned)
        return jnp.concatenate([board, jnp.where(state.rolled, dice, 0)]).astype(jnp.int8)
