"""Value functions: what a learner asks for the value of a board."""

from jaxgbg.values.core import HasGradients, ValueFunction, ValueSpec
from jaxgbg.values.layouts import Layout, line_walk, random_walk, read_layout
from jaxgbg.values.mlp import MLP, AuxiliaryMLP, MLPSpec
from jaxgbg.values.ntuple import NTuple, NTupleParams
from jaxgbg.values.ntuple_spec import NTupleSpec

__all__ = [
    "MLP",
    "AuxiliaryMLP",
    "HasGradients",
    "Layout",
    "MLPSpec",
    "NTuple",
    "NTupleParams",
    "NTupleSpec",
    "ValueFunction",
    "ValueSpec",
    "line_walk",
    "random_walk",
    "read_layout",
]
