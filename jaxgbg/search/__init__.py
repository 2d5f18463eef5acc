"""Better choices by looking ahead."""

from jaxgbg.search.lookahead import LookAhead
from jaxgbg.search.mcts import MCTS, RootStatistics

__all__ = ["MCTS", "LookAhead", "RootStatistics"]
