"""Jaxprs are read alike with every version of JAX that we support; what is not known is refused."""

import re
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from jaxgbg import jaxprs
from jaxgbg.jaxprs import Parameters, UnknownJaxpr

ADAPT = "JAX writes this in another way: adapt jaxgbg/jaxprs.py"


def equation_of(function, *arguments):
    [equation] = jaxprs.unclosed(jax.make_jaxpr(function)(*arguments))[0].eqns
    return equation


def changed(equation, without=(), **params):
    """An equation as another version of JAX might have it."""
    kept = {name: value for name, value in equation.params.items() if name not in without}
    return SimpleNamespace(
        primitive=equation.primitive, invars=equation.invars, params={**kept, **params}
    )


def test_a_scan_is_read():
    constant = jnp.arange(3.0)
    rows = jnp.zeros((5, 3))

    def scanned(start, rows, shift):
        return lax.scan(lambda c, row: ((c[0] + shift + row, c[1] * 2), c[0]), (start, 1.0), rows)

    equation = equation_of(scanned, constant, rows, constant)
    loop = jaxprs.scan(equation)
    assert loop[1:] == (1, 2, 5, False), ADAPT
    body = jaxprs.unclosed(loop.body)[0]
    assert (len(body.invars), len(body.outvars)) == (4, 3)
    assert [times for times, _ in jaxprs.nested(equation)] == [5]


def test_a_while_loop_is_read():
    def looped(start, limit, step):
        return lax.while_loop(lambda c: c < limit, lambda c: c + step + limit, start)

    loop = jaxprs.while_loop(equation_of(looped, 0.0, 5.0, 1.0))
    assert (loop.condition_constants, loop.body_constants) == (1, 2), ADAPT
    assert len(jaxprs.unclosed(loop.body)[0].invars) == 3


def test_branches_are_read():
    chosen = [lambda x: x, lambda x: -x, lambda x: 2 * x]
    equation = jaxprs.unclosed(jax.make_jaxpr(lambda n, x: lax.switch(n, chosen, x))(1, 2.0))[
        0
    ].eqns
    assert len(jaxprs.branches(equation[-1])) == 3, ADAPT


@jax.custom_jvp
def _jvp(x):
    return x * 2


_jvp.defjvp(lambda primals, tangents: (_jvp(*primals), tangents[0]))


@jax.custom_vjp
def _vjp(x):
    return x * 2


_vjp.defvjp(lambda x: (x, None), lambda _, gradient: (gradient,))


@jax.custom_batching.custom_vmap
def _vmap(x):
    return x * 2


@_vmap.def_vmap
def _(axis_size, in_batched, x):
    del axis_size
    return x * 2, in_batched[0]


@pytest.mark.parametrize(
    "function",
    [jax.jit(lambda x: x * 2), _jvp, _vjp, _vmap, jax.checkpoint(lambda x: x * 2)],
    ids=["jit", "custom_jvp", "custom_vjp", "custom_vmap", "checkpoint"],
)
def test_a_call_is_what_it_calls(function):
    equation = equation_of(function, jnp.ones(2))
    inner = jaxprs.called(equation)
    assert inner is not None, f"{ADAPT}: add {equation.primitive.name} to its calls"
    jaxpr = jaxprs.unclosed(inner)[0]
    assert [each.primitive.name for each in jaxpr.eqns] == ["mul"]


def test_constants_of_a_jaxpr_are_found():
    table = jnp.arange(3.0)
    jaxpr, constants = jaxprs.unclosed(jax.make_jaxpr(lambda x: x + table)(1.0))
    assert len(jaxpr.constvars) == len(constants), ADAPT
    literals = [atom for each in jaxpr.eqns for atom in each.invars if hasattr(atom, "val")]
    assert all(isinstance(atom, jaxprs.Literal) for atom in literals), ADAPT
    assert len(constants) + len(literals) == 1


VERSION = re.escape(f"(jax {jax.__version__})")


def test_a_parameter_with_another_name_is_refused():
    equation = equation_of(lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + 1, x), 0)
    renamed = changed(equation, without=["cond_nconsts"], num_cond=0)
    words = r"^the JAX primitive while has no parameter 'cond_nconsts', it has .*num_cond.* "
    with pytest.raises(UnknownJaxpr, match=words + VERSION):
        jaxprs.while_loop(renamed)


def test_a_parameter_that_is_new_is_refused_unless_it_is_off():
    scanned = equation_of(lambda x: lax.fori_loop(0, 4, lambda i, c: c * 2, x), 0.0)
    words = r"^the JAX primitive scan has an unknown parameter 'skip_every' "
    with pytest.raises(UnknownJaxpr, match=words + VERSION):
        jaxprs.scan(changed(scanned, skip_every=2))
    assert jaxprs.scan(changed(scanned, skip_every=None)).length == 4


def test_a_call_with_other_operands_is_refused():
    called = changed(equation_of(jax.jit(lambda x: x * 2), 1.0))
    called.invars = [*called.invars, *called.invars]
    with pytest.raises(UnknownJaxpr, match=r"^the JAX primitive p?jit has other operands"):
        jaxprs.called(called)


class _Numbers(NamedTuple):
    offset_dims: tuple[int, ...]
    new_dims: tuple[int, ...] = ()


def test_a_field_that_is_new_is_refused():
    params = Parameters("gather", {"dimension_numbers": _Numbers((0,)), "mode": 3})
    words = "^the parameter 'dimension_numbers' of the JAX primitive gather has other fields than"
    with pytest.raises(UnknownJaxpr, match=f"{words} offset_dims: offset_dims, new_dims"):
        params.fields("dimension_numbers", "offset_dims")
    assert params.fields("dimension_numbers", "offset_dims", "new_dims") == ((0,), ())
    with pytest.raises(UnknownJaxpr, match="has other fields than x: none"):
        params.fields("mode", "x")
