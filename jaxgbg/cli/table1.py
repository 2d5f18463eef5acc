"""The command `table1`: reproduce the paper's Table 1."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from jaxgbg.arguments import Factor
from jaxgbg.cli.common import CheckpointEvery, Json, Log, Out, TableFormat, optional
from jaxgbg.runs.run import Seeds
from jaxgbg.specs import Seed, checked

if TYPE_CHECKING:
    from jaxgbg.runs import RunFolder


@checked
def table1(
    games: Annotated[tuple[str, ...], optional("GAME ...")] = (),
    seeds: Seeds = 10,
    seed: Seed = 0,
    scale: Factor = 1.0,
    batch: Annotated[int | None, optional("N", "as shipped")] = None,
    engine: Annotated[str | None, optional("COMMAND")] = None,
    checkpoint_every: CheckpointEvery = 60.0,
    log: Log = (),
    out: Out = Path("runs"),
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Reproduce the paper's Table 1: train and evaluate what is not yet on disk.

    Args:
      games: Rows to make; default: all.
      seeds: Number of agents of each variant.
      seed: Number of the first seed.
      scale: Factor on the published number of episodes.
      batch: Number of games in lockstep; 1 is the serial algorithm, as published.
      engine: GTP engine of the Othello row, such as Edax; default: GRhino, if it is installed.
    """
    from jaxgbg.cli.run_all import run_all
    from jaxgbg.runs.presets import konen2021
    from jaxgbg.runs.presets import table1 as paper

    rows_asked = games or konen2021.GAMES
    runs = [paper.table1_run(game, seeds, scale, seed, batch) for game in rows_asked]

    def finish(folder: "RunFolder") -> None:
        paper.meet_final_opponents(
            folder, engine, lambda text: print(f"{folder.run.game.name}: {text}", file=sys.stderr)
        )

    run_all(runs, out, json_file, checkpoint_every, log, form, finish, "table1")
