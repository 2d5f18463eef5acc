"""The registry of searches: their settings, their text form, and what a search must do.

A search is one file: a `SearchSpec` with a `kind` and the `Search` that it builds. To define the
spec is to register it; every search is then named in the same text form, `NAME-N,key=value`, on the
command line, in sweep files, behind an agent's file, on the play page and in Python.
"""

from __future__ import annotations

import dataclasses
import typing
from typing import ClassVar, NamedTuple, Protocol

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.search.tree import RootStatistics
from jaxgbg.spec_text import TextSpec
from jaxgbg.specs import Spec
from jaxgbg.types import Params, State
from jaxgbg.values.core import ValueFunction


class Search(Protocol):
    """Chooses moves in a batch of states of one game.

    It is hashable, and two of the same settings are equal: compiled programs hold it as a constant.
    `traceable` says whether `choose` is pure JAX; if not, it is called with concrete arrays.
    """

    @property
    def traceable(self) -> bool: ...

    def choose(
        self, states: State, key: jax.Array, params: Params, bootstrap: BootstrapRule
    ) -> jax.Array:
        """Choose a legal action in each of states[B]; any action where the state is terminal.

        Args:
          states: The game's state with a leading axis B on every leaf.
          key: Source of all randomness: the same key gives the same moves.
          params: The parameters of the value function; () without an agent.
          bootstrap: The agent's bootstrap rule, for `learners.action_values.action_values`.

        Returns:
          int32[B].
        """
        ...


class TrainingSearch(Search, Protocol):
    """A search whose statistics learners can learn from; see `search.in_training`."""

    def statistics(
        self, states: State, key: jax.Array, params: Params, bootstrap: BootstrapRule
    ) -> RootStatistics:
        """The visits and the mean gain of each action; 0 for terminal states."""
        ...


class Switch(NamedTuple):
    """A boolean setting that the play page offers: its field, its label and a longer text."""

    field: str
    label: str
    title: str


@dataclasses.dataclass(frozen=True)
class SearchSpec(TextSpec):
    """The settings of a search; a subclass with a `kind` is in the registry."""

    kinds: ClassVar[dict[str, type[Spec]]] = {}
    noun = "search"
    strength: ClassVar[str] = "iterations"
    with_agent: ClassVar[bool] = True
    """Whether agents can play by it: `--search NAME-N`."""
    alone: ClassVar[bool] = False
    """Whether it is a player without an agent: `--opponents NAME-N`."""
    trains: ClassVar[bool] = False
    """Whether it builds a `TrainingSearch`: `--train-search NAME-N`."""
    play_only: ClassVar[tuple[str, ...]] = ()
    """Settings that are of no use in training."""
    label: ClassVar[str] = ""
    """What the play page calls it; its kind if empty."""
    switch: ClassVar[Switch | None] = None
    """The setting that the play page offers in addition to the strength."""

    def build(self, game: Game, value: ValueFunction) -> Search:
        """The search of `game` over an agent's value function; without an agent that is `Zero`.

        Raises ValueError where it cannot search this game or these values.
        """
        raise NotImplementedError


def search_kinds(
    *, with_agent: bool = False, alone: bool = False, trains: bool = False
) -> dict[str, type[SearchSpec]]:
    """The registered searches by name that can do what is asked for."""
    kinds = typing.cast(dict[str, type[SearchSpec]], SearchSpec.kinds)
    return {
        kind: spec
        for kind, spec in kinds.items()
        if spec.with_agent >= with_agent and spec.alone >= alone and spec.trains >= trains
    }


def parse_for_agent(text: str, *, trains: bool = False) -> SearchSpec:
    """The search of that text by which an agent plays or, with `trains`, learns; or ValueError."""
    spec = SearchSpec.parse(text)
    known = search_kinds(with_agent=True, trains=trains)
    if spec.kind not in known:
        what = "gives learners no statistics" if trains and spec.with_agent else "uses no agent"
        forms = ", ".join(f"{kind}-N" for kind in known)
        raise ValueError(f"search {spec.kind} {what}: choose one of {forms}")
    return spec
