"""Better choices by looking ahead."""

# Known to `--learner` as soon as anything looks ahead.
from jaxgbg.search.in_training import QSearchSpec, SarsaSearchSpec, TDSearchSpec
from jaxgbg.search.td_leaf import TDLeafSpec

__all__ = ["QSearchSpec", "SarsaSearchSpec", "TDLeafSpec", "TDSearchSpec"]
