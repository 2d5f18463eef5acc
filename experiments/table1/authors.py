"""The archived runs next to the learning curves that the paper's authors logged with GBG.

For `python -m experiments.table1.report --authors FILE`. The logs are no part of this project.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxgbg.games import WIN_RATE
from jaxgbg.results.curves import figures_of, title
from jaxgbg.results.formats import Column
from jaxgbg.results.rows import Row
from jaxgbg.results.statistics import mean_sem
from jaxgbg.results.table import in_figures
from jaxgbg.runs import presets as papers

FORMAT = (
    'JSON: {"curves": {NAME: {"points_mean_sem": [{"gameNum": episodes, "evalQ": [mean, standard'
    ' error], "evalT": the same}, ...]}}}, scores as GBG logs them. NAME is that of a game and'
    " variant: 2048_FARL, 2048_noFARL, TTT_FARL_10k, C4_FARL, Hex6_FARL_eval20, Othello_FARL,"
    " Nim3x5_FARL, Nim3P_FARL, ..."
)
_VARIANTS = {"farl": "FARL", "none": "noFARL"}


class _Log(NamedTuple):
    """What a curve is of: `opponents` are those of ours that stand next to each of its evaluators.

    `ab-dl`, which is exact, is not the same one as theirs.
    """

    name: str
    game: str
    opponents: Mapping[str, tuple[str, ...]]


# What else GBG logged (Hex against other MCTS, Othello's Edax, Nim against MCTS) we have not met.
_LOGS = (
    _Log("2048_{}", "2048", {"evalQ": ("score",)}),
    _Log("TTT_{}_10k", "tictactoe", {"evalQ": ("maxn",)}),
    _Log("C4_{}", "connectfour", {"evalQ": ("ab",), "evalT": ("ab-dl-gbg", "ab-dl")}),
    _Log("Hex6_{}_eval20", "hex", {"evalQ": ("mcts",)}),
    _Log("Othello_{}", "othello", {"evalQ": ("bench",)}),
    _Log("Nim3x5_{}", "nim", {"evalQ": ("maxn",)}),
    _Log("Nim3P_{}", "nim3p", {"evalQ": ("maxn",)}),
)
# GBG's evaluator of 2048 adds the figure that it gave before, divided by the number of games.
_CARRIED = {"2048": 1 / 250}

Key = tuple[str, str, str]
"""Game, opponent and FARL variant."""


class Curve(NamedTuple):
    """Scores of several runs of the authors: episodes, means and their standard errors, all [T]."""

    episodes: np.ndarray
    mean: np.ndarray
    error: np.ndarray

    def at(self, episodes: int) -> tuple[float, float] | None:
        """Mean and standard error, between two evaluations by a straight line; None outside."""
        if not self.episodes[0] <= episodes <= self.episodes[-1]:
            return None
        mean, error = (np.interp(episodes, self.episodes, each) for each in self[1:])
        return float(mean), float(error)


def read_curves(path: Path) -> dict[Key, Curve]:
    """The curves of a file that we have an opponent for; ValueError, a line, if it holds none."""
    try:
        curves = json.loads(path.read_text(encoding="utf-8"))["curves"]
        asked = [
            (log, variant, log.name.format(word))
            for log in _LOGS
            for variant, word in _VARIANTS.items()
        ]
        found = {
            (log.game, opponent, variant): _curve(log.game, curves[name], evaluator)
            for log, variant, name in asked
            if name in curves
            for evaluator, opponents in log.opponents.items()
            for opponent in opponents
        }
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        raise ValueError(f"{path} holds no curves of the form that --help names") from None
    if not found:
        raise ValueError(f"{path} holds no curve by a name that --help names")
    return found


def _curve(game: str, logged: Mapping[str, Any], evaluator: str) -> Curve:
    table = [(point["gameNum"], *point[evaluator]) for point in logged["points_mean_sem"]]
    episodes, mean, error = np.array(table, float).T
    if not np.isfinite(table).all() or (np.diff(episodes) <= 0).any() or (error < 0).any():
        raise ValueError("no curve")
    mean[1:] -= _CARRIED.get(game, 0.0) * mean[:-1]
    return Curve(episodes, mean, error)


class Comparison(NamedTuple):
    """What both sides have of a game, an opponent and a budget: a heading, a table, its upshot."""

    heading: str
    columns: list[Column]
    upshot: list[str]


class _Line(NamedTuple):
    """An evaluation in words; `apart` is ours minus theirs in s.e. as shown, None without any."""

    variant: str
    episodes: str
    ours: str
    n: str
    theirs: str
    apart: float | None


def comparisons(rows: Sequence[Row], curves: Mapping[Key, Curve]) -> Iterator[Comparison]:
    """Every evaluation of these rows that lies within a curve of the authors."""
    both = [
        (row, curve)
        for row in sorted(rows, key=_place)
        if (curve := curves.get((row.game, row.opponent, row.variant)))
    ]
    for _, each in groupby(both, key=lambda pair: _place(pair[0])[:-1]):
        pairs = list(each)
        row, curve = pairs[0]
        if lines := [line for pair in pairs for line in _lines(*pair)]:
            heading = (
                f"{title(row)}: {row.scale.label}, trainings of {row.episodes:,} episodes here and"
                f" {curve.episodes[-1]:,.0f} there"
            )
            yield Comparison(heading, _columns(lines), list(_upshot(lines)))


def _place(row: Row) -> tuple[Any, ...]:
    return papers.GAMES.index(row.game), row.opponent, row.episodes, row.variant


def _lines(row: Row, curve: Curve) -> Iterator[_Line]:
    # GBG logs points of 2048 and rewards of Nim3P as we show them, and scores of -1 to 1 else.
    zero, factor = row.scale[1:3] if row.scale == WIN_RATE else (0.0, 1.0)
    for at, figures in zip(*figures_of(row), strict=True):
        if (theirs := curve.at(int(at))) is None:
            continue
        ours, error = mean_sem(figures)
        mean, other = zero + factor * theirs[0], factor * theirs[1]
        both = math.hypot(error, other)
        yield _Line(
            row.variant,
            f"{at:,}",
            in_figures(row, ours, error),
            str(len(figures)),
            in_figures(row, mean, other) + ("" if at in curve.episodes else "*"),
            # Equal figures differ in their last bits, which would count as more or less.
            round((ours - mean) / both, 1) + 0.0 if both > 0 else None,
        )


def _columns(lines: Sequence[_Line]) -> list[Column]:
    *words, apart = zip(*lines, strict=True)
    columns = [
        Column(name, list(cells), name != "variant")
        for name, cells in zip(_Line._fields, words, strict=False)
    ]
    cells = ["" if each is None else f"{each:+.1f}" for each in apart]
    return [*columns, Column("difference in s.e.", cells, True)]


def _upshot(lines: Sequence[_Line]) -> Iterator[str]:
    for variant, of_variant in groupby(lines, key=lambda line: line.variant):
        told = np.array([line.apart for line in of_variant if line.apart is not None])
        if told.size:
            yield (
                f"{variant}: {(np.abs(told) > 2).sum()} of {told.size} more than 2 s.e. apart; ours"
                f" higher in {(told > 0).sum()}, lower in {(told < 0).sum()}"
            )
