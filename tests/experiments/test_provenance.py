"""Where the kept data come from: provenance.md says of every file what is in it and what is not."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.pages import EXPERIMENTS

DATA = sorted(
    path
    for pattern in ("*.json", "*.jsonl", "*.jsonl.gz")
    for path in EXPERIMENTS.rglob(pattern)
    if "__pycache__" not in path.parts
)
PAGE = (EXPERIMENTS / "provenance.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.figures


def records(path: Path) -> list[Any]:
    """The records of a file, in the order of its sections."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in text.splitlines()]
    known = json.loads(text)
    if isinstance(known, list):
        return known
    if "results" in known:
        return list(known["results"])
    if all(isinstance(section, list) for section in known.values()):
        return [record for section in known.values() for record in section]
    return list(known.values())


def keys(content: Any) -> Iterator[tuple[str, Any]]:
    """Every name in a record with what it names."""
    if isinstance(content, dict):
        for name, inner in content.items():
            yield name, inner
            yield from keys(inner)
    elif isinstance(content, list):
        for inner in content:
            yield from keys(inner)


def row(path: Path) -> str:
    """What the page must say of a file: records, and how many have a digest, a hash, a revision."""
    known = records(path)
    named = [dict(keys(record)) for record in known]
    digests = sum("config" in each for each in named)
    hashes = sum(not each.keys().isdisjoint(("metrics_sha256", "state_sha256")) for each in named)
    own = [each["revision"] for each in named if "revision" in each]
    if path.suffix == ".json" and not own:
        machines = json.loads(path.read_text("utf-8"))
        machines = machines.get("machines", []) if isinstance(machines, dict) else []
        own = [machine["revision"] for machine in machines]
    revisions = ", ".join(f"{name} ({count})" for name, count in sorted(Counter(own).items()))
    where = path.relative_to(EXPERIMENTS).as_posix()
    return f"| {where} | {len(known)} | {digests} | {hashes} | {revisions} |"


@pytest.mark.parametrize("path", DATA, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_page_says_what_made_a_file(path: Path) -> None:
    start = row(path)
    lines = [line for line in PAGE.splitlines() if line.startswith(start)]
    assert len(lines) == 1, f"provenance.md must have a row that begins with {start}"
    # A file without a revision comes with the one that brought it here.
    assert not start.endswith("|  |") or lines[0].removeprefix(start).strip(" |")


def test_the_page_has_no_other_file() -> None:
    named = [line.split(" | ")[0].strip("| ") for line in PAGE.splitlines() if ".json" in line]
    rows = [each for each in named if (EXPERIMENTS / each).suffix in (".json", ".jsonl", ".gz")]
    assert sorted(rows) == sorted(path.relative_to(EXPERIMENTS).as_posix() for path in DATA)
