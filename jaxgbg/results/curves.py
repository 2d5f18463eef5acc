"""Learning curves as a picture."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jaxgbg.papers.figures import PAPER, to_unit, unit
from jaxgbg.training import Config, Evaluation
from jaxgbg.training.files import written_whole

# Okabe and Ito's colours, told apart by colour-blind readers.
STYLES = {
    "farl": ("FARL", "#0072B2"),
    "part1": ("FARL part 1 only", "#009E73"),
    "none": ("no FARL", "#D55E00"),
}


def draw_curves(results: Sequence[tuple[Config, Sequence[Evaluation]]], path: Path) -> None:
    """Draw one panel for each game and opponent: mean over seeds ± s.e., the paper's figure dashed.

    Writes a PNG to `path`, whole or not at all.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, PercentFormatter

    panels = [
        (config, found, name) for config, found in results for name in opponents_met(config, found)
    ]
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(4.3 * columns, 3.2 * lines), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, (config, found, opponent) in zip(axes, panels, strict=False):
        for farl in config.farl:
            label, colour = STYLES[farl]
            episodes, mean, sem = curve(config.game, found, opponent, farl)
            axis.plot(episodes, mean, color=colour, label=label, marker=".", markersize=4)
            axis.fill_between(episodes, mean - sem, mean + sem, color=colour, alpha=0.25, lw=0)
            published = PAPER.get((config.game, opponent, farl))
            if published is not None:
                axis.axhline(published[0], color=colour, lw=0.9, ls="--")
        axis.set_title(title(config.game, opponent), fontsize=10)
        axis.set_xlabel("episodes")
        axis.set_ylabel(unit(config.game, opponent))
        axis.set_xlim(left=0)
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
        span = span_of_shares(config.game, opponent)
        if span is not None:
            axis.set_ylim(*span)
            axis.yaxis.set_major_formatter(PercentFormatter(1.0))
        axis.grid(alpha=0.25)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    axes[0].plot([], [], color="#555555", lw=0.9, ls="--", label="paper, Table 1")
    axes[0].legend(fontsize=8, loc="best")
    with written_whole(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)


def opponents_met(config: Config, found: Sequence[Evaluation]) -> list[str]:
    """The opponents of a run in the order of its panels."""
    return list(dict.fromkeys((*config.opponents, *(one.opponent for one in found))))


def title(game: str, opponent: str) -> str:
    """What a panel shows."""
    first = " (moving first)" if game == "connectfour" else ""
    against = "" if opponent == "score" else f" against {opponent}"
    return f"{game}{against}{first}"


def span_of_shares(game: str, opponent: str) -> tuple[float, float] | None:
    """The axis of a panel of shares, up to a half where nobody wins more; None for other units."""
    if unit(game, opponent) not in ("win rate", "share"):
        return None
    return -0.03, 0.63 if game in ("tictactoe", "nim") else 1.03


def curve(
    game: str, found: Sequence[Evaluation], opponent: str, farl: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(episodes, mean, standard error) over the seeds that have reached each evaluation."""
    scores = defaultdict(list)
    for one in found:
        if (one.opponent, one.farl) == (opponent, farl):
            scores[one.episodes].append(to_unit(game, opponent, one.score))
    episodes = np.array(sorted(scores))
    mean = np.array([np.mean(scores[n]) for n in episodes])
    spread = [np.std(scores[n], ddof=1) if len(scores[n]) > 1 else 0.0 for n in episodes]
    return episodes, mean, np.array(spread) / np.sqrt([len(scores[n]) for n in episodes])
