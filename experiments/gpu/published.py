"""Two rows of Table 1 at their full budgets on one GPU, within a given number of seconds.

    python -m experiments.gpu.published --layout FILE --seconds 570 --out OUT
    python -m experiments.gpu.published --layout FILE --scale .0004 --out OUT   # a trial on a CPU
    python -m experiments.gpu.published --show OUT/published.json ...           # the figures

First ConnectFour on the n-tuples of FILE, ten seeds, while judges on the other cores let its agents
meet AB and AB-DL; then 2048 with 1,024 games in lockstep, four seeds. Both are trained with FARL
and without. All results are in OUT/published.json as they come.
"""

import argparse
import json
import math
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.gpu import connectfour_list, game2048
from experiments.gpu.judging import FILE, KEY, judges_beside
from experiments.gpu.records import Records, Task, machine
from experiments.gpu.speed import reason_of
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import make
from jaxgbg.results.statistics import confidence_interval, mean_sem
from jaxgbg.runs import presets as papers
from jaxgbg.runs.devices import prepare_jax, warn_of_known_faults

GAMES = (connectfour_list.GAME, game2048.GAME)
# Of all seconds, for the games that judges have begun.
_JUDGING = 0.1


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layout", type=Path, metavar="FILE", help="n-tuples of ConnectFour")
    parser.add_argument("--seconds", type=float, default=570.0, help="for everything")
    parser.add_argument("--scale", type=float, default=1.0, help="times the published budgets")
    parser.add_argument("--out", type=Path, default=Path("runs/gpu"), help="folder of results")
    parser.add_argument("--games", nargs="+", choices=GAMES, default=GAMES, metavar="GAME")
    parser.add_argument("--show", type=Path, nargs="+", metavar="JSON", help="print these figures")
    options = parser.parse_args(arguments)
    if options.show:
        kept = [one for path in options.show for one in json.loads(path.read_text())["results"]]
        print("\n".join(table(kept)))
        return
    if options.layout is None:
        parser.error("--layout FILE is needed: a JSON list of n-tuples")
    if not 0 < options.seconds < float("inf") or not 0 < options.scale < float("inf"):
        parser.error("--seconds and --scale must be above 0")
    measure(options)


def measure(options: argparse.Namespace) -> None:
    """Both games, whatever becomes of the first one, and what came out as a table."""
    end = time.time() + options.seconds
    prepare_jax()
    warn_of_known_faults()
    options.out.mkdir(parents=True, exist_ok=True)
    layout = connectfour_list.layout_of(options.layout)
    records = Records(options.out / FILE, machine(), KEY)
    told = {"seconds": options.seconds, "scale": options.scale}
    told["kept_digest"] = connectfour_list.kept_digest(layout)
    records.add({"what": "command", **told})
    task = Task(options.out, (), options.scale, end - _JUDGING * options.seconds)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        with judges_beside(work, options.layout, options.out, options.scale, end):
            for name in (name for name in GAMES if name in options.games):
                try:
                    if name == game2048.GAME:
                        game2048.measure(task, records)
                    else:
                        connectfour_list.measure(task, records, layout, work)
                except Exception as error:
                    traceback.print_exc()
                    records.fail(f"{name}: {reason_of(error)}")
    records = Records(options.out / FILE, machine(), KEY)
    print("\n".join(table(records.results)))
    raise SystemExit(1 if records.errors else 0)


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each opponent and variant: the mean of the last fifth of the training."""
    yield "| game | opponent | variant | n | evaluations | mean ± s.e. | 95 % | paper | outcome |"
    yield "|---" * 9 + "|"
    matches = [one for one in results if one["what"] == "match"]
    rows = sorted({(one["game"], one["opponent"], one["variant"]) for one in matches})
    for game, opponent, variant in rows:
        own = [
            one
            for one in matches
            if (one["game"], one["opponent"], one["variant"]) == (game, opponent, variant)
        ]
        figures, evaluations = late_means(own)
        scale = make(game).scale
        figures = [scale.figure(each) for each in figures]
        mean, error = mean_sem(figures)
        games = evaluations * own[0]["games"]
        low, high = confidence_interval(figures, span=scale.span, games=games)
        paper = papers.figure(game, opponent, variant)
        cells = [game, opponent, variant, len(figures), evaluations]
        cells += [f"{scale.text(mean)} ± {scale.text(error)}"]
        cells += [f"{scale.text(low)} to {scale.text(high)}"]
        cells += ["-" if paper is None else "{:,} ± {:,}".format(*paper)]
        cells += ["-" if paper is None else outcome(low, high, paper)]
        yield f"| {' | '.join(map(str, cells))} |"


def late_means(matches: Sequence[dict[str, Any]]) -> tuple[list[float], int]:
    """The mean of each seed over the last fifth of the episodes, and of how many evaluations."""
    reached = max(one["episodes"] for one in matches)
    late: dict[int, list[float]] = {}
    for one in matches:
        if 5 * one["episodes"] > 4 * reached:
            late.setdefault(one["seed"], []).append(one["score"])
    means = [sum(late[seed]) / len(late[seed]) for seed in sorted(late)]
    return means, min(map(len, late.values()))


def outcome(low: float, high: float, paper: tuple[float, float]) -> str:
    """Whether our interval meets that of the paper, its mean and two standard errors both ways."""
    if math.isnan(low):
        return "-"
    mean, error = paper
    meets = low <= mean + 2 * error and high >= mean - 2 * error
    return "meets the paper's" if meets else "apart"


if __name__ == "__main__":
    end_in_a_line(main)
