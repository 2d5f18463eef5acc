"""Value functions: what a learner asks for the worth of a board."""

from jaxgbg.values.core import ValueFunction
from jaxgbg.values.layouts import Layout, check_layout, random_walk, read_layout
from jaxgbg.values.ntuple import NTuple, NTupleParams

__all__ = [
    "Layout",
    "NTuple",
    "NTupleParams",
    "ValueFunction",
    "check_layout",
    "random_walk",
    "read_layout",
]
