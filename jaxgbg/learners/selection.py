"""Choosing an action: the best by its value, by rank, in proportion, or uniformly."""

from __future__ import annotations

import functools

import numpy as np

from jaxgbg.games.core import scrambled
from jaxgbg.lazy import jax, jit, jnp
from jaxgbg.learners.masks import WORD, nth_bit, pack
from jaxgbg.xla import materialize

# Up to so many words of a mask XLA may repeat the search for a bit wherever its place is read.
_FEW_WORDS = 2
# Of numbers near the end of float32 there would be nothing left to choose by.
_LEAST = 1e-9


def uniform(word: jax.Array) -> jax.Array:
    """float32 in [0, 1) from the upper 24 bits of uint32 `word`."""
    return (word >> 8).astype(jnp.float32) * np.float32(2**-24)


def choose_action(q: jax.Array, legal: jax.Array, draw: jax.Array) -> jax.Array:
    """A best legal action, int32[], ties broken uniformly by `draw` in [0, 1).

    `q` float32[A], `legal` bool[A]; 0 without a legal action. What is not a number is worst, so
    that a game goes on to its end with a network that has diverged.
    """
    q = jnp.where(legal & ~jnp.isnan(q), q, -jnp.inf)
    return nth_true((q == q.max()) & legal, draw)


def choose_actions(q: jax.Array, legal: jax.Array, draws: jax.Array) -> jax.Array:
    """`choose_action` in each of B games: `q` float32[B, A], `legal` bool[B, A], draws [B]."""
    if q.shape[1] > WORD:
        return jax.vmap(choose_action)(q, legal, draws)
    # Action by action for all games at once: along so few actions XLA computes number by number.
    (columns,) = materialize(jnp.where(legal & ~jnp.isnan(q), q, -jnp.inf).T)
    best = functools.reduce(jnp.maximum, columns)
    bits = [
        jnp.where(column == best, np.uint32(1 << action), np.uint32(0))
        for action, column in enumerate(columns)
    ]
    words = jax.vmap(pack)(legal) & functools.reduce(jnp.bitwise_or, bits)[:, None]
    index = jax.vmap(functools.partial(_nth_of, size=q.shape[1]))(words, draws)
    # Otherwise XLA repeats the search in each kernel that reads the action.
    return materialize(index)[0]


def choose_ranked(
    q: jax.Array, legal: jax.Array, words: jax.Array, ranks: tuple[float, ...]
) -> jax.Array:
    """The best, the second best ... legal action with probabilities `ranks`, int32[].

    `q` float32[A], `legal` bool[A], `words` uint32[2]. With fewer moves than ranks the first ranks
    share all of the probability, or the best move has it where they have none; equal values stand
    in random order. 0 without a legal action.
    """
    drawn = scrambled(words, len(ranks) + 1)
    there = np.arange(len(ranks)) < legal.sum()
    ends = jnp.cumsum(jnp.where(there, np.array(ranks, np.float32), 0.0))
    # Without any probability all ends are 0, and the first rank is as good as any.
    place = jnp.where(ends[-1] > 0, (ends <= uniform(drawn[0]) * ends[-1]).sum(), 0)
    chosen = jnp.int32(0)
    for rank in range(len(ranks)):
        action = choose_action(q, legal, uniform(drawn[rank + 1]))
        chosen = jnp.where(place == rank, action, chosen)
        legal = legal & (jnp.arange(legal.size) != action)
    return chosen


def with_rank(q: jax.Array, legal: jax.Array) -> jax.Array:
    """bool[B, A]: the legal actions that `choose_ranked` may choose, by `q` float32[B, A].

    An action that a search has left out has the value -inf and no rank; all have one if no value is
    a number, as with a network that has diverged.
    """
    kept = legal & (q > -jnp.inf)
    return jnp.where(kept.any(1, keepdims=True), kept, legal)


def choose_softly(
    q: jax.Array, legal: jax.Array, words: jax.Array, temperature: float
) -> jax.Array:
    """A legal action, int32[], with probabilities in proportion to exp(q / temperature).

    `q` float32[A], `legal` bool[A], `words` uint32[2], `temperature` above 0 in the units of `q`.
    Drawn as the greatest of the values with Gumbel noise. 0 without a legal action.
    """
    # Not 0, whose logarithm has no end.
    drawn = jnp.maximum(uniform(scrambled(words, q.size)), 2.0**-24)
    return choose_action(q - temperature * jnp.log(-jnp.log(drawn)), legal, uniform(words[1]))


@jit
def choose_uniformly(mask: jax.Array, key: jax.Array) -> jax.Array:
    """One True entry of every row, each with the same probability; 0 where a row has none.

    mask bool[B, A] -> int32[B].
    """
    return jax.vmap(nth_true)(mask, jax.random.uniform(key, mask.shape[:1], jnp.float32))


def nth_true(mask: jax.Array, draw: jax.Array) -> jax.Array:
    """Index int32[] of the floor(draw * count)-th True entry of bool[A], draw in [0, 1).

    0 without a True entry: what every chooser falls back to. The mask is packed into words of 32
    bits and halved by counting bits: a cumulative sum over so short an axis costs XLA several times
    as much.
    """
    words = pack(mask)
    index = _nth_of(words, draw, mask.shape[-1])
    if words.shape[0] <= _FEW_WORDS:
        return index
    # Otherwise XLA repeats the search through the words in every kernel that reads the index: a
    # move of Lines of Action has twenty of them, which took most of its compile time.
    return materialize(index)[0]


def _nth_of(words: jax.Array, draw: jax.Array, size: int) -> jax.Array:
    """`nth_true` of a mask of `size` entries that is packed into uint32[W]."""
    total = jax.lax.population_count(words).sum().astype(jnp.int32)
    # draw < 1, but its product with the count may round up to the count.
    rank = jnp.minimum((draw * total).astype(jnp.int32), total - 1)
    return jnp.minimum(nth_bit(words, rank), size - 1)


def check_ranks(ranks: tuple[float, ...]) -> tuple[float, ...]:
    """`ranks` if they are probabilities of the best, the second best ... move, or none at all.

    They need not sum to 1. Raises ValueError for others.
    """
    if ranks and not (all(0 <= share < np.inf for share in ranks) and max(ranks) >= _LEAST):
        text = " ".join(f"{share:g}" for share in ranks)
        raise ValueError(
            f"ranks must be probabilities, the greatest of them at least {_LEAST:g}, not {text}"
        )
    return ranks
