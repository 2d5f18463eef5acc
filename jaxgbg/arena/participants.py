"""Participants of a tournament: players by name, agents on disk, all agents of runs.

Each has the name of an opponent, or a name chosen by the user: NAME=WHAT.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxgbg.contents import open_file
from jaxgbg.games import Game
from jaxgbg.players import Player, is_player
from jaxgbg.players.registry import check_plays
from jaxgbg.runs.opponents import agent_file, agents_of, file_of, make_opponent, names_agent
from jaxgbg.runs.storage.agents import MOST_BYTES, load_agent
from jaxgbg.runs.storage.run_folder import RunFolder
from jaxgbg.runs.storage.zoo import file_at, is_zoo_name
from jaxgbg.specs import shown

What = str | Path | RunFolder | Player
"""A player's name, an agent's file, a run or its folder, or a player itself."""

_LABEL = re.compile(r"([\w .+-]{1,60})=(.+)", re.DOTALL)
_DIGITS = 16


class Participant(NamedTuple):
    """A participant: the name in tables, a unique identity, and the player.

    `identity` identifies the weights and how they play, or is the player's name; games are stored
    under it. It is empty for a player made in Python, whose games cannot be stored. `what` is the
    player's name or the absolute path of the agent's file, by which another process can `enter` it;
    also empty for a player made in Python.
    """

    name: str
    identity: str
    player: Player
    what: str = ""


class _Named(NamedTuple):
    """A participant that is not loaded yet; `label` is the user's name for it, or empty."""

    label: str
    what: str | Player


def named(participants: Sequence[What] | Mapping[str, What], first: bool = False) -> list[_Named]:
    """List all participants: each agent of a run, or with `first` only its first one with FARL.

    Raises ValueError for a folder without agents.
    """
    given: list[tuple[str, What]]
    if isinstance(participants, Mapping):
        given = list(participants.items())
    elif isinstance(participants, str | Path | RunFolder) or is_player(participants):
        given = [_labelled(participants)]
    elif not isinstance(participants, Iterable):
        raise ValueError(f"participants must be a list of players, not {shown(participants)}")
    else:
        given = [_labelled(each) for each in participants]
    found: list[_Named] = []
    for label, what in given:
        if is_player(what):
            found.append(_Named(label or what.name, what))
            continue
        if not isinstance(what, str | Path | RunFolder):
            raise ValueError(
                "a participant is a player's name, an agent's file, a run, its folder or a player,"
                f" not {shown(what)}"
            )
        place = what.path if isinstance(what, RunFolder) else Path(what)
        if not place.is_dir():
            found.append(_Named(label, str(what)))
            continue
        files = [agent_file(place)] if first else agents_of(place)
        for file in files:
            own = label if len(files) == 1 or not label else f"{label}/{file.stem}"
            found.append(_Named(own, str(file)))
    return found


def _labelled(what: What) -> tuple[str, What]:
    """A participant and the user's own name for it, "" where there is none."""
    label = _LABEL.fullmatch(what) if isinstance(what, str) else None
    if label is None or Path(str(what)).exists():
        return "", what
    return label[1].strip(), label[2]


def game_of(entries: Sequence[_Named]) -> Game | None:
    """The game of the first agent; None where there is no agent."""
    for _, what in entries:
        if isinstance(what, str) and names_agent(what):
            return load_agent(file_of(what)).run.game
        if not isinstance(what, str) and isinstance(getattr(what, "game", None), Game):
            game: Game = what.game  # type: ignore[attr-defined]
            return game
    return None


def enter(entries: Sequence[_Named], game: Game) -> list[Participant]:
    """The participants of a tournament of `game`, each with a name of its own.

    Files of the same name are told apart by their folders. Raises ValueError for who takes part
    twice, and what `make_opponent` raises.
    """
    names = _names(entries)
    participants: list[Participant] = []
    known: dict[str, str] = {}
    try:
        for name, (_, what) in zip(names, entries, strict=True):
            player = make_opponent(what, game) if isinstance(what, str) else what
            check_plays(player, game, "participant")
            participants.append(Participant(name, _identity(what), player, _anywhere(what)))
            if player.copies != 1:
                raise ValueError(f"{name} is {player.copies} agents: enter one of them")
            identity = participants[-1].identity
            if identity in known:
                raise ValueError(f"{known[identity]} and {name} are the same player: enter it once")
            if identity:
                known[identity] = name
    except BaseException:
        close(participants)
        raise
    return participants


def close(participants: Sequence[Participant]) -> None:
    """Close all their players."""
    for participant in participants:
        participant.player.close()


def _identity(what: str | Player) -> str:
    if not isinstance(what, str):
        return ""
    if not names_agent(what):
        return what
    path = file_of(what)
    with open_file(file_at(path), MOST_BYTES) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
    return f"agent {digest}{what.removeprefix(path)}"


def _anywhere(what: str | Player) -> str:
    """The name by which a player is entered in another working folder."""
    if not isinstance(what, str):
        return ""
    if not names_agent(what) or is_zoo_name(what):
        return what
    path = file_of(what)
    return str(Path(path).resolve()) + what.removeprefix(path)


def _names(entries: Sequence[_Named]) -> list[str]:
    """A name for each, of as few folders as tell them apart."""
    depths = [1] * len(entries)
    while True:
        names = [_name(entry, depth) for entry, depth in zip(entries, depths, strict=True)]
        twice = {name for name in names if names.count(name) > 1}
        if not twice:
            return names
        deeper = [depth + (name in twice) for depth, name in zip(depths, names, strict=True)]
        longer = [_name(entry, depth) for entry, depth in zip(entries, deeper, strict=True)]
        if longer == names:
            raise ValueError(
                f"{min(twice)} takes part twice: enter it once, or name it NAME=WHAT, in Python"
                ' {"NAME": WHAT}'
            )
        depths = deeper


def _name(entry: _Named, folders: int) -> str:
    """The user's name, that of a player, or the last parts of a file's path."""
    if entry.label or not (isinstance(entry.what, str) and names_agent(entry.what)):
        return entry.label or str(entry.what)
    path = Path(file_of(entry.what))
    parts = [*(part for part in path.parts[:-1] if part != "agents"), path.stem]
    return "/".join(parts[-folders:]) + entry.what.removeprefix(str(file_of(entry.what)))
