"""What users' modules register, forgotten after a test, and packages with entry points."""

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from jaxgbg import extensions
from jaxgbg.evaluation import EvaluatorSpec
from jaxgbg.games import registry
from jaxgbg.learners import LearnerSpec
from jaxgbg.players import PLAYERS
from jaxgbg.search import SearchSpec
from jaxgbg.values import ValueSpec

TUTORIAL = Path(__file__).resolve().parents[1] / "docs" / "tutorial"


@contextlib.contextmanager
def forgotten_afterwards() -> Iterator[None]:
    """Undo what is registered inside, and unload users' modules that were not loaded before."""
    specs = (LearnerSpec, ValueSpec, SearchSpec, EvaluatorSpec)
    tables = [registry.GAMES, registry._broken, PLAYERS, *(spec.kinds for spec in specs)]
    before = [dict(table) for table in tables]
    imported, path = list(extensions._imported), list(sys.path)
    users, loaded = set(extensions._user_modules), set(sys.modules)
    yield
    for table, known in zip(tables, before, strict=True):
        table.clear()
        table.update(known)
    extensions._imported[:], sys.path[:] = imported, path
    for module in set(sys.modules) - loaded:
        if module.partition(".")[0] in extensions._user_modules - users:
            del sys.modules[module]
    extensions._user_modules.intersection_update(users)


def install(folder: Path, package: str, group: str, entries: Mapping[str, str]) -> None:
    """Write what pip leaves of a package with these entry points, and put `folder` on the path."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {target}" for name, target in entries.items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
    sys.path.insert(0, str(folder))
