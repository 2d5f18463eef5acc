"""Table 4.1 of the thesis: the three opponents among themselves.

    python -m experiments.lines_of_action.opponents [--games 20000]

COM and SELF play with the noise of the tests, half of the games from each seat. Writes
results.json.
"""

from collections.abc import Sequence

import jax
import numpy as np

import jaxgbg
from experiments.lines_of_action.judge import opponents
from experiments.shared import Section, interval, make_parser
from jaxgbg import Protocol
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.opponents import judge_by, make_opponent

# What the first of each pair won there, in 100 000 games.
PAIRS = {("SELF", "COM"): 0.88, ("COM", "RAND"): 1.0, ("SELF", "RAND"): 1.0}
_AT_ONCE = 4000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--games", type=int, default=20_000, help="of a pair")
    options = parser.parse_args(arguments)
    prepare_jax()
    game, known, rows = jaxgbg.make("lines_of_action"), opponents(options.results), []
    section = Section(options.results, "opponents")
    for (first, second), paper in PAIRS.items():
        player, parts = make_opponent(known[first], game), -(-options.games // _AT_ONCE)
        protocol = Protocol("default", repeats=options.games // (2 * parts))
        judge = judge_by(known[second], game, protocol)
        found = [judge.scores(player, jax.random.key(part)) for part in range(parts)]
        scores = np.stack([each[judge.name] for each in found])
        row = {
            "first": first,
            "second": second,
            "share": round(float(scores.mean()) / 2 + 0.5, 4),
            "interval": [round(end / 2 + 0.5, 4) for end in interval(scores, (-1.0, 1.0))],
            "paper": paper,
            "games": scores.size,
            "drawn": int((scores == 0).sum()),
            "command": f"python -m experiments.lines_of_action.opponents --games {options.games}",
        }
        rows.append(row)
        print(first, second, row["share"], row["interval"], flush=True)
        section.write(rows)


if __name__ == "__main__":
    end_in_a_line(main)
