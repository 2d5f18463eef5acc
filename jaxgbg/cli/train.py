"""Commands that train: `train`, `ablate` and `table1`."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from tyro.conf import OmitArgPrefixes, Positional

from jaxgbg.cli.common import (
    CheckpointEvery,
    GameName,
    Json,
    Log,
    Out,
    Parameters,
    Size,
    TableFormat,
    console,
    optional,
    write_rows,
)
from jaxgbg.cli.options import given, run_options, whole
from jaxgbg.cli.play import Port
from jaxgbg.cli.show import NOTHING_GIVEN, SETTINGS, Farl, Layout, run_of, show_run
from jaxgbg.cli.train_progress import train_with_bar
from jaxgbg.evaluation import judge_names
from jaxgbg.results.figures import draw_curves
from jaxgbg.results.layout import Format
from jaxgbg.results.rows import as_records, rows
from jaxgbg.results.table import print_table
from jaxgbg.runs import Result, Run, RunFolder
from jaxgbg.runs.presets import konen2021, preset, published_kinds
from jaxgbg.runs.presets import table1 as paper
from jaxgbg.runs.run import Seeds, digest_of
from jaxgbg.specs import Seed, checked
from jaxgbg.types import SettingValue, TypeHint
from jaxgbg.web.watch.serving import PORT

_ByGame = Annotated[tuple[str, ...], optional("N|GAME=N ...")]
_SeedsByGame = Annotated[tuple[str, ...], optional("N|GAME=N ...", "10")]
_Opponents = Annotated[
    tuple[str, ...],
    optional(
        "NAME|GAME=NAME ...",
        aliases=["--opponent"],
        help="Evaluate against these players or agent files, in all games or one:"
        f" {', '.join(judge_names())}.",
    ),
]
# In `ablate`, these options differ by game.
_Shared: TypeHint = run_options("episodes", "eval_every", "batch", "opponents")
_NOTHING_SHARED = _Shared()


@checked
def train(
    game: GameName,
    settings: OmitArgPrefixes[SETTINGS] = NOTHING_GIVEN,
    size: Size = None,
    parameters: Parameters = (),
    seeds: Seeds = 1,
    seed: Seed = 0,
    farl: Farl = True,
    layout: Layout = None,
    show: bool = False,
    checkpoint_every: CheckpointEvery = 60.0,
    log: Log = (),
    watch: bool = False,
    watch_port: Port = PORT,
    out: Out = Path("runs"),
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Train agents of one game. Defaults are the published settings; `jaxgbg show GAME` lists them.

    Every learner works with every value function and every partner: td learns values of
    afterstates, sarsa and q those of actions; ntuple stores them in tables, mlp in a network; the
    partner is the agent itself (self-play), a fixed player, or an agent trained before.

    Args:
      seeds: Number of agents, trained in parallel.
      seed: Number of the first seed.
      layout: ntuple: JSON file with the n-tuples.
      show: Only show the settings, and the expected time and memory; see `jaxgbg show`.
      watch: Show the training in a browser, like the command watch.
      watch_port: Port of that page, for this machine only; 0 takes any free port.
    """
    run = run_of(game, settings, size, parameters, seeds, seed, farl, layout)
    if show:
        show_run(run, True, json_file)
        return
    published = published_kinds(run.game)
    if run.value.kind not in published:
        others = f" but with --value {' or '.join(published)}" if published else ""
        print(
            f"jaxgbg: no paper has parameters for {game}{others}; using our own for its size:"
            f" {run.value.describe()}; {run.schedule.describe()}",
            file=sys.stderr,
        )
    watched_on = watch_port if watch else None
    _run_all([run], out, json_file, checkpoint_every, log, form, watched_on=watched_on)


