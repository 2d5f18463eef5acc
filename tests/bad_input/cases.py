"""What is wrong and the line that says so: one entry for every mistake that was ever met."""

import re
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 30.0
"""No mistake may take more processor time to be found than this, with cold programs.

Not seconds of a clock: the machine may be busy with others.
"""


@dataclass(frozen=True)
class Case:
    """A command, what lies in its folder, and what its one line must say (a regular expression)."""

    command: str
    line: str
    files: Mapping[str, bytes | str] = field(default_factory=dict)
    code: int = 2

    def __str__(self) -> str:
        return self.command


def run_case(
    case: Case, folder: Path, jaxgbg: Callable[..., tuple[int, str, str]]
) -> tuple[str, list[Path]]:
    """Run `case` in `folder`, the working directory; returns its output and the new files."""
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    before = set(folder.rglob("*"))
    begun = time.process_time()
    code, out, err = jaxgbg(*shlex.split(case.command))
    assert time.process_time() - begun < SECONDS
    assert code == case.code, (code, out, err)
    assert "Traceback" not in err
    assert err.count("\n") == 1, err
    assert err.startswith("jaxgbg: ")
    assert re.search(case.line, err), err
    return out, sorted(set(folder.rglob("*")) - before)
