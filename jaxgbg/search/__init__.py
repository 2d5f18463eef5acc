"""Better choices by looking ahead."""

from typing import TYPE_CHECKING

from jaxgbg import lazy

if TYPE_CHECKING:
    from jaxgbg.search.kinds import (
        ExpectimaxSpec,
        LookAheadSpec,
        MCTSSpec,
        PUCTSpec,
        QSearchSpec,
        RootStatistics,
        SarsaSearchSpec,
        Search,
        SearchSpec,
        Switch,
        TDLeafSpec,
        TDSearchSpec,
        TrainingSearch,
        parse_for_agent,
        search_kinds,
    )

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

if not TYPE_CHECKING:
    # All from the module that knows every search: a registry is never seen half filled.
    __getattr__, __dir__ = lazy.attributes(__name__, {"jaxgbg.search.kinds": " ".join(__all__)})
