"""Learning curves as a picture."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from jaxgbg import papers
from jaxgbg.arena import scale_of
from jaxgbg.results.rows import opponents_met
from jaxgbg.results.statistics import mean_sem
from jaxgbg.training import Result, Run
from jaxgbg.training.files import written_whole

# Okabe and Ito's colours, told apart by colour-blind readers.
STYLES = {
    "farl": ("FARL", "#0072B2"),
    "part1": ("FARL part 1 only", "#009E73"),
    "none": ("no FARL", "#D55E00"),
}


def draw_curves(curves: Sequence[tuple[Run, Sequence[Result]]], path: Path) -> None:
    """Draw one panel for each game and opponent: mean over seeds ± s.e., the paper's figure dashed.

    Writes a PNG to `path`, whole or not at all.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, PercentFormatter

    panels = [
        (run, results, name) for run, results in curves for name in opponents_met(run, results)
    ]
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(4.3 * columns, 3.2 * lines), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, (run, results, opponent) in zip(axes, panels, strict=False):
        for variant, (episodes, mean, sem), paper in curves_of(run, results, opponent):
            label, colour = STYLES[variant]
            axis.plot(episodes, mean, color=colour, label=label, marker=".", markersize=4)
            axis.fill_between(episodes, mean - sem, mean + sem, color=colour, alpha=0.25, lw=0)
            if paper is not None:
                axis.axhline(paper, color=colour, lw=0.9, ls="--")
        axis.set_title(title(run, opponent), fontsize=10)
        axis.set_xlabel("episodes")
        axis.set_ylabel(scale_of(opponent, run.game).unit)
        axis.set_xlim(left=0)
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
        span = span_of_shares(run, opponent)
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


def title(run: Run, opponent: str) -> str:
    """What a panel shows."""
    against = "" if run.game.num_players == 1 else f" against {opponent}"
    protocol = run.evaluation.protocol_of(opponent)
    first = " (moving first)" if protocol and protocol.seats == (0,) else ""
    return f"{run.game.name}{against}{first}"


def span_of_shares(run: Run, opponent: str) -> tuple[float, float] | None:
    """The axis of a panel of shares, up to what anybody can reach; None for other units."""
    scale = scale_of(opponent, run.game)
    high = papers.greatest(run.game, opponent) or scale.high
    if not scale.percent or scale.low is None or high is None:
        return None
    margin = 0.03 * (high - scale.low)
    return scale.low - margin, high + margin


def curves_of(
    run: Run, results: Sequence[Result], opponent: str
) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray, np.ndarray], float | None]]:
    """(variant, what `curve` gives, the paper's figure) of every variant that was evaluated."""
    for variant in run.variants:
        line = curve(run, results, opponent, variant)
        if line[0].size:
            published = papers.figure(run.game, opponent, variant)
            yield variant, line, published[0] if published else None


def curve(
    run: Run, results: Sequence[Result], opponent: str, variant: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(episodes, mean, standard error) over the seeds that have reached each evaluation."""
    scale = scale_of(opponent, run.game)
    figures: dict[int, dict[int, float]] = defaultdict(dict)
    for result in results:
        if (result.opponent, result.variant) == (opponent, variant):
            figures[result.episodes][result.seed] = scale.figure(result.score)
    episodes = np.array(sorted(figures))
    # One seed alone has no error: its band is its curve.
    both = [np.nan_to_num(mean_sem(list(figures[at].values()))) for at in episodes]
    mean, sem = np.array(both).reshape(-1, 2).T
    return episodes, mean, sem
