"""One chooser among equals: every True entry equally often, and 0 where there is none."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.jaxprs import Literal, called, unclosed, while_loop
from jaxgbg.learners.masks import LANE, nth_bit, visit_pairs
from jaxgbg.learners.selection import choose_action, choose_uniformly, nth_true


def test_a_choice_falls_on_each_true_entry_equally_often():
    mask = jnp.tile(jnp.array([False, True, True, False, False, True, True]), (40_000, 1))
    counts = np.bincount(choose_uniformly(mask, jax.random.key(1)), minlength=7)
    assert (counts[[0, 3, 4]] == 0).all()
    # Standard deviation of each count: sqrt(40000 * 1/4 * 3/4) = 87.
    assert (abs(counts[[1, 2, 5, 6]] - 10_000) < 450).all()


def test_rows_of_a_batch_choose_independently():
    mask = jnp.ones((40_000, 2), bool)
    choice = np.asarray(choose_uniformly(mask, jax.random.key(2)))
    assert abs((choice[:-1] == choice[1:]).mean() - 0.5) < 0.02


def test_the_only_true_entry_is_chosen_and_an_empty_row_gives_zero():
    mask = jnp.concatenate([jnp.eye(5, dtype=bool), jnp.zeros((1, 5), bool)])
    for seed in range(20):
        assert choose_uniformly(mask, jax.random.key(seed)).tolist() == [0, 1, 2, 3, 4, 0]


def test_without_a_true_entry_every_chooser_gives_zero():
    draws = jnp.array([0.0, 0.5, 1 - 2**-24], jnp.float32)
    for actions in (1, 9, 32, 33, 64, 70):
        nothing, q = jnp.zeros(actions, bool), jnp.ones(actions)
        of_mask = jax.jit(jax.vmap(lambda draw, mask=nothing: nth_true(mask, draw)))
        of_values = jax.jit(jax.vmap(lambda draw, q=q, mask=nothing: choose_action(q, mask, draw)))
        assert of_mask(draws).tolist() == of_values(draws).tolist() == [0, 0, 0]


def paths(words: int) -> int:
    """Ways from the result of `nth_bit` back to its arguments, through all its operations.

    LLVM's loop vectorizer (jaxlib 0.11 and newer) takes about as many steps.
    """
    shapes = jax.ShapeDtypeStruct((words,), np.uint32), jax.ShapeDtypeStruct((), np.int32)
    jaxpr = jax.make_jaxpr(jax.jit(nth_bit, inline=True))(*shapes).jaxpr
    return sum(_ways(jaxpr, [1] * len(jaxpr.invars)))


def _ways(jaxpr: Any, given: list[int]) -> list[int]:
    ways = dict(zip(jaxpr.invars, given, strict=True))

    def count(atom: Any) -> int:
        return 0 if isinstance(atom, Literal) else ways.get(atom, 0)

    for equation in jaxpr.eqns:
        of_each = [
            0 if isinstance(each, Literal) else ways.get(each, 0) for each in equation.invars
        ]
        inner = called(equation)
        found = _ways(unclosed(inner)[0], of_each) if inner is not None else [sum(of_each)]
        ways.update(zip(equation.outvars, found, strict=True))
    return [count(each) for each in jaxpr.outvars]


def test_the_paths_through_a_long_mask_do_not_multiply_word_by_word():
    """Else a program for 513 actions compiles for an hour (jaxlib 0.12)."""
    assert paths(8) > 8
    assert paths(64) < 100 * paths(8)


@pytest.mark.parametrize("words", [1, 2, 17])
def test_a_bit_is_found_in_the_word_that_holds_it(words):
    random = np.random.default_rng(words)
    mask = random.random((300, 32 * words)) < random.random((300, 1)) ** 3
    mask[:, 32 * (words // 2) : 32 * (words // 2) + 32] &= random.random((300, 1)) < 0.5
    packed = np.packbits(mask, axis=1, bitorder="little").view(np.uint32)
    for rank in (0, 1, 5, 40):
        expected = [np.flatnonzero(row)[rank] if row.sum() > rank else None for row in mask]
        found = jax.vmap(nth_bit, (0, None))(packed, jnp.int32(rank)).tolist()
        assert all(e is None or e == f for e, f in zip(expected, found, strict=True))


@pytest.mark.slow
def test_the_chooser_is_the_cumulative_sum_it_stands_for():
    random, key = np.random.default_rng(0), jax.random.key(3)
    for actions in (1, 7, 36, 64, 100, 513):
        mask = random.random((2000, actions)) < random.random((2000, 1))
        count = mask.sum(1)
        draw = np.asarray(jax.random.uniform(key, (2000,)))
        rank = np.minimum((draw * count.astype(np.float32)).astype(int), count - 1)
        expected = (mask.cumsum(1) > rank[:, None]).argmax(1)
        np.testing.assert_array_equal(choose_uniformly(mask, key), expected)


@pytest.mark.slow
def test_lanes_visit_their_pairs_in_one_loop_and_as_each_alone() -> None:
    """A loop that ended lane by lane would copy the results of all lanes in each of its rounds."""
    masks = np.random.default_rng(0).random((3, 5, 40)) < np.array([0.02, 0.3, 0.9])[:, None, None]

    def visited(mask: jax.Array) -> Any:
        def visit(row: jax.Array, column: jax.Array, real: jax.Array) -> jax.Array:
            return jnp.where(real, 100 * row + column + 1, -1)

        return visit_pairs(mask, visit, 7)

    together = jax.vmap(visited, axis_name=LANE)
    found = together(jnp.asarray(masks))
    number = 100 * np.arange(5)[:, None] + np.arange(40) + 1
    np.testing.assert_array_equal(found, np.where(masks, number, 0))
    for mask, alone in zip(masks, found, strict=True):
        np.testing.assert_array_equal(visited(jnp.asarray(mask)), alone)
    [loop] = [
        equation
        for equation in unclosed(jax.make_jaxpr(together)(jnp.asarray(masks)))[0].eqns
        if equation.primitive.name == "while"
    ]
    loop = while_loop(loop)
    [going_on] = [out.aval for out in unclosed(loop.condition)[0].outvars]
    assert going_on.shape == ()
    kept = (3, 5 * 40)
    for made in unclosed(loop.body)[0].eqns:
        assert made.primitive.name == "scatter" or kept not in [
            out.aval.shape for out in made.outvars
        ]
