"""Commands that train: `train`, `ablate` and `table1`."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from jaxgbg.commands.common import (
    CheckpointEvery,
    GameName,
    Json,
    LearnerName,
    Log,
    Out,
    Parameters,
    Size,
    ValueName,
    console,
    game_parameters,
    network,
    published,
    write_rows,
)

if TYPE_CHECKING:
    from jaxgbg.training.config import Config
    from jaxgbg.training.store import RunFolder
    from jaxgbg.training.train import Evaluation

_BY_GAME = "N|GAME=N ..."


def train(
    game: GameName,
    size: Size = None,
    parameters: Parameters = (),
    learner: LearnerName = "td",
    value: ValueName = "ntuple",
    partner: Annotated[
        str, arg(metavar="NAME|FILE", help="self, random, maxn, heur, bench, or an agent file.")
    ] = "self",
    learn_from_partner: Annotated[
        bool, arg(help="Learn from the partner's moves as from one's own.")
    ] = False,
    seeds: Annotated[int, arg(help="Number of agents, trained side by side.")] = 1,
    seed: Annotated[int, arg(help="Number of the first seed.")] = 0,
    episodes: Annotated[int | None, published("Budget of each agent.", "N")] = None,
    batch: Annotated[int | None, published("Games in lockstep for each agent.", "N")] = None,
    farl: Annotated[bool, arg(help="Final Adaptation, both parts.")] = True,
    eval_every: Annotated[int | None, published("Episodes between evaluations.", "N")] = None,
    opponents: Annotated[
        tuple[str, ...] | None, published("Evaluate against these players.", "NAME ...")
    ] = None,
    alpha: Annotated[float | None, published("First step size.", "X")] = None,
    alpha_end: Annotated[float | None, published("Last step size.", "X")] = None,
    epsilon: Annotated[float | None, published("First exploration rate.", "X")] = None,
    epsilon_end: Annotated[float | None, published("Last exploration rate.", "X")] = None,
    trace_decay: Annotated[
        float | None, published("Lambda of the eligibility traces.", "X")
    ] = None,
    delayed_traces: Annotated[
        bool | None,
        published("Update a state once, when it leaves the traces; for long ones.", ""),
    ] = None,
    tcl: Annotated[
        Literal["none", "id", "exp"] | None,
        published("Step sizes by temporal coherence.", "NAME"),
    ] = None,
    combine: Annotated[
        Literal["sum", "mean", "saturating"] | None,
        published("How updates of one weight in one tick are joined.", "NAME"),
    ] = None,
    layout: Annotated[
        Path | None,
        published("JSON file with the n-tuples.", "FILE"),
    ] = None,
    discount: Annotated[float, arg(metavar="X", help="Gamma.")] = 1.0,
    replan: Annotated[
        bool, arg(help="sarsa: choose the action anew after the update, as in Algorithm 5.")
    ] = False,
    hidden: Annotated[
        tuple[int, ...] | None,
        network("Sizes of the hidden layers.", "N ...", "50; 100 on up to 9 cells"),
    ] = None,
    activation: Annotated[
        Literal["sigmoid", "tanh", "relu"] | None,
        network("Of the hidden layers.", "NAME", "sigmoid; relu on up to 9 cells"),
    ] = None,
    output: Annotated[
        Literal["tanh", "sigmoid", "identity"] | None,
        network(
            "Of the outputs; sigmoid spans the rewards.", "NAME", "tanh; identity on up to 9 cells"
        ),
    ] = None,
    initializer: Annotated[
        Literal["uniform", "xavier", "truncated"] | None,
        network("Of the weights.", "NAME", "uniform; xavier on up to 9 cells"),
    ] = None,
    bias: Annotated[
        float | None, network("Where biases start, unless uniform draws them.", "X", "0")
    ] = None,
    optimizer: Annotated[
        str | None, network("Any of optax that takes a step size.", "NAME", "sgd")
    ] = None,
    parameter_traces: Annotated[
        bool, arg(help="mlp: eligibility over the parameters instead of over past states.")
    ] = False,
    checkpoint_every: CheckpointEvery = 60.0,
    log: Log = (),
    out: Out = Path("runs"),
    json_file: Json = None,
) -> None:
    """Train agents of one game; what is not given stays at the published parameters.

    Any learner goes with any value and any partner: td learns values of afterstates, sarsa and q
    those of actions; ntuple keeps them in tables, mlp in a network; the partner is the agent itself
    (self-play), a fixed player, or an agent trained before.
    """
    from jaxgbg.games import make
    from jaxgbg.training.config import preset
    from jaxgbg.values import read_layout

    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, not {seeds}")
    built = game_parameters(game, size, parameters)
    network_settings = {
        "hidden": hidden,
        "activation": activation,
        "output": output,
        "initializer": initializer,
        "bias": bias,
        "optimizer": optimizer,
    }
    given_ones = [name for name, setting in network_settings.items() if setting is not None]
    if value != "mlp" and given_ones:
        raise ValueError(f"--{given_ones[0]} is for networks: add --value mlp")
    if value == "mlp" and (layout or tcl):
        option = "--layout" if layout else "--tcl"
        raise ValueError(f"{option} is for n-tuples: leave it out with --value mlp")
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
        **network_settings,
        "game_parameters": tuple(built.items()) or None,
        "tuples": read_layout(make(game, **built), layout) if layout else None,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    config = preset(
        game,
        seeds=tuple(range(seed, seed + seeds)),
        farl=("farl" if farl else "none",),
        learner=learner,
        value=value,
        # The papers write RAND.
        partner="random" if partner == "rand" else partner,
        learn_from_partner=learn_from_partner,
        discount=discount,
        replan=replan,
        parameter_traces=parameter_traces,
        **changes,
    )
    _run_all([config], out, json_file, checkpoint_every, log)


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
    checkpoint_every: CheckpointEvery = 60.0,
    log: Log = (),
    out: Out = Path("runs"),
    json_file: Json = None,
) -> None:
    """Train with and without FARL, and compare with the published figures."""
    from jaxgbg.training.config import preset

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
    _run_all(configs, out, json_file, checkpoint_every, log)


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
    checkpoint_every: CheckpointEvery = 60.0,
    log: Log = (),
    out: Out = Path("runs"),
    json_file: Json = None,
) -> None:
    """Make the paper's Table 1: train and evaluate what is not yet on disk."""
    from jaxgbg.papers import table1 as paper

    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, not {seeds}")
    configs = [paper.table1_config(game, seeds, scale) for game in games or paper.GAMES]

    def finish(folder: "RunFolder") -> None:
        paper.meet_final_opponents(
            folder, engine, lambda text: print(f"{folder.config.game}: {text}", file=sys.stderr)
        )

    _run_all(configs, out, json_file, checkpoint_every, log, finish, "table1")


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
    checkpoint_every: float,
    log: tuple[str, ...],
    finish: Callable[["RunFolder"], None] = lambda _: None,
    name: str | None = None,
) -> None:
    """Train what is not yet on disk, `finish` each run, then print the table and write curves and
    rows, of what there is if stopped. `name` is that of the picture, by default the games'.
    """
    from jaxgbg.results.curves import draw_curves
    from jaxgbg.results.rows import as_records, rows
    from jaxgbg.results.table import print_table
    from jaxgbg.commands.progress import run_with_bar
    from jaxgbg.training.store import RunFolder

    screen = console()
    results: list[tuple[Config, list[Evaluation], float]] = []
    folders: list[RunFolder] = []
    stopped = 0
    for config in configs:
        folder, seconds, stopped = run_with_bar(config, out, checkpoint_every, log)
        folders.append(folder)
        try:
            if not stopped:
                finish(folder)
        except KeyboardInterrupt:
            stopped = signal.SIGINT
        results.append((config, folder.evaluations(), seconds))
        if stopped:
            break
    table = [row for result in results if result[1] for row in rows(*result)]
    if table:
        print_table(table, screen)
        picture = out / f"{name or '-'.join(config.game for config in configs)}-curves.png"
        draw_curves([(config, found) for config, found, _ in results if found], picture)
        screen.print(f"learning curves: {picture}", soft_wrap=True)
    write_rows(json_file, as_records(table))
    for folder in folders:
        screen.print(f"results: {folder.path}", soft_wrap=True)
        for seed, farl in folder.summary().get("diverged", ()) if folder.finished else ():
            print(
                f"jaxgbg: the network of seed {seed}, {farl}, has diverged and plays at random;"
                " use a smaller --alpha, or --output tanh",
                file=sys.stderr,
            )
    if stopped:
        count = len(folders[-1].evaluations())
        print(
            f"jaxgbg: stopped; {count} evaluations kept in {folders[-1].path};"
            " the same command goes on from there",
            file=sys.stderr,
        )
        sys.exit(128 + stopped)
