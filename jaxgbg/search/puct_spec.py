"""The settings of a tree search that an agent's values lead, and how they are named in a word."""

import dataclasses
from typing import Any

from jaxgbg.search.tree import MOST_ITERATIONS
from jaxgbg.specs import Spec, setting, shown


@dataclasses.dataclass(frozen=True)
class PUCTSpec(Spec):
    """How a tree search that the agent's values lead is done.

    Attributes:
      iterations: Positions that are valued for each move.
      exploration: How much the prior of a move counts beside the values found behind it.
      temperature: What action values are divided by before their softmax is the prior.
      unvisited: What a move is worth before it is tried, in rewards from there on.
      width: How many outcomes of chance are drawn for each move of a node.
      megabytes: Room for the trees that grow at once.
      solver: Whether values of positions are proved, between two players and without chance.
      leaves: How many positions of a search are valued at once.
      reuse: Whether a match keeps what lies below a position from the move before.
    """

    iterations: int = setting(200, low=1, high=MOST_ITERATIONS)
    exploration: float = setting(1.0, low=0, high=1_000_000)
    temperature: float = setting(1.0, low=1e-9, high=1_000_000)
    unvisited: float = setting(0.0, low=-1_000_000, high=1_000_000)
    width: int = setting(8, low=1, high=1_000)
    megabytes: int = setting(1536, low=0, high=1_000_000)
    solver: bool = False
    leaves: int = setting(1, low=1, high=256)
    reuse: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        most = MOST_ITERATIONS + 1 - self.leaves
        if self.iterations > most:
            raise ValueError(f"with leaves={self.leaves} iterations must be {most:,} at most")

    @classmethod
    def parse(cls, text: str) -> "PUCTSpec":
        """The settings that a text as "puct-200,exploration=2" names; raises ValueError."""
        name, *entries = text.split(",")
        kind, _, iterations = name.partition("-")
        fields: dict[str, Any] = {"iterations": iterations or "200"}
        try:
            if kind != "puct":
                raise ValueError
            for entry in entries:
                setting, _, value = entry.partition("=")
                if setting in fields:
                    raise ValueError
                fields[setting] = value
            kinds: dict[str, Any] = {
                field.name: type(field.default) for field in dataclasses.fields(cls)
            }
            kinds["solver"] = kinds["reuse"] = {"0": False, "1": True}.__getitem__
            fields = {name: kinds[name](value) for name, value in fields.items()}
        except (KeyError, ValueError) as error:
            known = ", ".join(f"{field.name}=" for field in dataclasses.fields(cls)[1:])
            raise ValueError(
                f"search must be puct-N for N iterations, with {known} after commas, not"
                f" {shown(text)}"
            ) from error
        return cls(**fields)
