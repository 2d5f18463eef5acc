"""How a signal reaches a training."""

import gc
import signal
import sys
import time

import pytest

from jaxgbg.runs.stopping import Stopped, stop_signals


def test_a_signal_within_a_callback_of_the_garbage_collector_is_not_lost(capfd):
    # What is raised in such a callback ends there, with a traceback on stderr.
    number = signal.SIGTERM

    def callback(phase, information):
        gc.callbacks.remove(callback)
        signal.raise_signal(number)

    def work():
        with stop_signals(lambda: True):
            gc.callbacks.append(callback)
            gc.collect()
            time.sleep(10)

    hook = sys.unraisablehook
    with pytest.raises(Stopped) as stopped:
        work()
    assert stopped.value.signal_number == number
    assert capfd.readouterr().err == ""
    assert sys.unraisablehook is hook


def test_other_complaints_of_the_garbage_collector_are_told_as_before(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_value))

    def callback(phase, information):
        gc.callbacks.remove(callback)
        raise ValueError("of the callback")

    with stop_signals(lambda: True) as request:
        gc.callbacks.append(callback)
        gc.collect()
    assert str(told[0]) == "of the callback"
    assert request.signal_number is None
