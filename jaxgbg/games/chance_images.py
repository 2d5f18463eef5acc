"""Whether symmetries hold in games of chance: pairs of games, one on the image of the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.identity import state_keys
from jaxgbg.games.rollout import after_each, select_states
from jaxgbg.games.sampling import choose_by_word
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import PyTree, State
from jaxgbg.xla import fast_compile_options

_STARTS, _IMAGES, _PLIES = 512, 8, 16
# Most pairs of games, and of a position and an action that are tried; draws of unlisted outcomes.
_PAIRS, _MOVES, _DRAWS = 64, 20_000, 128
_SEEN = ("legal actions", "cells", "player", "end of the game", "rewards")


class _Pairs(NamedTuple):
    """P pairs of positions: states [2, P], the second the image of the first.

    By the images `board` int32[P, C] and `action` int32[P, A].
    """

    states: State
    board: np.ndarray
    action: np.ndarray


def chance_image_faults(game: Game) -> list[str]:
    """Whether a game of chance allows and brings the same on the images of the board.

    Pairs of start positions are played on, where chance brings each the image of the other. Nothing
    is tested where equal boards are different positions, as with a die that the cells do not show.
    """
    if not game.stochastic or len(game.symmetries) < 2:
        return []
    random = np.random.default_rng(0)
    pairs = _paired_starts(game, random)
    if pairs is None:
        return []
    going = np.ones(len(pairs.board), bool)
    ply = jax.jit(partial(_ply, game), compiler_options=fast_compile_options())
    for _ in range(_PLIES):
        draws = random.integers(2**32, size=len(going), dtype=np.uint32)
        words = random.integers(2**32, size=(_DRAWS, game.spawn_words), dtype=np.uint32)
        seen, over, *chance = jax.device_get(ply(pairs.states, pairs.action, draws, words))
        if name := _difference(seen, pairs, going):
            return [f"symmetries: {name} of the image of a game are not its own image's"]
        going &= ~over
        chosen = np.zeros((2, len(going)), int)
        for pair in np.flatnonzero(going):
            states, cells, shares = select_states(chance, np.s_[:, pair])
            boards = np.stack([cells[0][:, pairs.board[pair]], cells[1]])
            if game.num_spawns and not _same_chance(boards, shares):
                return ["symmetries: chance on the image of a board is not the image of chance"]
            drawn = random.choice(len(shares[0]), p=shares[0] / shares[0].sum())
            there = (boards[1] == boards[0, drawn]).all(1) & (shares[1] > 0)
            going[pair] = there.any() and not _hides(*select_states((states, cells), 0))
            chosen[:, pair] = drawn, there.argmax()
        if not going.any():
            break
        index = np.arange(2)[:, None], np.arange(len(going)), chosen
        pairs = pairs._replace(states=select_states(chance[0], index))
    return []


def _paired_starts(game: Game, random: np.random.Generator) -> _Pairs | None:
    """Pairs of start positions; None if there are none, or if equal boards are different ones."""

    def begin(words: jax.Array) -> tuple[State, jax.Array]:
        states = jax.vmap(game.init_from)(words)
        return states, jax.vmap(game.cells)(states)

    words = random.integers(2**32, size=(_STARTS, game.init_words), dtype=np.uint32)
    states, cells = jax.device_get(jax.jit(begin)(words))
    if _hides(states, cells):
        return None
    place = {board.tobytes(): at for at, board in enumerate(cells)}
    images = np.unique(np.linspace(1, len(game.symmetries) - 1, _IMAGES, dtype=int))
    most = min(_PAIRS, _MOVES // game.num_actions) // len(images)
    found = []
    for image in images:
        others = [place.get(board.tobytes(), -1) for board in cells[:, game.symmetries[image]]]
        firsts = np.flatnonzero(np.array(others) >= 0)[: max(most, 1)]
        found += [(at, others[at], image) for at in firsts]
    if not found:
        return None
    first, second, image = np.array(found).T
    both = select_states(states, np.stack([first, second]))
    return _Pairs(both, game.symmetries[image], game.action_symmetries[image])


def _hides(states: State, cells: np.ndarray) -> bool:
    """Whether some of states[n] with equal cells int8[n, C] are different."""
    return len(np.unique(state_keys(states))) > len(np.unique(cells, axis=0))


def _ply(
    game: Game, both: State, images: jax.Array, draws: jax.Array, words: jax.Array
) -> tuple[PyTree, ...]:
    """A random move in states[2, P], and its image `images` int32[P, A] in the second ones.

    (what is `_SEEN` of every action [2, P, A, ...], whether the games are over bool[P], the states
    [2, P, K] that chance may bring after the move, their cells, their probabilities).
    """
    cells = jax.vmap(jax.vmap(jax.vmap(game.cells)))
    legal, after = jax.vmap(jax.vmap(partial(after_each, game)))(both)
    seen = legal, cells(after), after.player, after.terminal, after.rewards
    action = choose_by_word(legal[0], draws)
    pair = jnp.arange(len(action))
    index = jnp.arange(2)[:, None], pair, jnp.stack([action, images[pair, action]])
    moved = select_states(after, index)
    draw: Callable[[State, jax.Array], State] = game.spawn_from
    shares, by = jnp.ones((2, len(action), len(words))), words
    if game.num_spawns:
        draw, by = game.spawn_outcome, jnp.arange(game.num_spawns)
        shares = jax.vmap(jax.vmap(game.spawn_probabilities))(moved)
    outcomes = jax.vmap(jax.vmap(jax.vmap(draw, (None, 0)), (0, None)), (0, None))(moved, by)
    return seen, moved.terminal[0], outcomes, cells(outcomes), shares


def _difference(seen: tuple[np.ndarray, ...], pairs: _Pairs, going: np.ndarray) -> str:
    """What of every action in a position and of its image in the other differs; "" if nothing."""
    for name, (one, other) in zip(_SEEN, seen, strict=True):
        expected = np.take_along_axis(one, pairs.board[:, None], 2) if name == "cells" else one
        image = other[np.arange(len(going))[:, None], pairs.action]
        if (expected != image)[going].any():
            return name
    return ""


def _same_chance(boards: np.ndarray, shares: np.ndarray) -> bool:
    """Whether two lists of boards int8[2, K, C] come with the same probabilities float32[2, K]."""
    kinds = np.unique(boards.reshape(-1, boards.shape[-1]), axis=0, return_inverse=True)[1]
    difference = np.bincount(kinds.ravel(), np.concatenate([shares[0], -shares[1]]))
    return bool(np.abs(difference).max() < 1e-5)
