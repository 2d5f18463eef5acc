"""Training speed of every game, next to GBG and the machine's look-ups; what pieces cost.

    jaxgbg bench --batches 1 64 --json runs/bench.json      # on an idle machine
    python -m experiments.archive add table1 bench runs/bench.json
    python -m experiments.table1.speed --pieces             # adds to results.json
    jaxgbg bench --rules --json runs/rules.json
    python -m experiments.archive add table1 bench-rules runs/rules.json
    python -m experiments.table1.speed                                    # prints all as tables

Pieces: a game is trained as published, without its traces, without its step sizes (TCL) and without
both, in turn. How many times as fast it is without them says what they cost.
"""

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.shared import Section, make_parser
from jaxgbg.cli.benchmarks import GBG_MOVES
from jaxgbg.cli.benchmarks.training import bench
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.devices import prepare_jax

LEFT_OUT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "traces": {"trace_decay": 0.0},
    "TCL": {"tcl": "none"},
    "both": {"trace_decay": 0.0, "tcl": "none"},
}
PIECES = {"tictactoe": 64, "nim": 64, "nim3p": 256, "othello": 64}
Rows = Sequence[dict[str, Any]]


def table_of(rows: Rows) -> Iterator[str]:
    """Moves/s and the share of the machine's look-ups, one game at a time and many."""
    heads = ["moves/s", "times GBG", "look-ups, share"]
    titles = [f"{many}: {head}" for many in ("one game", "64 games") for head in heads]
    yield f"| game | {' | '.join(titles)} |"
    yield "|---" * (1 + len(titles)) + "|"
    for game in GBG_MOVES:
        cells = [
            text
            for row in sorted(
                (row for row in rows if row["game"] == game), key=lambda row: int(row["batch"])
            )[:2]
            for text in (
                f"{row['moves_per_s']:,}",
                f"{row['moves_per_s'] / GBG_MOVES[game]:.1f}",
                f"{row['share']:.2f}",
            )
        ]
        yield f"| {game} | {' | '.join(cells)} |"


def pieces_of(rows: Rows) -> Iterator[str]:
    """How many times as fast a game is trained without its traces, its TCL, or both."""
    names = [name for name in LEFT_OUT if name != "nothing"]
    yield f"| game | games | {' | '.join(f'without {name}' for name in names)} |"
    yield "|---" * (2 + len(names)) + "|"
    for row in rows:
        cells = (f"{statistics.median(row[name]):.2f}" for name in names)
        yield f"| {row['game']} | {row['batch']} | {' | '.join(cells)} |"


def rules_of(rows: Rows) -> Iterator[str]:
    """Moves/s of random play, and of pgx where it has the game."""
    yield "| rules alone | moves/s | times pgx |"
    yield "|---|---|---|"
    for row in rows:
        yield f"| {row['game']} | {row['moves_per_s']:,} | {row['times_pgx'] or ''} |"


def measured(repeats: int = 3) -> Iterator[dict[str, Any]]:
    """The ratios of `repeats` rounds, in each of which all are measured in turn."""
    for game, batch in PIECES.items():
        rounds = [
            {
                name: bench(game, None, (batch,), 1.0, **changes)[0].moves_per_s
                for name, changes in LEFT_OUT.items()
            }
            for _ in range(repeats)
        ]
        ratios = {
            name: [round(one[name] / one["nothing"], 3) for one in rounds]
            for name in LEFT_OUT
            if name != "nothing"
        }
        yield {"game": game, "batch": batch} | ratios


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--pieces", action="store_true", help="measure what pieces cost")
    options = parser.parse_args(arguments)
    place: Path = options.results
    if options.pieces:
        prepare_jax()
        Section(place, "pieces").write(list(measured()))
        return
    for name, lines in {"bench": table_of, "pieces": pieces_of, "bench-rules": rules_of}.items():
        print("\n".join([*lines(Section(place, name).read()), ""]))


if __name__ == "__main__":
    end_in_a_line(main)