@checked
def ablate(
    games: Annotated[Positional[tuple[str, ...]], optional("GAME ...")],
    seeds: _SeedsByGame = ("10",),
    episodes: _ByGame = (),
    eval_every: _ByGame = (),
    batch: _ByGame = (),
    opponents: _Opponents = (),
    settings: OmitArgPrefixes[_Shared] = _NOTHING_SHARED,
    part1: bool = False,
    checkpoint_every: CheckpointEvery = 60.0,
    log: Log = (),
    out: Out = Path("runs"),
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Train with and without FARL, and compare with the published figures.

    Args:
      games: Games to train; `jaxgbg games` lists them, `jaxgbg show GAME` shows their settings.
      seeds: Number of agents of each variant, for all games or for one.
      episodes: Episodes of each agent; default: the paper's.
      eval_every: Episodes between evaluations.
      batch: Number of games in lockstep.
      part1: Also train with part 1 of FARL alone.
    """
    if not games:
        raise ValueError("name at least one game; `jaxgbg games` lists them")
    by_game: dict[str, dict[str, SettingValue]] = {
        "opponents": _opponents(opponents, games),
        "episodes": _numbers("episodes", episodes, games),
        "eval_every": _numbers("eval-every", eval_every, games),
        "batch": _numbers("batch", batch, games),
    }
    seeds_of = _numbers("seeds", seeds, games)
    variants = ("farl", "part1", "none") if part1 else ("farl", "none")
    runs = [
        preset(
            game,
            seeds=range(seeds_of.get(game, 10)),
            variants=variants,
            **given(settings),
            **{name: told[game] for name, told in by_game.items() if game in told},
        )
        for game in games
    ]
    _run_all(runs, out, json_file, checkpoint_every, log, form)


@checked
def table1(
    games: Annotated[tuple[str, ...], optional("GAME ...")] = (),
    seeds: Seeds = 10,
    seed: Seed = 0,
    scale: paper.Factor = 1.0,
    batch: Annotated[int | None, optional("INT", "as shipped")] = None,
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
    rows_asked = games or konen2021.GAMES
    runs = [paper.table1_run(game, seeds, scale, seed, batch) for game in rows_asked]

    def finish(folder: RunFolder) -> None:
        paper.meet_final_opponents(
            folder, engine, lambda text: print(f"{folder.run.game.name}: {text}", file=sys.stderr)
        )

    _run_all(runs, out, json_file, checkpoint_every, log, form, finish, "table1")


def _numbers(option: str, entries: tuple[str, ...], games: tuple[str, ...]) -> dict[str, int]:
    """Parse ("10", "connectfour=4") as a number for each game; raises ValueError."""
    numbers: dict[str, int] = {}
    for entry in sorted(entries, key=lambda entry: "=" in entry):
        game, _, text = entry.rpartition("=")
        if game and game not in games:
            raise ValueError(f"--{option} {entry}: {game!r} is not among the games to train")
        try:
            number = whole(text)
        except ValueError as error:
            raise ValueError(f"--{option} {entry}: expected N or GAME=N") from error
        if number < 1:
            raise ValueError(f"--{option} {entry}: must be at least 1")
        numbers.update({name: number for name in ([game] if game else games)})
    return numbers


def _opponents(entries: tuple[str, ...], games: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Parse ("maxn", "connectfour=solver") as names by game; a game's own names take precedence.

    The options of an agent file may contain more "=".
    """
    of_all = tuple(entry for entry in entries if entry.partition("=")[0] not in games)
    named = dict.fromkeys(games, of_all) if of_all else {}
    for game in games:
        own = tuple(e.removeprefix(f"{game}=") for e in entries if e.startswith(f"{game}="))
        if own:
            named[game] = own
    return named


def _run_all(
    runs: list[Run],
    out: Path,
    json_file: Path | None,
    checkpoint_every: float,
    log: tuple[str, ...],
    form: Format,
    finish: Callable[[RunFolder], None] = lambda _: None,
    name: str | None = None,
    watched_on: int | None = None,
) -> None:
    """Train what is not yet on disk, `finish` each run, print the table, write curves and rows.

    After an interruption, use the results so far. The name of the picture starts with `name`, or
    with the names of the games. A page on the port `watched_on` shows the training.
    """
    screen = console()
    finished: list[tuple[Run, list[Result], float]] = []
    folders: list[RunFolder] = []
    stopped = 0
    for run in runs:
        folder, seconds, stopped = train_with_bar(run, out, checkpoint_every, log, watched_on)
        folders.append(folder)
        try:
            if not stopped:
                finish(folder)
        except KeyboardInterrupt:
            stopped = signal.SIGINT
        finished.append((run, folder.results(), seconds))
        if stopped:
            break
    table = [row for each in finished if each[1] for row in rows(*each)]
    if table:
        print_table(table, screen, form)
        picture = out / f"{_name_of(runs, name)}-curves.png"
        draw_curves([(run, results) for run, results, _ in finished if results], picture)
        screen.print(f"learning curves: {picture}", soft_wrap=True)
    write_rows(json_file, as_records(table))
    for folder in folders:
        screen.print(f"results: {folder.path}", soft_wrap=True)
        for seed, variant in folder.summary().get("diverged", ()) if folder.finished else ():
            print(
                f"jaxgbg: the network of seed {seed}, {variant}, has diverged and plays at random;"
                " use a smaller --alpha, or --output tanh",
                file=sys.stderr,
            )
    if stopped:
        count = len(folders[-1].results())
        print(
            f"jaxgbg: stopped; {count} evaluations kept in {folders[-1].path};"
            " the same command resumes from there",
            file=sys.stderr,
        )
        sys.exit(128 + stopped)


def _name_of(runs: list[Run], name: str | None) -> str:
    """A unique name for these runs: the name of a single one, otherwise a digest of all."""
    if len(runs) == 1 and name is None:
        return runs[0].name
    games = "-".join(run.game.name for run in runs)
    return f"{name or games}-{digest_of({run.name: '' for run in runs})}"
