"""The command that ranks many players: `tournament`."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.api import tournament as play
from jaxgbg.arena.scheduler import Executor
from jaxgbg.arena.tournament import NumGames, Plies, Rounds
from jaxgbg.cli.common import (
    Json,
    Parameters,
    Size,
    TableFormat,
    console,
    optional,
    read_game,
    write_rows,
)
from jaxgbg.results.figures import check_name
from jaxgbg.results.ladder import Ladder
from jaxgbg.results.layout import print_columns, print_plain
from jaxgbg.runs.storage.files import check_writable
from jaxgbg.specs import Seed, checked


@checked
def tournament(
    participants: Annotated[
        Positional[tuple[str, ...]],
        arg(
            metavar="NAME|AGENT|RUN ...",
            help="Players by name, agent files, folders of runs; farl=AGENT calls it farl.",
        ),
    ] = (),
    game: Annotated[str | None, optional("GAME", "that of the agents")] = None,
    size: Size = None,
    parameters: Parameters = (),
    games: NumGames = 100,
    starts: Annotated[
        str, arg(help="random_plies, default, choose_01, one_ply, four_ply, four_ply_positions.")
    ] = "random_plies",
    plies: Plies = 4,
    swiss: Rounds = 0,
    first: bool = False,
    seed: Seed = 0,
    executor: Executor = "inline",
    address: Annotated[str | None, optional("ADDRESS", "a new one on this machine")] = None,
    out: Annotated[Path | None, optional("DIR")] = None,
    plot: Annotated[Path | None, optional("FILE.png|svg|pdf")] = None,
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Let all players meet each other from all seats, and rate them in Elo with 95 % intervals.

    In a game of N seats every N players are a group, which plays drawn openings in all orders of
    seats; all groups meet, or with --swiss those of like standing. Ratings are those of Bradley and
    Terry with draws (Davidson), of Plackett and Luce among more, with the worth of each seat;
    random is 0. Of a run every agent takes part. With --out what is done is kept: the same command
    goes on, also with more players or rounds.

    Args:
      game: The game; needed where no agent takes part.
      games: Games of each group, at least.
      starts: Where games start.
      plies: Uniformly random plies of random_plies.
      swiss: Rounds of the Swiss system, for many players of a game of two; 0 lets all meet.
      first: Of a run its first agent alone, with FARL if one is.
      seed: Seed of openings and draws.
      executor: Who plays: this process, or a Ray cluster, a group at a time on each core.
      address: Of the Ray cluster; auto finds one.
      out: Folder that keeps the games.
      plot: Also draw the ladder and who scores against whom.
    """
    check_writable(plot)
    if plot is not None:
        check_name(plot)
    if game is None and (size is not None or parameters):
        raise ValueError("--size and --parameters are those of --game: name it")
    rules = None if game is None else read_game(game, size, parameters)
    on = (executor, address)
    ladder = play(participants, rules, games, starts, plies, seed, out, first, True, swiss, *on)
    _print(ladder, form)
    if plot is not None:
        ladder.plot(plot)
    write_rows(json_file, ladder.records())


def _print(ladder: Ladder, form: TableFormat) -> None:
    if form in ("csv", "json"):
        print_plain(ladder.records(), form)
        return
    print_columns(ladder.columns(), console(), form)
    for note in ladder.notes() if form == "table" else ():
        console().print(note, highlight=False, markup=False)
