"""The contract of a player."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.states import check_state
from jaxgbg.lazy import jax, jit
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.specs import shown
from jaxgbg.types import Memory, PyTree, State, StateT

if TYPE_CHECKING:
    from jaxgbg.games.game_replay import GameReplay
    from jaxgbg.games.lines import Line


class History(NamedTuple):
    """The moves of each of B games: `actions` int32[B, T], -1 for none, by `players` int8[B, T]."""

    actions: np.ndarray
    players: np.ndarray


def history_of(replay: GameReplay, line: Line) -> History | None:
    """The plies of one game; None if it starts from a position that was set up."""
    if isinstance(line.start, str) and line.start:
        return None
    actions = np.array([[ply[0] for ply in line.plies]], np.int32).reshape(1, -1)
    return History(actions, np.asarray(replay.every(line).player)[None, :-1])


class Player(Protocol):
    """Chooses moves for a batch of states of one game; `PlayerBase` has the usual answers.

    `name` is the word under which tables and `make_player` know it. With `traceable` it is a pytree
    and its `act` works inside compiled programs: its matches are one such program. `copies` is how
    many agents it holds: the first B / copies states of a batch are the first agent's, and so on.
    With `needs_history` its `act` gets the history of every game.
    """

    @property
    def name(self) -> str: ...
    @property
    def traceable(self) -> bool: ...
    @property
    def copies(self) -> int: ...
    @property
    def needs_history(self) -> bool: ...

    def shares_devices(self, games: int) -> bool:
        """Whether `act`, called by the host, would use several devices for so many games.

        Then their match is played from the host though all players are traceable.
        """
        ...

    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """Choose a move in every state of a batch; the same key gives the same moves.

        `states`: the game's state with a leading axis B on every leaf. Returns int32[B], a legal
        action of each state; for a terminal state any action. Games in which another player
        is to move are marked as terminal.
        """
        ...

    def close(self) -> None:
        """Free what the player holds outside this program; it plays no more."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """A player who keeps something between the moves of games that matches play.

    Its memory is a pytree of arrays, of one shape all through, or None. Without it `act` chooses.
    """

    def first_memory(self, states: State) -> Memory:
        """The memory of games at states[B] before its first move in them."""
        ...

    def act_on(self, memory: Memory, states: State, key: jax.Array) -> tuple[jax.Array, Memory]:
        """As `act`, (int32[B], the memory after that); of terminal states it stays as it was."""
        ...


class PlayerBase:
    """One agent that plays on the host, by the position alone, and holds nothing to close."""

    traceable = False
    needs_history = False

    @property
    def copies(self) -> int:
        return 1

    def shares_devices(self, games: int) -> bool:
        return False

    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        raise NotImplementedError

    def play_move(self, state: State, seed: int = 0) -> int | jax.Array:
        """The move in one state, an int, or in each of states[B], int32[B].

        Equal moves are drawn by `seed`: the same one, the same move. Raises ValueError for a state
        of another game.
        """
        if isinstance(game := getattr(self, "game", None), Game):
            check_state(game, state)
        key = jax.random.key(seed)
        if np.ndim(state.terminal):
            return self.act(state, key)
        return int(self.act(jax.tree.map(lambda leaf: leaf[None], state), key)[0])

    def close(self) -> None:
        return None

    def __repr__(self) -> str:
        game = getattr(self, "game", None)
        return f"<{type(self).__name__}{'' if game is None else f' of {shown(game)}'}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class PytreePlayer(PlayerBase):
    """A player that compiled programs take as an argument; each derived class is registered.

    `leaves` names its attributes that are pytrees of arrays, `fixed` those that programs hold.
    """

    traceable = True
    leaves: ClassVar[tuple[str, ...]]
    fixed: ClassVar[tuple[str, ...]] = ("game",)

    def tree_flatten(self) -> tuple[PyTree, tuple[object, ...]]:
        leaves, fixed = (
            tuple(getattr(self, name) for name in names) for names in (self.leaves, self.fixed)
        )
        return leaves, fixed

    @classmethod
    def tree_unflatten(cls, fixed: tuple[object, ...], leaves: PyTree) -> Self:
        # JAX may put any objects in place of the leaves, so do not read them here.
        player = object.__new__(cls)
        vars(player).update(zip((*cls.fixed, *cls.leaves), (*fixed, *leaves), strict=True))
        return player


class UniformPlayer(PlayerBase, Generic[StateT]):
    """Plays uniformly at random among its best actions; derived classes are pytrees."""

    traceable = True

    def best_actions(self, states: StateT) -> jax.Array:
        """states[B] -> bool[B, A]: the actions that `act` chooses from."""
        raise NotImplementedError

    @in_32_bits
    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] -> int32[B]; a terminal state gives 0."""
        return _act(self, states, key)


@jit
def _act(player: UniformPlayer, states: State, key: jax.Array) -> jax.Array:
    return choose_uniformly(player.best_actions(states), key)


class Opponent(NamedTuple):
    """A player to be had by name: `build(game)`, or `build(game, argument)`, makes it.

    `plays` says in words which games it plays; `build` raises ValueError for any other. `argument`
    names what may follow the name and a hyphen; empty where nothing may.
    """

    plays: str
    build: Callable[..., Player]
    argument: str = ""


class EngineError(RuntimeError):
    """An engine outside this program is missing, silent, dead or wrong; the message says which."""


class MissingExtra(RuntimeError):
    """A player needs a package that is not installed; the message says what to install."""
