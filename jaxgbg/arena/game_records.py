"""A tournament on disk: its settings, and the games of each group that has played.

`tournament.json` has the settings, `games.jsonl` a line for each group. The games of a group do not
depend on the other participants, so players may join later.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from jaxgbg.arena.group_play import GroupGames
from jaxgbg.contents import (
    Readable,
    check_regular_file,
    defect,
    open_own,
    parse_json,
    read_bytes,
    read_object,
    reason,
)
from jaxgbg.evaluation import Protocol
from jaxgbg.evaluation.played_games import GameMoves
from jaxgbg.games import Game
from jaxgbg.games.fingerprint import fingerprint
from jaxgbg.runs.run import plain_game
from jaxgbg.runs.storage.files import leftovers, write_json
from jaxgbg.runs.storage.locations import LADDER
from jaxgbg.types import JSON

GAMES = "games.jsonl"

_MOST_BYTES = 2**31
_GREATEST = 1e9


class Kept(NamedTuple):
    """The line of a group: the names of its players at that time, and their games."""

    names: tuple[str, ...]
    games: GroupGames


class TournamentSettings(NamedTuple):
    """The settings of every group: `protocol.count` openings, in all seatings, drawn by `seed`.

    With `record` their moves are kept.
    """

    game: Game
    protocol: Protocol
    seed: int
    record: bool = False

    def plain(self) -> dict[str, JSON]:
        """The settings in the form of tournament.json."""
        content = {
            "game": plain_game(self.game),
            "fingerprint": fingerprint(self.game),
            "starts": self.protocol.starts,
            "plies": self.protocol.plies,
            "openings": self.protocol.count,
            "seed": self.seed,
        }
        # JSON has no tuples.
        plain: dict[str, JSON] = json.loads(json.dumps(content))
        return plain

    def key(self, identities: Sequence[str]) -> jax.Array:
        """The random key of a group's games."""
        digest = hashlib.sha256("\n".join(identities).encode()).digest()
        return jax.random.fold_in(
            jax.random.key(self.seed), np.uint32(int.from_bytes(digest[:4], "little"))
        )


class TournamentFolder:
    """The folder of a tournament; raises ValueError if it cannot be used for it."""

    def __init__(self, path: str | Path, settings: TournamentSettings) -> None:
        self.path = Path(path)
        self._games = self.path / GAMES
        self._config = self.path / LADDER
        self._settings = settings

    def unwritable(self, error: OSError) -> ValueError:
        """The error for a folder that could not be written."""
        return ValueError(
            f"cannot write {self.path}: {error.strerror}; free space or choose another --out; the"
            " same command resumes"
        )

    def check(self) -> None:
        """Raise ValueError if the folder holds something else than this tournament."""
        try:
            stored = read_object(self._config)
        except FileNotFoundError:
            if self.path.exists() and {*self.path.iterdir()} - {*self._leftovers()}:
                raise ValueError(
                    f"{self.path} holds something else; choose another --out"
                ) from None
            return
        except OSError as error:
            raise self.unwritable(error) from error
        for name, value in self._settings.plain().items():
            if stored.get(name) != value:
                raise ValueError(
                    f"{self.path} holds a tournament with different {name}: choose another --out"
                )
        for path in (self._config, self._games):
            check_regular_file(path)

    def _leftovers(self) -> list[Path]:
        """Temporary files that killed processes have left in the folder."""
        return leftovers(self.path, LADDER.__eq__)

    def _make(self) -> None:
        """Create the folder and write the settings."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for leftover in self._leftovers():
                leftover.unlink()
            write_json(self._config, self._settings.plain())
        except OSError as error:
            raise self.unwritable(error) from error

    def read(self, complain: Callable[[str], None]) -> dict[tuple[str, ...], Kept]:
        """Like `read_games`; groups on damaged lines play again."""
        return read_games(self._games, lambda text: complain(f"{text}, its group plays again"))

    def append(self, players: Sequence[str], names: Sequence[str], games: GroupGames) -> None:
        """Append the line of a group; raises ValueError if the disk is full."""
        line = {
            "players": list(players),
            "names": list(names),
            "seatings": games.seatings.tolist(),
            "openings": games.openings.tolist(),
            "rewards": np.asarray(games.rewards, float).round(6).tolist(),
        }
        if games.moves:
            line["moves"] = [list(each) for each in games.moves]
        if not self._config.exists():
            self._make()
        size = self._games.stat().st_size if self._games.exists() else 0
        try:
            with open_own(self._games) as file:
                # A killed process may have left an incomplete line.
                file.seek(max(size - 1, 0))
                broken = file.read(1) not in (b"", b"\n")
                file.write(b"\n" * broken + json.dumps(line).encode() + b"\n")
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(self._games, size)
            raise self.unwritable(error) from error


def read_games(path: Readable, complain: Callable[[str], None]) -> dict[tuple[str, ...], Kept]:
    """Read the groups that have played, by their identities; damaged lines are reported.

    Raises ValueError if the file cannot be read.
    """
    try:
        text = read_bytes(path, _MOST_BYTES).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ValueError(defect(path, error)) from error
    met = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        try:
            players, kept = _parse(line)
        except ValueError as error:
            complain(f"{path}, line {number}: {reason(error)}; left out")
        else:
            met[players] = kept
    return met


def _parse(line: str) -> tuple[tuple[str, ...], Kept]:
    """Parse a line as a group and its games; raises ValueError for an invalid line."""
    content = parse_json(line)
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    try:
        players = content["players"]
        seatings = np.array(content["seatings"])
        openings, rewards = np.array(content["openings"]), np.array(content["rewards"], float)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError("not a group with its games") from error
    seats = len(players) if isinstance(players, list) else 0
    if not seats or not all(isinstance(player, str) for player in players):
        raise ValueError("players is not a list of names")
    if seatings.dtype.kind != "i" or seatings.ndim != 2 or seatings.shape[1] != seats:
        raise ValueError("seatings is not a list of orders of the players")
    if not (np.sort(seatings, 1) == np.arange(seats)).all():
        raise ValueError("seatings is not a list of orders of the players")
    if openings.dtype.kind != "i" or openings.ndim != 1 or not len(openings):
        raise ValueError("openings is not a list of numbers")
    if not (np.abs(openings) <= _GREATEST).all():
        raise ValueError("openings are out of range")
    if rewards.shape != (len(openings), *seatings.shape):
        raise ValueError("rewards are not those of all openings and seatings")
    if not (np.abs(rewards) <= _GREATEST).all():
        raise ValueError("rewards are out of range")
    names = content.get("names")
    if not isinstance(names, list) or [type(name) for name in names] != [str] * seats:
        names = players
    moves = _moves(content.get("moves", []), rewards.shape[0] * rewards.shape[1])
    return tuple(players), Kept(tuple(names), GroupGames(seatings, rewards, openings, moves))


def _moves(content: JSON, games: int) -> tuple[GameMoves, ...]:
    """The moves of all games of a group, or of none; raises ValueError."""
    if not isinstance(content, list) or len(content) not in (0, games):
        raise ValueError("moves are not those of all games")
    for each in content:
        if not isinstance(each, list) or [type(part) for part in each] != [int, str]:
            raise ValueError("moves are not those of all games")
    return tuple(GameMoves(*each) for each in content)
