"""A game as an environment of PettingZoo (Terry et al. 2021), imported only when asked for."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.as_pgx import Foreign, observation
from jaxgbg.games.core import Game
from jaxgbg.types import State


class PettingZooMethods:
    """The methods of PettingZoo's `AECEnv` for a game."""

    _was_dead_step: Foreign
    _accumulate_rewards: Foreign

    def __init__(self, game: Game) -> None:
        from gymnasium import spaces

        self.game = game
        self.render_mode = None
        self.metadata = {"name": game.name, "render_modes": [], "is_parallelizable": False}
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players)]
        size = jax.eval_shape(game.display_cells, jax.eval_shape(game.init, jax.random.key(0))).size
        bounds = np.iinfo(np.int8)
        seen: dict[str, Foreign] = {
            "observation": spaces.Box(bounds.min, bounds.max, (size + 1,), np.int8),
            "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
        }
        self.observation_spaces = {each: spaces.Dict(seen) for each in self.possible_agents}
        self.action_spaces = {
            each: spaces.Discrete(game.num_actions) for each in self.possible_agents
        }

    def observation_space(self, agent: str) -> object:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> object:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Foreign] | None = None) -> None:
        """Begin a game; `seed` is that of chance, a new one if there is none."""
        del options
        drawn = int(np.random.default_rng().integers(2**31)) if seed is None else seed
        start, self._key = jax.random.split(jax.random.key(drawn))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, object]] = {each: {} for each in self.agents}
        self._show(*_begin(self.game, start))

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What a player sees; only the player to move has legal actions."""
        seat = self.possible_agents.index(agent)
        mask = self._legal if agent == self.agent_selection else np.zeros_like(self._legal)
        return {"observation": np.append(self._board, np.int8(seat)), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Make a move for `agent_selection`; None if it is no longer in the game."""
        mover = self.agent_selection
        if self.terminations[mover]:
            self._was_dead_step(action)
            return
        if not (action is not None and 0 <= action < self._legal.size and self._legal[action]):
            raise ValueError(f"{self.game.name}: action {action} is not legal here")
        before = self._state.rewards
        self._key, key = jax.random.split(self._key)
        self._cumulative_rewards[mover] = 0.0
        self._show(*_follow(self.game, self._state, jnp.int32(action), key))
        gains = (self._state.rewards - before).tolist()
        self.rewards.update(zip(self.possible_agents, gains, strict=True))
        self._accumulate_rewards()

    def _show(self, state: State, board: np.ndarray, legal: np.ndarray) -> None:
        self._state, self._board, self._legal = jax.device_get((state, board, legal))
        self.agent_selection = self.possible_agents[int(self._state.player)]
        if self._state.terminal:
            self.terminations = dict.fromkeys(self.agents, True)


@cache
def pettingzoo_class() -> type[Foreign]:
    """The class of environments, an `AECEnv`."""
    from pettingzoo import AECEnv

    return type("PettingZooEnv", (PettingZooMethods, AECEnv), {})


@partial(jax.jit, static_argnums=0)
def _begin(game: Game, key: jax.Array) -> tuple[State, jax.Array, jax.Array]:
    return _seen(game, game.init(key))


@partial(jax.jit, static_argnums=0)
def _follow(
    game: Game, state: State, action: jax.Array, key: jax.Array
) -> tuple[State, jax.Array, jax.Array]:
    return _seen(game, game.step(state, action, key))


def _seen(game: Game, state: State) -> tuple[State, jax.Array, jax.Array]:
    """(state, board int8[D], legal actions int8[A])."""
    return state, observation(game, state, 0)[:-1], game.legal_actions(state).astype(jnp.int8)
