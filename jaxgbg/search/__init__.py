"""Better choices by looking ahead."""

# Known to `--learner` as soon as anything looks ahead.
from jaxgbg.search.td_leaf import TDLeafSpec
from jaxgbg.search.td_search import TDSearchSpec

__all__ = ["TDLeafSpec", "TDSearchSpec"]
