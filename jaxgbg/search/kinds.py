"""All searches, and the learners that search.

The imports fill two registries: a search is known as soon as its `SearchSpec` is defined, a learner
that looks ahead as soon as its `LearnerSpec` is.
"""

from jaxgbg.search.expectimax import ExpectimaxSpec
from jaxgbg.search.in_training import QSearchSpec, SarsaSearchSpec, TDSearchSpec
from jaxgbg.search.lookahead import LookAheadSpec
from jaxgbg.search.mcts import MCTSSpec
from jaxgbg.search.puct import PUCTSpec
from jaxgbg.search.spec import (
    Search,
    SearchSpec,
    Switch,
    TrainingSearch,
    parse_for_agent,
    search_kinds,
)
from jaxgbg.search.td_leaf import TDLeafSpec
from jaxgbg.search.tree import RootStatistics

__all__ = [
    "ExpectimaxSpec",
    "LookAheadSpec",
    "MCTSSpec",
    "PUCTSpec",
    "QSearchSpec",
    "RootStatistics",
    "SarsaSearchSpec",
    "Search",
    "SearchSpec",
    "Switch",
    "TDLeafSpec",
    "TDSearchSpec",
    "TrainingSearch",
    "parse_for_agent",
    "search_kinds",
]
