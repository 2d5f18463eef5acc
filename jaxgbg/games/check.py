"""Check a game against the contract in `games/core.py`: one line for each fault."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from jaxgbg.extensions import described, user_line
from jaxgbg.games.backend import check_backend
from jaxgbg.games.chance_images import chance_image_faults
from jaxgbg.games.core import SIZES, Game
from jaxgbg.games.move_checks import (
    chance_faults,
    elimination_faults,
    image_faults,
    move_faults,
    playout_faults,
    rotation_faults,
    start_faults,
)
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.registry import make
from jaxgbg.games.sampling import sample_games
from jaxgbg.games.time_limit import NoEnd, call_with_limit
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import PyTree, State

_TRACED = (
    "ConcretizationTypeError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
)
"""The errors of `jax.errors` that a choice by Python's `if` ends in."""

_MOST = {
    "num_cell_values": (128, "cells are int8"),
    "num_players": (127, "the player is int8"),
    "max_plies": (2**31 - 1, "plies are counted in int32"),
}


_Signature = tuple[str, tuple[PyTree, ...], PyTree]
"""The name of a method, the shapes of its arguments, and those of what it must return."""


class Fault(NamedTuple):
    """A fault in one line, and the exception that the game raised, if it did."""

    line: str
    error: BaseException | None = None


@in_32_bits
def check_game(game: str | Game) -> list[str]:
    """The faults of a game, or the game of that name, one line each; [] if there are none.

    Seeded random games are played and every action is tried in some of their positions, so a fault
    that needs a rare position may stay unseen. What later checks would stumble over ends them. An
    error inside the game is a line too, and so is a loop without end; it takes seconds.
    """
    return [fault.line for fault in faults_of(make(game) if isinstance(game, str) else game)]


def faults_of(game: Game) -> list[Fault]:
    """`check_game` with the exceptions that the game has raised."""
    for check in (_value_faults, _type_faults):
        if faults := _guarded(check, game):
            return faults
    faults = _guarded(_constant_faults, game)
    # A loop without end holds a thread of XLA: nothing more can be tried.
    if not any(isinstance(fault.error, NoEnd) for fault in faults):
        faults += _guarded(_play_faults, game)
    if faults:
        return faults
    checks = (
        start_faults,
        elimination_faults,
        move_faults,
        chance_faults,
        image_faults,
        chance_image_faults,
        rotation_faults,
        playout_faults,
    )
    return [fault for check in checks for fault in _guarded(check, game)]


@in_32_bits
def check_playable(game: Game) -> None:
    """Raise ValueError with the first point by which `game` would spoil a training or hang it.

    Cheap, and shares its random games with `fingerprint`: types, constants, digits, players, legal
    actions and payments of positions, and ends within `max_plies`.
    """
    for fault in _guarded(_value_faults, game) or _playable_faults(game):
        name = _name(game)
        line = fault.line if fault.line.startswith(f"{name}: ") else f"{name}: {fault.line}"
        raise ValueError(line) from fault.error


def check_own(game: Game) -> None:
    """`check_playable` of a game that does not come with this package; raises ValueError."""
    if is_own(game):
        check_playable(game)


def is_own(game: object) -> bool:
    """Whether a game is a user's own: its class does not come with this package."""
    return type(game).__module__.partition(".")[0] != __name__.partition(".")[0]


def _name(game: Game) -> str:
    try:
        return str(game.name)
    except Exception:
        return type(game).__name__


@cache
def _playable_faults(game: Game) -> list[Fault]:
    checks = (_type_faults, _play_faults, _constant_faults)
    return next((faults for check in checks if (faults := _guarded(check, game))), [])


def _guarded(check: Callable[[Game], list[str]], game: Game) -> list[Fault]:
    """The faults that a check finds; where the game stops it with an error, that is the fault."""
    check_backend()
    try:
        lines = call_with_limit(partial(check, game), game) if is_own(game) else check(game)
        return [Fault(line) for line in lines]
    except tuple(getattr(jax.errors, name) for name in _TRACED) as error:
        return [
            Fault(
                f"Python decides on a traced value{user_line(error)}: choose with jnp.where or"
                " jax.lax.cond, and compute with jnp",
                error,
            )
        ]
    except NoEnd as error:
        return [Fault(str(error), error)]
    except NotImplementedError as error:
        return [Fault(f"something that every game has is missing: {described(error)}", error)]
    except Exception as error:
        return [Fault(described(error), error)]


