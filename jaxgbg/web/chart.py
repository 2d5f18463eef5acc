"""Line charts as SVG in the colors of the page: learning curves and histograms."""

import dataclasses
from collections.abc import Callable, Sequence
from html import escape

import numpy as np

_WIDTH, _HEIGHT = 360, 232
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 18, 26, 40
_INNER_WIDTH, _INNER_HEIGHT = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM


@dataclasses.dataclass(frozen=True)
class Series:
    """A line `y` over `x` with a band from `low` to `high`; `style` is its CSS class.

    The line has gaps where `y` is NaN. `reference` is a figure to compare with, drawn as a dashed
    line over the length of the line, and `reference_words` its label. `steps` draws bins: `x` are
    then the edges, one more than `y`.
    """

    label: str
    style: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reference: float | None = None
    reference_words: str = "paper"
    steps: bool = False


def chart(
    title: str,
    x_label: str,
    y_label: str,
    series: Sequence[Series],
    tell_x: Callable[[float], str],
    tell_y: Callable[[float], str],
    span: tuple[float, float] | None = None,
    x_span: tuple[float, float] | None = None,
) -> str:
    """The markup of one panel; `span` is the y-range, `x_span` the x-range (default: from data)."""
    x_low, x_high = x_span or _range([s.x for s in series])
    references = [np.array([s.reference]) for s in series if s.reference is not None]
    y_low, y_high = span or _range([part for s in series for part in (s.low, s.high)] + references)

    def across(x: np.ndarray | float) -> np.ndarray:
        return _LEFT + (np.asarray(x) - x_low) / (x_high - x_low) * _INNER_WIDTH

    def down(y: np.ndarray | float) -> np.ndarray:
        return _TOP + (y_high - np.clip(y, y_low, y_high)) / (y_high - y_low) * _INNER_HEIGHT

    parts = [_headings(title, x_label, y_label)]
    floor = _HEIGHT - _BOTTOM
    for tick in ticks(y_low, y_high):
        level = float(down(tick))
        parts.append(f'<path class="grid" d="M{_LEFT} {level:.1f}h{_INNER_WIDTH}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{level:.1f}" class="tick y">{tell_y(tick)}</text>')
    for tick in ticks(x_low, x_high):
        place = float(across(tick))
        parts.append(f'<text x="{place:.1f}" y="{floor + 15}" class="tick x">{tell_x(tick)}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {floor}h{_INNER_WIDTH}"/>')
    for s in series:
        if s.reference is not None:
            end = float(across(s.x.max())) if s.x.size else _LEFT
            parts.append(_reference(s, float(down(s.reference)), end, tell_y(s.reference)))
    for s in series:
        x = np.repeat(across(s.x), 2)[1:-1] if s.steps else across(s.x)
        y, low, high = (
            np.repeat(down(part), 2) if s.steps else down(part) for part in (s.y, s.low, s.high)
        )
        for part in _known(y):
            band = np.concatenate([low[part], high[part][::-1]])
            around = _points(np.concatenate([x[part], x[part][::-1]]), band)
            parts.append(f'<polygon class="band {s.style}" points="{around}"/>')
            line = _points(x[part], y[part])
            parts.append(f'<polyline class="curve {s.style}" points="{line}"/>')
        if not s.steps:
            parts.extend(
                f'<circle class="point {s.style}" cx="{px:.1f}" cy="{py:.1f}" r="2.2">'
                f"<title>{escape(s.label)}, {at:,.0f}: {tell_y(figure)}</title></circle>"
                for px, py, at, figure in zip(x, y, s.x, s.y, strict=True)
            )
    return "".join([*parts, "</svg>"])


def _reference(series: Series, level: float, end: float, figure: str) -> str:
    """The dashed line of a figure to compare with, at the height `level` up to `end`."""
    words = escape(series.reference_words)
    line = (
        f'<path class="reference {series.style}" d="M{_LEFT} {level:.1f}H{end:.1f}">'
        f"<title>{words}, {escape(series.label)}: {figure}</title></path>"
    )
    if series.reference_words == "paper":
        return line
    return f'{line}<text x="{_LEFT + 3}" y="{level - 3:.1f}" class="tick">{words}</text>'


def _headings(title: str, x_label: str, y_label: str) -> str:
    """The opening tag, the title, and the labels of the axes."""
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        f' aria-label="{escape(title)}: {escape(y_label)} over {escape(x_label)}">'
        f'<text x="{_LEFT}" y="14" class="title">{escape(title)}</text>'
        f'<text x="{_LEFT + _INNER_WIDTH / 2}" y="{_HEIGHT - 6}" class="tick x">'
        f"{escape(x_label)}</text>"
        f'<text transform="translate(11 {_TOP + _INNER_HEIGHT / 2}) rotate(-90)" class="tick x">'
        f"{escape(y_label)}</text>"
    )


def _known(y: np.ndarray) -> list[slice]:
    """The longest parts without a gap."""
    ends = np.flatnonzero(np.diff(np.isfinite(y), prepend=False, append=False))
    return [slice(*ends[at : at + 2]) for at in range(0, len(ends), 2)]


def _points(x: np.ndarray, y: np.ndarray) -> str:
    return " ".join(f"{px:.1f},{py:.1f}" for px, py in zip(x, y, strict=True))


def _range(parts: Sequence[np.ndarray]) -> tuple[float, float]:
    """The minimum and the maximum, slightly apart if they are equal."""
    numbers = np.concatenate([part[np.isfinite(part)] for part in parts])
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers from `low` to `high`."""
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    reach = 1e-9 * (high - low)
    return [float(tick) for tick in ticks if low - reach <= tick <= high + reach]
