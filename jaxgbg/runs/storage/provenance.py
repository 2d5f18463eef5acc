"""Provenance of a result: command, versions, devices and revision, without a machine's paths."""

import dataclasses
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import jax

from jaxgbg.runs.environment import drawing_settings
from jaxgbg.runs.storage.schemas import Provenance
from jaxgbg.types import JSON


@lru_cache(maxsize=1)
def _of_process() -> dict[str, JSON]:
    """The part that is the same for all runs of a process; a sweep has hundreds."""
    return {
        "command": _command(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": versions_of(("jaxgbg", "jax", "jaxlib", "numpy", "bitbully")),
        "settings": drawing_settings(),
        "devices": [str(device) for device in jax.devices()],
        "revision": revision(),
    }


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """The installed version of each of these packages."""
    versions = {}
    for name in packages:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def revision() -> str:
    """The revision of the source; unknown in a copy without its history, and without git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=Path(__file__).parent,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def _command() -> list[str]:
    """The command line without a path of this machine: paths relative.

    What lies outside the working folder is told by its last name alone, and our own program is
    jaxgbg, however it was found.
    """
    name, *arguments = sys.argv
    ours = (
        Path(name).name == "jaxgbg" or Path(name) == Path(__file__).parents[2] / "cli/__main__.py"
    )
    return ["jaxgbg" if ours else _without_machine(name), *map(_without_machine, arguments)]


def _without_machine(argument: str) -> str:
    """An argument, a path or a command with paths in it, such as an engine's."""
    if argument.startswith(("/", "../")) and Path(argument).parent.is_dir():
        return _relative(argument)
    return _ELSEWHERE.sub(lambda found: _relative(found[0]), argument)


# A path from the root or upwards, where an argument or what it gives begins.
_ELSEWHERE = re.compile(r"(?<![^\s=,\"'\[(])(?:/|\.\./)[^\s=,\"'\])]*")


def _relative(path: str) -> str:
    """A path relative to the working folder if it is below it; otherwise its name."""
    place, here = Path(os.path.abspath(path)), Path.cwd()
    return str(place.relative_to(here)) if place.is_relative_to(here) else place.name or path


def resumed(earlier: Provenance, folder: Path) -> Provenance:
    """The provenance of a run that goes on now, with what it goes on by.

    A line on standard error says what has changed since it went on, or started, for the last time.
    """
    now = provenance()
    with_now = now["versions"] | now["settings"]
    before = earlier.resumed_with[-1] if earlier.resumed_with else {}
    before = before or earlier.versions | earlier.settings
    changed = [
        f"{name} {before[name]} before, {with_now[name]} now"
        for name in with_now
        if name in before and before[name] != with_now[name]
    ]
    if changed:
        print(
            f"jaxgbg: {folder} resumes with {'; '.join(changed)}: its bits may differ from those"
            " of a run that was never stopped",
            file=sys.stderr,
        )
    return dataclasses.replace(
        earlier,
        resumed=(*earlier.resumed, now["started"]),
        resumed_with=(*earlier.resumed_with, with_now),
    )


def provenance() -> dict[str, JSON]:
    """Versions, device, revision and time behind a result."""
    return {**_of_process(), "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
