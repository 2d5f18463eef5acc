"""The search that values lead and the one that plays games out, at equal time.

    python -m experiments.search.equal_time [--only nim3p connectfour]

An agent of `experiments.search.run` with PUCT of more and more iterations, and UCT with roll-outs,
which has learned nothing: how each does in a game, and what a move takes it, searches in step, by
the CPU time of this process. Writes the section "equal_time" of results.json and equal_time.png.
For three players UCT is that of every player for himself (max-n), as the search of values is.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax

from experiments.search.run import play_of, run_of
from experiments.search.speed import random_positions, seconds
from experiments.shared import Section, add_legend, interval, make_parser, new_figure, save_figure
from jaxgbg import Protocol, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.players import GreedyAgent, Player, make_player
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.opponents import judge_by


class Contest(NamedTuple):
    """By what a game's searches are judged, and after how many random plies they are timed."""

    judge: str
    protocol: Protocol | None
    span: tuple[float, float]
    plies: int
    values: tuple[str, ...]
    roll_outs: tuple[str, ...]


CONTESTS = {
    "nim3p": Contest(
        "maxn",
        Protocol("choose_01", count=100, repeats=2),
        (0.0, 1.0),
        3,
        ("greedy", *(f"puct-{n},exploration=0.25" for n in (5, 20, 50, 200, 1000))),
        tuple(f"mcts-{n}" for n in (10, 30, 100, 300, 1000, 3000)),
    ),
    "connectfour": Contest(
        "solver",
        None,
        (0.0, 1.0),
        10,
        ("greedy", *(f"puct-{n}" for n in (5, 20, 50, 200, 1000))),
        tuple(f"mcts-{n}" for n in (30, 100, 300, 1000, 3000)),
    ),
}
KINDS = {"values": "PUCT, trained values", "roll-outs": "UCT, roll-outs"}
_SEARCHES = 128


def players(contest: Contest, agent: GreedyAgent) -> Iterator[tuple[str, str, Player]]:
    """Kind, name and player of all that are compared."""
    for play in contest.values:
        yield "values", play, play_of(play).player(agent)
    for name in contest.roll_outs:
        yield "roll-outs", name, make_player(name, agent.game)


def compared(name: str, out: Path, episodes: int | None) -> Iterator[dict[str, Any]]:
    """The figures of all players of one game."""
    contest, folder = CONTESTS[name], train(run_of(name, episodes), out)
    game, agent = folder.run.game, folder.agents(folder.run.lanes[:1])
    states = random_positions(game, _SEARCHES, contest.plies)
    live = int((~states.terminal).sum())
    with contextlib.closing(judge_by(contest.judge, game, contest.protocol)) as judge:
        for kind, play, player in players(contest, agent):
            scores = judge.scores(player, jax.random.key(0))[contest.judge]
            wall, cpu = seconds(player, states)
            scale = judge.scales[contest.judge]
            figure = scale.figure
            yield {
                "game": name,
                "judge": contest.judge,
                "kind": kind,
                "play": play,
                "unit": scale.label,
                "mean": round(figure(float(scores.mean())), 4),
                "interval": [round(figure(end), 4) for end in interval(scores, contest.span)],
                "n": scores.size,
                "core_ms_a_move": round(1000 * cpu / live, 4),
                "ms_a_move": round(1000 * wall / live, 4),
                "searches": live,
                "episodes": folder.run.schedule.episodes,
                "config": folder.run.digest,
                "command": f"python -m experiments.search.equal_time --only {name}",
            }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--only", nargs="+", choices=list(CONTESTS), default=list(CONTESTS))
    parser.add_argument("--episodes", type=int, help="of every agent; those of the study")
    options = parser.parse_args(arguments)
    prepare_jax()
    section = Section(options.results, "equal_time")
    rows = section.read()
    for name in options.only:
        rows = [row for row in rows if row["game"] != name]
        for row in compared(name, options.out, options.episodes):
            rows.append(row)
            print(*(row[each] for each in ("game", "play", "mean", "core_ms_a_move")), flush=True)
            section.write(rows)
    draw(rows, options.results / "equal_time.png")


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """A panel a game: how each kind does by the time that a move takes."""
    games = list(dict.fromkeys(row["game"] for row in rows))
    figure = new_figure(4.2 * len(games), 3.4)
    for axis, game in zip(figure.subplots(1, len(games), squeeze=False)[0], games, strict=True):
        for kind, label in KINDS.items():
            own = [row for row in rows if (row["game"], row["kind"]) == (game, kind)]
            means = [row["mean"] for row in own]
            below, above = zip(*(row["interval"] for row in own), strict=True)
            reach = (
                [mean - low for mean, low in zip(means, below, strict=True)],
                [high - mean for mean, high in zip(means, above, strict=True)],
            )
            times = [row["core_ms_a_move"] for row in own]
            axis.errorbar(times, means, reach, marker="o", capsize=3, label=label)
        axis.set(title=f"{game}, {own[0]['judge']}", xlabel="ms of a core a move", xscale="log")
        axis.set(ylabel=own[0]["unit"])
        axis.grid(alpha=0.25)
    add_legend(figure)
    save_figure(figure, path)


if __name__ == "__main__":
    end_in_a_line(main)
