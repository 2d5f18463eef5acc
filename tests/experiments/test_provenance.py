"""Where the kept data come from: provenance.md says of every file what is in it and what is not."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments.shared import Section
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
    table = PAGE.partition("## Runs of a checkout")[0]
    named = [line.split(" | ")[0].strip("| ") for line in table.splitlines() if ".json" in line]
    rows = [each for each in named if (EXPERIMENTS / each).suffix in (".json", ".jsonl", ".gz")]
    assert sorted(rows) == sorted(path.relative_to(EXPERIMENTS).as_posix() for path in DATA)


def dirty_rows() -> list[str]:
    """A row for each archive and revision of which the files are not kept, with its runs."""
    found: dict[tuple[str, str], list[str]] = {}
    games = json.loads((EXPERIMENTS / "borrowed_games" / "results.json").read_text("utf-8"))
    named = [("borrowed_games/results.json", name, dict(keys(one))) for name, one in games.items()]
    for path in DATA:
        for record in records(path) if path.name.endswith(".gz") else ():
            where = path.relative_to(EXPERIMENTS).as_posix()
            named.append((where, record["name"], record["provenance"]))
    for where, name, origin in named:
        revision = origin["revision"]
        if revision == "unknown" or revision.endswith("-dirty"):
            found.setdefault((where, revision), []).append(name)
    return [f"| {where} | {name} | {', '.join(runs)} |" for (where, name), runs in found.items()]


def test_the_page_names_the_runs_of_uncommitted_changes() -> None:
    section = PAGE.partition("## Runs of a checkout")[2]
    assert [line for line in section.splitlines() if line.startswith("| ")][1:] == dirty_rows()


def test_a_new_record_names_what_made_it_and_an_old_one_does_not(tmp_path: Path) -> None:
    section = Section(tmp_path, "games")
    (tmp_path / "results.json").write_text('{"games": [{"game": "nim"}]}')
    section.update(lambda kept: [*kept, {"game": "hex", "seeds": (0, 1)}])
    old, new = section.read()
    assert old == {"game": "nim"}
    assert new["written_with"].keys() == {"revision", "versions"}
    # What stands there is not stamped again; what changes is.
    section.update(lambda kept: [kept[1], kept[0] | {"seeds": 3}])
    assert section.read()[0] == new
    assert "written_with" in section.read()[1]
