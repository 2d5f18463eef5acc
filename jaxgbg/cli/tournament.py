"""The command `tournament`: rate many players."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from jaxgbg.arguments import GroupExecutor, NumGames, Plies, Rounds
from jaxgbg.cli.common import (
    Json,
    Parameters,
    Record,
    Size,
    TableFormat,
    console,
    optional,
    read_game,
    write_rows,
)
from jaxgbg.cli.outputs import FIGURE
from jaxgbg.cli.session import start_jax
from jaxgbg.results.formats import print_columns, print_plain
from jaxgbg.specs import Seed, checked

if TYPE_CHECKING:
    from jaxgbg.games import Game
    from jaxgbg.results.ladder import Ladder


_Starts = Annotated[
    str,
    arg(
        metavar="NAME",
        help="How games start: random_plies (--plies random moves), default (the start),"
        " choose_01 (the start or, with probability 1/2, one random move later), one_ply (after"
        " each first move), one_ply_triangle (after those on or below the diagonal of a square"
        " board), four_ply (after each line of four moves), four_ply_positions (each position"
        " after four moves once).",
    ),
]


@checked
def tournament(
    participants: Annotated[
        Positional[tuple[str, ...]],
        optional(
            "NAME|AGENT|RUN ...",
            help="Names of players, agent files, folders of runs; farl=AGENT names the agent farl.",
        ),
    ] = (),
    game: Annotated[str | None, optional("GAME", "that of the agents")] = None,
    size: Size = None,
    parameters: Parameters = (),
    games: NumGames = 100,
    starts: _Starts = "random_plies",
    plies: Plies = 4,
    swiss: Rounds = 0,
    first: bool = False,
    seed: Seed = 0,
    executor: GroupExecutor = "inline",
    address: Annotated[str | None, optional("ADDRESS", "a new one on this machine")] = None,
    out: Annotated[Path | None, optional("DIR")] = None,
    record: Record = None,
    plot: Annotated[Path | None, optional("FILE.png|svg|pdf"), FIGURE] = None,
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Let all players meet in all seats, and rate them in Elo with 95% intervals.

    In a game of N seats, every N players form a group, which plays drawn openings in all orders of
    seats. Ratings follow Bradley and Terry with draws (Davidson), for more than two players
    Plackett and Luce, with an advantage for each seat; random has 0. All agents of a run take part.
    With --out the games are kept, and the same command resumes, also with more players or rounds.

    Args:
      game: The game; required if no agent takes part.
      games: Minimum number of games of each group.
      plies: Number of uniformly random plies of random_plies.
      swiss: Rounds of the Swiss system, for many players of a two-player game; 0 lets all meet.
      first: Use only the first agent of a run, with FARL if there is one.
      seed: Seed of openings and random draws.
      executor: Where to play: in this process, or on a Ray cluster, a group at a time on each core.
      address: Address of the Ray cluster; auto finds one.
      out: Folder that keeps the games.
      plot: Also draw the ratings and who scores against whom.
    """
    _check_plot(plot)
    rules = _rules(game, size, parameters)
    start_jax()
    from jaxgbg.api import tournament as play

    settings = (games, starts, plies, seed, out, first, True, swiss, executor, address, record)
    _print(ladder := play(participants, rules, *settings), form, json_file)
    if plot is not None:
        ladder.plot(plot)


def _rules(game: str | None, size: int | None, parameters: tuple[str, ...]) -> "Game | None":
    """The game of the options; None for that of the agents."""
    if game is not None:
        return read_game(game, size, parameters)
    if size is not None or parameters:
        raise ValueError("--size and --parameters need --game")
    return None


def _check_plot(plot: Path | None) -> None:
    if plot is not None:
        from jaxgbg.results.figures import check_name

        check_name(plot)


def _print(ladder: "Ladder", form: TableFormat, json_file: Path | None) -> None:
    write_rows(json_file, ladder.records())
    if form in ("csv", "json"):
        print_plain(ladder.records(), form)
        return
    print_columns(ladder.columns(), console(), form)
    for note in ladder.notes() if form == "table" else ():
        console().print(note, highlight=False, markup=False)
