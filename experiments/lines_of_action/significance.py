"""What the thesis calls significant (its appendix A), over sessions of a curve and over networks.

Sessions of one curve are not independent, so that its t say little about other networks; networks
of different seeds are. Its own t are made again from its tables to see what they were made of.
"""

from collections.abc import Callable
from typing import Any

from scipy import stats

from experiments.lines_of_action.study import PARTNERS
from jaxgbg.runs.presets import sasso2018

Averages = Callable[[str, str, str], dict[int, float]]
"""(setting, way of play, opponent) -> for each seed the mean of its sessions."""

NAMES = {player: name for name, player in PARTNERS.items()}


def significance(averages: Averages) -> list[dict[str, Any]]:
    """A row for each claim: the thesis' t, that of its own tables, and that over our networks.

    Networks that differ in the look-ahead alone are the same ones, and are paired.
    """
    return [_row(claim, averages) for claim in sasso2018.CLAIMS]


def _row(claim: sasso2018.Claim, averages: Averages) -> dict[str, Any]:
    opponent = "SELF" if claim.opponent == "self" else NAMES[claim.opponent]
    t, freedom, _ = of_tables(claim)
    row = {
        "table": claim.table,
        "better": _name(*claim.better),
        "worse": _name(*claim.worse),
        "opponent": opponent,
        "thesis": f"t({claim.freedom}) = {claim.t:.2f}",
        "from its tables": f"t({freedom:.0f}) = {t:.2f}",
        "over our networks": "not run",
        "p": "",
        "networks": "",
    }
    better, worse = (
        averages(_setting(partner, feature), _play(looks_ahead), opponent)
        for partner, feature, looks_ahead in (claim.better, claim.worse)
    )
    if claim.better[2]:
        seeds = sorted(better.keys() & worse.keys())
        better, worse = ({seed: one[seed] for seed in seeds} for one in (better, worse))
    if min(len(better), len(worse)) < 2:
        return row
    test = stats.ttest_rel if claim.better[2] else stats.ttest_ind
    options = {} if claim.better[2] else {"equal_var": False}
    found = test([*better.values()], [*worse.values()], **options)
    return row | {
        "over our networks": f"t({found.df:.0f}) = {found.statistic:.2f}",
        "p": f"{found.pvalue:.2g}",
        "networks": f"{len(better)}, {len(worse)}",
    }


def of_tables(claim: sasso2018.Claim) -> tuple[float, float, float]:
    """Welch's t, its degrees of freedom and p, of the two cells that a claim compares."""
    ((first, error), (second, other)), sessions = sasso2018.reported(claim)
    variance = error**2 + other**2
    t = (first - second) / variance**0.5
    freedom = variance**2 * (sessions - 1) / (error**4 + other**4)
    return t, freedom, float(2 * stats.t.sf(abs(t), freedom))


def _setting(partner: str, feature: str) -> str:
    return NAMES[partner] + ("" if feature == "none" else f", {feature}")


def _play(looks_ahead: bool) -> str:
    return "look-ahead-noise" if looks_ahead else "noise"


def _name(partner: str, feature: str, looks_ahead: bool) -> str:
    return _setting(partner, feature) + (", looking ahead" if looks_ahead else "")
