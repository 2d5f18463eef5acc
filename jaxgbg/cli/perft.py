"""The command `perft`: count the paths and positions of a game."""

import sys
import time
from typing import TYPE_CHECKING

from jaxgbg.arguments import Depth
from jaxgbg.cli.common import (
    GameName,
    Json,
    Parameters,
    Size,
    TableFormat,
    print_records,
    read_game,
)
from jaxgbg.cli.session import start_jax
from jaxgbg.specs import checked

if TYPE_CHECKING:
    from jaxgbg.games.perft import PerftRow


@checked
def perft(
    game: GameName,
    depth: Depth = 5,
    size: Size = None,
    parameters: Parameters = (),
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Count the paths and positions of a game by depth.

    Args:
      depth: Plies to count.
    """
    rules = read_game(game, size, parameters)
    start_jax()
    from jaxgbg.games.perft import perft as count

    begun = time.perf_counter()

    def show_progress(row: "PerftRow") -> None:
        """Name each ply as it is counted, if the next one is waited for."""
        seconds = time.perf_counter() - begun
        if seconds > 1 and row.depth < depth:
            line = f"ply {row.depth} of {depth}: {row.paths:,} paths, {seconds:.0f} s elapsed"
            print(line, file=sys.stderr, flush=True)

    records = [
        {"depth": row.depth, "paths": row.paths, "positions": row.positions}
        for row in count(rules, depth, show_progress)
    ]
    print_records(records, json_file, form)
