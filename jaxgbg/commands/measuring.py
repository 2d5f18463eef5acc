"""Commands that look at games, agents and speed: `games`, `perft`, `eval` and `bench`."""

import sys
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from jaxgbg.commands.common import (
    OPPONENTS,
    GameName,
    Json,
    LearnerName,
    Parameters,
    Size,
    ValueName,
    game_parameters,
    print_records,
)


def games(json_file: Json = None) -> None:
    """List the games and their sizes."""
    from jaxgbg.games import broken_games, game_names, make

    built = [make(name) for name in game_names()]
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
    print_records(records, json_file)
    for line in broken_games().values():
        print(f"jaxgbg: {line}", file=sys.stderr)


def perft(
    game: GameName,
    depth: Annotated[int, arg(help="Plies to count.")] = 5,
    size: Size = None,
    parameters: Parameters = (),
    json_file: Json = None,
) -> None:
    """Count the paths and positions of a game by depth."""
    from jaxgbg.games import make
    from jaxgbg.games.perft import perft as count

    if depth < 1:
        raise ValueError(f"depth must be at least 1, not {depth}")
    records = [
        {"depth": row.depth, "paths": row.paths, "positions": row.positions}
        for row in count(make(game, **game_parameters(game, size, parameters)), depth)
    ]
    print_records(records, json_file)


def evaluate(
    folder: Annotated[Positional[Path], arg(help="Folder of a run, or one agent file.")],
    opponent: Annotated[str | None, arg(help=f"{OPPONENTS}; random if nothing is given.")] = None,
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
    from jaxgbg.papers.figures import to_unit, unit
    from jaxgbg.training.agents import load_agent
    from jaxgbg.training.train import evaluate as judge

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
    print_records(records, json_file)


def bench(
    games: Annotated[Positional[tuple[str, ...]], arg(help="Games; all if none is named.")] = (),
    seeds: Annotated[
        int | None, arg(help="Seeds side by side, each with and without FARL.")
    ] = None,
    batches: Annotated[
        tuple[int, ...] | None, arg(help="Batches to try; else 1, the default and a search.")
    ] = None,
    seconds: Annotated[float, arg(help="Seconds of each timing.")] = 1.0,
    learner: LearnerName = "td",
    value: ValueName = "ntuple",
    rules: Annotated[
        bool, arg(help="Random play instead of training, beside pgx where it is installed.")
    ] = False,
    json_file: Json = None,
) -> None:
    """Measure training speed at the published parameters, or that of the rules alone."""
    from jaxgbg.games import GAMES
    from jaxgbg.bench.training import bench as measure

    if seconds <= 0 or (seeds is not None and seeds < 1):
        raise ValueError("seconds and seeds must be positive")
    if rules:
        from jaxgbg.bench.rules import bench_rules

        print_records([bench_rules(game)._asdict() for game in games or tuple(GAMES)], json_file)
        return
    rows = [
        row
        for game in games or tuple(GAMES)
        for row in measure(game, seeds, batches, seconds, learner=learner, value=value)
    ]
    print_records([row._asdict() for row in rows], json_file)
