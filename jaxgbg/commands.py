"""What the command `jaxgbg` can do, one function a command; their signatures are its options."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

if TYPE_CHECKING:
    from rich.console import Console

    from jaxgbg.runs.config import Config
    from jaxgbg.runs.store import RunFolder
    from jaxgbg.runs.train import Evaluation

_OPPONENTS = "maxn, mcts, mcts-N, ab, ab-dl, solver, bench, heur, grhino, score or random"
_BY_GAME = "N|GAME=N ..."


def _published(help_text: str, metavar: str) -> Any:
    """An option that stays at the published parameters where it is not given."""
    return arg(help=help_text, metavar=metavar, help_behavior_hint="(default: as published)")


Json = Annotated[
    Path | None,
    arg(
        name="json",
        metavar="FILE",
        help="Also write the rows to this JSON file.",
        help_behavior_hint="",
    ),
]
GameName = Annotated[Positional[str], arg(metavar="GAME", help="Name; `jaxgbg games` lists them.")]
Size = Annotated[
    int | None,
    arg(
        metavar="N",
        help="Of the board (hex, othello) or of each heap (nim).",
        help_behavior_hint="(default: as published)",
    ),
]
Out = Annotated[Path, arg(help="Folder for the results; each run gets a folder of its own in it.")]


def games(json_file: Json = None) -> None:
    """List the games and their sizes."""
    from jaxgbg.games import GAMES, make

    built = [make(name) for name in GAMES]
    records = [
        {
            "game": game.name,
            "players": game.num_players,
            "actions": game.num_actions,
            "cells": game.num_cells,
            "cell_values": game.num_cell_values,
            "symmetries": len(game.symmetries),
            "max_plies": game.max_plies,
        }
        for game in built
    ]
    _print_records(records, json_file)


def perft(
    game: GameName,
    depth: Annotated[int, arg(help="Plies to count.")] = 5,
    size: Size = None,
    json_file: Json = None,
) -> None:
    """Count the paths and positions of a game by depth."""
    from jaxgbg.games import make
    from jaxgbg.games.perft import perft as count

    if depth < 1:
        raise ValueError(f"depth must be at least 1, not {depth}")
    records = [
        {"depth": row.depth, "paths": row.paths, "positions": row.positions}
        for row in count(make(game, **({"size": size} if size is not None else {})), depth)
    ]
    _print_records(records, json_file)


def train(
    game: GameName,
    size: Size = None,
    seeds: Annotated[int, arg(help="Number of agents, trained side by side.")] = 1,
    seed: Annotated[int, arg(help="Number of the first seed.")] = 0,
    episodes: Annotated[int | None, _published("Budget of each agent.", "N")] = None,
    batch: Annotated[int | None, _published("Games in lockstep for each agent.", "N")] = None,
    farl: Annotated[bool, arg(help="Final Adaptation, both parts.")] = True,
    eval_every: Annotated[int | None, _published("Episodes between evaluations.", "N")] = None,
    opponents: Annotated[
        tuple[str, ...] | None, _published("Evaluate against these players.", "NAME ...")
    ] = None,
    alpha: Annotated[float | None, _published("First step size.", "X")] = None,
    alpha_end: Annotated[float | None, _published("Last step size.", "X")] = None,
    epsilon: Annotated[float | None, _published("First exploration rate.", "X")] = None,
    epsilon_end: Annotated[float | None, _published("Last exploration rate.", "X")] = None,
    trace_decay: Annotated[
        float | None, _published("Lambda of the eligibility traces.", "X")
    ] = None,
    delayed_traces: Annotated[
        bool | None,
        _published("Update a state once, when it leaves the traces; for long ones.", ""),
    ] = None,
    tcl: Annotated[
        Literal["none", "id", "exp"] | None,
        _published("Step sizes by temporal coherence.", "NAME"),
    ] = None,
    combine: Annotated[
        Literal["sum", "mean", "saturating"] | None,
        _published("How updates of one weight in one tick are joined.", "NAME"),
    ] = None,
    layout: Annotated[
        Path | None,
        _published("JSON file with the n-tuples.", "FILE"),
    ] = None,
    out: Out = Path("runs"),
    json_file: Json = None,
) -> None:
    """Train agents of one game; what is not given stays at the published parameters."""
    from jaxgbg.games import make
    from jaxgbg.runs.config import preset
    from jaxgbg.values import read_layout

    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, not {seeds}")
    parameters = {"size": size} if size is not None else {}
    given = {
        "episodes": episodes,
        "batch": batch,
        "eval_every": eval_every,
        "opponents": opponents,
        "alpha_start": alpha,
        "alpha_end": alpha_end if alpha_end is not None else alpha,
        "epsilon_start": epsilon,
        "epsilon_end": epsilon_end,
        "trace_decay": trace_decay,
        "delayed_traces": delayed_traces,
        "tcl": tcl,
        "combine": combine,
        "game_parameters": (("size", size),) if size is not None else None,
        "tuples": read_layout(make(game, **parameters), layout) if layout else None,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    config = preset(
        game,
        seeds=tuple(range(seed, seed + seeds)),
        farl=("farl" if farl else "none",),
        **changes,
    )
    _run_all([config], out, json_file)


def ablate(
    games: Annotated[
        Positional[tuple[str, ...]],
        arg(metavar="GAME ...", help="`jaxgbg games` lists them.", help_behavior_hint=""),
    ],
    seeds: Annotated[
        tuple[str, ...],
        arg(metavar=_BY_GAME, help="Agents of each variant, of all games or one."),
    ] = ("10",),
    episodes: Annotated[
        tuple[str, ...],
        arg(metavar=_BY_GAME, help="Budgets; the paper's where not given."),
    ] = (),
    eval_every: Annotated[
        tuple[str, ...],
        arg(metavar=_BY_GAME, help="Episodes between evaluations."),
    ] = (),
    batch: Annotated[tuple[str, ...], arg(metavar=_BY_GAME, help="Games in lockstep.")] = (),
    part1: Annotated[bool, arg(help="Also train with part 1 of FARL alone.")] = False,
    out: Out = Path("runs"),
    json_file: Json = None,
) -> None:
    """Train with and without FARL, and compare with the published figures."""
    from jaxgbg.runs.config import preset

    if not games:
        raise ValueError("name at least one game; `jaxgbg games` lists them")
    by_game = {
        "episodes": _numbers("episodes", episodes, games),
        "eval_every": _numbers("eval-every", eval_every, games),
        "batch": _numbers("batch", batch, games),
    }
    seeds_of = _numbers("seeds", seeds, games)
    variants = ("farl", "part1", "none") if part1 else ("farl", "none")
    configs = [
        preset(
            game,
            seeds=tuple(range(seeds_of.get(game, 10))),
            farl=variants,
            **{name: numbers[game] for name, numbers in by_game.items() if game in numbers},
        )
        for game in games
    ]
    _run_all(configs, out, json_file)


def evaluate(
    folder: Annotated[Positional[Path], arg(help="Folder of a run, or one agent file.")],
    opponent: Annotated[str | None, arg(help=f"{_OPPONENTS}; random if nothing is given.")] = None,
    engine: Annotated[
        str | None,
        arg(
            metavar="COMMAND",
            help='Or an engine that speaks GTP, e.g. "edax -gtp -l 1 -n 1 -book-usage off".',
            help_behavior_hint="",
        ),
    ] = None,
    timeout: Annotated[float, arg(help="Seconds that an engine may take for a move.")] = 10.0,
    game: Annotated[str | None, arg(help="Refuse agents of any other game.")] = None,
    seed: Annotated[int, arg(help="Seed of the evaluation's draws.")] = 0,
    json_file: Json = None,
) -> None:
    """Play trained agents against an opponent, by the published protocol."""
    import jax

    from jaxgbg.players import GTPEngine, make_opponent
    from jaxgbg.report.paper import to_unit, unit
    from jaxgbg.runs.agents import load_agent
    from jaxgbg.runs.train import evaluate as judge

    if engine is not None and opponent is not None:
        raise ValueError("give --opponent or --engine, not both")
    paths = sorted((folder / "agents").glob("*.agent")) if folder.is_dir() else [folder]
    if not paths:
        raise ValueError(f"{folder} holds no agents; give the folder of a finished run")
    agents = [load_agent(path, game) for path in paths]
    rules = agents[0].config.make_game()
    if engine is not None:
        player: Any = GTPEngine(rules, engine, timeout=timeout)
        name = player.name
    else:
        name = opponent or ("score" if rules.num_players == 1 else "random")
        player = make_opponent(name, rules)
    records = []
    try:
        for path, saved in zip(paths, agents, strict=True):
            lane = ((saved.seed, saved.farl),)
            key, episodes = jax.random.key(seed), saved.config.episodes
            for found in judge(saved.player(), name, player, episodes, lane, key):
                records.append(
                    {
                        "agent": path.name,
                        "game": rules.name,
                        "farl": saved.farl,
                        "opponent": name,
                        "unit": unit(rules.name, name),
                        "mean": round(to_unit(rules.name, name, found.score), 4),
                        "games": found.games,
                    }
                )
    finally:
        if isinstance(player, GTPEngine):
            player.close()
    _print_records(records, json_file)


def table1(
    games: Annotated[
        tuple[str, ...], arg(metavar="GAME ...", help="Rows to make; all where not given.")
    ] = (),
    seeds: Annotated[int, arg(help="Agents of each variant.")] = 10,
    scale: Annotated[float, arg(help="Times the published number of episodes.")] = 1.0,
    engine: Annotated[
        str | None,
        arg(
            metavar="COMMAND",
            help="GTP engine of the Othello row, e.g. Edax; else GRhino where it is installed.",
            help_behavior_hint="",
        ),
    ] = None,
    out: Out = Path("runs"),
    json_file: Json = None,
) -> None:
    """Make the paper's Table 1: train and evaluate what is not yet on disk."""
    from jaxgbg.runs import table1 as paper

    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, not {seeds}")
    configs = [paper.table1_config(game, seeds, scale) for game in games or paper.GAMES]

    def finish(folder: "RunFolder") -> None:
        paper.meet_final_opponents(
            folder, engine, lambda text: print(f"{folder.config.game}: {text}", file=sys.stderr)
        )

    _run_all(configs, out, json_file, finish, "table1")