def _value_faults(game: Game) -> list[str]:
    """Whether the game is an immutable value, and has its name and sizes."""
    if not isinstance(game, Game):
        return [f"{game!r} is no Game: derive its class from jaxgbg.games.Game"]
    faults = []
    kind = type(game)
    declares = [name for name in vars(kind).get("__annotations__", ())]
    if declares and "__dataclass_params__" not in vars(kind):
        faults.append(f"{kind.__name__} declares {declares[0]}: put @dataclass(frozen=True) on it")
    try:
        if dataclasses.replace(game) != game or hash(dataclasses.replace(game)) != hash(game):
            faults.append("a game built with the same parameters is not equal to it")
    except TypeError as error:
        faults.append(f"not hashable, as a static argument must be: {error}")
    for name in ("name", *SIZES):
        try:
            value = getattr(game, name)
        except NotImplementedError:
            faults.append(f"{name} is missing")
            continue
        if name == "name" and not (isinstance(value, str) and value):
            faults.append(f"name must be a word, not {value!r}")
        elif name != "name" and (not isinstance(value, int) or value < 1):
            faults.append(f"{name} must be a whole number of at least 1, not {value!r}")
        elif name in _MOST and value > _MOST[name][0]:
            most, reason = _MOST[name]
            faults.append(f"{name} must be at most {most:,}, as {reason}, not {value:,}")
    return faults


def _type_faults(game: Game) -> list[str]:
    """Whether states and what is seen of them have the declared shapes and dtypes, traced."""
    state: State = jax.eval_shape(game.init, jax.random.key(0))
    fields = getattr(state, "_fields", None)
    if not isinstance(state, tuple) or fields is None:
        return [f"a state must be a typing.NamedTuple of arrays, not a {type(state).__name__}"]
    missing = [name for name in ("player", "terminal", "rewards") if name not in fields]
    if missing:
        return [f"a state must have a field {missing[0]}"]
    faults = [
        f"{name} of a state {problem}"
        for name, shape, dtype in (
            ("player", (), jnp.int8),
            ("terminal", (), jnp.bool_),
            ("rewards", (game.num_players,), jnp.float32),
        )
        if (problem := _mismatch(getattr(state, name), jax.ShapeDtypeStruct(shape, dtype)))
    ]
    faults += [
        f"{jax.tree_util.keystr(path)} of a state is a Python number: give it a dtype"
        for path, leaf in jax.tree_util.tree_flatten_with_path(state)[0]
        if leaf.weak_type
    ]
    if faults:
        return faults
    drawn: PyTree = jax.eval_shape(game.display_cells, state)
    if getattr(drawn, "ndim", 0) != 1:
        return ["display_cells must return one array int8[D], the board as it is drawn"]
    for name, arguments, expected in _signatures(game, state, drawn.shape):
        shown: PyTree = jax.eval_shape(getattr(game, name), *arguments)
        actual, structure = jax.tree_util.tree_flatten_with_path(shown)
        targets, declared = jax.tree.flatten(expected)
        if str(structure) != str(declared):
            return [*faults, f"{name} must return {declared}, not {structure}"]
        for (path, leaf), target in zip(actual, targets, strict=True):
            if problem := _mismatch(leaf, target):
                faults.append(f"{name}: {jax.tree_util.keystr(path) or 'the array'} {problem}")
    return faults


