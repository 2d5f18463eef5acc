"""The command `check`: test whether a game keeps the contract."""

import importlib
import sys
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

from jaxgbg.cli.common import Json, Parameters, Size, read_parameters, write_rows
from jaxgbg.cli.session import start_jax
from jaxgbg.extensions import import_modules
from jaxgbg.games import Game, fingerprint, make
from jaxgbg.games.check import faults_of
from jaxgbg.games.registry import PACKAGES, built
from jaxgbg.specs import pluralize


def check(
    game: Annotated[Positional[str], arg(metavar="GAME")],
    size: Size = None,
    parameters: Parameters = (),
    find_symmetries: bool = False,
    json_file: Json = None,
) -> None:
    """List how a game breaks the contract, one line for each fault; exit code 2 if there is any.

    Args:
      game: A name from `jaxgbg games`, such as pgx:hex, or MODULE:CLASS of your own.
      find_symmetries: Also find the symmetries of the cells by random games, and print them as
        members for the class of the game.
    """
    rules = _build(game, size, parameters)
    start_jax()
    faults = faults_of(rules)
    if faults or not find_symmetries:
        write_rows(json_file, [{"game": game, "fault": fault.line} for fault in faults])
    if faults:
        for fault in faults:
            print(f"{game}: {fault.line}", file=sys.stderr)
        # --traceback shows where the game raised the error.
        raise SystemExit(2) from next((f.error for f in faults if f.error is not None), None)
    print(f"{game} keeps the contract (fingerprint {fingerprint(rules)})")
    if find_symmetries:
        _print_symmetries(game, rules, json_file)


def _print_symmetries(name: str, rules: Game, json_file: Json) -> None:
    """Find symmetries, say which the game lacks, and print all as Python."""
    from jaxgbg.games.find_symmetries import find_symmetries

    found = find_symmetries(rules)
    declared = {row.tobytes() for row in np.asarray(rules.symmetries, np.int32)}
    missing = sum(row.tobytes() not in declared for row in found.cells)
    count = pluralize(len(found.cells), "image")
    write_rows(
        json_file,
        [
            {"game": name, "cells": cells.tolist(), "actions": actions.tolist()}
            for cells, actions in zip(found.cells, found.actions, strict=True)
        ],
    )
    if len(found.cells) == 1:
        print("no symmetries: random games refute all turns and reflections of the board")
        return
    lacks = f"{missing} of them not in its symmetries" if missing else "all in its symmetries"
    print(f"symmetries: {count} that random games do not refute, {lacks}")
    if guesses := int((~found.seen).sum()):
        print(
            f"{pluralize(guesses, 'action')} never legal in these games: their images are guesses"
        )
    if missing:
        print(f"\n{found.source()}")


def _build(game: str, size: int | None, parameters: tuple[str, ...]) -> Game:
    module, colon, name = game.partition(":")
    if not colon or module in PACKAGES:
        return make(game, **read_parameters(game, size, parameters))
    if size is not None or parameters:
        raise ValueError("--size and --parameters need the name of a game, not MODULE:CLASS")
    import_modules([module])
    build = getattr(importlib.import_module(module), name, None)
    if not callable(build):
        raise ValueError(f"{game}: the module {module} has no class {name!r}")
    return built(game, build)
