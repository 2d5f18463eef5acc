"""The rules that a user names: a Python file, a file of Ludax, or the name of a game."""

import math
import sys
from pathlib import Path

from jaxgbg.extensions import import_modules
from jaxgbg.games import Game, is_own
from jaxgbg.games.check import check_playable, faults_of
from jaxgbg.games.find_symmetries import Symmetries, find_symmetries
from jaxgbg.games.ludax_games import SUFFIX
from jaxgbg.games.registry import GAMES

MOST_ACTIONS = 1_000
"""With more actions than this, finding symmetries takes longer than they are worth here."""


def named_rules(what: str | Path) -> str:
    """The name under which `make` knows the game that a file or a name stands for.

    A Python file is imported as a module; it registers its game. Raises ValueError, in one line,
    for a file that does not exist, cannot be imported or registers no game or several.
    """
    path = Path(what)
    if path.suffix == SUFFIX:
        return str(what) if str(what).startswith("ludax:") else f"ludax:{what}"
    if path.suffix != ".py":
        return str(what)
    if not path.is_file():
        raise ValueError(f"{path} does not exist: name a Python file with a game, or a game")
    sys.path.insert(0, str(path.resolve().parent))
    before = set(GAMES)
    import_modules([path.stem])
    module = sys.modules[path.stem]
    if Path(getattr(module, "__file__", None) or "").resolve() != path.resolve():
        raise ValueError(f"{path}: another module is named {path.stem}: rename the file")
    own = [name for name, build in GAMES.items() if build.__module__ == path.stem]
    # A function of another module, such as a partial one, may build it.
    names = own or [name for name in GAMES if name not in before]
    if len(names) != 1:
        found = f"{len(names)} games ({', '.join(names)})" if names else "no game"
        raise ValueError(
            f'{path} registers {found}, and one is needed: jaxgbg.register("name", CLASS)'
        )
    return names[0]


def check_rules(game: Game) -> str:
    """Say what was checked; raises ValueError with the first fault of the rules."""
    if not is_own(game):
        check_playable(game)
        return "no fault in random games; `jaxgbg check` looks for more"
    faults = faults_of(game)
    if faults:
        more = f" (and {len(faults) - 1} more: jaxgbg check)" if len(faults) > 1 else ""
        raise ValueError(f"{game.name}: {faults[0].line}{more}") from faults[0].error
    return "the game keeps the contract"


def symmetries_of(game: Game, seconds: float = math.inf) -> tuple[Symmetries | None, str]:
    """The symmetries of the cells that simulation finds in a game that declares none, and why."""
    declared = len(game.symmetries)
    if declared > 1:
        return None, f"{declared} images of a board, declared by the game"
    if game.num_actions > MOST_ACTIONS:
        return None, f"not looked for: {game.num_actions:,} actions are too many to compare"
    try:
        found = find_symmetries(game, seconds)
    except ValueError as error:
        return None, f"not found: {error}"
    if len(found.cells) == 1:
        return None, "none: random games refute all turns and reflections"
    return found, f"{len(found.cells)} images of a board, which random games do not refute"
