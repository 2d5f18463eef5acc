"""The tables of README.md, of the kept figures: a game each, gamma by gamma, with FARL and without;
and its picture, which `experiments.redraw` writes.

python -m experiments.discount.tables
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.discount.threats import MEASURES, THREATS
from experiments.means import VARIANTS as LOOKS
from experiments.means import Panel, draw_means, lines_of
from experiments.shared import Record, Section
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.statistics import mean_sem

HERE = Path(__file__).parent
GAMES = ("tictactoe", "nim", "connectfour", "hex")
VARIANTS = ("farl", "none")


def figures(game: str) -> dict[tuple[Any, ...], str]:
    """(value function, gamma, opponent or measure, variant) -> mean ± s.e., in %."""
    found = {}
    for row in Section(HERE, game).read():
        key = row.get("value", "ntuple"), row["discount"], row["opponent"], row["variant"]
        found[key] = f"{row['mean']:.1f} ± {row['sem']:.1f}"
    for row in Section(HERE, THREATS).read():
        if row["game"] == game:
            for measure in MEASURES:
                key = row["value"], row["discount"], measure, row["variant"]
                found[key] = "{:.1f} ± {:.1f}".format(*mean_sem(row[measure]))
    return found


def table_of(game: str) -> Iterator[str]:
    """A line for each value function and gamma, a pair of columns for each opponent and measure."""
    found = figures(game)
    columns = list(dict.fromkeys(column for _, _, column, _ in found))
    several = len({value for value, *_ in found}) > 1
    heads = [*(["value"] if several else []), "gamma"]
    heads += [f"{column}, {words}" for column in columns for words in ("FARL", "without")]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for value, gamma in sorted({key[:2] for key in found}, key=lambda one: (one[0], -one[1])):
        cells = [*([value] if several else []), f"{gamma:g}"]
        cells += [found[value, gamma, column, name] for column in columns for name in VARIANTS]
        yield f"| {' | '.join(cells)} |"
    chance = next(row["by chance"] for row in Section(HERE, THREATS).read() if row["game"] == game)
    told = ", ".join(f"{chance[measure]:.0f} % ({measure})" for measure in MEASURES)
    yield f"\nBy chance: {told}."


PANELS = {
    ("tictactoe", "maxn"): "TicTacToe against perfect play",
    ("tictactoe", "random"): "TicTacToe against random play",
    ("nim", "maxn"): "Nim against perfect play",
    ("connectfour", "solver"): "ConnectFour: moves that keep the value",
    ("hex", "mcts-1000"): "Hex against MCTS, 1,000 iterations",
}


def draw(rows: Sequence[Record], path: Path) -> None:
    """Draw a panel for each game and opponent: the means by gamma, with FARL and without."""
    panels = []
    for (game, opponent), title in PANELS.items():
        own = [row for row in rows if (row["game"], row["opponent"]) == (game, opponent)]
        own.sort(key=lambda row: (row["variant"], row.get("value") == "mlp"))
        panels.append(Panel(title, own[0]["unit"], lines_of(own, "discount", _look)))
    draw_means(
        panels, path, "gamma", "3 to 20 agents, last fifth of the training, bars 95% interval"
    )


def _look(row: Record) -> tuple[str, str, str]:
    label, color = LOOKS[row["variant"]]
    return (f"{label}, network", color, ":") if row.get("value") == "mlp" else (label, color, "-")


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=__doc__, formatter_class=raw).parse_args(arguments)
    print("\n\n".join(f"**{game}**\n\n" + "\n".join(table_of(game)) for game in GAMES))


if __name__ == "__main__":
    end_in_a_line(main)
