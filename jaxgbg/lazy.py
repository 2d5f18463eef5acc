"""Import on first use, so that help, lists and messages about mistakes do without JAX.

Importing JAX takes most of a second. Modules that only describe settings and rules take `jax`,
`jnp`, `lax` and `jit` from here instead: same names, same behavior, imported when first used. Such
a module needs `from __future__ import annotations`, because its annotations name JAX's types.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    import jax as jax
    import jax.numpy as jnp
    from jax import jit as jit
    from jax import lax as lax

_P = ParamSpec("_P")
_R = TypeVar("_R")


_prepare: list[Callable[[], None]] = []


class Module:
    """A module that is imported when one of its attributes is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        while _prepare:
            _prepare.pop()()
        return getattr(importlib.import_module(self._name), name)

    def __repr__(self) -> str:
        return f"<module {self._name!r}, imported on first use>"


if not TYPE_CHECKING:
    jax, jnp, lax = Module("jax"), Module("jax.numpy"), Module("jax.lax")


@contextlib.contextmanager
def before_first_use(prepare: Callable[[], None]) -> Iterator[None]:
    """Within the block, call `prepare` once before any of these modules is used: it sets JAX up."""
    _prepare[:] = [prepare]
    try:
        yield
    finally:
        _prepare.clear()


class Function(Generic[_R]):
    """A function or class that is imported when it is first called: `Function("module:name")`."""

    def __init__(self, place: str) -> None:
        self.place = place

    @functools.cached_property
    def func(self) -> Callable[..., _R]:
        """The function or class itself."""
        module, _, name = self.place.partition(":")
        return getattr(importlib.import_module(module), name)

    def __call__(self, *arguments: object, **options: object) -> _R:
        return self.func(*arguments, **options)


def imported(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """What a `Function` stands for; any other function or class itself."""
    return function.func if isinstance(function, Function) else function


if not TYPE_CHECKING:

    class _Jitted:
        """`jax.jit` of a function, made when it is first used."""

        def __init__(self, function: Callable[..., object], options: Mapping[str, object]) -> None:
            self._make = functools.partial(lambda: jax.jit(function, **options))

        @functools.cached_property
        def _jitted(self) -> Callable[..., object]:
            return self._make()

        def __call__(self, *arguments: object, **options: object) -> object:
            return self._jitted(*arguments, **options)

        def __get__(self, instance: object, owner: type) -> Callable[..., object]:
            return self if instance is None else functools.partial(self, instance)

        def __getattr__(self, name: str) -> object:
            return getattr(self._jitted, name)

    def jit(function: Callable[_P, _R], **options: object) -> Callable[_P, _R]:
        """`jax.jit`, without importing JAX before the first call; options as there."""
        return functools.wraps(function)(_Jitted(function, options))


def attributes(
    package: str, names: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names are imported on first use (PEP 562).

    `names` has the names that each module defines, as "name name"; "name:other" is `name` there and
    `other` here. The modules of the package itself are attributes too.
    """
    places = {
        other or name: (module, name)
        for module, text in names.items()
        for name, _, other in (each.partition(":") for each in text.split())
    }

    def get(name: str) -> object:
        if name not in places:
            inner = f"{package}.{name}"
            if name.startswith("_") or importlib.util.find_spec(inner) is None:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            return importlib.import_module(inner)
        module, there = places[name]
        found = getattr(importlib.import_module(module), there)
        setattr(importlib.import_module(package), name, found)
        return found

    return get, lambda: sorted({*vars(importlib.import_module(package)), *places})
