"""Does greedy self-play unlearn once epsilon is 0? On 4x4 squares, where perfect play is known.

    python -m experiments.lines_of_action.study --size 4 --games 100000 --out runs/lines4 \\
        --settings itself "itself, noise" "itself, epsilon .05" "itself, noise, epsilon .05"
    python -m experiments.lines_of_action.unlearning --out runs/lines4

Two by two: epsilon falls to 0 or to .05 after 80 % of the games, and the move that is no random one
is the best, or one of the best three with probabilities .6, .3, .1. Every session is asked for its
best move in positions, drawn from all that can be reached, of which some move does not keep the
value. Writes the section "unlearning" of results.json and unlearning.png.
"""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.lines_of_action.judge import agents, figure_of
from experiments.lines_of_action.solve import Solution, decode, rules, solve
from experiments.lines_of_action.study import Sessions, load, path_of
from experiments.lines_of_action.tables import UNLEARNING
from experiments.shared import Section, add_legend, make_parser, new_figure, save_figure
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import LinesOfAction
from jaxgbg.runs.devices import prepare_jax

_POSITIONS = 4096


def critical_positions(
    solution: Solution, game: LinesOfAction, count: int
) -> tuple[Any, np.ndarray]:
    """`count` states[P] in which not every move keeps the value, and bool[P, A] which do."""
    chosen, kept = [], []
    for number in np.random.default_rng(0).permutation(len(solution.codes)):
        keeping = solution.keeping(number)
        if len(keeping) < len(solution.moves(number)):
            chosen.append(number)
            kept.append(np.isin(np.arange(game.num_actions), keeping))
            if len(chosen) == count:
                break
    return decode(game, solution.codes[np.array(chosen)]), np.stack(kept)


def value_kept(sessions: Sessions, states: Any, keeps: np.ndarray) -> np.ndarray:
    """float[T]: the share of states[P] in which the best move of each session keeps the value."""
    count = len(sessions.games)
    everywhere = jax.tree.map(lambda leaf: jnp.tile(leaf, (count, *[1] * (leaf.ndim - 1))), states)
    actions = np.asarray(agents(sessions).act(everywhere, jax.random.key(0))).reshape(count, -1)
    return np.take_along_axis(keeps[None], actions[..., None], 2)[..., 0].mean(1)


def row_of(setting: str, games: np.ndarray, shares: np.ndarray) -> dict[str, Any]:
    """`shares` float[seeds, T] before and after exploration has ended."""
    at = games / games[-1]
    before = shares[:, (at > 0.7) & (at <= 0.8)].mean(1)
    after = shares[:, at > 0.9].mean(1)
    return {
        "setting": setting,
        "at 70 to 80 %": figure_of(list(before)),
        "at 90 to 100 %": figure_of(list(after)),
        "change": figure_of(list(after - before)),
        "untrained": figure_of(list(shares[:, 0])),
        "games": games.tolist(),
        "curve": shares.mean(0).round(4).tolist(),
    }


def picture(path: Path, rows: list[dict[str, Any]]) -> None:
    figure = new_figure(6.4, 3.8)
    axes = figure.add_subplot()
    for row in rows:
        axes.plot(np.array(row["games"]) / 1000, 100 * np.array(row["curve"]), label=row["setting"])
    axes.axvline(0.8 * rows[0]["games"][-1] / 1000, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlabel="thousand games", ylabel="positions whose value is kept, %")
    add_legend(figure, "trained against")
    save_figure(figure, path)


def main(arguments: list[str] | None = None) -> None:
    options = make_parser(__file__, __doc__).parse_args(arguments)
    game = rules(4)
    judged = critical_positions(solve(game), game, _POSITIONS)
    rows = []
    for setting in UNLEARNING:
        paths = sorted(path_of(options.out, setting, 0).parent.glob("seed*.npz"))
        sessions = [load(path) for path in paths]
        if sessions:
            shares = np.stack([value_kept(each, *judged) for each in sessions])
            rows.append(row_of(setting, sessions[0].games, shares))
            print(rows[-1] | {"games": None, "curve": None}, flush=True)
    Section(options.results, "unlearning").write(rows)
    picture(options.results / "unlearning.png", rows)


if __name__ == "__main__":
    prepare_jax()
    end_in_a_line(main)
