"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_text import Claim, cells_in
from jaxgbg.runs.presets import figure

OUTSIDE = {
    "at most 5 points wide (0.05 in": "the forecast",
    "lower, less than .05": "the forecast",
    ".05 to .15 lower": "the forecast",
    "There 15% of the moves are random": "a setting",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("readings")
    paper = figure("nim3p", "maxn", "farl")
    assert paper is not None
    yield "Final Adaptation (FARL), {}, comes out", paper[0]
    back = cells("learner td-one-ply | 31.7 (26.9 to 36.3)", "without")
    yield "without FARL** ({}%; TD without FARL {}%)", back, cells("published", "without")
    for row, sentence in (
        ("random_test adapted", "random test `adapted`, Nim3P | the same | **wrong**: {} lower"),
        ("random_test letter", "`letter`, Nim3P | lower, less than .05 | **wrong**: {} lower"),
        ("learner td-one-ply | 0.065 ± 0.003", ".05 to .15 lower | **wrong**: {} lower | above TD"),
        ("tcl none", "right: {} lower | no forecast"),
    ):
        yield sentence, cells(row, "difference")
    above = cells("learner td-one-ply | 0.065 ± 0.003", "difference#2")
    yield "above TD without FARL | right, by {} |", above
