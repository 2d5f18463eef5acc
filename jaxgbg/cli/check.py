"""The command `check`: test whether a game keeps the contract."""

import importlib
import sys
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.cli.common import Json, write_rows
from jaxgbg.cli.session import start_jax
from jaxgbg.extensions import import_modules
from jaxgbg.games import Game, fingerprint, make
from jaxgbg.games.check import faults_of
from jaxgbg.games.registry import PACKAGES, built


def check(game: Annotated[Positional[str], arg(metavar="GAME")], json_file: Json = None) -> None:
    """List how a game breaks the contract, one line for each fault; exit code 2 if there is any.

    Args:
      game: A name from `jaxgbg games`, such as pgx:hex, or MODULE:CLASS of your own.
    """
    rules = _build(game)
    start_jax()
    faults = faults_of(rules)
    write_rows(json_file, [{"game": game, "fault": fault.line} for fault in faults])
    if faults:
        for fault in faults:
            print(f"{game}: {fault.line}", file=sys.stderr)
        # --traceback shows where the game raised the error.
        raise SystemExit(2) from next((f.error for f in faults if f.error is not None), None)
    print(f"{game} keeps the contract (fingerprint {fingerprint(rules)})")


def _build(game: str) -> Game:
    module, colon, name = game.partition(":")
    if not colon or module in PACKAGES:
        return make(game)
    import_modules([module])
    build = getattr(importlib.import_module(module), name, None)
    if not callable(build):
        raise ValueError(f"{game}: the module {module} has no class {name!r}")
    return built(game, build)
