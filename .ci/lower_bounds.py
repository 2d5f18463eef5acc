"""Print every lower bound of pyproject.toml as a constraint for pip: `numpy>=2.0` as `numpy==2.0`.

What pip installs under these constraints are the oldest versions that jaxgbg supports.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def constraints(project: dict) -> list[str]:
    """The constraint of each dependency, extras included.

    Raises ValueError for a dependency without a lower bound.
    """
    extras = project["optional-dependencies"].values()
    requirements = [each for group in (project["dependencies"], *extras) for each in group]
    lines = set()
    for requirement in requirements:
        if requirement.startswith(f"{project['name']}["):
            continue
        found = re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement)
        if found is None:
            raise ValueError(f"pyproject.toml: {requirement!r} has no lower bound: add >=VERSION")
        lines.add(f"{found[1]}=={found[2]}")
    return sorted(lines)


if __name__ == "__main__":
    print("\n".join(constraints(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"])))
