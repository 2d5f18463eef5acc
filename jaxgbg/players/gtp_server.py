"""A player as an engine that other programs drive: it answers commands of the Go Text Protocol.

Source: Farneback 2002, Go Text Protocol 2, the commands of its core and tournament subsets.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp

import jaxgbg
from jaxgbg.games import Game
from jaxgbg.players.core import Player
from jaxgbg.players.gtp import COLOURS
from jaxgbg.specs import checked
from jaxgbg.types import State

_PASS = "pass"
_SEPARATORS = re.compile(r"[ ,:]+")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LONGEST_LINE = 10_000


class BadCommand(ValueError):
    """A command that cannot be carried out; the message is the answer."""


class _Ply(NamedTuple):
    """A position on the way so far, and whose turn it would be if turns alternated."""

    state: State
    expected: int


class GTPServer:
    """Answers commands for one game of two players without chance; black is player 0.

    `names` maps the name of each legal action of a state to its number, and `board` shows a state
    as lines of text. A player who cannot move passes, also where the rules skip its turn. `seed` is
    that of the player's draws, which differ from game to game of a session. Raises ValueError for
    another kind of game, and for a player who needs the moves before a position.
    """

    @checked
    def __init__(
        self,
        game: Game,
        player: Player,
        names: Callable[[State], dict[str, int]],
        board: Callable[[State], str],
        seed: int = 0,
    ) -> None:
        if game.num_players != 2 or game.stochastic:
            raise ValueError(f"GTP is for two players without chance, which {game.name} is not")
        if player.needs_history:
            raise ValueError(f"{player.name} is an engine already: start it by its own command")
        self.game, self.player = game, player
        self._names, self._board = names, board
        self._key = jax.random.key(seed)
        self._games = 0
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: f"jaxgbg {player.name}",
            "version": lambda _: jaxgbg.__version__,
            "known_command": lambda words: str(_word(words) in self._commands).lower(),
            "list_commands": lambda _: "\n".join(self._commands),
            "quit": lambda _: "",
            "boardsize": self._boardsize,
            "clear_board": self._clear,
            # Neither points nor clocks matter here, and programs name them before every game.
            "komi": lambda words: _ignored(words, 1, "komi not a float"),
            "time_settings": lambda words: _ignored(words, 3, "time settings not three integers"),
            "time_left": self._time_left,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": lambda words: self._choice(words)[0],
            "undo": self._undo,
            "showboard": lambda _: "\n" + self._board(self._state),
            "final_score": self._final_score,
            "jaxgbg-legal_moves": lambda _: " ".join(self._legal(int(self._state.player))),
        }
        self._clear([])

    @property
    def _state(self) -> State:
        return self._plies[-1].state

    def answers(self, lines: Iterable[str]) -> Iterator[str]:
        """The answer to each line that is a command, up to `quit`, with its empty line at the end.

        An unknown command, or one that cannot be carried out, is answered by "?" and the reason.
        """
        for line in lines:
            words = _UNPRINTABLE.sub("", line.partition("#")[0]).split()
            number = words.pop(0) if words and words[0].isdecimal() else ""
            if not words:
                continue
            command, *rest = words
            try:
                if len(line) > _LONGEST_LINE:
                    raise BadCommand("line too long")
                if command not in self._commands:
                    raise BadCommand("unknown command")
                mark, text = "=", self._commands[command](rest)
            except BadCommand as refused:
                mark, text = "?", str(refused)
            yield f"{mark}{number} {text}".rstrip() + "\n\n"
            if command == "quit":
                return

    def _boardsize(self, words: list[str]) -> str:
        """Only the size that the game has; where boards are no squares, any."""
        side = math.isqrt(self.game.num_cells)
        if not _word(words).isdecimal():
            raise BadCommand("boardsize not an integer")
        if side**2 == self.game.num_cells and _word(words) != str(side):
            raise BadCommand("unacceptable size")
        return self._clear([])

    def _clear(self, words: list[str]) -> str:
        del words
        self._plies = [_Ply(self.game.init(jax.random.key(0)), 0)]
        # Otherwise a match of many games would repeat the first one.
        self._games += 1
        return ""

    def _time_left(self, words: list[str]) -> str:
        self._colour(words)
        return _ignored(words[1:], 2, "time left not two integers")

    def _play(self, words: list[str]) -> str:
        colour, move = self._colour(words), _plain("".join(words[1:]))
        legal = {_plain(name): action for name, action in self._legal(colour).items()}
        if move in legal:
            self._follow(colour, legal[move])
        elif move == _PASS and self._skipped(colour):
            self._plies.append(_Ply(self._state, 1 - colour))
        else:
            raise BadCommand("illegal move")
        return ""

    def _genmove(self, words: list[str]) -> str:
        name, action = self._choice(words)
        if action is None:
            self._plies.append(_Ply(self._state, 1 - self._colour(words)))
        else:
            self._follow(self._colour(words), action)
        return name

    def _choice(self, words: list[str]) -> tuple[str, int | None]:
        """The name and number of the move that the player makes; ("pass", None) if it has none."""
        colour, state = self._colour(words), self._state
        if state.terminal:
            raise BadCommand("the game is over")
        if self._skipped(colour):
            return _PASS, None
        if colour != state.player:
            raise BadCommand(f"it is the turn of {COLOURS[state.player]}")
        key = jax.random.fold_in(jax.random.fold_in(self._key, self._games), len(self._plies))
        batch = jax.tree.map(lambda leaf: leaf[None], state)
        action = int(self.player.act(batch, key)[0])
        return next(name for name, each in self._legal(colour).items() if each == action), action

    def _undo(self, words: list[str]) -> str:
        del words
        if len(self._plies) == 1:
            raise BadCommand("cannot undo")
        self._plies.pop()
        return ""

    def _final_score(self, words: list[str]) -> str:
        del words
        if not self._state.terminal:
            raise BadCommand("the game is not over")
        lead = float(self._state.rewards[0] - self._state.rewards[1]) / 2
        return "0" if lead == 0 else f"{'B' if lead > 0 else 'W'}+{abs(lead):g}"

    def _colour(self, words: list[str]) -> int:
        """The player that the first word names, or its first letter."""
        word = words[0].lower() if words else ""
        for player, colour in enumerate(COLOURS):
            if word in (colour, colour[0]):
                return player
        raise BadCommand("invalid color")

    def _legal(self, colour: int) -> dict[str, int]:
        """The player's legal actions by name, in one word each: none if it is not to move."""
        if self._state.terminal or colour != self._state.player:
            return {}
        names = self._names(self._state)
        return {_SEPARATORS.sub("-", name): action for name, action in names.items()}

    def _skipped(self, colour: int) -> bool:
        """Whether it would be the player's turn, but the rules have skipped it."""
        state, expected = self._plies[-1]
        return not state.terminal and colour == expected and colour != state.player

    def _follow(self, colour: int, action: int) -> None:
        after = self.game.afterstate(self._state, jnp.int32(action))
        self._plies.append(_Ply(jax.device_get(after), 1 - colour))


def _plain(move: str) -> str:
    """A move as it is compared: letters and digits alone."""
    return "".join(filter(str.isalnum, move.lower()))


def _ignored(words: list[str], count: int, otherwise: str) -> str:
    """The answer to `count` numbers that change nothing; raises BadCommand for other words."""
    try:
        numbers = [float(word) for word in words]
    except ValueError as error:
        raise BadCommand(otherwise) from error
    if len(numbers) != count:
        raise BadCommand(otherwise)
    return ""


def _word(words: list[str]) -> str:
    return words[0] if words else ""
