"""The identity of a game's rules: games that play alike have the same fingerprint."""

import dataclasses
import hashlib
import json
from functools import cache

import numpy as np

from jaxgbg.games.core import SIZES, Game
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.sampling import sample_games


@in_32_bits
@cache
def fingerprint(game: Game) -> str:
    """16 hexadecimal digits that change with the rules, the payments or the encoding of a game.

    They are of SHA-256 over 256 random games, cells, players, legal actions, ends and rewards, of
    256 plies at most, the game's name, sizes, symmetries and views, and the parameters that are not
    at their defaults. Rewards count in steps of 2**-20, so that the last bit of a device does not.
    """
    sample = sample_games(game)
    digest = hashlib.sha256(json.dumps(_declared(game), sort_keys=True).encode())
    rewards = np.rint(sample.rewards.astype(np.float64) * 2**20)
    for part, kind in (
        (sample.cells, "<i4"),
        (sample.player, "<i4"),
        (sample.legal, "<u1"),
        (sample.terminal, "<u1"),
        (rewards, "<i8"),
        (sample.plies, "<i4"),
        (game.symmetries, "<i4"),
        (game.action_symmetries, "<i4"),
    ):
        digest.update(np.asarray(part, kind).tobytes())
    return digest.hexdigest()[:16]


def changed_parameters(game: Game) -> dict[str, str]:
    """The parameters of a game that are not at their defaults, as text."""
    values = {field: getattr(game, field.name) for field in dataclasses.fields(game)}
    return {field.name: str(v) for field, v in values.items() if v != field.default}


def _declared(game: Game) -> dict[str, object]:
    """Name, sizes, and what of the game's parameters is not at its default."""
    alike = (game.player_views == np.arange(game.num_cells)).all()
    return {
        "name": game.name,
        "sizes": [int(getattr(game, size)) for size in SIZES],
        "reward_range": [float(bound) for bound in game.reward_range],
        "parameters": changed_parameters(game),
        **({} if alike else {"player_views": game.player_views.tolist()}),
    }
