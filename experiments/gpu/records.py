"""What a part has found so far, on disk: one JSON file a part, whole or not at all."""

import fcntl
import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax

import jaxgbg
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.provenance import revision, versions_of

PACKAGES = ("jax", "jaxlib", "numpy", "flax", "optax", "chex", "bitbully")


def machine() -> dict[str, Any]:
    """What these results were made with: device, versions and revision of the source."""
    devices = jax.devices()
    return {
        "platform": devices[0].platform,
        "device": devices[0].device_kind,
        "devices": len(devices),
        "backend": " ".join(devices[0].client.platform_version.split()),
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        "python": platform.python_version(),
        "versions": versions_of(PACKAGES),
        "revision": revision(),
        "source": source(),
    }


def source() -> str:
    """Twelve hexadecimal digits of every file of the package, which a copy has too."""
    package = Path(jaxgbg.__file__).parent
    whole = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        whole.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return whole.hexdigest()[:12]


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Wait until no other process is within this for the same file, which is made, empty."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Task(NamedTuple):
    """`until` in seconds since 1970; `scale` times the published budgets."""

    out: Path
    games: tuple[str, ...]
    scale: float
    until: float

    def left(self) -> float:
        """Seconds."""
        return self.until - time.time()

    def alone(self) -> AbstractContextManager[None]:
        """While no other process of this command times anything."""
        return held(self.out / "timing.lock")


class Records:
    """The results of one part in `path`: those that are there are not made again.

    Several processes may add to it. `key` names the fields by which a result is known; `machines`
    lists every machine, each once, that has worked on the file, and each result the number of its
    own.
    """

    def __init__(self, path: Path, here: dict[str, Any], key: tuple[str, ...]) -> None:
        self.path, self.key = path, key
        self._own = here
        self._read()

    def __contains__(self, result: dict[str, Any]) -> bool:
        wanted = self._name(result)
        return any(self._name(known) == wanted for known in self.results)

    def add(self, result: dict[str, Any]) -> None:
        """Keep a result, at once on disk, and say it."""
        time_now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with held(self.path.with_suffix(".lock")):
            self._read()
            number = self.machines.index(self._own)
            self.results.append({**result, "machine": number, "at": time_now})
            self._write()
        shown = {name: value for name, value in result.items() if not isinstance(value, list)}
        print(f"{self.path.stem}: {json.dumps(shown)}", flush=True)

    def fail(self, error: str) -> None:
        """Note what went wrong."""
        with held(self.path.with_suffix(".lock")):
            self._read()
            self.errors.append(error)
            self._write()
        print(f"{self.path.stem}: FAILED: {error}", flush=True)

    def _name(self, result: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(result.get(field) for field in self.key)

    def _read(self) -> None:
        content = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.machines: list[dict[str, Any]] = content.get("machines", [])
        self.results: list[dict[str, Any]] = content.get("results", [])
        self.errors: list[str] = content.get("errors", [])
        if self._own not in self.machines:
            self.machines.append(self._own)

    def _write(self) -> None:
        content = {"machines": self.machines, "results": self.results, "errors": self.errors}
        write_json(self.path, content)
