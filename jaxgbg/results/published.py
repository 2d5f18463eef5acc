"""What a paper has for a row of a table, and whether the row has the paper's settings."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from jaxgbg.games import WINS
from jaxgbg.learners import TDSpec
from jaxgbg.results.axes import VARIANT, frozen, run_values
from jaxgbg.results.lane_results import Members, RowKey
from jaxgbg.runs import presets as papers
from jaxgbg.values import NTupleSpec

# Whatever these are, a paper's figure is worth looking at; its budget is said beside it.
_ANY = (VARIANT, "schedule.batch", "schedule.episodes", "evaluation.every")


def published_figure(
    key: RowKey, members: Members, variant: str
) -> tuple[float | None, float | None]:
    """What a paper has for a row, mean and standard error; None for each that it has not."""
    if members.scale != WINS:
        # Table 1 is of TD with n-tuples alone.
        kinds = {(s.values["learner"], s.values["value"]) for s in members.sources}
        theirs = kinds == {(TDSpec.kind, NTupleSpec.kind)}
        published = papers.figure(key.game, key.opponent, variant) if theirs else None
        return published or (None, None)
    found = {papers.wins(key.game, key.opponent, source.values) for source in members.sources}
    return (found.pop() if len(found) == 1 else None), None


def settings_are_published(members: Members, paths: Sequence[str]) -> bool:
    """Whether all lanes of a row have the paper's game and, of the settings by which rows are told
    apart or which are pooled, the paper's values.
    """
    if members.scale == WINS:
        # Those figures are looked up by all settings.
        return True
    theirs = _values(members.sources[0].name)
    return all(
        frozen(source.values.get(path)) == value
        for source in members.sources
        for path, value in theirs.items()
        if path.startswith("game.") or (path in paths and path not in _ANY)
    )


@cache
def _values(game: str) -> dict[str, Any]:
    """All settings of the published run of a game by their paths."""
    return {path: frozen(value) for path, value in run_values(papers.preset(game)).items()}