def bench(
    games: Annotated[Positional[tuple[str, ...]], arg(help="Games; all if none is named.")] = (),
    seeds: Annotated[
        int | None, arg(help="Seeds side by side, each with and without FARL.")
    ] = None,
    batches: Annotated[
        tuple[int, ...] | None, arg(help="Batches to try; else 1, the default and a search.")
    ] = None,
    seconds: Annotated[float, arg(help="Seconds of each timing.")] = 1.0,
    rules: Annotated[
        bool, arg(help="Random play instead of training, beside pgx where it is installed.")
    ] = False,
    json_file: Json = None,
) -> None:
    """Measure training speed at the published parameters, or that of the rules alone."""
    from jaxgbg.games import GAMES
    from jaxgbg.runs.bench import bench as measure

    if seconds <= 0 or (seeds is not None and seeds < 1):
        raise ValueError("seconds and seeds must be positive")
    if rules:
        from jaxgbg.runs.bench_rules import bench_rules

        _print_records([bench_rules(game)._asdict() for game in games or tuple(GAMES)], json_file)
        return
    rows = [row for game in games or tuple(GAMES) for row in measure(game, seeds, batches, seconds)]
    _print_records([row._asdict() for row in rows], json_file)


def _numbers(option: str, entries: tuple[str, ...], games: tuple[str, ...]) -> dict[str, int]:
    """Read ("10", "connectfour=4") as a number for each game; raises ValueError in one line."""
    numbers: dict[str, int] = {}
    for entry in sorted(entries, key=lambda entry: "=" in entry):
        game, _, text = entry.rpartition("=")
        if game and game not in games:
            raise ValueError(f"--{option} {entry}: {game!r} is not among the games to train")
        try:
            number = int(text.replace("_", ""))
        except ValueError as error:
            raise ValueError(f"--{option} {entry}: expected N or GAME=N") from error
        if number < 1:
            raise ValueError(f"--{option} {entry}: must be at least 1")
        numbers.update({name: number for name in ([game] if game else games)})
    return numbers


