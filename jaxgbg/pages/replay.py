"""Sample games of an agent, recorded with what it thinks of every move."""

import dataclasses
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game, Game2048
from jaxgbg.learners.selection import choose_action
from jaxgbg.players import GreedyAgent, Player, make_player

# Games are played in portions: those of 2048 last thousands of plies, those of others a few.
_PORTION = 512

# The traceable players by name: building another to ask it would start an engine or need an extra.
_QUICK = ("maxn", "bench", "heur", "blocker", "random")


@dataclasses.dataclass(frozen=True)
class Replay:
    """One game of T plies, position by position.

    `digits` int8[T + 1, C] are the boards, `players` int8[T + 1] who is to move, `rewards`
    float32[T + 1, N] the cumulative rewards. `actions` int32[T] were played, and `values`
    float32[T, A] are the agent's of all actions, for the player to move; -inf where illegal.
    `names` says who sits in each seat.
    """

    game: Game
    names: tuple[str, ...]
    digits: np.ndarray
    players: np.ndarray
    rewards: np.ndarray
    actions: np.ndarray
    values: np.ndarray


def sample_games(agent: GreedyAgent, opponents: tuple[str, ...], seed: int = 0) -> list[Replay]:
    """The agent against the first of `opponents` that plays in compiled programs, else itself.

    Against an opponent it plays two games, in the first and in the last seat, with itself one; the
    same seed gives the same games.
    """
    game = agent.game
    name = next((name for name in opponents if name in _QUICK), "agent")
    opponent = make_player(name, game) if name in _QUICK else None
    agent_seats = (0, game.num_players - 1) if opponent else (None,)
    theirs = np.array(
        [
            [own is not None and seat != own for seat in range(game.num_players)]
            for own in agent_seats
        ]
    )
    games, portion = len(theirs), min(_PORTION, game.max_plies)
    # Drawn on the host: JAX's generator would take longer to compile than the games to play.
    random = np.random.default_rng(seed)

    def words(*shape: int) -> np.ndarray:
        return random.integers(2**32, size=shape, dtype=np.uint32)

    play_on = _compiled()
    states = jax.jit(jax.vmap(game.init_from))(words(games, game.init_words))
    record = []
    while not np.all(states.terminal):
        draws = (
            random.random((portion, games), np.float32),
            words(portion, 2),
            words(portion, games, game.spawn_words),
        )
        states, seen = play_on(game, agent, opponent, theirs, states, draws)
        record.append(jax.tree.map(np.asarray, seen))
    digits, players, rewards, terminal, actions, values = (
        np.concatenate(parts).swapaxes(0, 1) for parts in zip(*record, strict=True)
    )
    last = [np.asarray(part) for part in _seen(game, states)]
    replays = []
    for at in range(games):
        plies = int((~terminal[at]).sum())
        replays.append(
            Replay(
                game,
                tuple(name if other else "agent" for other in theirs[at]),
                np.append(digits[at, :plies], last[0][at][None], 0),
                np.append(players[at, :plies], last[1][at]),
                np.append(rewards[at, :plies], last[2][at][None], 0),
                actions[at, :plies],
                values[at, :plies],
            )
        )
    return replays


def _play_on(
    game: Game,
    agent: GreedyAgent,
    opponent: Player | None,
    theirs: jax.Array,
    states: Any,
    draws: Any,
) -> tuple[Any, Any]:
    """T plies of G games: (states[G], what was seen before each ply with axes [T, G, ...]).

    `theirs` bool[G, N] says where the opponent sits. `draws` settle ties of the agent float32[T,
    G], those of the opponent uint32[T, 2], and chance uint32[T, G, W].
    """

    def ply(states: Any, draws: Any) -> tuple[Any, Any]:
        ties, key, chance = draws
        values = jax.vmap(agent.action_values)(states)
        legal = jax.vmap(game.legal_actions)(states)
        actions = jax.vmap(choose_action)(values, legal, ties)
        if opponent is not None:
            to_move = states.player[:, None].astype(jnp.int32)
            chosen = opponent.act(states, jax.random.wrap_key_data(key))
            actions = jnp.where(jnp.take_along_axis(theirs, to_move, 1)[:, 0], chosen, actions)
        seen = (*_seen(game, states), states.terminal, actions, values)
        moved = jax.vmap(game.afterstate)(states, actions)
        return jax.vmap(game.spawn_from)(moved, chance), seen

    return jax.lax.scan(ply, states, draws)


@lru_cache(maxsize=1)
def _compiled() -> Any:
    """`_play_on`, compiled in haste where XLA can: its few plies are over sooner than that."""
    hasty = {"xla_backend_optimization_level": 0}
    try:
        jax.jit(jnp.negative, compiler_options=hasty)(np.float32(0))
    except jax.errors.JaxRuntimeError:
        # Another version, without this option.
        hasty = {}
    return jax.jit(_play_on, static_argnums=0, compiler_options=hasty)


def _seen(game: Game, states: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What a spectator sees: (digits int8[G, C], player int8[G], rewards float32[G, N])."""
    # 2048's cells, made for tables, show a 32768 tile as its half.
    digits = states.tiles if isinstance(game, Game2048) else jax.vmap(game.cells)(states)
    return digits, states.player, states.rewards
