"""The command `check`: whether a game keeps the contract."""

import importlib
import sys
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from jaxgbg.commands.common import Json, write_rows

if TYPE_CHECKING:
    from jaxgbg.games import Game


def check(
    game: Annotated[
        Positional[str],
        arg(metavar="GAME", help="A name that `jaxgbg games` lists, or MODULE:CLASS of your own."),
    ],
    json_file: Json = None,
) -> None:
    """Say in a line each what a game breaks of the contract; exit code 2 if anything."""
    from jaxgbg.games import check_game, fingerprint

    rules = _build(game)
    faults = check_game(rules)
    write_rows(json_file, [{"game": game, "fault": fault} for fault in faults])
    if faults:
        for fault in faults:
            print(f"{game}: {fault}", file=sys.stderr)
        sys.exit(2)
    print(f"{game} keeps the contract (fingerprint {fingerprint(rules)})")


def _build(game: str) -> "Game":
    from jaxgbg.games import import_games, make
    from jaxgbg.games.registry import built

    module, colon, name = game.partition(":")
    if not colon:
        return make(game)
    import_games([module])
    build = getattr(importlib.import_module(module), name, None)
    if not callable(build):
        raise ValueError(f"{game}: the module {module} has no class {name!r}")
    return built(game, build)
