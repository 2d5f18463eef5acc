"""Agents of the published budget against AB-DL from every start of one ply that they can win.

    python -m experiments.search.won_starts [--repeats 50] [--plays greedy puct-50 ...]

ConnectFour after a first disc in column a, b, f or g is won by whoever moves then (scores of every
first move, largest best: -2 -1 0 1 0 -1 -2, bitbully); the empty board, which the first to move can
win, is played by `experiments.search.run`. The agents, by the mean of their weights, move second
here. What stands in the section "won_starts" of results.json is not played again.
"""

from collections.abc import Sequence

import jax

from experiments.search.run import play_of, run_of
from experiments.shared import Section, interval, make_parser
from jaxgbg import Protocol, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.opponents import judge_by

# By number among the starts of "one_ply", the empty board being 0.
WON = {"a": 1, "b": 2, "f": 6, "g": 7}
_SECOND = 1
_PLAYS = ("greedy", "puct-50", "puct-200", "puct-1000")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--repeats", type=int, default=25, help="games of an agent from a start")
    parser.add_argument("--plays", nargs="+", default=_PLAYS)
    parser.add_argument("--episodes", type=int, help="of every agent; those of the study")
    parser.add_argument("--seeds", type=int, nargs="+", default=(), help="those of the study")
    options = parser.parse_args(arguments)
    prepare_jax()
    section = Section(options.results, "won_starts")
    folder = train(run_of("connectfour-5m", options.episodes, options.seeds), options.out)
    game, lanes = folder.run.game, tuple(lane.mean for lane in folder.run.lanes)
    protocol = Protocol("one_ply", repeats=options.repeats, seats=(_SECOND,))
    judge = judge_by("ab-dl", game, protocol)
    rows = section.read()
    seeds = sorted({lane.seed for lane in lanes})
    spared = f" --episodes {options.episodes}" if options.episodes else ""
    for play in options.plays:
        known = {(row["play"], row["config"], row["games of an agent"]) for row in rows}
        if (play, folder.run.digest, options.repeats) in known:
            continue
        player = play_of(play).player(folder.agents(lanes))
        scores = judge.scores(player, jax.random.key(0))[judge.name]
        # [copies, seats, repeats * starts]: all starts, and again.
        by_start = scores.reshape(len(lanes), options.repeats, -1)
        for start, number in WON.items():
            own = by_start[:, :, number]
            row = {
                "start": start,
                "play": play,
                "unit": game.scale.label,
                "per agent": [round(game.scale.figure(float(one.mean())), 2) for one in own],
                "intervals": [
                    [round(game.scale.figure(end), 2) for end in interval(one, (-1.0, 1.0))]
                    for one in own
                ],
                "wins": (own > 0).sum(1).tolist(),
                "losses": (own < 0).sum(1).tolist(),
                "games of an agent": options.repeats,
                "seeds": seeds,
                "config": folder.run.digest,
                "command": "python -m experiments.search.won_starts"
                f" --repeats {options.repeats} --plays {play}"
                f" --seeds {' '.join(map(str, seeds))}{spared}",
            }
            rows.append(row)
            print(*(row[each] for each in ("start", "play", "wins", "losses")), flush=True)
        section.write(rows)


if __name__ == "__main__":
    end_in_a_line(main)
