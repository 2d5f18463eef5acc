"""Value functions: what a learner asks for the value of a board."""

from jaxgbg.values.core import (
    FollowsMoves,
    HasGradients,
    ValueFunction,
    ValueSpec,
    ValuesStones,
)
from jaxgbg.values.layouts import Layout, check_layout, random_walk, read_layout
from jaxgbg.values.mlp import MLP, MLPSpec
from jaxgbg.values.ntuple import NTuple, NTupleParams, NTupleSpec

VALUES: dict[str, type[ValueSpec]] = {spec.kind: spec for spec in (NTupleSpec, MLPSpec)}
"""The value functions by name."""

__all__ = [
    "MLP",
    "VALUES",
    "FollowsMoves",
    "HasGradients",
    "Layout",
    "MLPSpec",
    "NTuple",
    "NTupleParams",
    "NTupleSpec",
    "ValueFunction",
    "ValueSpec",
    "ValuesStones",
    "check_layout",
    "random_walk",
    "read_layout",
]
