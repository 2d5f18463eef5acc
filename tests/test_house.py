"""The house: imports go down the list of rooms, files and functions stay readable."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "jaxgbg"
ROOMS = (
    "lazy", "types", "xla", "jaxprs", "system", "extensions", "specs", "spec_text", "arguments",
    "contents", "games", "values", "learners", "search", "players", "evaluation", "runs", "sweeps",
    "arena", "results", "api", "playing", "web", "cli",
)  # fmt: skip
CORE = ROOMS[: ROOMS.index("runs") + 1]
CORE_PACKAGES = {"jax", "flax", "optax", "chex", "numpy"}
# What stands above all rooms.
ROOF = ("__init__",)
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 500, 60
# `jaxgbg/types.py` has names for what Python's types cannot say; the rest is for foreign libraries.
MOST_LINES_WITH_ANY = 60
# Former names of files, classes and functions -> the field's term.
FORMER_NAMES = {
    "analysing": "one file per command, named as the command",
    "answering": "endpoint, api",
    "counting_on_best": "off_policy",
    "entering": "first_layer_delta",
    "entrants": "participants",
    "FollowsCells": "IncrementalByCells",
    "FollowsMoves": "IncrementalByPattern",
    "foretelling": "auxiliary",
    "Foretold": "AuxiliaryError",
    "Gathered": "ReplayBuffer",
    "gathering": "replay",
    "grow_on": "resume",
    "growth": "simulation",
    "guests": "participants, loaded_agents",
    "hall": "scheduler",
    "hasty": "fast_compile_options",
    "heeds_exploring": "tracks_exploration",
    "in_portions": "map_in_chunks",
    "kept": "what is kept: schemas, stored runs",
    "looks": "inference, styles",
    "Met": "MatchResult",
    "newest": "latest_agent",
    "once": "materialize",
    "plant": "new_tree",
    "portions": "chunking",
    "prepared": "accumulator",
    "read_leniently": "validate_partial",
    "settled": "force_materialize",
    "Tell": "on_match, on_evaluation",
    "told": "describe",
    "Valuation": "BootstrapRule",
    "value_altered": "value_incremental",
    "ValuesStones": "BatchedPlacements",
}
# Still two classes each: the `Table` of results, and the table that the play page sits at.
MEAN_TWO_THINGS = {"Table"}

FILES = sorted(ROOT.rglob("*.py"))
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def modules(node: ast.AST) -> list[str]:
    """The modules that a statement imports, `from jaxgbg import games` as jaxgbg.games."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    assert node.level == 0, "imports are absolute here"
    if node.module == "jaxgbg":
        return [f"jaxgbg.{alias.name}" for alias in node.names]
    return [str(node.module)]


def upward(source: str, room: str) -> list[str]:
    """What a file of `room` imports, anywhere in it, from rooms further down the list."""
    imported = {module for node in ast.walk(ast.parse(source)) for module in modules(node)}
    rooms = [module.split(".")[1] for module in sorted(imported) if module.startswith("jaxgbg.")]
    return [other for other in rooms if ROOMS.index(other) > ROOMS.index(room)]


def foreign(source: str) -> list[str]:
    """What a file imports as soon as it is imported, but for the core's packages."""
    body = ast.parse(source).body
    imported = {module.split(".")[0] for node in body for module in modules(node)}
    return sorted(imported - CORE_PACKAGES - sys.stdlib_module_names - {"jaxgbg"})


def test_all_rooms_are_on_the_list():
    assert {room_of(path) for path in FILES} == {*ROOMS, *ROOF}


@each_file
def test_imports_go_down_the_list(path):
    if room_of(path) not in ROOF:
        assert upward(path.read_text(), room_of(path)) == []


def test_the_chain_of_folders_stays_short():
    folders = {room for room in ROOMS if (ROOT / room).is_dir()}
    assert len(folders) <= 12
    # Imports go down the list, so what a room imports is done before it.
    chains: dict[str, list[str]] = {}
    for room in ROOMS:
        below = [chains[other] for other in imported_rooms(room) - {room}]
        chains[room] = [room] * (room in folders) + max(below, key=len, default=[])
    assert len(max(chains.values(), key=len)) <= 11, chains


def imported_rooms(room: str) -> set[str]:
    """The rooms that the files of a room import, anywhere in them."""
    trees = [ast.parse(path.read_text()) for path in FILES if room_of(path) == room]
    imported = {module for tree in trees for node in ast.walk(tree) for module in modules(node)}
    return {module.split(".")[1] for module in imported if module.startswith("jaxgbg.")} & {*ROOMS}


