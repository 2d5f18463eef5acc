"""Pictures of experiments: what their axes, lines and letters must not do."""

import json
import re
import struct
from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from experiments import means, redraw

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "experiments"
SMALLEST_POINTS, LEAST_PIXELS = 8, 9.0
MEANS = (
    *("discount/means", "lockstep/connectfour", "lockstep/hex", "lockstep/nim3p"),
    *("ralpha/connectfour", "ralpha/tictactoe"),
)


@pytest.mark.parametrize("name", MEANS)
def test_means_stand_above_zero_with_the_intervals_that_exist(name, monkeypatch, tmp_path) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr(means, "save_figure", lambda figure, path: figures.append(figure))
    redraw.main([name, "--out", str(tmp_path)])
    (figure,) = figures
    content = json.loads((EXPERIMENTS / name).parent.joinpath("results.json").read_text())
    records = [row for section in redraw.FIGURES[name][0] for row in content[section]]
    known = any(row.get("low") is not None or len(row["per_seed"]) > 1 for row in records)
    panels = [axes for axes in figure.axes if axes.axison]
    for axes in panels:
        low, high = axes.get_ylim()
        assert low <= 0 < high
        assert bool(axes.collections) == known
        for line in axes.lines:
            assert max(line.get_ydata()) <= high
            # A color belongs to one variant.
            variant = {"FARL": "farl", "no FARL": "none"}.get(line.get_label().partition(",")[0])
            if variant is not None:
                assert to_hex(line.get_color()) == means.VARIANTS[variant][1].lower()
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert not any(legend.get_window_extent().overlaps(axes.bbox) for axes in panels)


def resolution(picture: Path) -> float:
    """Dots per inch of a PNG; 110 where a reduced palette has lost them."""
    content = picture.read_bytes()
    at = content.find(b"pHYs")
    return struct.unpack(">I", content[at + 4 : at + 8])[0] * 0.0254 if at > 0 else 110.0


def test_letters_of_the_gallery_can_be_read() -> None:
    style = (ROOT / "docs" / "_static" / "site.css").read_text(encoding="utf-8")
    (zoom,) = re.findall(r"section#gallery [^}]*> img \{[^}]*zoom: ([\d.]+);", style)
    shown = {}
    for folder in sorted(path.parent for path in EXPERIMENTS.glob("*/README.md")):
        text = (folder / "README.md").read_text(encoding="utf-8")
        for name in re.findall(r"!\[[^\]]*\]\((\w[^)]*\.png)\)", text)[:1]:
            shown[f"{folder.name}/{name}"] = resolution(folder / name) * SMALLEST_POINTS / 72
    assert len(shown) > 10
    small = {name: size for name, size in shown.items() if size * float(zoom) < LEAST_PIXELS}
    assert small == {}
