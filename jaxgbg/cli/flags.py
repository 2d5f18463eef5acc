"""The options of a command by the names that messages use, and messages in terms of options."""

import dataclasses
import inspect
import itertools
import re
import typing
from collections.abc import Callable, Mapping, Sequence

from jaxgbg.specs import did_you_mean
from jaxgbg.types import TypeHint

# tyro reports a wrong value in Python terms: the types it tried, or the error of int() or float().
_NO_TYPE = re.compile(r"Error parsing (--[\w-]+): no type matching (.*) could .* from \[(.*)\]\.")
_NO_NUMBER = re.compile(r"Error parsing (--[\w-]+): .*(int\(\)|to float).*: ('.*')")
_NUMBERS = re.compile(r"\b[NX](?: [NX])*\b")
# No option has the value None; tyro offers it where leaving the option out means that.
_CHOICES = re.compile(r"(?<=Expected one of )\(('[^)]*')\)")
_UNKNOWN = re.compile(r"Unrecognized options: --([\w.-]+).*")
_NAMELESS = re.compile(r"Unrecognized options: ([^-].*)")


def check_no_empty_list(command: Callable[..., None], words: Sequence[str]) -> None:
    """Raise ValueError for an option of a list that no value follows, such as an unset variable."""
    lists = {flag for name, (flag, hint) in _options(command).items() if _is_list(hint)}
    for word, after in itertools.pairwise([*words, "--"]):
        if word in lists and after.startswith("--"):
            raise ValueError(f"{word} needs a value; leave it out for its default")


def _is_list(hint: TypeHint) -> bool:
    """Whether an option of this type takes any number of values."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is tuple:
        return arguments[-1] is ...
    return typing.get_origin(hint) is not None and any(map(_is_list, arguments))


def flags_of(command: Callable[..., None]) -> dict[str, str]:
    """Flags by the names of parameters and settings: {"max_games": "--max-games"}."""
    flags = {name: flag for name, (flag, _) in _options(command).items()}
    # The name in a run of what is --ranks where nothing is trained.
    return {"play_ranks": flags["ranks"], **flags} if "ranks" in flags else flags


def _options(command: Callable[..., None]) -> dict[str, tuple[str, TypeHint]]:
    """(flag, type) of each option by the name of its parameter or setting."""
    from tyro.conf import Positional

    (positional,) = Positional[str].__metadata__  # type: ignore[attr-defined]
    options: dict[str, tuple[str, TypeHint]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        hint = parameter.annotation
        inner = getattr(hint, "__origin__", None)
        if dataclasses.is_dataclass(inner):
            options |= {f.name: (_flag(f.name), f.type) for f in dataclasses.fields(inner)}
            continue
        notes = getattr(hint, "__metadata__", ())
        if positional in notes:
            continue
        own = next((each for note in notes if (each := getattr(note, "name", None))), name)
        options[name] = _flag(own), hint
    return options


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def in_flags(text: str, flags: Mapping[str, str]) -> str:
    """A message of Python with flags for names of parameters, where these are no other words."""
    names = "|".join(sorted(map(re.escape, flags), key=len, reverse=True))
    written = "|".join(name for name in flags if "_" in name) or "(?!)"
    pattern = (
        rf"^(?:{names})(?= must | is for )|(?<=\badd )(?:{names})(?= )"
        rf"|(?<=\bleave out )(?:{names})\b(?![-/.=])"
        rf"|(?<![\w/.'\"-])(?:{written})(?![\w/.='\"-])"
    )
    return re.sub(pattern, lambda found: flags[found[0]], text)


def parse_error(line: str, flags: Mapping[str, str]) -> str:
    """What tyro says of a command line, in plain words."""
    line = _NO_TYPE.sub(_wrong_type, line)
    line = _NO_NUMBER.sub(lambda found: _no_number(found[1], found[2] == "int()", found[3]), line)
    line = _CHOICES.sub(_without_none, line)
    line = _NAMELESS.sub(r"unexpected argument: \1", line)
    return _UNKNOWN.sub(lambda found: _unknown(found[1], flags), line)


def _wrong_type(found: re.Match[str]) -> str:
    flag, kinds, given = found.groups()
    if "true|false" in kinds:
        return f"{flag} must be true or false, not {given}"
    numbers = _NUMBERS.search(kinds)
    if numbers is None:
        return found[0]
    return _no_number(flag, "N" in numbers[0], given, len(numbers[0].split()))


def _no_number(flag: str, whole: bool, given: str, count: int = 1) -> str:
    kind = "whole number" if whole else "number"
    what = f"a {kind}" if count == 1 else f"{count} {kind}s"
    return f"{flag} must be {what}, not {given}"


def _without_none(found: re.Match[str]) -> str:
    return ", ".join(sorted(set(re.findall(r"'([^']*)'", found[1])) - {"None"}))


def _unknown(word: str, flags: Mapping[str, str]) -> str:
    """The message for an unknown option, with the one that was probably meant."""
    from jaxgbg.runs.settings import suggestion

    name = word.replace("-", "_")
    if name.startswith("no_") and name[3:] in flags:
        return f"unknown option --{word}: use {flags[name[3:]]} false"
    meant = suggestion(name)
    if meant is not None and meant in flags:
        return f"unknown option --{word}: did you mean {flags[meant]}?"
    near = did_you_mean(word, [flag.removeprefix("--") for flag in flags.values()])
    return f"unknown option --{word}{near.replace('mean ', 'mean --')}"