@each_file
def test_the_core_imports_its_five_packages_alone(path):
    if room_of(path) in (*CORE, "__init__"):
        assert foreign(path.read_text()) == []


@each_file
def test_files_and_functions_fit_a_reader(path):
    source = path.read_text()
    assert source.count("\n") <= MOST_LINES
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, functions)]
    lines = [(node.name, (node.end_lineno or 0) - node.lineno + 1) for node in found]
    assert [each for each in lines if each[1] > MOST_LINES_OF_A_FUNCTION] == []


# Files of users are read through `jaxgbg.contents`, which waits for no pipe and reads nothing
# endless. What else is opened: our own package's files, files just written here, /proc, locks.
OPENED = {
    "api.py": ["read_bytes"],
    "cli/exit_codes.py": ["os.open", "os.open"],
    "evaluation/solved_positions.py": ["open"],
    "games/ludax_games.py": ["read_text"],
    "runs/memory.py": ["read_text"],
    "runs/storage/agents.py": ["open"],
    "runs/storage/checkpoints.py": ["open"],
    "runs/storage/files.py": ["open", "open", "os.open"],
    "runs/storage/locks.py": ["os.open", "os.open"],
    "runs/storage/recorded_games.py": ["open"],
    "web/board/still.py": ["read_text"],
    "web/board/widget.py": ["read_text"],
    "web/export/bundle.py": ["read_text"],
    "web/play/__init__.py": ["read_text"],
    "web/watch/server.py": ["read_text"],
}


def opened(source: str) -> list[str]:
    """The calls that open a file: `open`, `os.open`, and methods of paths."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    found = []
    for call in calls:
        owner = call.value if isinstance(call, ast.Attribute) else None
        name = call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")
        if isinstance(owner, ast.Name) and owner.id == "os" and name == "open":
            found.append("os.open")
        # `RunFolder.open` opens none itself.
        elif name in ("read_text", "read_bytes", "open") and not (
            isinstance(owner, ast.Name) and owner.id[:1].isupper()
        ):
            found.append(name)
    return found


@each_file
def test_files_are_opened_by_the_guarded_function_alone(path):
    if path.name == "contents.py":
        return
    source = path.read_text()
    names = {name for node in ast.walk(ast.parse(source)) for name in imported_names(node)}
    found = sorted(name for name in opened(source) if name not in names)
    assert found == OPENED.get(str(path.relative_to(ROOT)), []), (
        "open files of users by jaxgbg.contents, or name the reason here"
    )


def imported_names(node: ast.AST) -> list[str]:
    return [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []


def with_any(source: str) -> int:
    """The number of lines that have the type `Any`, or the word, in them."""
    return sum(bool(re.search(r"\bAny\b", line)) for line in source.splitlines())


def test_few_types_are_any():
    found = {path.relative_to(ROOT): with_any(path.read_text()) for path in FILES}
    assert sum(found.values()) <= MOST_LINES_WITH_ANY, {k: v for k, v in found.items() if v}


def defined(source: str) -> list[str]:
    """The names of all classes and functions, without leading underscores."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    return [name.lstrip("_") for name in found]


@each_file
def test_no_former_name_is_left(path):
    names = [path.stem, *defined(path.read_text())]
    assert {name: FORMER_NAMES[name] for name in names if name in FORMER_NAMES} == {}


def test_the_name_of_a_class_means_one_thing():
    trees = [ast.parse(path.read_text()) for path in FILES]
    classes = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    twice = {name for name in classes if classes.count(name) > 1 and not name.startswith("_")}
    assert twice == MEAN_TWO_THINGS


def test_what_these_tests_look_for_is_found():
    assert defined("class A:\n    def _told(self): ...") == ["A", "told"]
    assert with_any("from typing import Any\nx: dict[str, Any]\nAnyArray = int") == 2
    assert opened("open(x); p.read_text(); os.open(x, 0); RunFolder.open(p)") == [
        "open",
        "read_text",
        "os.open",
    ]
    inner = "def f():\n    from jaxgbg.runs import Run\n"
    assert upward(inner, "games") == ["runs"]
    assert upward("import jaxgbg.web.html\nfrom jaxgbg import cli", "results") == [
        "cli",
        "web",
    ]
    assert upward("from jaxgbg.games import make", "games") == []
    assert foreign("import rich\nimport json\nfrom scipy.stats import t\nimport jax") == [
        "rich",
        "scipy",
    ]
    assert foreign("def f():\n    import optax.contrib") == []
