"""Other systems, containers and bare machines, as far as they can be imitated on Linux."""

import ast
import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jaxgbg import system
from jaxgbg.games import TicTacToe
from jaxgbg.runs import Run
from jaxgbg.runs.devices import prepare_jax

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "jaxgbg").rglob("*.py"))

# What is missing before anything is imported.
WINDOWS = """
import ctypes, os, signal, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
missing = "getuid geteuid killpg nice sched_getaffinity sched_setaffinity setsid sysconf"
missing += " O_CLOEXEC O_NOFOLLOW O_NONBLOCK"
for name in missing.split():
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGUSR1"):
    delattr(signal, name)
class Library(ctypes.CDLL):
    def __init__(self, name, *rest, **options):
        if name is None:
            raise OSError("there is no C library of this process")
        super().__init__(name, *rest, **options)
ctypes.CDLL = Library
"""
# With jax, flax, optax, chex and numpy alone, and what these bring along.
BARE = """
import importlib.abc, sys
MISSING = "bitbully duckdb filelock fsspec jinja2 matplotlib pandas platformdirs psutil tyro"
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in MISSING.split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""
TRAINS = """
from jaxgbg.runs.devices import prepare_jax
prepare_jax(devices=1)
import jaxgbg, json, sys
run = jaxgbg.preset("nim", seeds=(0,), episodes=400, eval_every=200)
def stop(result):
    raise jaxgbg.StopTraining("half of it")
first = jaxgbg.train(run, sys.argv[1], callbacks=[stop], progress=False)
assert first.stopped_early
seen = []
whole = jaxgbg.train(run, sys.argv[1], callbacks=[seen.append], progress=False)
assert {each.episodes for each in seen} == {400}
print(json.dumps([whole.summary()["state_sha256"], len(whole.results())]))
"""


def python(program: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess:
    # Without fcntl, as on no desktop, filelock warns of itself.
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True
    )


@pytest.mark.slow
def test_what_other_systems_lack_is_done_without(tmp_path):
    results = {}
    for name, before in (("here", ""), ("windows", WINDOWS), ("bare", BARE)):
        done = python(before + TRAINS, tmp_path / name)
        assert done.returncode == 0, (name, done.stderr)
        results[name] = json.loads(done.stdout)
        # The lock is deleted too.
        assert [path.name for path in (tmp_path / name).glob(".*")] == []
    assert results["here"][1] == 4
    assert results["windows"] == results["bare"] == results["here"]
    command = "import sys; from jaxgbg.cli.app import main; sys.argv[0] = 'jaxgbg'; main()"
    for arguments in (("results", "windows"), ("report", "windows", "--out", "report.html")):
        done = python(
            f"import os; os.chdir({str(tmp_path)!r})\n{WINDOWS}\n{command}",
            *arguments,
            PYTHONPATH=str(ROOT),
        )
        assert done.returncode == 0, done.stderr
        assert "400" in done.stdout or "report.html" in done.stdout
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("nim") > 1


def test_without_a_way_to_choose_cores_there_are_all(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    assert system.core_numbers() == list(range(os.cpu_count() or 1))
    system.pin_to_core(0)


@pytest.mark.parametrize("package", ["psutil", "filelock", "platformdirs"])
def test_without_a_package_its_part_is_done_without(package, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    if package == "psutil":
        assert system.memory_limit() is None
        assert system.free_memory() == float("inf")
        with system.limited_memory(1):
            assert len(bytearray(2**24)) == 2**24
    if package == "platformdirs":
        assert system.cache_folder() is None
    if package == "filelock":
        with (tmp_path / "lock").open("wb") as file:
            assert system.try_lock(file.fileno()) is None


@pytest.mark.parametrize("moved", [None, "", "relative", "~", "/somewhere"])
def test_without_a_home_there_is_a_cache_only_where_one_is_named(moved, monkeypatch):
    monkeypatch.delenv("HOME", raising=False)
    # A user id without an entry.
    monkeypatch.setitem(sys.modules, "pwd", None)
    monkeypatch.delenv("XDG_CACHE_HOME")
    if moved is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", moved)
    expected = Path("/somewhere/jaxgbg") if moved == "/somewhere" else None
    assert system.cache_folder() == expected


def test_an_empty_place_for_caches_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert system.cache_folder() == tmp_path / ".cache" / "jaxgbg"


@pytest.mark.parametrize("chosen", ["/elsewhere", "", None])
def test_the_cache_that_jax_was_told_to_use_is_used(chosen, monkeypatch, tmp_path):
    import jax

    updated = {}
    monkeypatch.setattr(jax.config, "update", updated.__setitem__)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    if chosen is not None:
        monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", chosen)
    prepare_jax()
    assert updated.get("jax_compilation_cache_dir") == (
        str(tmp_path / "jaxgbg") if chosen is None else None
    )


@dataclasses.dataclass(frozen=True)
class Odd(TicTacToe):
    """A game whose name is given."""

    called: str = ""

    @property
    def name(self) -> str:
        return self.called


@pytest.mark.parametrize(
    "name", ["pgx:go_9x9", "pgx:go?", "a/b", "..", "NUL.x", "con", "nul.", "a\\b*<>|\"'", "x\n\t"]
)
def test_no_folder_has_a_name_that_windows_refuses(name):
    made = Run(Odd(called=name)).name
    assert made == system.file_name(made)
    assert not set('<>:"/\\|?*') & set(made)
    assert made.isprintable()
    assert not made.endswith((".", " "))
    assert made.partition(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT9"}


def test_names_of_files_stay_what_they_are_where_they_can():
    assert system.file_name("nim-0123abcd") == "nim-0123abcd"
    assert system.file_name("com1") == "_com1"
    assert system.file_name("com10") == "com10"
    assert system.file_name("...") == "_"


def calls(source: str) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]


def without_encoding(source: str) -> list[int]:
    """The lines that read or write text in whatever encoding the system has."""
    lines = []
    for call in calls(source):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        named = {keyword.arg for keyword in call.keywords}
        strings = [each.value for each in call.args if isinstance(each, ast.Constant)]
        text = name == "write_text" or (name == "read_text" and "utf-8" not in strings)
        # Of a process; others give a text by that name.
        text |= "text" in named and name in ("", "run", "Popen", "check_output")
        if name == "open" or (isinstance(call.func, ast.Name) and call.func.id == "open"):
            modes = [each for each in strings if re.fullmatch(r"[rwax][bt]?[+]?", str(each))]
            text |= any("b" not in mode for mode in modes)
        if text and "encoding" not in named:
            lines.append(call.lineno)
    return lines


def test_all_text_is_utf8():
    assert without_encoding("p.open('w')\np.open('rb')\np.read_text()") == [1, 3]
    assert without_encoding("p.write_text(x)\nsubprocess.run(a, text=True)\nopen(p, 'a')") == [
        1,
        2,
        3,
    ]
    assert without_encoding("p.write_text(x, encoding='utf-8')\np.read_text('utf-8')") == []
    found = {
        str(path.relative_to(ROOT)): lines
        for path in FILES
        if (lines := without_encoding(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_what_only_some_systems_have_has_one_home():
    only_some = {"fcntl", "grp", "msvcrt", "pwd", "resource", "termios", "tty"}
    guarded = {"getuid", "killpg", "sched_getaffinity", "sched_setaffinity", "sysconf"}
    found = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            attribute = node.attr if isinstance(node, ast.Attribute) else ""
            if names & only_some or attribute in guarded:
                found.add(path.name)
    assert found == {"system.py"}
