"""The published figure for a row of a table, and whether the row has the paper's settings."""

from collections.abc import Sequence
from functools import cache

from jaxgbg.games import WINS
from jaxgbg.learners import TDSpec
from jaxgbg.results.axes import VARIANT, frozen, run_values
from jaxgbg.results.lane_results import Members, RowKey
from jaxgbg.runs import presets as papers
from jaxgbg.types import SettingValue
from jaxgbg.values import NTupleSpec

# The paper's figure is shown for any value of these; its budget is shown with it.
_ANY = (VARIANT, "schedule.batch", "schedule.episodes", "evaluation.every")


def published_figure(
    key: RowKey, members: Members, variant: str
) -> tuple[float | None, float | None]:
    """The published mean and standard error for a row; None for each that is not published."""
    if members.scale != WINS:
        # Table 1 has only TD with n-tuples.
        kinds = {(s.values["learner"], s.values["value"]) for s in members.sources}
        theirs = kinds == {(TDSpec.kind, NTupleSpec.kind)}
        published = papers.figure(key.game, key.opponent, variant) if theirs else None
        return published or (None, None)
    found = {papers.wins(key.game, key.opponent, source.values) for source in members.sources}
    return (found.pop() if len(found) == 1 else None), None


def settings_are_published(members: Members, paths: Sequence[str]) -> bool:
    """Whether all lanes of a row have the paper's game and settings.

    Settings count if they are axes of the table or pooled.
    """
    if members.scale == WINS:
        # Figures of this scale are looked up by all settings.
        return True
    theirs = _values(members.sources[0].name)
    return all(
        frozen(source.values.get(path)) == value
        for source in members.sources
        for path, value in theirs.items()
        if path.startswith("game.") or (path in paths and path not in _ANY)
    )


@cache
def _values(game: str) -> dict[str, SettingValue]:
    """All settings of the published run of a game, by their paths."""
    return {path: frozen(value) for path, value in run_values(papers.preset(game)).items()}
