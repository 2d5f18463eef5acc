"""Files that commands write: none replaces an input, another output or a file of another kind."""

import dataclasses
import inspect
import itertools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from jaxgbg.contents import open_file
from jaxgbg.runs.storage.files import check_writable, replaceable
from jaxgbg.types import SettingValue

_HEAD = 4096
# Agents are also named as NAME=FILE, FILE:look-ahead=3, ludax:FILE and GAME=FILE.
_PARTS = re.compile("[:=]")


@dataclasses.dataclass(frozen=True)
class Output:
    """Marks the annotation of an option that names a file to write.

    An existing file is replaced if it is empty, if its beginning matches `pattern`, or if it is
    text and its name ends in `suffix`. Without a pattern the command's option --replace decides.
    """

    kind: str = ""
    pattern: bytes | None = None
    suffix: str = ""

    def is_own(self, path: Path, head: bytes) -> bool:
        """Whether an existing file that begins with `head` may be replaced."""
        is_text = bool(self.suffix) and path.suffix == self.suffix and b"\0" not in head
        return not head or is_text or re.match(self.pattern or b"", head) is not None


ROWS = Output("JSON rows", rb"\s*\[\s*(\{|\]|\Z)")
GAMES = Output("recorded games", rb'\{"game": ')
# Names of columns: the first begins with a letter, and none has a space or a slash.
CSV = Output("a CSV table", rb"[^\W\d][^\s/]*\r?\n", ".csv")
PARQUET = Output("a Parquet file", b"PAR1")
PAGE = Output("an HTML page", rb"(?i)\s*<!doctype html")
FIGURE = Output("a figure", rb"\x89PNG|%PDF|<\?xml|<svg")
GUARDED = Output()


def check_outputs(command: Callable[..., None], options: dict[str, SettingValue]) -> None:
    """Refuse, before any work, output files of `command` that would destroy something.

    Raises ValueError or CannotWrite for an output that is also an input or another output, an
    existing file of another kind, and a file that cannot be written.
    """
    marks = {name: _mark(each) for name, each in inspect.signature(command).parameters.items()}
    outputs = {
        name: value for name, value in options.items() if marks[name] and isinstance(value, Path)
    }
    if not outputs:
        return
    from jaxgbg.runs.storage.zoo import is_zoo_name

    inputs = [value for name, value in options.items() if name not in outputs]
    for path in outputs.values():
        if is_zoo_name(str(path)):
            raise ValueError(f"{path} is the name of an agent of the zoo: choose another file")
        if path.exists() and any(_is_same(path, Path(text)) for text in _names(inputs)):
            raise ValueError(
                f"{path} is an input of this command, which would overwrite it: choose another"
                " file to write"
            )
    for first, second in itertools.combinations(outputs.values(), 2):
        if _is_same(first, second):
            raise ValueError(f"{first} is named for two outputs: choose two files")
    for name, path in outputs.items():
        check_writable(path)
        _check_kind(path, marks[name] or GUARDED, bool(options.get("replace")))


def _mark(parameter: inspect.Parameter) -> Output | None:
    notes = getattr(parameter.annotation, "__metadata__", ())
    return next((note for note in notes if isinstance(note, Output)), None)


def _names(value: SettingValue) -> Iterator[str]:
    """The texts and paths in the value of an option, and the parts that may name a file."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _names(each)
    elif dataclasses.is_dataclass(value):
        yield from _names([getattr(value, field.name) for field in dataclasses.fields(value)])
    elif isinstance(value, str | Path) and (text := str(value)):
        yield text
        yield from filter(None, _PARTS.split(text))


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths are one regular file, or will be."""
    try:
        if path.exists() and other.exists():
            return replaceable(path) and path.samefile(other)
        return os.path.realpath(path) == os.path.realpath(other)
    except OSError:
        return False


def _check_kind(path: Path, output: Output, replace: bool) -> None:
    """Raise ValueError if writing `path` would replace a file of another kind."""
    if not path.exists() or not replaceable(path):
        return
    if output.pattern is None:
        if not replace:
            raise ValueError(f"{path} exists already: --replace overwrites it")
        return
    with open_file(path, path.stat().st_size) as file:
        head = file.read(_HEAD)
    if not output.is_own(path, head):
        raise ValueError(
            f"{path} exists and is not {output.kind}: choose another file, or delete this one"
        )
