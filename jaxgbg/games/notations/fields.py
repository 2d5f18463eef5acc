"""Positions of any game as the fields of its state: `pig scores=12,30 turn=5 player=1 check=...`.

A field that is not written is 0, and `0*12` is twelve times 0. Nobody knows which numbers the rules
of a game allow, so the check, of the game and the fields, must agree: only what `write_position`
has written is read again.
"""

from __future__ import annotations

import json
import re
import zlib
from functools import partial
from urllib.parse import quote

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.fingerprint import changed_parameters
from jaxgbg.games.notations.core import Notation
from jaxgbg.lazy import jax
from jaxgbg.specs import pluralize, shown
from jaxgbg.types import AnyArray, PyTree

_CHECK = "check"


def fields(game: Game) -> Notation:
    return Notation("", partial(_write, game), partial(_read, game))


def _write(game: Game, state: PyTree) -> str:
    words = [_first_word(game)]
    for name, leaf in _leaves(state):
        if (text := _numbers(leaf)) is not None:
            words.append(f"{name}={text}")
    return " ".join([*words, f"{_CHECK}={_check(game, words)}"])


def _read(game: Game, text: str) -> PyTree:
    words, own = text.split(), _first_word(game)
    if not words or words[0] != own:
        first = shown(words[0]) if words else "nothing"
        raise ValueError(
            f"it begins with {first}, not with {own}: write the numbers of the moves from the"
            " start, or what jaxgbg.position_text returned"
        )
    name, _, check = words[-1].partition("=")
    if name != _CHECK or check != _check(game, words[:-1]):
        raise ValueError(
            "the check at its end does not agree: it is cut off, was edited, or is of a game with"
            " other parameters"
        )
    values = dict(word.split("=", 1) for word in words[1:-1])
    like = jax.eval_shape(partial(_start, game))
    leaves = [_parse(name, values.pop(name, ""), leaf) for name, leaf in _leaves(like)]
    if values:
        raise ValueError(f"states of {game.name} have no field {next(iter(values))}")
    state: PyTree = jax.tree.unflatten(jax.tree.structure(like), leaves)
    if not 0 <= state.player < game.num_players:
        raise ValueError(
            f"the player to move is 0 to {game.num_players - 1}, not {int(state.player)}"
        )
    return state


def _first_word(game: Game) -> str:
    """The name, with blanks and semicolons, which end a word and a position, as `%20` and `%3B`."""
    return re.sub(r"[\s;]", lambda found: quote(found[0]), game.name)


def _start(game: Game) -> PyTree:
    """The start position; random keys that it may hold are their words."""
    state = game.init_from(jax.numpy.zeros(game.init_words, jax.numpy.uint32))
    return jax.tree.map(_plain_key, state)


def _plain_key(leaf: jax.Array) -> jax.Array:
    if jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.key_data(leaf)
    return leaf


def _leaves(state: PyTree) -> list[tuple[str, AnyArray]]:
    """The arrays of a state, each with its name."""
    pairs = jax.tree_util.tree_flatten_with_path(state)[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="."), leaf) for path, leaf in pairs]


def _check(game: Game, words: list[str]) -> str:
    """Eight hexadecimal digits of the game, its parameters and the fields."""
    text = json.dumps([game.name, changed_parameters(game), words], sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x}"


def _numbers(leaf: jax.Array) -> str | None:
    """The numbers of an array, equal ones in a row as `value*count`; None if all are 0."""
    values = np.asarray(leaf).ravel()
    if not values.any():
        return None
    if values.dtype == bool:
        values = values.astype(np.int8)
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)
    counts = np.diff(ends, prepend=-1)
    words = []
    for value, count in zip(values[ends], counts.tolist(), strict=True):
        # str, not item(): the shortest text that gives this float32 again.
        words += [f"{value!s}*{count}"] if count > 3 else [str(value)] * count
    return ",".join(words)


def _parse(name: str, text: str, like: jax.ShapeDtypeStruct) -> np.ndarray:
    """Undo `_numbers`."""
    kind, size = np.dtype(like.dtype), int(np.prod(like.shape))
    if not text:
        return np.zeros(like.shape, kind)
    parts = [word.partition("*") for word in text.split(",")]
    counts = [int(count or 1) for _, _, count in parts]
    # Before they are laid out: a count may be of any size.
    if min(counts) < 1 or sum(counts) != size:
        raise ValueError(f"{name} has {pluralize(size, 'number')}, not {sum(counts):,}")
    read = float if kind.kind == "f" else int
    try:
        values = np.array([read(value) for value, _, _ in parts], kind)
    except OverflowError as error:
        raise ValueError(f"a number of {name} is too large or too small for {kind}") from error
    return values.repeat(counts).reshape(like.shape)
