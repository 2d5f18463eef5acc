"""Draw pictures of experiments again from their kept results, without training or playing:

python -m experiments.redraw                       # all of these
python -m experiments.redraw search/equal_time     # one of them
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.discount import tables as discount
from experiments.lines_of_action import unlearning
from experiments.lockstep import tables as lockstep
from experiments.othello_partners import run as partners
from experiments.ralpha import table as ralpha
from experiments.search import equal_time, othello_levels, run
from experiments.shared import Record, Section
from jaxgbg.cli.exit_codes import end_in_a_line

HERE = Path(__file__).parent
FIGURES: dict[str, tuple[Sequence[str], Callable[[list[Record], Path], None]]] = {
    "discount/means": (discount.GAMES, discount.draw),
    "lines_of_action/unlearning": (
        ("unlearning",),
        lambda rows, path: unlearning.picture(path, rows),
    ),
    "lockstep/connectfour": (("connectfour",), lockstep.draw),
    "lockstep/hex": (("hex",), lockstep.draw),
    "lockstep/nim3p": (("nim3p",), lockstep.draw_nim3p),
    "othello_partners/curves": ((partners.NETWORKS,), partners.draw),
    "ralpha/connectfour": (("connectfour",), ralpha.draw),
    "ralpha/connectfour-100-shallow-0.9-0.2": (
        ("connectfour-100-shallow-0.9-0.2",),
        ralpha.draw_curve,
    ),
    "ralpha/tictactoe": (("tictactoe",), ralpha.draw),
    "search/equal_time": (("equal_time",), equal_time.draw),
    "search/figures": (("strength",), run.draw),
    "search/othello_levels": (("othello_levels",), othello_levels.draw),
}
"""Pictures by their paths without .png: the sections of results.json, and what draws their rows."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=list(FIGURES), metavar="NAME")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the experiments")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in FIGURES:
            parser.error(f"unknown picture {name!r}: choose among {', '.join(FIGURES)}")
        sections, draw = FIGURES[name]
        path = options.out / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = (HERE / name).parent
        draw([row for section in sections for row in Section(folder, section).read()], path)
        print(path)


if __name__ == "__main__":
    end_in_a_line(main)
