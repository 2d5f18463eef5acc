"""The registry of evaluators: they score an agent without an opponent, by one or more numbers.

An evaluator is one file: an `EvaluatorSpec` with a `kind` and the `Evaluator` that it builds. To
define the spec is to register it. It is then named wherever an opponent is: `--opponents NAME`,
`opponents = ["NAME,key=value"]` in a sweep file, `eval --opponent NAME`, `jaxgbg.evaluate`.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from jaxgbg.extensions import import_installed
from jaxgbg.games import Game, Scale
from jaxgbg.lazy import jax
from jaxgbg.players.core import Player
from jaxgbg.players.registry import is_player_name, player_names
from jaxgbg.spec_text import TextSpec
from jaxgbg.specs import Spec


class Evaluator:
    """Scores agents of one game; see `EvaluatorSpec.build`."""

    def scores(
        self, agent: Player, key: jax.Array, seeds: Sequence[int] = ()
    ) -> Mapping[str, np.ndarray]:
        """Score each copy of an agent.

        Args:
          agent: Chooses moves: `agent.act(states, key)` returns int32[B] for states[B]. With
            `copies` C, the states are C blocks of equal length, one for each copy.
          key: Source of all randomness: the same key gives the same scores.
          seeds: int[copies], the seed of each copy; copies of one seed meet the same random draws,
            and all do if it is empty.

        Returns:
          float32[copies, ...] for each name in `EvaluatorSpec.scores`: a score for every question
          or game. Their mean is what tables show.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Free what the evaluator holds outside this program."""


@dataclasses.dataclass(frozen=True)
class EvaluatorSpec(TextSpec):
    """The settings of an evaluator; a subclass with a `kind` is in the registry."""

    kinds: ClassVar[dict[str, type[Spec]]] = {}
    noun = "evaluator"
    scores: ClassVar[Mapping[str, Scale]] = {}
    """The name of each score, and how its mean is shown.

    The only score of an evaluator is called NAME in results, and one of several NAME:SCORE. The
    first one counts where settings are compared (`adaptive` in sweep files): more must be better.
    """

    def __init_subclass__(cls) -> None:
        if cls.kind in {name.removesuffix("-N") for name in (*player_names(), "score")}:
            raise ValueError(f"{cls.kind}: a player of this name is registered already")
        if cls.kind and not cls.scores:
            raise ValueError(f"{cls.kind}: `scores` must name at least one score")
        if any(":" in name for name in cls.scores):
            raise ValueError(f"{cls.kind}: the name of a score has no colon")
        super().__init_subclass__()

    @classmethod
    def named(cls, text: str) -> str:
        kind = super().named(text)
        if not kind and text != "score" and not is_player_name(text):
            import_installed()
            kind = super().named(text)
        return kind

    def build(self, game: Game) -> Evaluator:
        """The evaluator of agents of `game`; raises ValueError if it cannot evaluate them."""
        raise NotImplementedError


def evaluator_kinds() -> dict[str, type[EvaluatorSpec]]:
    """The registered evaluators by name."""
    return typing.cast(dict[str, type[EvaluatorSpec]], EvaluatorSpec.kinds)


def score_names(text: str) -> dict[str, Scale]:
    """The scores of the evaluator that `text` names, by what they are called in results."""
    scores = evaluator_kinds()[EvaluatorSpec.named(text)].scores
    several = len(scores) > 1
    return {f"{text}:{name}" if several else text: scale for name, scale in scores.items()}


def evaluator_of(name: str) -> str:
    """The evaluator, as it was named, that a score in results belongs to; "" for a match.

    An evaluator whose module was not imported is recognized by the name of one of several scores.
    """
    if EvaluatorSpec.named(name) and name in score_names(name):
        return name
    text, colon, _ = name.rpartition(":")
    if not colon or ".agent" in name:
        return ""
    if EvaluatorSpec.named(text):
        return text if name in score_names(text) else ""
    return text
