"""A limit on the time of calls into a game's rules, which may hold a loop without end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from jaxgbg.games.core import Game
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import PyTree

PATIENCE = 15.0
"""Seconds until the functions of a game are tried one by one."""
SECONDS_OF_A_CALL = 45.0
"""What one call on one position may take, compiling included."""
SECONDS = 600.0
"""What a check may take where each function alone returns."""


_T = TypeVar("_T")


class NoEnd(Exception):
    """A game's rules do not return; the message says which function."""


_running: list[BackgroundCall] = []


def calls_go_on() -> bool:
    """Whether a `BackgroundCall` still runs; then the process must end by `os._exit`.

    Python itself would end such a thread within compiled code, which aborts the process.
    """
    _running[:] = [call for call in _running if not call.returns_within(0)]
    return bool(_running)


class BackgroundCall(Generic[_T]):
    """A call in a daemon thread of its own; nobody has to wait for its end."""

    def __init__(self, call: Callable[[], _T]) -> None:
        self._call = call
        self._result: _T
        self._error: BaseException | None = None
        # Not `Thread.join`: Python 3.11 takes a thread for ended when Ctrl-C interrupts its join.
        self._ended = threading.Event()
        _running.append(self)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self._result = self._call()
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def returns_within(self, seconds: float) -> bool:
        """Wait so long at most; whether the call has returned or raised."""
        return self._ended.wait(seconds)

    def result(self) -> _T:
        """The return value of the call; raises its exception."""
        if self._error is not None:
            raise self._error
        return self._result


def call_with_limit(call: Callable[[], _T], game: Game) -> _T:
    """The result of `call`, which uses the rules of `game`; raises NoEnd where they do not return.

    A compiled loop cannot be stopped: its thread stays until the process ends.
    """
    check = BackgroundCall(call)
    if not check.returns_within(PATIENCE):
        if (name := _endless_function(game, lambda: check.returns_within(0))) is not None:
            raise NoEnd(
                f"{name} does not return within {SECONDS_OF_A_CALL:g} s for one position:"
                " it may have an endless loop"
            )
        if not check.returns_within(max(0.0, SECONDS - PATIENCE)):
            raise NoEnd(
                f"random games are not over after {SECONDS:g} s: a loop in the rules may have no"
                " end"
            )
    return check.result()


def _endless_function(game: Game, returned: Callable[[], bool]) -> str | None:
    """The first function that does not return for the start position; None if all do.

    `returned` says whether there is nothing left to look for.
    """
    words, state = jnp.zeros(game.init_words, jnp.uint32), None
    calls: dict[str, tuple[Callable[..., PyTree], Callable[[], tuple[PyTree, ...]]]] = {
        "init": (game.init_from, lambda: (words,)),
        "legal_actions": (game.legal_actions, lambda: (state,)),
        "cells": (game.cells, lambda: (state,)),
        "afterstate": (game.afterstate, lambda: (state, jnp.int32(0))),
        "spawn": (
            game.spawn_from,
            lambda: (state, jnp.zeros(game.spawn_words, jnp.uint32)),
        ),
        "outcomes": (game.outcomes, lambda: (state,)),
        "extras": (game.extras, lambda: (state,)),
    }
    for name, (function, arguments) in calls.items():
        if returned():
            return None
        one = BackgroundCall(partial(_call_compiled, function, arguments()))
        if not one.returns_within(SECONDS_OF_A_CALL):
            return name
        try:
            state = one.result() if state is None else state
        except Exception:
            # An error is reported by the check itself.
            return None
    return None


def _call_compiled(function: Callable[..., PyTree], arguments: tuple[PyTree, ...]) -> PyTree:
    return jax.block_until_ready(jax.jit(function)(*arguments))
