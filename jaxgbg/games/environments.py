"""Games for the learners of others: as an environment of pgx, or of PettingZoo.

Both show a player the board as it is drawn, `display_cells`, and the number of its seat: int8[D +
1]. `jax.nn.one_hot` makes planes of the digits. Rewards of a step are what each player gains by it.
"""

from __future__ import annotations

from jaxgbg.games.as_pettingzoo import pettingzoo_class
from jaxgbg.games.as_pgx import Foreign, pgx_class
from jaxgbg.games.borrowed import import_package
from jaxgbg.games.core import Game
from jaxgbg.games.registry import make


def to_pgx(game: str | Game) -> Foreign:
    """A game, or the game of that name, as a `pgx.Env`: pure functions `init` and `step`.

    Player i of pgx is seat i in every game. Games of chance need a key in `step`. Raises ValueError
    for an unknown game, and without pgx.
    """
    import_package("pgx", "to_pgx")
    return pgx_class()(make(game))


def to_pettingzoo(game: str | Game) -> Foreign:
    """A game, or the game of that name, as a PettingZoo `AECEnv`.

    Its agents are `player_0`, `player_1` ...
    An observation has `observation` and `action_mask` int8[A]. An illegal action raises ValueError.
    Raises ValueError for an unknown game, and without PettingZoo.
    """
    import_package("pettingzoo", "to_pettingzoo")
    return pettingzoo_class()(make(game))
