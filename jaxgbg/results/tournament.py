"""A tournament on disk: played group by group, each kept as a line, and gone on with later.

`tournament.json` says what is played, `games.jsonl` has a line for each group that has met. A group
plays the same games whoever else takes part, so that players may join later.
"""

import contextlib
import hashlib
import itertools
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import jax
import numpy as np

from jaxgbg.arena import Protocol
from jaxgbg.arena.protocol import MOST_GAMES
from jaxgbg.arena.tournament import Games, openings_for, play_group
from jaxgbg.contents import defect, parse_json, read_bytes, read_object, reason
from jaxgbg.games import Game, make
from jaxgbg.games.fingerprint import fingerprint
from jaxgbg.results.ladder import Ladder, Met
from jaxgbg.results.queries import to_stderr
from jaxgbg.specs import Limits, Seed, checked
from jaxgbg.training.bars import open_bar
from jaxgbg.training.entrants import Entrant, What, close, enter, game_of, named
from jaxgbg.training.files import write_json
from jaxgbg.training.run import plain_game
from jaxgbg.training.store import only_here

NumGames = Annotated[int, Limits(low=1, high=MOST_GAMES)]
Plies = Annotated[int, Limits(low=0, high=10_000)]

_MOST_BYTES = 2**31
_MOST_GROUPS = 5_000
_GREATEST = 1e9


class Settings(NamedTuple):
    """What every group plays: `protocol.count` openings, in all seatings, drawn by `seed`."""

    game: Game
    protocol: Protocol
    seed: int

    def plain(self) -> dict[str, Any]:
        """As tournament.json has them."""
        content = {
            "game": plain_game(self.game),
            "fingerprint": fingerprint(self.game),
            "starts": self.protocol.starts,
            "plies": self.protocol.plies,
            "openings": self.protocol.count,
            "seed": self.seed,
        }
        # JSON knows no tuples.
        plain: dict[str, Any] = json.loads(json.dumps(content))
        return plain

    def key(self, identities: Sequence[str]) -> jax.Array:
        """The random key of a group's games."""
        digest = hashlib.sha256("\n".join(identities).encode()).digest()
        return jax.random.fold_in(
            jax.random.key(self.seed), np.uint32(int.from_bytes(digest[:4], "little"))
        )


