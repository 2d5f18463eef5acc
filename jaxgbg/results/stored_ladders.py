"""Read kept tournaments: each as a ladder, all of them as tables."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jaxgbg.arena.game_records import GAMES, Kept, read_games
from jaxgbg.arena.match_results import MatchResult
from jaxgbg.contents import read_object
from jaxgbg.games import Game
from jaxgbg.results.ladder import Ladder
from jaxgbg.runs.run import read_game
from jaxgbg.runs.storage.locations import LADDER, Found
from jaxgbg.types import JSON

if TYPE_CHECKING:
    import pandas

_SETTINGS = {"starts": str, "plies": int, "openings": int, "seed": int}
COLUMNS: dict[str, dict[str, str]] = {
    "tournaments": {
        **dict.fromkeys(("folder", "game", "game_parameters", "starts"), "varchar"),
        **dict.fromkeys(("plies", "openings", "seed", "players", "groups", "games"), "bigint"),
    },
    "games": {
        **dict.fromkeys(("folder", "game"), "varchar"),
        **dict.fromkeys(("number", "opening", "seat"), "bigint"),
        **dict.fromkeys(("side", "player"), "varchar"),
        "reward": "double",
    },
    "ratings": {
        **dict.fromkeys(("folder", "game"), "varchar"),
        "rank": "bigint",
        "player": "varchar",
        **dict.fromkeys(("elo", "low", "high"), "double"),
        "games": "bigint",
        **dict.fromkeys(("score", "alpha_rank"), "double"),
    },
    "seats": {
        **dict.fromkeys(("folder", "game"), "varchar"),
        "seat": "bigint",
        "side": "varchar",
        **dict.fromkeys(("elo", "low", "high"), "double"),
    },
}
"""Table -> column -> its type in DuckDB."""


class StoredLadder(NamedTuple):
    """A tournament on disk; `name` is its path below the searched folder.

    `settings` are those of its openings, None for invalid ones; `names` and `met` are the players
    and the groups that played; `ladder` is None if the games do not connect all players.
    """

    name: str
    game: Game
    settings: dict[str, JSON]
    names: list[str]
    met: list[MatchResult]
    ladder: Ladder | None


def read_ladders(found: Sequence[Found], problems: list[str]) -> list[StoredLadder]:
    """Read the tournaments with games in these folders; add a line for each that is unreadable."""
    ladders = []
    for each in found:
        try:
            ladder = _read(each, problems)
        except (OSError, ValueError) as error:
            text = str(error) if str(each.path) in str(error) else f"{each.path}: {error}"
            problems.append(f"{text}; the tournament is left out")
        else:
            ladders += [ladder] if ladder is not None else []
    return ladders


def _read(found: Found, problems: list[str]) -> StoredLadder | None:
    content = read_object(found.path / LADDER)
    game = read_game(content.get("game"))
    kept = read_games(found.path / GAMES, problems.append)
    for players in [players for players in kept if len(players) != game.num_players]:
        problems.append(f"{found.path / GAMES}: a group of {len(players)} players; left out")
        del kept[players]
    if not kept:
        return None
    called = _names(kept)
    numbers = {identity: number for number, identity in enumerate(called)}
    met = [
        MatchResult(tuple(numbers[one] for one in players), kept[players].games) for players in kept
    ]
    settings = {
        name: content[name] if isinstance(content.get(name), kind) else None
        for name, kind in _SETTINGS.items()
    }
    names = list(called.values())
    ladder = None
    try:
        ladder = Ladder(game, names, met, numbers.get("random"))
    except ValueError as error:
        problems.append(f"{found.path / GAMES}: {error}; the tournament has no ratings yet")
    return StoredLadder(found.name, game, settings, names, met, ladder)


def _names(kept: Mapping[tuple[str, ...], Kept]) -> dict[str, str]:
    """The last name of each identity; the identity itself if several have the same name."""
    called: dict[str, str] = {}
    for players, group in kept.items():
        called |= zip(players, group.names, strict=True)
    names = list(called.values())
    return {who: name if names.count(name) == 1 else who for who, name in called.items()}


def frames(ladders: Sequence[StoredLadder]) -> dict[str, "pandas.DataFrame"]:
    """The rows of the tables of `COLUMNS`."""
    import pandas

    rows: dict[str, list[dict[str, JSON]]] = {"tournaments": [], "ratings": [], "seats": []}
    games = []
    for stored in ladders:
        where: dict[str, JSON] = {"folder": stored.name, "game": stored.game.name}
        parameters = vars(stored.game).items()
        rows["tournaments"].append(
            where
            | {"game_parameters": " ".join(f"{name}={value}" for name, value in parameters)}
            | stored.settings
            | {
                "players": len(stored.names),
                "groups": len(stored.met),
                "games": sum(met.games.rewards[..., 0].size for met in stored.met),
            }
        )
        if stored.ladder is not None:
            told = stored.ladder.records()
            wanted = COLUMNS["ratings"]
            rows["ratings"] += [
                where | {name: row[name] for name in wanted if name not in where} for row in told
            ]
            rows["seats"] += [
                where
                | {"seat": seat, "side": side}
                | {name: told[0][f"seat_{seat}_{name}"] for name in ("elo", "low", "high")}
                for seat, side in enumerate(stored.game.sides, 1)
            ]
        games.append(_games(stored, where))
    tables = {name: pandas.DataFrame(of, columns=list(COLUMNS[name])) for name, of in rows.items()}
    tables["games"] = (
        pandas.concat(games) if games else pandas.DataFrame(columns=list(COLUMNS["games"]))
    )
    return tables


def _games(stored: StoredLadder, where: Mapping[str, str]) -> "pandas.DataFrame":
    """A row for each game and seat; games with the same start have the same opening."""
    import pandas

    names, sides = np.array(stored.names, object), np.array(stored.game.sides, object)
    numbers, openings = itertools.count(1), itertools.count(1)
    parts: dict[str, list[np.ndarray]] = {}
    for group, games in stored.met:
        count, orders, seats = games.rewards.shape
        alike = np.unique(games.openings, return_inverse=True)[1]
        opening = np.array([next(openings) for _ in range(alike.max() + 1)])[alike]
        number = np.array([next(numbers) for _ in range(count * orders)])
        sitting = np.broadcast_to(np.array(group)[games.seatings], games.rewards.shape)
        seat = np.tile(np.arange(seats), count * orders)
        for name, column in {
            "number": np.repeat(number, seats),
            "opening": np.repeat(opening, orders * seats),
            "seat": seat + 1,
            "side": sides[seat],
            "player": names[sitting.ravel()],
            "reward": games.rewards.ravel(),
        }.items():
            parts.setdefault(name, []).append(column)
    columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    return pandas.DataFrame(dict(where) | columns)