def _run_all(
    configs: list["Config"],
    out: Path,
    json_file: Path | None,
    finish: Callable[["RunFolder"], None] = lambda _: None,
    name: str | None = None,
) -> None:
    """Train what is not yet on disk, `finish` each run, then print the table and write curves and
    rows, of what there is if stopped. `name` is that of the picture, by default the games'.
    """
    from jaxgbg.report.curves import draw_curves
    from jaxgbg.report.rows import as_records, rows
    from jaxgbg.report.table import print_table
    from jaxgbg.runs.progress import run_with_bar
    from jaxgbg.runs.store import RunFolder

    console = _console()
    results: list[tuple[Config, list[Evaluation], float]] = []
    folders: list[RunFolder] = []
    stopped = False
    for config in configs:
        folder, seconds, stopped = run_with_bar(config, out)
        folders.append(folder)
        try:
            if not stopped:
                finish(folder)
        except KeyboardInterrupt:
            stopped = True
        results.append((config, folder.evaluations(), seconds))
        if stopped:
            break
    table = [row for result in results if result[1] for row in rows(*result)]
    if table:
        print_table(table, console)
        picture = out / f"{name or '-'.join(config.game for config in configs)}-curves.png"
        draw_curves([(config, found) for config, found, _ in results if found], picture)
        console.print(f"learning curves: {picture}", soft_wrap=True)
    _write_json(json_file, as_records(table))
    for folder in folders:
        console.print(f"results: {folder.path}", soft_wrap=True)
    if stopped:
        count = len(folders[-1].evaluations())
        print(f"jaxgbg: stopped; {count} evaluations kept in {folders[-1].path}", file=sys.stderr)
        sys.exit(130)


def _print_records(records: list[dict[str, Any]], json_file: Path | None) -> None:
    from rich.table import Table

    table = Table()
    for name, value in records[0].items():
        number = isinstance(value, int | float)
        table.add_column(name.replace("_", " "), justify="right" if number else "left")
    for record in records:
        table.add_row(
            *(
                f"{v:,}" if isinstance(v, int | float) else str("" if v is None else v)
                for v in record.values()
            )
        )
    _console().print(table)
    _write_json(json_file, records)


def _console() -> "Console":
    """Standard output; wide enough for every table where it is no terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120)


def _write_json(path: Path | None, records: list[dict[str, Any]]) -> None:
    from jaxgbg.runs.files import write_json

    if path is None:
        return
    try:
        write_json(path, records)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from error
