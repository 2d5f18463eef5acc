"""Draws combine.svg: what k updates of one weight in one tick come to, by the three rules."""

from pathlib import Path

MOST, TOP = 16, 16
LEFT, RIGHT, BOTTOM, HEAD = 44, 404, 250, 20


def place(count: float, steps: float) -> str:
    x = LEFT + (RIGHT - LEFT) * (count - 1) / (MOST - 1)
    y = BOTTOM - (BOTTOM - HEAD) * steps / TOP
    return f"{x:.1f} {y:.1f}"


def saturating(count: float, rate: float) -> float:
    return (1 - (1 - rate) ** count) / rate


def curve(style: str, points: list[tuple[float, float]]) -> str:
    return f'<path class="{style}" d="M' + " ".join(place(*point) for point in points) + '"/>'


def label(count: float, steps: float, text: str, style: str = "") -> str:
    x, y = place(count, steps).split()
    return f'<text class="{style}" x="{x}" y="{y}">{text}</text>'


def main() -> None:
    counts = [1 + i / 4 for i in range(4 * MOST - 3)]
    parts = ['<svg viewBox="0 0 420 300" xmlns="http://www.w3.org/2000/svg">']
    parts.append(f'<path class="clear" d="M{LEFT} {HEAD}V{BOTTOM}H{RIGHT}"/>')
    for steps in (1, 4, 8, 12, 16):
        x, y = place(1, steps).split()
        parts.append(f'<text class="small" text-anchor="end" x="{LEFT - 8}" y="{y}">{steps}</text>')
    for count in (1, 4, 8, 12, 16):
        x, _ = place(count, 0).split()
        parts.append(f'<text class="small middle" x="{x}" y="{BOTTOM + 18}">{count}</text>')
    parts.append(curve("line two", [(1, 1), (MOST, MOST)]))
    parts.append(curve("line two dashed", [(1, 1), (MOST, 1)]))
    parts += [
        curve("line one", [(count, saturating(count, rate)) for count in counts])
        for rate in (0.02, 0.1, 0.5)
    ]
    parts += [
        label(11.2, 13.4, "sum", "title two"),
        label(14, 0.25, "mean", "title two"),
        label(13.5, 10.6, "r = 0.02", "one"),
        label(13.5, 8.4, "r = 0.1", "one"),
        label(13.5, 2.6, "r = 0.5", "one"),
        label(8.6, 4.3, "saturating", "title one"),
        label(1.3, 15.4, "mean updates made", "small"),
        f'<text class="small middle" x="224" y="{BOTTOM + 40}">updates of one weight in one tick'
        "</text>",
        "</svg>",
    ]
    target = Path(__file__).with_suffix(".svg")
    target.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
