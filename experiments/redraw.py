"""Draw pictures of experiments again from their kept results, without training or playing:

python -m experiments.redraw                       # all of these
python -m experiments.redraw search/equal_time     # one of them
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from experiments.lines_of_action import unlearning
from experiments.othello_partners import run as partners
from experiments.search import equal_time, othello_levels, run
from experiments.shared import Section
from jaxgbg.cli.exit_codes import end_in_a_line

HERE = Path(__file__).parent
FIGURES: dict[str, tuple[str, Callable[[list[dict[str, Any]], Path], None]]] = {
    "lines_of_action/unlearning": ("unlearning", lambda rows, path: unlearning.picture(path, rows)),
    "othello_partners/curves": (partners.NETWORKS, partners.draw),
    "search/equal_time": ("equal_time", equal_time.draw),
    "search/figures": ("strength", run.draw),
    "search/othello_levels": ("othello_levels", othello_levels.draw),
}
"""Pictures by their paths without .png: the section of results.json, and what draws its rows."""


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
        section, draw = FIGURES[name]
        path = options.out / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        draw(Section((HERE / name).parent, section).read(), path)
        print(path)


if __name__ == "__main__":
    end_in_a_line(main)
