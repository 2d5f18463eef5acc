"""Games of an agent, recorded with its value of every move."""

import dataclasses
from collections.abc import Callable
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.rollout import record
from jaxgbg.learners.selection import choose_action
from jaxgbg.players import GreedyAgent, Player, make_player, traceable_players
from jaxgbg.types import PyTree, State
from jaxgbg.xla import fast_compile_options

# Games are played in chunks: 2048 takes thousands of plies, other games a few.
_CHUNK = 512


@dataclasses.dataclass(frozen=True)
class GameRecord:
    """One game of T plies, position by position.

    `boards` int8[T + 1, C] are the cells to draw, `players` int8[T + 1] the player to move,
    `rewards` float32[T + 1, N] the cumulative rewards. `actions` int32[T] were played, and `values`
    float32[T, A] are the agent's values of all actions for the player to move; -inf for illegal
    ones. `names` are the players of the seats.
    """

    game: Game
    names: tuple[str, ...]
    boards: np.ndarray
    players: np.ndarray
    rewards: np.ndarray
    actions: np.ndarray
    values: np.ndarray


def record_games(agent: GreedyAgent, opponents: tuple[str, ...], seed: int = 0) -> list[GameRecord]:
    """Let the agent play the first of `opponents` that is traceable, or itself.

    Against an opponent it plays two games, in the first and in the last seat, otherwise one. The
    same seed gives the same games. Raises ValueError if a game takes more than `max_plies`.
    """
    game = agent.game
    # Building other players could start an engine or need an extra.
    name = next((name for name in opponents if name in traceable_players()), None)
    opponent = make_player(name, game) if name else None
    agent_seats = np.array([0, game.num_players - 1] if opponent else [-1])
    others = (agent_seats[:, None] != np.arange(game.num_players)) & (opponent is not None)
    positions, actions, values = _play(game, agent, opponent, others, np.random.default_rng(seed))
    *positions, terminal = positions
    records = []
    for at, plies in enumerate((~terminal).sum(1).tolist()):
        names = tuple(name if name and other else "agent" for other in others[at])
        boards, players, rewards = (part[at, : plies + 1] for part in positions)
        moves = actions[at, :plies], values[at, :plies]
        records.append(GameRecord(game, names, boards, players, rewards, *moves))
    return records


def _play(
    game: Game,
    agent: GreedyAgent,
    opponent: Player | None,
    others: np.ndarray,
    random: np.random.Generator,
) -> tuple[PyTree, np.ndarray, np.ndarray]:
    """Play G games of T plies, to the end of the longest: positions [G, T + 1], actions, values [G,
    T].

    `others` bool[G, N] marks the seats of the opponent. Random words are drawn on the host: JAX's
    generator would take longer to compile than the games take to play.
    """
    games, chunk = len(others), min(_CHUNK, game.max_plies)

    def words(*shape: int) -> np.ndarray:
        return random.integers(2**32, size=shape, dtype=np.uint32)

    play_on = _compiled()
    states = jax.jit(jax.vmap(game.init_from))(words(games, game.init_words))
    positions: list[PyTree] = []
    moves: list[PyTree] = []
    while not np.all(states.terminal):
        if len(moves) * chunk >= game.max_plies:
            raise ValueError(f"{game.name}: a game takes more than its {game.max_plies:,} plies")
        ties, keys = random.random((chunk, games), np.float32), words(chunk, 2)
        chance = words(chunk, games, game.spawn_words)
        states, notes = play_on(game, agent, opponent, others, states, (ties, keys), chance)
        positions.append(notes[0])
        moves.append(notes[1:])
    # A finished game keeps its last position while others continue.
    positions.append(jax.tree.map(lambda leaf: leaf[None], _position(game, states)))
    return _by_game(positions), *_by_game(moves)


def _by_game(chunks: list[PyTree]) -> PyTree:
    """Turn leaves [T, G, ...] of consecutive chunks into leaves [G, sum of T, ...]."""
    return jax.tree.map(lambda *parts: np.concatenate(parts).swapaxes(0, 1), *chunks)


def _play_on(
    game: Game,
    agent: GreedyAgent,
    opponent: Player | None,
    others: jax.Array,
    states: State,
    draws: tuple[jax.Array, jax.Array],
    chance: jax.Array,
) -> tuple[State, PyTree]:
    """Play T plies of G games: (states[G], (positions, actions, values) before each ply, [T, G,
    ...]).

    `draws` break ties of the agent float32[T, G] and those of the opponent uint32[T, 2].
    """

    def choose(states: State, draw: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, PyTree]:
        ties, key = draw
        values = jax.vmap(agent.action_values)(states)
        legal = jax.vmap(game.legal_actions)(states)
        actions = jax.vmap(choose_action)(values, legal, ties)
        if opponent is not None:
            to_move = states.player[:, None].astype(jnp.int32)
            answers = opponent.act(states, jax.random.wrap_key_data(key))
            actions = jnp.where(jnp.take_along_axis(others, to_move, 1)[:, 0], answers, actions)
        return actions, (_position(game, states), actions, values)

    return record(game, states, choose, draws, chance)


@lru_cache(maxsize=1)
def _compiled() -> Callable[..., tuple[State, PyTree]]:
    return jax.jit(_play_on, static_argnums=0, compiler_options=fast_compile_options())


def _position(game: Game, states: State) -> tuple[jax.Array, ...]:
    """(boards int8[G, C], players int8[G], rewards float32[G, N], terminal bool[G])."""
    boards = jax.vmap(game.display_cells)(states)
    return boards, states.player, states.rewards, states.terminal
