"""Whom agents meet by name: players, and agents on disk, which may look ahead.

An agent is named by its file, or as one of the zoo, and after colons by how it plays: `self.agent`,
`self.agent:look-ahead=3:width=3,1:reply=value:ranks=.6,.3,.1`, `zoo:hex:search=puct-200`.
"""

import contextlib
import dataclasses
from pathlib import Path

from jaxgbg.evaluation import DEFAULT_PROTOCOL, Judge, MatchJudge, Protocol, make_judge
from jaxgbg.games import Game
from jaxgbg.players import Player, make_player
from jaxgbg.players.registry import check_plays
from jaxgbg.runs.play import Play
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.zoo import PREFIX, is_zoo_name
from jaxgbg.types import SettingValue

_SUFFIX = ".agent"


def names_agent(text: str) -> bool:
    """Whether `text`, a player's name or an agent's file or zoo:NAME, is one of the latter."""
    with contextlib.suppress(OSError):
        return is_zoo_name(text) or _SUFFIX in text or Path(text).is_file()
    return False


def file_of(name: str) -> str:
    """The file of the agent of that name, or zoo:NAME, without how it plays."""
    if is_zoo_name(name):
        return PREFIX + name.removeprefix(PREFIX).partition(":")[0]
    path, suffix, _ = name.partition(f"{_SUFFIX}:")
    return path + suffix.removesuffix(":")


def agents_of(folder: Path) -> list[Path]:
    """All agents of a run's folder, those with FARL first.

    Raises ValueError where none is, and where one that the run has made is missing.
    """
    # It imports this module.
    from jaxgbg.runs.storage.run_folder import RunFolder

    found = _present_agents(folder)
    if (folder / "config.json").exists():
        run_folder = RunFolder.open(folder)
        files = map(run_folder.agent, run_folder.run.agents if run_folder.finished else ())
        for path in files:
            if not path.exists():
                raise ValueError(
                    f"{path}: No such file, though the run has it; put it back, or name agent files"
                    " instead of the run"
                )
    return found


def _present_agents(folder: Path) -> list[Path]:
    files = (folder / "agents").glob(f"*{_SUFFIX}")
    found = sorted(files, key=lambda one: (not one.stem.endswith("-farl"), len(one.name), one.name))
    if not found:
        run = next((path.parent.parent for path in folder.glob(f"*/agents/*{_SUFFIX}")), None)
        if any(folder.glob(f"*{_SUFFIX}")):
            run = folder.parent
        such = "" if run is None else f", such as {run}"
        raise ValueError(
            f"{folder} is not the folder of a finished run (no agents/*{_SUFFIX}): name one{such}"
        )
    return found


def agent_file(place: Path) -> Path:
    """The first agent of a run's folder, with FARL if one is; anything else is itself."""
    return _present_agents(place)[0] if place.is_dir() else place


def check_same_game(path: Path | str, found: Game, wanted: Game) -> None:
    """Raise ValueError if an agent plays `found`, not `wanted`, and name what differs."""
    if found == wanted:
        return
    one, other = (
        " ".join(
            f"{field.name}={_as_typed(getattr(game, field.name))}"
            for field in dataclasses.fields(game)
            if getattr(game, field.name) != getattr(against, field.name, None)
        )
        for game, against in ((found, wanted), (wanted, found))
    )
    raise ValueError(
        f"agent file {path} plays {wanted.name} with other parameters: {one}, not {other}"
    )


def _as_typed(value: SettingValue) -> str:
    """A parameter as `--parameters` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def make_opponent(name: str, game: Game) -> Player:
    """The player of that name, or the agent in the file of that name, playing as said after it.

    Raises ValueError for an unknown player, for a file that is no agent of this very game, and for
    what no agent can be told; MissingExtra where a player lacks its package.
    """
    if not names_agent(name):
        return make_player(name, game)
    path = file_of(name)
    saved = load_agent(path, game.name)
    check_same_game(path, saved.run.game, game)
    options = name[len(path) + 1 :].split(":") if name != path else []
    return _read(name, options).player(saved.player())


def _read(name: str, entries: list[str]) -> Play:
    """The play options in the agent `name`; raises ValueError."""
    try:
        return Play.parse(entries)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def judge_by(name: str | Player, game: Game, protocol: Protocol | None = None) -> Judge:
    """The judge of that name as `make_judge` has it, or a match with an agent on disk or a player.

    A player object stays open when the judge is closed. Raises ValueError for a player of
    another game, and as `make_opponent`.
    """
    if not isinstance(name, str):
        check_plays(name, game, "opponent")
        if game.num_players == 1:
            raise ValueError(f'{game.name} is played alone: "score" evaluates it, not {name.name}')
        return MatchJudge(game, name, protocol or DEFAULT_PROTOCOL, name.name, owned=False)
    if names_agent(name) and game.num_players > 1:
        return MatchJudge(game, make_opponent(name, game), protocol or DEFAULT_PROTOCOL, name)
    return make_judge(name, game, protocol)
