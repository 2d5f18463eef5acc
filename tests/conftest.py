"""What every test shares: JAX on the CPU, compiled programs kept between runs, quick compiling."""

import gc
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests import compiling

# Read when JAX is imported, as are the lines after it.
compiling.ask_for_quick_compiling()
os.environ.setdefault("JAX_PLATFORMS", "cpu")
_CACHE = Path(__file__).resolve().parents[1] / ".cache"
os.environ["XDG_CACHE_HOME"] = str(_CACHE)
# For the processes that tests start as well. CI names a folder that outlives its checkout.
os.environ["JAX_COMPILATION_CACHE_DIR"] = os.environ.get(
    "JAXGBG_TEST_PROGRAMS", str(_CACHE / "jax")
)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"

import hypothesis
import jax
import pytest

from jaxgbg.cli import app
from jaxgbg.runs import devices
from jaxgbg.runs import progress_bar as bars
from jaxgbg.xla import ask_for_whole_loops
from tests import internals
from tests.registries import TUTORIAL, forgotten_afterwards

# As `prepare_jax` does, here and in the processes that tests start.
ask_for_whole_loops()
jax.config.update("jax_platforms", os.environ["JAX_PLATFORMS"])


# Compiled programs are millions of objects that stay, which would be gone through again and again.
gc.set_threshold(100_000, 50, 100)


# By default an example that takes 0.2 s fails, and so do examples that are drawn slowly.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


# Background jobs of a shell ignore interrupts, and so would the processes that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    # JAX writes cache entries in place, so another process can read half of one. It then warns and
    # compiles again: slower, not wrong.
    config.addinivalue_line(
        "filterwarnings", "ignore:Error (reading|writing) persistent compilation cache entry"
    )


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A folder with a finished run of Nim, twelve evaluations long, and an unfinished one of
    TicTacToe. Nobody may write in it.
    """
    from jaxgbg.runs import Result, RunFolder, train
    from jaxgbg.runs.presets import preset

    folder = tmp_path_factory.mktemp("runs")
    train(preset("nim", seeds=(0, 1), episodes=300, eval_every=25), folder / "small")
    begun = RunFolder(folder, preset("tictactoe", seeds=(0, 1), episodes=900, eval_every=100))
    begun.begin()
    for seed in (0, 1):
        begun.append(Result(seed, "farl", 100, "maxn", -0.5 + 0.1 * seed, 20))
    return folder


@pytest.fixture(scope="module", autouse=True)
def _own_parts_are_forgotten() -> Iterator[None]:
    """What a module's tests have registered and imported is unknown to those of the next one."""
    with forgotten_afterwards():
        yield


@pytest.fixture
def user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with the modules of the tutorial; what they register is undone."""
    monkeypatch.chdir(tmp_path)
    for module in TUTORIAL.glob("*.py"):
        shutil.copy(module, tmp_path)
    with forgotten_afterwards():
        yield tmp_path


@pytest.fixture(scope="module", autouse=True)
def _programs_are_forgotten_in_time() -> Iterator[None]:
    """JAX keeps every program that a test has compiled: half of all tests filled 6 GB a process."""
    global _resident_before
    yield
    if _resident_bytes() - _resident_before > 500_000_000:
        jax.clear_caches()
        gc.collect()
        # The room that they took is not given back, but taken again by the next ones.
        _resident_before = _resident_bytes()


_resident_before = 0


def _resident_bytes() -> int:
    """Memory in use by this process; 0 where the system does not say it in /proc."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else 0


@pytest.fixture
def full_optimization(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """Programs compiled as for users, here and in the processes that the test starts; gives the
    number of them here so far.
    """
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "0")
    monkeypatch.setenv("XLA_FLAGS", compiling.flags_for_users())
    count = internals.compile_with(monkeypatch, compiling.FULL_OPTIMISATION)
    before = internals.setting("jax_disable_most_optimizations")
    # What was compiled before is not compiled again by itself.
    jax.clear_caches()
    jax.config.update("jax_disable_most_optimizations", False)
    yield count
    jax.clear_caches()
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture
def processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is timed in this process is timed by its processor time: others may keep the machine
    busy.
    """
    monkeypatch.setattr(time, "perf_counter", time.process_time)


@pytest.fixture
def jaxgbg(monkeypatch, capsys):
    """Run a command in this process; returns (exit code, standard output, standard error)."""
    monkeypatch.setattr(devices, "prepare_jax", lambda: None)
    # Longer than any test here takes: a slow machine shows no progress among complaints.
    monkeypatch.setattr(bars, "FIRST_LINE", 3600.0)
    monkeypatch.setattr(bars, "LINE_SECONDS", 3600.0)
    # pytest-xdist has one for its workers, who have no terminal.
    monkeypatch.delenv("COLUMNS", raising=False)

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["jaxgbg", *map(str, arguments)])
        code = 0
        try:
            app.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capsys.readouterr()

    return call
