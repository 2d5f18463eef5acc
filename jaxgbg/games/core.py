"""The contract of a game: pure rules on one unbatched state; batches come from `jax.vmap`.

`Game` lists what every game has, and what a game may have in addition. `jaxgbg.games.check_game`
reports what a game breaks, one line for each fault.
"""

from __future__ import annotations

import dataclasses
from typing import Generic

import numpy as np

from jaxgbg.games.rotations import SeatRotations
from jaxgbg.games.scale import WIN_RATE, Scale
from jaxgbg.lazy import jax, jnp
from jaxgbg.specs import checked_field
from jaxgbg.types import StateT

SIZES = ("num_players", "num_actions", "num_cells", "num_cell_values", "max_plies")
"""The sizes that every game has."""


def of_player(array: jax.Array, player: jax.Array) -> jax.Array:
    """The part [B, ...] of player int[B] in `array` [B, N, ...], by selection: gathers are slow."""
    chosen = array[:, 0]
    for n in range(1, array.shape[1]):
        mine = (player == n).reshape(-1, *([1] * (array.ndim - 2)))
        chosen = jnp.where(mine, array[:, n], chosen)
    return chosen


@dataclasses.dataclass(frozen=True)
class Game(Generic[StateT]):
    """Rules of one game: a frozen dataclass, hashable, hence static under `jax.jit`.

    Every game has `name`, `num_players`, `num_actions`, `num_cells`, `num_cell_values` and
    `max_plies`, all determined by its parameters, and the pure functions `init`, `legal_actions`,
    `afterstate` and `cells`. A parameter is a field annotated int, bool, float or str. Its default
    may limit its values: `jaxgbg.specs.setting(3, low=1, high=9)`. `__post_init__` checks the
    parameters and raises ValueError; a `__post_init__` of your own must call it.

    - Player 0 moves first, in a position that is not terminal and where all rewards are 0.
    - A state that is not terminal has a legal action. A terminal state has none and never changes.
    - An action that is not legal, or out of range, changes nothing: `afterstate` and `step` return
      the state as it was. A legal action changes the state.
    - A game is over after at most `max_plies` plies.
    - The functions are traced: choose with `jnp.where` and `jax.lax.cond`, not with Python's `if`.

    A game may also have the following, each with a default. For display: `title`, `reward_range`,
    `scale`, `sides`, and `piece_digits` for drawings. For ratings: `teams`. For n-tuples:
    `symmetries`, `action_symmetries`, `seat_rotations`, `adjacency`, `lines`, `own_tuples` and
    `progress`. For networks: `player_views`, and `extras` with `extra_names` and `extra_scales`.
    For speed: `outcomes`, `stone_digits`, `change_patterns` with `change`, `most_altered` with
    `altered`, and a method `playout(state, words uint32[2]) -> rewards float32[N]`, the end of
    uniformly random play. They must agree with `afterstate`.

    If players can leave while others play on, `active` says who is still in. A player who is out
    stays out and never moves again, and its rewards no longer change after the ply in which it
    leaves. A player who has no move for now passes instead, by a separate action.

    A game of chance also has `spawn`, the random half of a move, and `spawn_words` = 2. `spawn`
    does not change a position where a player is to move or the game is over, and no action is legal
    where chance is due. It pays no rewards: all rewards come from `afterstate`. A game with a
    random start has `init_words` = 2. A game may instead draw from any number of random words
    itself, in `init_from` and `spawn_from`. If chance has few outcomes, a game may list them for
    look-ahead: `num_spawns`, `spawn_probabilities` and `spawn_outcome`. The probabilities sum to 1
    in every afterstate that is not terminal, and `spawn` draws by them. If no chance is due, one
    outcome has probability 1 and is the state itself.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            try:
                value = checked_field(type(self), field.name, getattr(self, field.name))
            except ValueError as error:
                raise ValueError(f"{self.name}: {error}") from None
            object.__setattr__(self, field.name, value)

    @property
    def name(self) -> str:
        """The name under which `jaxgbg.make` builds the game."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The game's proper name, for headings."""
        words = self.name.rpartition(":")[2].replace("_", " ").split()
        return " ".join(word[0].upper() + word[1:] for word in words)

    @property
    def num_players(self) -> int:
        raise NotImplementedError

    @property
    def num_actions(self) -> int:
        raise NotImplementedError

    @property
    def num_cells(self) -> int:
        raise NotImplementedError

    @property
    def num_cell_values(self) -> int:
        """Number of digits a cell can take: the base of an n-tuple's index."""
        raise NotImplementedError

    @property
    def max_plies(self) -> int:
        """Upper bound on the plies of one episode."""
        raise NotImplementedError

    @property
    def reward_range(self) -> tuple[float, float]:
        """Lowest and highest final reward of a player."""
        return (-1.0, 1.0)

    @property
    def scale(self) -> Scale:
        """The scale of mean rewards: win rates if two players play for -1, 0 and 1."""
        if self.num_players == 2 and self.reward_range == (-1.0, 1.0):
            return WIN_RATE
        return Scale("reward", low=self.reward_range[0], high=self.reward_range[1])

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of the players, in the order of their seats."""
        return tuple(f"player {seat + 1}" for seat in range(self.num_players))

    @property
    def teams(self) -> tuple[int, ...]:
        """The number of each player's team; partners always have the same reward."""
        return tuple(range(self.num_players))

    @property
    def symmetries(self) -> np.ndarray:
        """int32[S, C]: image j of a board is `cells[symmetries[j]]`; row 0 is the identity."""
        return np.arange(self.num_cells, dtype=np.int32)[None]

    @property
    def action_symmetries(self) -> np.ndarray:
        """int32[S, A]: action `a` on a board is `action_symmetries[j, a]` on image j of it."""
        return np.arange(self.num_actions, dtype=np.int32)[None]

    @property
    def seat_rotations(self) -> SeatRotations | None:
        """The images on which one player is seen as another; None where there are none.

        n-tuples can then share one table between players.
        """
        return None

    def rotated_start(self, state: StateT, player: int) -> StateT:
        """The image of a start position for `player`, by `seat_rotations`: `check_game` plays on.

        By default the same position with another player to move. A game overrides this if its start
        position does not look the same to all players.
        """
        if self.seat_rotations is None:
            return state
        return state._replace(player=jnp.int8(self.seat_rotations.shift[player]))

    @property
    def player_views(self) -> np.ndarray:
        """int32[N, C]: player p sees `cells[player_views[p]]`, an image of the symmetries.

        For networks, which serve all players: every player sees its own side in the same place.
        Unlike on the images of `seat_rotations`, pieces keep the digits of their players.
        """
        return np.tile(np.arange(self.num_cells, dtype=np.int32), (self.num_players, 1))

    @property
    def adjacency(self) -> np.ndarray:
        """bool[C, C]: which cells are neighbours, for random-walk n-tuples."""
        return ~np.eye(self.num_cells, dtype=bool)

    @property
    def lines(self) -> np.ndarray:
        """int[Q, k]: the cells of every winning line, for n-tuples around them; [0, 0] for none."""
        return np.zeros((0, 0), np.int32)

    @property
    def own_tuples(self) -> tuple[tuple[int, ...], ...]:
        """The game's default n-tuples, lists of cells; () for a default by its size."""
        return ()

    def init(self, key: jax.Array) -> StateT:
        """Start position."""
        raise NotImplementedError

    # The numbers of uniform words uint32 that `init_from` and `spawn_from` take: 0 without chance.
    init_words = 0
    spawn_words = 0

    def init_from(self, words: jax.Array) -> StateT:
        """Start position drawn by `words` uint32[init_words], which may be drawn in bulk."""
        return self.init(_key(words, "init") if self.init_words else jax.random.key(0))

    def spawn_from(self, state: StateT, words: jax.Array) -> StateT:
        """As `spawn`, drawn by `words` uint32[spawn_words]."""
        return self.spawn(state, _key(words, "spawn")) if self.spawn_words else state

    def legal_actions(self, state: StateT) -> jax.Array:
        """bool[A]; all False exactly when the state is terminal."""
        raise NotImplementedError

    def afterstate(self, state: StateT, action: jax.Array) -> StateT:
        """The deterministic half of a move; an illegal action returns `state` unchanged."""
        raise NotImplementedError

    def spawn(self, state: StateT, key: jax.Array) -> StateT:
        """The random half of a move; the identity for deterministic games."""
        return state

    @property
    def num_spawns(self) -> int:
        """Number of listed outcomes of chance; 0 if the game lists none."""
        return 0

    def spawn_probabilities(self, state: StateT) -> jax.Array:
        """float32[num_spawns]: the probability of each listed outcome of an afterstate."""
        raise NotImplementedError

    def spawn_outcome(self, state: StateT, number: jax.Array) -> StateT:
        """Outcome `number` int32[] of an afterstate; arbitrary if its probability is 0."""
        raise NotImplementedError

    @property
    def stochastic(self) -> bool:
        """Whether the game has chance; then nobody moves in an afterstate before `spawn`."""
        return type(self).spawn is not Game.spawn

    def step(self, state: StateT, action: jax.Array | int, key: jax.Array) -> StateT:
        """A whole move; raises ValueError on an illegal action unless action or state is traced."""
        from jaxgbg.jaxprs import is_traced

        if not is_traced(action, state.player):
            in_range = 0 <= int(action) < self.num_actions
            # A concrete state and action may get here while `jit` traces something else.
            with jax.ensure_compile_time_eval():
                if not (in_range and bool(self.legal_actions(state)[int(action)])):
                    raise ValueError(f"{self.name}: action {int(action)} is not legal here")
        return self.spawn(self.afterstate(state, jnp.asarray(action, jnp.int32)), key)

    def active(self, state: StateT) -> jax.Array:
        """bool[N]: the players who are still in; all False in a terminal state."""
        return jnp.broadcast_to(~state.terminal, (self.num_players,))

    @property
    def eliminates(self) -> bool:
        """Whether a player can leave while others play on."""
        return type(self).active is not Game.active

    def cells(self, state: StateT) -> jax.Array:
        """int8[C]: the board as digits 0..num_cell_values-1, the same for every player."""
        raise NotImplementedError

    def progress(self, cells: jax.Array) -> jax.Array:
        """int32[...] of boards int8[..., C]: how far the game has come, for stages of n-tuples.

        The number of cells with a piece or, in games without `piece_digits`, that are not 0.
        """
        pieces = self.piece_digits
        there = cells > 0 if pieces is None else (cells[..., None] == np.array(pieces)).any(-1)
        return there.sum(-1, dtype=jnp.int32)

    def display_cells(self, state: StateT) -> jax.Array:
        """int8[D]: the board as it is drawn, if `cells` show less than a spectator sees."""
        return self.cells(state)

    @property
    def extra_names(self) -> tuple[str, ...]:
        """The names of the M numbers that `extras` gives for each player."""
        return ()

    @property
    def extra_scales(self) -> tuple[float, ...]:
        """Divisors that bring each of `extras` into the range from about 0 to 1."""
        return (1.0,) * len(self.extra_names)

    def extras(self, state: StateT) -> jax.Array:
        """int32[N, M]: the numbers `extra_names` of each player, in addition to the cells."""
        del state
        return jnp.zeros((self.num_players, len(self.extra_names)), jnp.int32)

    def in_range(self, action: jax.Array) -> jax.Array:
        """bool[]: whether `action` is one of 0..num_actions-1; traced code cannot raise."""
        return (action >= 0) & (action < self.num_actions)

    def outcomes(self, state: StateT) -> tuple[jax.Array, jax.Array]:
        """Immediate outcome of every action: (the mover's reward float32[A], game over bool[A]).

        For illegal actions, 0 and the current state. A game overrides this if it can compute the
        outcomes faster than by making every move.
        """
        actions = jnp.arange(self.num_actions, dtype=jnp.int32)
        after = jax.vmap(self.afterstate, in_axes=(None, 0))(state, actions)
        player = jnp.broadcast_to(state.player, self.num_actions)
        return of_player(after.rewards - state.rewards, player), after.terminal

    @property
    def piece_digits(self) -> tuple[int, ...] | None:
        """int[N]: the digit of a cell with a piece of each player; None if cells have no pieces.

        All other digits are those of empty cells.
        """
        return None

    @property
    def stone_digits(self) -> tuple[int, ...] | None:
        """int[N]: the number that action `a` of each player adds to the digit of cell `a`.

        None if a move changes the board in any other way, or actions are not cells.
        """
        return None

    @property
    def change_patterns(self) -> tuple[np.ndarray, np.ndarray] | None:
        """All ways in which a move changes the board, or None if it can change many cells.

        (cells int32[Q, K], differences int32[Q, K]): pattern q adds each difference to the digit
        of its cell. Pattern 0 changes nothing.
        """
        return None

    def change(self, state: StateT, action: jax.Array) -> jax.Array:
        """Number int32[] of the pattern by which `afterstate` changes the board; 0 if illegal."""
        raise NotImplementedError

    @property
    def most_altered(self) -> int:
        """K: the largest number of cells that a move changes; 0 if `altered` is not defined."""
        return 0

    def altered(self, state: StateT, action: jax.Array) -> tuple[jax.Array, jax.Array]:
        """(cells int32[K], digits int32[K, 2]): the cells that a legal action changes, and their
        digits before and after it.

        Each cell occurs once; -1 for none. For an illegal action the result is arbitrary.
        """
        raise NotImplementedError


