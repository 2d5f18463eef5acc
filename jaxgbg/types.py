"""The types that signatures share, as optax keeps its own in `base.py`.

Python cannot say which pytree of arrays a value is, and a full type of JSON would need a check at
every step into it. Those aliases are `Any` to a type checker; their names say what the value is.
Everywhere else `Any` is for foreign libraries without types.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeAlias, TypeVar

from jaxgbg.lazy import jax

PyTree: TypeAlias = Any
"""A tree of tuples, lists, dicts and other registered classes whose leaves are arrays."""

Params: TypeAlias = PyTree
"""The parameters of a value function: a pytree of arrays that nothing else looks into."""

Gradients: TypeAlias = PyTree
"""Gradients with respect to `Params`, or eligibility traces of them: a pytree of the same form."""

Memory: TypeAlias = PyTree
"""What a player keeps between the moves of games: a pytree of arrays of fixed shapes, or None."""

AnyArray: TypeAlias = Any
"""An array: of JAX in compiled code, of NumPy on the host."""

JSON: TypeAlias = Any
"""A value of a JSON or TOML document: a dict by str, a list, a str, a number, a bool or None."""

SettingValue: TypeAlias = Any
"""The value of a setting: a number, a bool, a str, None, a tuple of these, a `Game` or a `Spec`."""

TypeHint: TypeAlias = Any
"""An annotation at run time, as `typing.get_type_hints` gives it: a class, a union, a Literal."""


class State(Protocol):
    """The state of a game: a `typing.NamedTuple` of arrays with at least these fields.

    `player` int8[] is the player to move, `terminal` bool[] whether the game is over, `rewards`
    float32[num_players] every player's cumulative reward. All other fields belong to the
    game; shapes and dtypes are the same in every state of it. A batch of states has leading axes on
    every field.
    """

    @property
    def player(self) -> jax.Array: ...
    @property
    def terminal(self) -> jax.Array: ...
    @property
    def rewards(self) -> jax.Array: ...
    def _replace(
        self, *, player: jax.Array = ..., terminal: jax.Array = ..., rewards: jax.Array = ...
    ) -> Self: ...


StateT = TypeVar("StateT", bound=State)
"""The state of one game."""
