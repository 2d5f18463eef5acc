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

__all__ = [
    "MLP",
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
