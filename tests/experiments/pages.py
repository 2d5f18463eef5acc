"""The pages of an experiment, its README and the Markdown files that it links; its kept records."""

import json
from pathlib import Path
from typing import Any

from experiments.shared import Section

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def pages_of(experiment: str) -> str:
    """The text of all pages of an experiment, README.md first."""
    folder = EXPERIMENTS / experiment
    readme = (folder / "README.md").read_text(encoding="utf-8")
    others = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    assert all(f"({path.name})" in readme for path in others), f"{experiment}: a page has no link"
    return "\n".join([readme, *(path.read_text(encoding="utf-8") for path in others)])


def kept_records(name: str) -> list[dict[str, Any]]:
    """The records of EXPERIMENT/SECTION of its results.json, or of EXPERIMENT/FILE.json."""
    path = EXPERIMENTS / name
    if path.suffix == ".json":
        rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    else:
        rows = Section(path.parent, path.name).read()
    assert rows, f"{name} has no records"
    return rows
