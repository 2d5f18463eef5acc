"""External engines as opponents: any program that speaks the Go Text Protocol.

An engine runs in a separate process and receives every position as the moves that led there: all
commands are written at once, and all answers are read afterwards. Any error ends in an
`EngineError` of one line, and no process is left.
Source: Farneback 2002, Go Text Protocol 2, as used for Othello by GRhino and Edax.
"""

import contextlib
import os
import queue
import shlex
import subprocess
import threading
import time
import weakref

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.arguments import Seconds
from jaxgbg.games import Game, Hex, Othello
from jaxgbg.players.core import EngineError, History, PlayerBase
from jaxgbg.specs import checked
from jaxgbg.system import kill_group
from jaxgbg.types import State

GRHINO = "/usr/games/gtp-rhino -b 0 -l 1"
"""GRhino at level 1 without its opening book, where Debian's package grhino puts it."""

COLOURS = ("black", "white")
"""The words for player 0 and player 1."""

_LONGEST_ANSWER = 2**20
_PIECE = 2**16
_MOST_PIECES = 16
_PATIENCE = 1.0


class GTPEngine(PlayerBase):
    """Plays by asking an engine: `command` is the command line that starts it.

    Othello and Hex; columns are letters from the left, rows numbers from the top, player 0 is
    black. `timeout` is in seconds, for one move. Raises ValueError for another game, EngineError if
    the engine is missing, silent, dead, refuses a command or plays an illegal move. Use it in a
    `with` block or `close` it; it is closed at the latest when the program ends.
    """

    needs_history = True

    @checked
    def __init__(
        self, game: Game, command: str, name: str | None = None, timeout: Seconds = 10.0
    ) -> None:
        if not isinstance(game, Othello | Hex):
            raise ValueError(f"engines play othello and hex, not {game.name}")
        if isinstance(game, Hex) and game.misere:
            raise ValueError("engines play hex, not its misere form")
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"the engine's command {command!r}: {error}") from error
        if not words:
            raise ValueError("the engine's command is empty")
        self.game = game
        self.command = command
        self.name = name or os.path.basename(words[0])
        self.timeout = timeout
        try:
            # In a separate group, so that processes it starts end with it.
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(
                f"engine {self.name!r} cannot be started: {error.strerror} ({words[0]});"
                " install it or give its path"
            ) from error
        self._pieces: queue.Queue[bytes] = queue.Queue(_MOST_PIECES)
        reader = threading.Thread(
            target=_pass_on, args=(self._process, self._pieces), name="engine", daemon=True
        )
        reader.start()
        self._close = weakref.finalize(self, _end, self._process, reader, self._pieces)
        self._read = b""
        try:
            self._ask(["protocol_version"])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the engine's process, and those that it has started."""
        self._close()

    def act(self, states: State, key: jax.Array, history: History | None = None) -> jax.Array:
        """states[B] and the moves that led to each -> int32[B]; a terminal state gives 0.

        An engine cannot be given a position, only the way to it: ValueError without a history.
        """
        if history is None:
            raise ValueError(f"engine {self.name!r} needs the history of every game")
        game: Game = self.game
        legal = np.asarray(jax.vmap(game.legal_actions)(states))
        player, over = np.asarray(states.player), np.asarray(states.terminal)
        actions = np.zeros(len(over), np.int32)
        try:
            for row in np.flatnonzero(~over):
                colour = COLOURS[player[row]]
                moves = self._moves(history.actions[row], history.players[row], player[row])
                size = round(self.game.num_cells**0.5)
                begin = [f"boardsize {size}", "clear_board"]
                answer = self._ask([*begin, *moves, f"genmove {colour}"])[-1]
                actions[row] = self._action(answer, legal[row])
        except BaseException:
            self.close()
            raise
        return jnp.asarray(actions)

    def _moves(self, actions: np.ndarray, players: np.ndarray, to_move: int) -> list[str]:
        """The commands that play a game so far; passes are moves to the engine."""
        commands = []
        expected = 0
        for action, player in zip(actions, players, strict=True):
            if action < 0:
                continue
            if player != expected:
                commands.append(f"play {COLOURS[expected]} pass")
            commands.append(f"play {COLOURS[player]} {self._vertex(int(action))}")
            expected = 1 - int(player)
        if expected != to_move:
            commands.append(f"play {COLOURS[expected]} pass")
        return commands

    def _vertex(self, action: int) -> str:
        row, column = divmod(action, round(self.game.num_cells**0.5))
        return f"{chr(ord('a') + column)}{row + 1}"

    def _action(self, answer: str, legal: np.ndarray) -> int:
        """The legal action that the engine's answer names."""
        text = answer.strip().lower()
        named = [a for a in np.flatnonzero(legal).tolist() if self._vertex(a) == text]
        if not named:
            allowed = " ".join(self._vertex(a) for a in np.flatnonzero(legal).tolist())
            raise EngineError(
                f"engine {self.name!r} played {answer.strip()[:20]!r}, which is not legal here"
                f" (legal: {allowed}); check its command line: {self.command}"
            )
        return named[0]

    def _ask(self, commands: list[str]) -> list[str]:
        """The engine's answer to each command; raises EngineError if one fails."""
        assert self._process.stdin is not None
        deadline = time.monotonic() + self.timeout
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in commands).encode())
            self._process.stdin.flush()
        except OSError as error:
            raise self._died() from error
        answers = []
        for command in commands:
            answer = self._answer(deadline, command)
            if answer.startswith("?") and command.endswith(" pass"):
                # GRhino passes by itself where it must, and takes no such command.
                continue
            if answer.startswith("?"):
                raise EngineError(
                    f"engine {self.name!r} refused {command!r}: {answer[1:].strip()[:80]}"
                )
            if not answer.startswith("="):
                raise EngineError(
                    f"engine {self.name!r} does not speak GTP: it answered {answer[:40]!r}"
                    f" to {command!r}; check its command line: {self.command}"
                )
            answers.append(answer.lstrip("=0123456789") if answer[1:2].isdigit() else answer[1:])
        return answers

    def _answer(self, deadline: float, command: str) -> str:
        """One answer: the lines up to an empty one."""
        while True:
            text = self._read.replace(b"\r", b"").lstrip(b"\n")
            head, end, rest = text.partition(b"\n\n")
            if end:
                self._read = rest
                return head.decode(errors="replace").strip()
            try:
                piece = self._pieces.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                raise EngineError(
                    f"engine {self.name!r} gave no answer to {command!r}"
                    f" within {self.timeout:g} s; it has been stopped"
                ) from None
            if not piece:
                raise self._died()
            if len(text) > _LONGEST_ANSWER:
                raise EngineError(
                    f"engine {self.name!r} gave an endless answer to {command!r};"
                    f" check its command line: {self.command}"
                )
            self._read = text + piece

    def _died(self) -> EngineError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        code = self._process.poll()
        how = "closed its output" if code is None else f"ended with code {code}"
        return EngineError(f"engine {self.name!r} {how}; check its command line: {self.command}")


def _pass_on(process: "subprocess.Popen[bytes]", pieces: "queue.Queue[bytes]") -> None:
    """Pass on what an engine writes, and b"" at its end: not all systems can wait at a pipe."""
    assert process.stdout is not None
    while piece := os.read(process.stdout.fileno(), _PIECE):
        pieces.put(piece)
    pieces.put(b"")


def _end(
    process: "subprocess.Popen[bytes]", reader: threading.Thread, pieces: "queue.Queue[bytes]"
) -> None:
    """Kill a process and its group, and wait until it has ended and its reader too."""
    kill_group(process)
    process.wait()
    deadline = time.monotonic() + _PATIENCE
    while reader.is_alive() and time.monotonic() < deadline:
        # It may wait for room to pass something on.
        with contextlib.suppress(queue.Empty):
            pieces.get(timeout=0.01)
    # What is still read from, by whom the engine has started and could not be killed, stays open.
    for stream in (process.stdin, None if reader.is_alive() else process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def grhino(game: Game) -> GTPEngine:
    """GRhino at level 1; raises as `GTPEngine`."""
    return GTPEngine(game, GRHINO, "grhino")