class TournamentFolder:
    """The folder of a tournament; raises ValueError where it cannot be written or is another's."""

    def __init__(self, path: str | Path, settings: Settings) -> None:
        self.path = Path(path)
        self._games = self.path / "games.jsonl"
        self._config = self.path / "tournament.json"
        self._settings = settings

    def unwritable(self, error: OSError) -> ValueError:
        """What to tell a user whose folder could not be written."""
        return ValueError(
            f"cannot write {self.path}: {error.strerror}; make room or choose another --out; the"
            " same command goes on"
        )

    def check(self) -> None:
        """Raise ValueError where the folder holds something else than this tournament."""
        try:
            stored = read_object(self._config)
        except FileNotFoundError:
            if self.path.exists() and any(self.path.iterdir()):
                raise ValueError(
                    f"{self.path} holds something else; choose another --out"
                ) from None
            return
        except OSError as error:
            raise self.unwritable(error) from error
        for name, value in self._settings.plain().items():
            if stored.get(name) != value:
                raise ValueError(
                    f"{self.path} holds a tournament with other {name}: choose another --out"
                )

    def _make(self) -> None:
        """Make the folder, now that there is something to be kept."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_json(self._config, self._settings.plain())
        except OSError as error:
            raise self.unwritable(error) from error

    def read(self, complain: Callable[[str], None]) -> dict[tuple[str, ...], Games]:
        """The groups that have met, by their identities; lines that are damaged are told."""
        try:
            text = read_bytes(self._games, _MOST_BYTES).decode("utf-8", errors="replace")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ValueError(defect(self._games, error)) from error
        met = {}
        for number, line in enumerate(text.split("\n"), 1):
            if not line:
                continue
            try:
                players, games = _parse(line)
            except ValueError as error:
                what = f"{self._games}, line {number}: {reason(error)}"
                complain(f"{what}; left out, its group plays again")
            else:
                met[players] = games
        return met

    def append(self, players: Sequence[str], names: Sequence[str], games: Games) -> None:
        """Add the line of a group; ValueError where there is no room for it."""
        line = {
            "players": list(players),
            "names": list(names),
            "seatings": games.seatings.tolist(),
            "openings": games.openings.tolist(),
            "rewards": np.asarray(games.rewards, float).round(6).tolist(),
        }
        if not self._config.exists():
            self._make()
        size = self._games.stat().st_size if self._games.exists() else 0
        try:
            with self._games.open("a+b") as file:
                # A process that was killed may have left the beginning of a line.
                file.seek(max(size - 1, 0))
                broken = file.read(1) not in (b"", b"\n")
                file.write(b"\n" * broken + json.dumps(line).encode() + b"\n")
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(self._games, size)
            raise self.unwritable(error) from error


def _parse(line: str) -> tuple[tuple[str, ...], Games]:
    """A group and its games; raises ValueError for a line that says neither."""
    content = parse_json(line)
    if not isinstance(content, dict):
        raise ValueError("no JSON object")
    try:
        players = content["players"]
        seatings = np.array(content["seatings"])
        openings, rewards = np.array(content["openings"]), np.array(content["rewards"], float)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError("no group with its games") from error
    seats = len(players) if isinstance(players, list) else 0
    if not seats or not all(isinstance(player, str) for player in players):
        raise ValueError("players is no list of names")
    if seatings.dtype.kind != "i" or seatings.ndim != 2 or seatings.shape[1] != seats:
        raise ValueError("seatings is no list of orders of the players")
    if not (np.sort(seatings, 1) == np.arange(seats)).all():
        raise ValueError("seatings is no list of orders of the players")
    if openings.dtype.kind != "i" or openings.ndim != 1 or not len(openings):
        raise ValueError("openings is no list of numbers")
    if rewards.shape != (len(openings), *seatings.shape):
        raise ValueError("rewards are not those of all openings and seatings")
    if not (np.abs(rewards) <= _GREATEST).all():
        raise ValueError("rewards are out of range")
    return tuple(players), Games(seatings, rewards, openings)


@checked
def tournament(
    participants: Sequence[What] | Mapping[str, What],
    game: Game | str | None = None,
    games: NumGames = 100,
    starts: str = "random_plies",
    plies: Plies = 4,
    seed: Seed = 0,
    out: str | Path | None = None,
    first: bool = False,
    progress: bool = True,
) -> Ladder:
    """Every player meets every other in all seats from drawn openings; returns the ladder.

    `participants` are names of players ("random", "mcts-100"), files of agents, runs or their
    folders (every agent, or with `first` the first one, with FARL) and players; "NAME=WHAT", or a
    mapping, gives a name of one's own. In a game of N seats every N of them are a group, which
    plays at least `games` games: openings as `Protocol` has `starts`, of so many `plies` where they
    are random, each in all orders of seats (of more than four players in N rotations). `out` keeps
    each group as it is done; the same call goes on from there, and more players may join. Raises
    ValueError for fewer participants than seats, one who takes part twice, an agent of another
    game, or a folder that holds something else; MissingExtra where a player lacks its package.
    """
    entries = named(participants, first)
    rules = make(game) if isinstance(game, str) else game or game_of(entries)
    if rules is None:
        raise ValueError("no agent takes part that would say which game: name it (game)")
    seats = rules.num_players
    if seats < 2:
        raise ValueError(f"{rules.name} is a game of one player, and nobody meets another there")
    if len(entries) < max(2, seats):
        raise ValueError(
            f"a tournament of {rules.name} needs at least {max(2, seats)} participants,"
            f" not {len(entries)}"
        )
    if math.comb(len(entries), seats) > _MOST_GROUPS:
        raise ValueError(
            f"{len(entries)} participants are {math.comb(len(entries), seats):,} groups of {seats},"
            f" and at most {_MOST_GROUPS:,} are played"
        )
    protocol = Protocol(starts, count=openings_for(games, seats), plies=plies)
    entrants = enter(entries, rules)
    settings = Settings(rules, protocol, seed)
    try:
        if out is None:
            met = _play_all(entrants, settings, None, progress)
        else:
            if nameless := [entrant.name for entrant in entrants if not entrant.identity]:
                raise ValueError(
                    f"{nameless[0]} was made in Python and has no file: leave out the folder (out)"
                )
            folder = TournamentFolder(out, settings)
            with only_here(folder):
                folder.check()
                met = _play_all(entrants, settings, folder, progress)
    finally:
        close(entrants)
    return Ladder(rules, [entrant.name for entrant in entrants], met, _anchor(entrants))


def _anchor(entrants: Sequence[Entrant]) -> int | None:
    """The number of the random player, whose rating is 0."""
    kinds = [entrant.player.name for entrant in entrants]
    return kinds.index("random") if "random" in kinds else None


def _play_all(
    entrants: Sequence[Entrant],
    settings: Settings,
    folder: TournamentFolder | None,
    progress: bool,
) -> list[Met]:
    """Let all groups meet that have not yet, and keep each."""
    # A group is in one order, whatever that of the participants.
    order = sorted(range(len(entrants)), key=lambda at: (entrants[at].identity, entrants[at].name))
    known = {} if folder is None else folder.read(to_stderr)
    bar = open_bar(settings.game.name, progress)
    met = []
    groups = list(itertools.combinations(order, settings.game.num_players))
    before = sum(tuple(entrants[at].identity for at in group) in known for group in groups)
    try:
        for number, group in enumerate(groups):
            players = tuple(entrants[at].identity for at in group)
            names = [entrants[at].name for at in group]
            if (games := known.get(players)) is None:
                bar.show(number / len(groups), ", ".join(names), before / len(groups))
                key = settings.key([a or b for a, b in zip(players, names, strict=True)])
                sitting = [entrants[at].player for at in group]
                games = play_group(settings.game, sitting, settings.protocol, key)
                if folder is not None:
                    folder.append(players, names, games)
            met.append(Met(group, games))
    finally:
        bar.close()
    return met