def _key(words: jax.Array, method: str) -> jax.Array:
    if words.shape != (2,):
        raise ValueError(
            f"{method}_words is {words.size}, but a key is made of 2 words: set it to 2, or write"
            f" {method}_from"
        )
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def keep_if(legal: jax.Array, moved: StateT, state: StateT) -> StateT:
    """`moved` if the action was legal, else `state`: the one rule for illegal actions."""
    # An action of 64 bits widens the results; a state keeps its types.
    return jax.tree.map(
        lambda new, old: jnp.where(legal, jnp.asarray(new, old.dtype), old), moved, state
    )


def scrambled(words: jax.Array, count: int) -> jax.Array:
    """uint32[count] hash values of two random words: cheaper than as many random words.

    Source: the finaliser of MurmurHash3 (Appleby, public domain).
    """
    mixed = words[0] + np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B9)
    mixed = (mixed ^ (mixed >> 16)) * np.uint32(0x85EBCA6B)
    mixed = (mixed ^ (mixed >> 13) ^ words[1]) * np.uint32(0xC2B2AE35)
    return mixed ^ (mixed >> 16)


def zero_sum(player: jax.Array, gain: jax.Array) -> jax.Array:
    """float32[2]: rewards of two players where `player` gets `gain` and the other loses it."""
    first = jnp.where(player == 0, gain, -gain)
    return jnp.stack([first, -first])
