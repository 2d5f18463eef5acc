"""Games kept as JSON lines: one object a line, which the rules replay.

The page on positions and records documents the format.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import jax
import numpy as np

from jaxgbg.contents import Readable, defect, parse_json, read_bytes, reason
from jaxgbg.games import Game
from jaxgbg.games.game_replay import GameReplay
from jaxgbg.games.lines import Line
from jaxgbg.games.notations import position_line
from jaxgbg.runs.run import plain_game, read_game
from jaxgbg.runs.storage.files import written_whole
from jaxgbg.specs import pluralize, shown
from jaxgbg.types import JSON, State

_MOST_BYTES = 2**31
# Rewards are written with so many digits after the point.
_DIGITS = 6
_GREATEST = float(np.finfo(np.float32).max)


@dataclasses.dataclass(frozen=True)
class RecordedGame:
    """A game that was kept.

    Attributes:
      game: The game, with its parameters.
      players: The names of the players, one for each seat.
      moves: All moves as text: `3,2,4`, or a position, a semicolon and the moves from there.
      result: The final reward of each seat.
      opening: The number of moves at the beginning that no player has chosen.
      seed: The seed of the match or evaluation.
      number: The number of the game there, from 1.
    """

    game: Game
    players: tuple[str, ...]
    moves: str
    result: tuple[float, ...]
    opening: int = 0
    seed: int = 0
    number: int = 1

    def states(self) -> State:
        """states[T + 1]: the positions before the first and after each of T moves.

        Raises ValueError for an illegal move, for moves after or before the end, and where the
        rules give another result.
        """
        line = position_line(self.game, self.moves) if self.moves else Line()
        if self.opening > len(line.plies):
            moves = pluralize(len(line.plies), "move")
            raise ValueError(f"opening is {self.opening:,}, and the game has {moves}")
        states = GameReplay(self.game).every(line)
        last = jax.tree.map(lambda leaf: leaf[-1], states)
        if not last.terminal:
            raise ValueError(f"the game is not over after its {len(line.plies):,} moves")
        rewards = np.asarray(last.rewards, float).round(_DIGITS)
        if not np.allclose(rewards, self.result, rtol=0, atol=10.0**-_DIGITS):
            paid = ", ".join(f"{reward:g}" for reward in rewards)
            kept = ", ".join(f"{reward:g}" for reward in self.result)
            raise ValueError(f"the result is {kept}, and by the rules it is {paid}")
        return states

    def plain(self) -> dict[str, JSON]:
        """The object of its line."""
        return {
            "game": plain_game(self.game),
            "players": list(self.players),
            "moves": self.moves,
            "result": [round(float(reward), _DIGITS) for reward in self.result],
            "opening": self.opening,
            "seed": self.seed,
            "number": self.number,
        }


def write_games(path: Path, games: Iterable[RecordedGame]) -> None:
    """Write games as JSON lines, all or none; raises CannotWrite."""
    with (
        written_whole(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for game in games:
            file.write(json.dumps(game.plain(), ensure_ascii=False) + "\n")


def recorded_games(path: Readable) -> list[RecordedGame]:
    """The games in a file that `--record` has written.

    Raises ValueError, in one line that names the file and its line, for what is no such game; the
    moves are replayed by `RecordedGame.states` alone.
    """
    try:
        text = read_bytes(path, _MOST_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ValueError(defect(path, error)) from error
    games = list(_parsed(path, text.split("\n")))
    if not games:
        raise ValueError(f"{path} holds no games")
    return games


def _parsed(path: Readable, lines: Sequence[str]) -> Iterator[RecordedGame]:
    known: dict[str, Game] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _parse(parse_json(line), known)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {reason(error)}") from error


def _parse(content: JSON, known: dict[str, Game]) -> RecordedGame:
    """Undo `RecordedGame.plain`; raises ValueError."""
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    missing = [name for name in ("game", "players", "moves", "result") if name not in content]
    if missing:
        raise ValueError(f"a game has {missing[0]}, and this line has none")
    name = json.dumps(content["game"], sort_keys=True)
    if name not in known:
        known[name] = read_game(content["game"])
    game, seats = known[name], known[name].num_players
    players, result = content["players"], content["result"]
    if not isinstance(players, list) or [type(each) for each in players] != [str] * seats:
        raise ValueError(f"players must be {seats} names, not {shown(players)}")
    if not isinstance(content["moves"], str):
        raise ValueError(f"moves must be text such as 3,2,4, not {shown(content['moves'])}")
    numbers = isinstance(result, list) and all(map(_is_reward, result))
    if not numbers or len(result) != seats:
        raise ValueError(f"result must be {seats} numbers, not {shown(result)}")
    counts = {key: content.get(key, 0) for key in ("opening", "seed", "number")}
    for key, value in counts.items():
        if type(value) is not int or value < 0:
            raise ValueError(f"{key} must be a whole number from 0, not {shown(value)}")
    paid = tuple(map(float, result))
    return RecordedGame(game, tuple(players), content["moves"], paid, **counts)


def _is_reward(value: JSON) -> bool:
    """Whether it is a number, and one that float32 holds: integers of JSON have any length."""
    return type(value) in (int, float) and abs(value) <= _GREATEST