def _signatures(game: Game, state: State, drawn: tuple[int, ...]) -> list[_Signature]:
    """The methods that are traced, `drawn` the shape of the cells for drawings."""
    players, actions, cells = game.num_players, game.num_actions, game.num_cells
    action, key = jax.ShapeDtypeStruct((), jnp.int32), jax.random.key(0)

    def words(count: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((count,), jnp.uint32)

    boolean, number = jax.ShapeDtypeStruct((actions,), jnp.bool_), jnp.float32
    wanted: list[_Signature] = [
        ("legal_actions", (state,), boolean),
        ("cells", (state,), jax.ShapeDtypeStruct((cells,), jnp.int8)),
        ("afterstate", (state, action), state),
        ("spawn", (state, key), state),
        ("init_from", (words(game.init_words),), state),
        ("spawn_from", (state, words(game.spawn_words)), state),
        ("outcomes", (state,), (jax.ShapeDtypeStruct((actions,), number), boolean)),
    ]
    extras = jax.ShapeDtypeStruct((players, len(game.extra_names)), jnp.int32)
    wanted.append(("extras", (state,), extras))
    wanted.append(("active", (state,), jax.ShapeDtypeStruct((players,), jnp.bool_)))
    wanted.append(("display_cells", (state,), jax.ShapeDtypeStruct(drawn, jnp.int8)))
    if game.num_spawns:
        wanted += _listing(game, state, action)
    if hasattr(game, "playout"):
        rewards = jax.ShapeDtypeStruct((players,), number)
        wanted.append(("playout", (state, words(2)), rewards))
    return wanted


def _listing(game: Game, state: State, action: jax.ShapeDtypeStruct) -> list[_Signature]:
    """Faults in the types of functions that list outcomes, as in `_type_faults`."""
    shares = jax.ShapeDtypeStruct((game.num_spawns,), jnp.float32)
    return [
        ("spawn_probabilities", (state,), shares),
        ("spawn_outcome", (state, action), state),
    ]


def _mismatch(leaf: jax.ShapeDtypeStruct, wanted: jax.ShapeDtypeStruct) -> str:
    """The difference of an array from its required form; "" if there is none."""
    actual = f"{leaf.dtype}{list(leaf.shape)}"
    expected = f"{wanted.dtype}{list(wanted.shape)}"
    if actual != expected:
        return f"must be {expected}, not {actual}"
    return "must not be a Python number: give it a dtype" if leaf.weak_type else ""


def _constant_faults(game: Game) -> list[str]:
    """Ranges, title, names of sides, symmetries, neighbours, lines and lists of changes."""
    faults = []
    low, high = game.reward_range
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        faults.append(f"reward_range must be two finite numbers, rising, not {(low, high)}")
    if not isinstance(game.title, str) or not game.title.strip():
        faults.append(f"title must be the game's name in words, not {game.title!r}")
    for name in ("sides", "teams", "piece_digits", "stone_digits"):
        entries = getattr(game, name)
        if entries is not None and len(entries) != game.num_players:
            faults.append(f"{name} must have one entry for each of {game.num_players} players")
    adjacency = np.asarray(game.adjacency)
    if adjacency.shape != (game.num_cells,) * 2 or adjacency.dtype != bool:
        faults.append(f"adjacency must be bool{[game.num_cells] * 2}, not {adjacency.shape}")
    elif adjacency.diagonal().any() or (adjacency != adjacency.T).any():
        faults.append("adjacency must be symmetric, and no cell its own neighbour")
    lines = np.asarray(game.lines)
    if lines.ndim != 2 or not np.issubdtype(lines.dtype, np.integer):
        faults.append(f"lines must be int[Q, k], not {lines.dtype}{list(lines.shape)}")
    elif lines.size and (lines.min() < 0 or lines.max() >= game.num_cells):
        faults.append(f"lines must name cells 0..{game.num_cells - 1} alone")
    elif lines.size and (np.diff(np.sort(lines)) == 0).any():
        faults.append("lines: one names a cell twice")
    for number, named in enumerate(game.own_tuples):
        if not named or not set(named) <= set(range(game.num_cells)):
            faults.append(f"own_tuples: tuple {number} must name cells 0..{game.num_cells - 1}")
        elif len(set(named)) < len(named):
            faults.append(f"own_tuples: tuple {number} names a cell twice")
    # What players see is compared with the symmetries.
    faults += _symmetry_faults(game) or _view_faults(game)
    faults += _table_faults(game)
    if game.change_patterns is not None:
        cells, differences = (np.asarray(part) for part in game.change_patterns)
        if cells.shape != differences.shape or cells.ndim != 2:
            faults.append("change_patterns must be two arrays of one shape [Q, K]")
        elif cells.min() < 0 or cells.max() >= game.num_cells:
            faults.append(f"change_patterns names cell {cells.max()}: there are {game.num_cells}")
        elif differences[0].any() or not differences[1:].any(1).all():
            faults.append("pattern 0 of change_patterns alone must alter nothing")
    return faults


def _symmetry_faults(game: Game) -> list[str]:
    """Whether the symmetries are a group that acts alike on cells and actions."""
    boards, actions = np.asarray(game.symmetries), np.asarray(game.action_symmetries)
    for name, images, count in (
        ("symmetries", boards, game.num_cells),
        ("action_symmetries", actions, game.num_actions),
    ):
        if images.dtype != np.int32 or images.shape != (len(boards), count):
            actual = f"{images.dtype}{list(images.shape)}"
            return [f"{name} must be int32{[len(boards), count]}, not {actual}"]
        if (np.sort(images) != np.arange(count)).any():
            return [f"{name}: a row is no permutation of 0..{count - 1}"]
        if (images[0] != np.arange(count)).any():
            return [f"{name}: row 0 is not the identity"]
    row = {image.tobytes(): j for j, image in enumerate(boards)}
    if len(row) < len(boards):
        return ["symmetries: two rows are the same"]
    for i in range(len(boards)):
        for j in range(len(boards)):
            both = row.get(boards[i][boards[j]].tobytes())
            if both is None:
                return [f"symmetries: rows {i} and {j} one after the other are no row"]
            if (actions[both] != actions[j][actions[i]]).any():
                return [f"action_symmetries: rows {i} and {j} do not follow those of the cells"]
    return []


def _view_faults(game: Game) -> list[str]:
    """Whether every player sees some image of the board, and extras have names and scales."""
    views, images = np.asarray(game.player_views), np.asarray(game.symmetries)
    if views.dtype != np.int32 or views.shape != (game.num_players, game.num_cells):
        shape = [game.num_players, game.num_cells]
        return [f"player_views must be int32{shape}, not {views.dtype}{list(views.shape)}"]
    if not (views[:, None] == images).all(2).any(1).all():
        return ["player_views: a row is none of symmetries"]
    if len(game.extra_scales) != len(game.extra_names):
        return ["extra_scales must have one entry for each of extra_names"]
    return []


def _table_faults(game: Game) -> list[str]:
    """Whether the tables of `seat_rotations` are permutations, and owners see the board itself."""
    rotations = game.seat_rotations
    if rotations is None:
        return []
    players, cells, digits = game.num_players, game.num_cells, game.num_cell_values
    for name, *shape in (
        ("owner", players),
        ("cells", players, cells),
        ("digits", players, cells, digits),
        ("actions", players, game.num_actions),
    ):
        rows = np.asarray(getattr(rotations, name))
        if rows.dtype != np.int32 or rows.shape != tuple(shape):
            actual = f"{rows.dtype}{list(rows.shape)}"
            return [f"seat_rotations: {name} must be int32{shape}, not {actual}"]
        if name == "owner":
            own = rows[np.clip(rows, 0, players - 1)] == rows
            if not (own & (rows >= 0) & (rows < players)).all():
                return ["seat_rotations: the owner of a player must be a player who owns itself"]
            continue
        order = np.arange(shape[-1])
        if (np.sort(rows) != order).any():
            return [f"seat_rotations: a row of {name} is no permutation of 0..{order[-1]}"]
        if (rows[rotations.owners] != order).any():
            return [f"seat_rotations: {name} change on the image of a player who owns itself"]
    return []


def _play_faults(game: Game) -> list[str]:
    """Faults in random games: starts, digits, players, legal actions, rewards and ends."""
    sample = sample_games(game)
    low, high = game.reward_range
    paid = np.where(sample.terminal[..., None], sample.rewards, np.float32(low))
    slack = 1e-5 * max(abs(low), abs(high))
    outside = ~((paid >= low - slack) & (paid <= high + slack))
    values = game.num_cell_values
    digits = sample.cells.astype(int)
    teams = np.array(game.teams)
    unlike = (paid[..., None] != paid[..., None, :]) & (teams[:, None] == teams)
    stuck = ~sample.legal.any(2) & ~sample.terminal
    start = (sample.player[0] != 0) | sample.terminal[0] | sample.rewards[0].any(1)
    points = [
        (start[None], "a game must start with player 0 to move, not over, and all rewards 0"),
        (
            ((digits < 0) | (digits >= values)).any(2),
            f"cells: a digit is outside 0..{values - 1} (num_cell_values is {values})",
        ),
        (
            (sample.player < 0) | (sample.player >= game.num_players),
            f"player is outside 0..{game.num_players - 1}",
        ),
        (stuck, "no legal action before the end"),
        (sample.legal.any(2) & sample.terminal, "legal actions in a terminal state"),
        (outside.any(2), f"rewards are outside reward_range {low:g} to {high:g}"),
        (unlike.any((2, 3)), "players of one team (teams) have different rewards"),
    ]
    faults = [
        f"{text} (seen at ply {int(np.argmax(wrong.any(1)))} of random play)"
        for wrong, text in points
        if wrong.any()
    ]
    if not stuck.any() and sample.plies.max() > game.max_plies:
        faults.append(f"a game is not over after max_plies = {game.max_plies} plies")
    return faults
