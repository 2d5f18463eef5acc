"""Progress of work: a bar on a terminal, one in a notebook, at last a line a minute elsewhere."""

import sys
from types import SimpleNamespace

import jax.monitoring
import pytest

from jaxgbg.arena.game_records import TournamentSettings
from jaxgbg.arena.participants import Participant
from jaxgbg.arena.scheduler import Scheduler, here
from jaxgbg.evaluation import Protocol
from jaxgbg.games import make
from jaxgbg.players import RandomPlayer
from jaxgbg.runs import progress_bar as bars
from jaxgbg.runs.compilation import CompileTimer
from jaxgbg.runs.loop import Progress
from jaxgbg.runs.presets import preset
from jaxgbg.runs.progress import RunProgress
from jaxgbg.runs.progress_bar import duration, open_bar


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is moved."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(bars.time, "monotonic", lambda: now.seconds)
    # Forget the programs that other tests have compiled, at times of the real clock.
    monkeypatch.setattr(CompileTimer, "_spans", {event: [] for event in CompileTimer._spans})
    return now


@pytest.mark.parametrize("without", [(), ("rich",)])
def test_where_there_is_no_terminal_lines_tell_time_left_at_last_one_a_minute(
    clock, capsys, monkeypatch, without
):
    for name in without:
        monkeypatch.setitem(sys.modules, name, None)
    bar = open_bar("nim")
    for second in range(0, 201):
        clock.seconds = second
        # A tenth was there before.
        bar.show(0.1 + 0.9 * second / 300, "5 units", before=0.1)
    bar.close()
    assert capsys.readouterr().err.splitlines() == [
        "nim: 12%, 5 units, 5 s elapsed, 4 min 55 s remaining",
        "nim: 15%, 5 units, 15 s elapsed, 4 min 45 s remaining",
        "nim: 20%, 5 units, 35 s elapsed, 4 min 25 s remaining",
        "nim: 32%, 5 units, 1 min 15 s elapsed, 3 min 45 s remaining",
        "nim: 50%, 5 units, 2 min 15 s elapsed, 2 min 45 s remaining",
        "nim: 68%, 5 units, 3 min 15 s elapsed, 1 min 45 s remaining",
    ]


def test_compilation_counts_as_elapsed_but_not_in_rate_and_remaining_time(clock, capsys):
    watch = RunProgress(preset("nim"))

    def reach(second, episodes):
        clock.seconds = second
        # Half of the time goes into evaluations.
        watch.on_chunk(Progress(episodes, 7 * episodes, second / 2, 1000))
        (line,) = capsys.readouterr().err.splitlines()
        return line.partition("%, ")[2]

    # The first program takes 40 s to compile; after that 100 episodes take 10 s.
    assert reach(40, 100) == "40 s elapsed"
    assert reach(60, 300) == "20 episodes/s, 1 min elapsed, 1 min 10 s remaining"
    # An evaluation compiles for 60 s, and what it calls for 30 s of these.
    clock.seconds = 120
    for name, seconds in (("jaxpr_trace", 30), ("backend_compile", 60)):
        jax.monitoring.record_event_duration_secs(f"/jax/core/compile/{name}_duration", seconds)
    assert reach(150, 600).endswith("2 min 30 s elapsed, 40 s remaining")


def test_a_tournament_says_how_long_was_compiled(clock, capsys):
    game = make("nim")
    settings = TournamentSettings(game, Protocol(), 0)
    entered = [Participant(name, "", RandomPlayer(game)) for name in ("one", "other")]
    groups = Scheduler(entered, settings, None, open_bar("nim"), here, 10)
    clock.seconds = 50.0
    jax.monitoring.record_event_duration_secs("/jax/core/compile/backend_compile_duration", 40)
    groups._done = 5
    groups._show(entered)
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "nim: 50%, one, other, 40 s of compilation, 50 s elapsed, 10 s remaining"


def test_what_is_not_shown_says_nothing(clock, capsys):
    bar = open_bar("nim", shown=False)
    clock.seconds = 600.0
    bar.show(0.5)
    bar.close()
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar(clock, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    bar = open_bar("nim")
    clock.seconds = 10.0
    bar.show(0.25, "5 units")
    bar.close()
    told = capsys.readouterr().err
    assert "nim" in told
    assert "10 s elapsed, 30 s remaining, 5 units" in told


def test_a_notebook_has_a_bar_by_tqdm(clock, monkeypatch):
    made = []

    class Fake:
        def __init__(self, **options):
            self.options, self.n, self.text, self.closed = options, 0, "", False
            made.append(self)

        def update(self, more):
            self.n += more

        def set_postfix_str(self, text, refresh):
            self.text = text

        def close(self):
            self.closed = True

    shell = SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Fake))
    bar = open_bar("nim")
    clock.seconds = 30.0
    bar.show(0.5)
    bar.show(0.6, "almost")
    bar.close()
    (fake,) = made
    assert (fake.n, fake.closed) == (600, True)
    assert fake.text == "60%, 30 s elapsed, 20 s remaining, almost"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.6, "1 min"), (7325, "2 h 2 min"), (273_600, "3 d 4 h")],
)
def test_a_time_in_words(seconds, words):
    assert duration(seconds) == words
