"""Modules of a user's own: found by name or by entry point, and named in messages about errors.

Such a module registers games, players, searches, learners, value functions and evaluators when it
is imported.
"""

import functools
import importlib
import os
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jaxgbg.system import warn

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "jaxgbg.modules"
"""Entry points of this group name modules that are imported when a name is none of ours."""

_PACKAGE = str(Path(__file__).parent) + os.sep
# Where this package, Python and what is installed lie.
_LIBRARIES = (
    _PACKAGE,
    *{sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib", "scripts")},
)
_imported: list[str] = []
_user_modules: set[str] = set()


def import_modules(modules: Sequence[str]) -> None:
    """Import modules, found in the current folder or installed, that register more components.

    Raises ValueError, in one line, for the first that cannot be imported.
    """
    if modules and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for module in modules:
        try:
            importlib.import_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # A module may raise anything, also SystemExit.
            missing = error.name if isinstance(error, ModuleNotFoundError) else None
            if missing and f"{module}.".startswith(f"{missing}."):
                what = "neither in the current folder nor installed (give NAME, not NAME.py)"
            else:
                what = described(error)
            raise ValueError(f"cannot import {module}: {what}") from error
        add_user_module(module)
        if module not in _imported:
            _imported.append(module)


def imported_modules() -> tuple[str, ...]:
    """The modules of `import_modules` in their order, for other processes to import as well."""
    return tuple(_imported)


@functools.cache
def import_installed() -> None:
    """Import the modules that installed packages declare as entry points of `GROUP`, once.

    Called before names are listed and where a name is none of ours: to look through all installed
    packages takes longer than to import this one. A module that fails is named on standard error,
    and everything else works without it.
    """
    import importlib.metadata

    for entry in importlib.metadata.entry_points(group=GROUP):
        add_user_module(entry.module)
        try:
            entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            warn(f"cannot import {entry.module} of {package_of(entry)}: {described(error)}")


def package_of(entry: "EntryPoint") -> str:
    """The name of the package that declares an entry point."""
    return entry.dist.name if entry.dist else "an installed package"


def add_user_module(name: str) -> None:
    """Treat errors in the package of this module as errors in a user's own code."""
    _user_modules.add(name.partition(".")[0])


def is_redefined(old: object, new: object) -> bool:
    """Whether `new` is `old`, or has its module and qualified name: the same code, run again."""
    names = [
        (getattr(each, "__module__", None), getattr(each, "__qualname__", None))
        for each in (old, new)
    ]
    return old is new or (names[0] == names[1] and None not in names[0])


def module_command(name: str) -> list[str]:
    """The command that runs one of our modules, with any files in the current folder.

    Python would import a user's `json.py` in the current folder instead of its own module. Only if
    the package itself lies there and is not installed, that folder is needed.
    """
    alone = [] if Path(__file__).parents[1] == Path.cwd() else ["-P"]
    return [sys.executable, *alone, "-m", name]


def described(error: BaseException) -> str:
    """An error in one line: its type, what it says, and the user's line that led to it."""
    text = " ".join(str(error).split("\n\n")[0].split())
    if isinstance(error, SyntaxError):
        text = str(error.msg)
    return f"{type(error).__name__}: {text}{user_line(error)}".replace(": (", " (")


def user_line(error: BaseException) -> str:
    """ " (file, line N, in function)": where a user's own code led to an error; "" if nowhere."""
    if isinstance(error, SyntaxError):
        return f" ({Path(error.filename or '?').name}, line {error.lineno})"
    frame = user_frame(error)
    if frame is None:
        return ""
    function = "" if frame.name.startswith("<") else f", in {frame.name}"
    return f" ({Path(frame.filename).name}, line {frame.lineno}{function})"


def user_frame(error: BaseException) -> traceback.FrameSummary | None:
    """The innermost frame outside Python, this package and what it needs, called from the package.

    A package that registers components is a user's, wherever it is installed.
    """
    own = tuple(_folders_of_user_modules())
    frames = traceback.extract_tb(error.__traceback__)
    for number in reversed(range(len(frames))):
        file = frames[number].filename
        if file.startswith("<") or (file.startswith(_LIBRARIES) and not file.startswith(own)):
            continue
        if any(frame.filename.startswith(_PACKAGE) for frame in frames[:number]):
            return frames[number]
    return None


def _folders_of_user_modules() -> list[str]:
    """The folders of users' packages, and the files of their modules."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in _user_modules]
    return [
        str(path.parent) + os.sep if path.name == "__init__.py" else str(path)
        for path in (Path(file) for file in files if file is not None)
        if not str(path).startswith(_PACKAGE)
    ]
