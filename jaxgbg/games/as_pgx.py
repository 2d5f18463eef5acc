"""A game as an environment of pgx (Koyamada et al. 2023), which is imported only when asked for."""

from functools import cache
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from flax import struct

from jaxgbg.games.core import Game
from jaxgbg.types import State

Foreign: TypeAlias = Any
"""Something of a package that may be missing."""


def observation(game: Game, state: State, seat: jax.Array | int) -> jax.Array:
    """int8[D + 1]: the board as it is drawn, and the seat of who looks at it."""
    board = game.display_cells(state).astype(jnp.int8)
    return jnp.append(board, jnp.asarray(seat, jnp.int8))


class PgxMethods:
    """The methods of `pgx.Env` for a game; `new_state` makes the states."""

    new_state: type[Foreign]

    def __init__(self, game: Game) -> None:
        self.game = game

    def _init(self, key: jax.Array) -> Foreign:
        state = self.game.init(key)
        return self._shown(state, jnp.zeros_like(state.rewards), jnp.int32(0))

    def _step(self, state: Foreign, action: jax.Array, key: jax.Array | None) -> Foreign:
        if key is None and self.game.stochastic:
            raise ValueError(f"{self.game.name} is a game of chance: give step a key")
        before: State = state._state
        after = self.game.afterstate(before, jnp.asarray(action, jnp.int32))
        if key is not None:
            after = self.game.spawn(after, key)
        return self._shown(after, after.rewards - before.rewards, state._step_count)

    def _shown(self, state: State, gains: jax.Array, count: jax.Array) -> Foreign:
        player = state.player.astype(jnp.int32)
        return self.new_state(
            current_player=player,
            observation=observation(self.game, state, player),
            rewards=gains.astype(jnp.float32),
            terminated=state.terminal,
            truncated=jnp.bool_(False),
            legal_action_mask=self.game.legal_actions(state),
            _step_count=count,
            _state=state,
            _game=self.game,
        )

    def _observe(self, state: Foreign, player_id: jax.Array) -> jax.Array:
        return observation(self.game, state._state, player_id)

    @property
    def id(self) -> str:
        return self.game.name

    @property
    def version(self) -> str:
        return "v0"

    @property
    def num_players(self) -> int:
        return self.game.num_players

    @property
    def num_actions(self) -> int:
        return self.game.num_actions


@cache
def pgx_class() -> type[Foreign]:
    """The class of environments, a `pgx.Env`."""
    import pgx

    @struct.dataclass
    class PgxState(pgx.State):
        current_player: jax.Array
        observation: jax.Array
        rewards: jax.Array
        terminated: jax.Array
        truncated: jax.Array
        legal_action_mask: jax.Array
        _step_count: jax.Array
        _state: State
        _game: Game = struct.field(pytree_node=False)

        @property
        def env_id(self) -> Foreign:
            return self._game.name

    return type("PgxEnv", (PgxMethods, pgx.Env), {"new_state": PgxState})
