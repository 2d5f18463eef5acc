"""A ladder as SVG in the colors of the page: ratings with intervals, and pairwise scores."""

import math
from html import escape

from jaxgbg.results.ladder import Ladder, LadderEntry, in_words
from jaxgbg.web.chart import ticks

MOST_PLAYERS = 40
"""The maximum number of players in the charts; more would be unreadable."""
_ROW, _TOP, _BOTTOM = 22, 26, 40
_LETTER, _MOST_LETTERS = 6.2, 28
_WIDTH = 300


def ratings_chart(ladder: Ladder) -> str:
    """A row for each player: the rating and its 95% interval, or an arrow for an open interval."""
    rows = ladder.standings[:MOST_PLAYERS]
    left = _room(rows)
    numbers = [x for one in rows for x in (one.rating.low, one.rating.high) if math.isfinite(x)]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    low, high = low - 0.04 * (high - low) - 1, high + 0.04 * (high - low) + 1
    floor = _TOP + _ROW * len(rows)

    def across(elo: float) -> float:
        return left + (elo - low) / (high - low) * _WIDTH

    parts = [_opening(left + _WIDTH + 18, floor + _BOTTOM, f"{ladder.game.name}: ratings in Elo")]
    parts.append(f'<text x="{left}" y="14" class="title">ratings, 95 % intervals</text>')
    for tick in ticks(low, high):
        place = across(tick)
        parts.append(f'<path class="grid" d="M{place:.1f} {_TOP}V{floor}"/>')
        parts.append(f'<text x="{place:.1f}" y="{floor + 15}" class="tick x">{tick:,.0f}</text>')
    parts.append(f'<path class="axis" d="M{left} {floor}h{_WIDTH}"/>')
    zero = f"Elo, {escape(ladder.anchor)} = 0" if ladder.anchor else "Elo, mean = 0"
    parts.append(
        f'<text x="{left + _WIDTH / 2}" y="{floor + _BOTTOM - 6}" class="tick x">{zero}</text>'
    )
    for number, one in enumerate(rows):
        level = _TOP + _ROW * (number + 0.5)
        parts.append(_name(one, left - 6, level))
        told = f"<title>{escape(one.player)}: {in_words(one.rating)}</title>"
        start, end = one.rating.low, one.rating.high
        if math.isfinite(start) and math.isfinite(end):
            parts.append(
                f'<path class="curve s0" d="M{across(start):.1f} {level}H{across(end):.1f}">{told}'
                f'</path><circle class="point s0" cx="{across(one.rating.elo):.1f}" cy="{level}"'
                f' r="3.5">{told}</circle>'
            )
        elif math.isfinite(start) or math.isfinite(end):
            place, way = (across(start), 9) if math.isfinite(start) else (across(end), -9)
            arrow = f"M{place:.1f} {level - 5}l{way} 5l{-way} 5z"
            parts.append(f'<path class="point s0" d="{arrow}">{told}</path>')
    return "".join([*parts, "</svg>"])


def scores_chart(ladder: Ladder) -> str:
    """The points in % of the row's player against the column's.

    The color is stronger the further the points are from a half.
    """
    rows = ladder.standings[:MOST_PLAYERS]
    left, cell = _room(rows), 34
    foot = 12 + _room(rows) * 0.75
    floor = _TOP + _ROW * len(rows)
    words = "points of the row against the column (%)"
    width = max(left + cell * len(rows), 1.25 * _LETTER * len(words)) + 10
    parts = [_opening(width, floor + foot, f"{ladder.game.name}: {words}")]
    parts.append(f'<text x="6" y="14" class="title">{words}</text>')
    for y, one in enumerate(rows):
        level = _TOP + _ROW * (y + 0.5)
        parts.append(_name(one, left - 6, level))
        for x, other in enumerate(rows):
            score = float(ladder.scores[y, x])
            if not math.isfinite(score):
                continue
            place = left + cell * x
            style = "s0" if score >= 50 else "s1"
            parts.append(
                f'<rect class="cell {style}" x="{place}" y="{level - _ROW / 2}" width="{cell - 1}"'
                f' height="{_ROW - 1}" fill-opacity="{abs(score - 50) / 62:.2f}">'
                f"<title>{escape(one.player)} against {escape(other.player)}: {score:.1f} %"
                f'</title></rect><text class="tick x figure" x="{place + cell / 2}"'
                f' y="{level + 4}">{score:.0f}</text>'
            )
    for x, other in enumerate(rows):
        place = left + cell * (x + 0.6)
        parts.append(
            f'<text class="tick y" transform="translate({place:.1f} {floor + 8}) rotate(-45)">'
            f"{_short(other.player)}</text>"
        )
    return "".join([*parts, "</svg>"])


def _opening(width: float, height: float, label: str) -> str:
    return (
        f'<svg class="chart ladder" viewBox="0 0 {width:.0f} {height:.0f}" role="img"'
        f' aria-label="{escape(label)}" style="max-width: {1.15 * width:.0f}px">'
    )


def _room(rows: list[LadderEntry]) -> float:
    """The width of the names at the left."""
    longest = max((min(len(one.player), _MOST_LETTERS) for one in rows), default=0)
    return 14 + _LETTER * max(longest, 4)


def _short(name: str) -> str:
    cut = name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
    return escape(cut)


def _name(one: LadderEntry, x: float, y: float) -> str:
    return f'<text x="{x:.1f}" y="{y}" class="tick y">{_short(one.player)}</text>'
