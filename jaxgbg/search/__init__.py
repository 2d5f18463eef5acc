"""Better choices by looking ahead."""

from jaxgbg.search.mcts import MCTS, RootStatistics

__all__ = ["MCTS", "RootStatistics"]
