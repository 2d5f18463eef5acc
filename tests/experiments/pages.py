"""The pages of an experiment, its README and the Markdown files that it links; its kept records."""

from pathlib import Path

from experiments.page_tables import kept_records as kept_records

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def pages_of(experiment: str) -> str:
    """The text of all pages of an experiment, README.md first."""
    folder = EXPERIMENTS / experiment
    readme = (folder / "README.md").read_text(encoding="utf-8")
    others = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    assert all(f"({path.name})" in readme for path in others), f"{experiment}: a page has no link"
    return "\n".join([readme, *(path.read_text(encoding="utf-8") for path in others)])
