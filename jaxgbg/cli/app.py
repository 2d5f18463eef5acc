"""The command `jaxgbg`."""

import contextlib
import functools
import io
import itertools
import re
import sys
from collections.abc import Callable
from typing import Any

import tyro

import jaxgbg
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import import_games
from jaxgbg.runs.compilation import visible_compilation
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.settings import suggestion
from jaxgbg.runs.storage.files import check_writable
from jaxgbg.specs import did_you_mean, shown

_RULE = re.compile("[-─╰╯]*")
# The parser says so in words of Python: the kinds it tried, or what int() or float() answered.
_NO_NUMBER = re.compile(
    r"Error parsing (--[\w-]+): (?:no type matching .*(?P<kinds>INT|FLOAT).* could be instantiated"
    r" from \[(.*)\]\.|.*(?P<says>int\(\)|to float).*: ('.*'))"
)
_TRACEBACK = "--traceback"
_UNKNOWN = re.compile(r"Unrecognized options: --([\w-]+)")


def _parse(known: dict[str, Callable[..., None]]) -> Callable[[], None]:
    """The command line as a call yet to be made; raises ValueError where it is wrong."""

    def deferred(command: Callable[..., None]) -> Callable[..., Any]:
        @functools.wraps(command)
        def bind(*arguments: Any, **options: Any) -> Callable[[], None]:
            # Every command writes its rows there, after all its work.
            check_writable(options.get("json_file"))
            return functools.partial(command, *arguments, **options)

        return bind

    if sys.argv[1:] and not sys.argv[1].startswith("-") and sys.argv[1] not in known:
        near = did_you_mean(sys.argv[1], known) or f": choose one of {', '.join(known)}"
        raise ValueError(f"unknown command {shown(sys.argv[1])}{near}")
    from jaxgbg.cli.options import NUMBERS

    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.extras.subcommand_cli_from_dict(
                {name: deferred(command) for name, command in known.items()},
                prog="jaxgbg",
                description="General board game learning in JAX: TD-FARL on n-tuple values."
                " With any command --import MODULE makes a module's own games, players, searches,"
                " learners and value functions known, and --traceback shows the Python traceback of"
                " an error; --version shows the version.",
                registry=NUMBERS,
            )
    except SystemExit as stop:
        if stop.code != 2:
            raise
        # Of the parser's page, whose frame is drawn as the terminal can, the first paragraph.
        lines = [line.strip("│ ") for line in complaint.getvalue().splitlines()[1:]]
        text = itertools.dropwhile(_RULE.fullmatch, lines)
        wrong = itertools.takewhile(lambda line: not _RULE.fullmatch(line), text)
        line = _UNKNOWN.sub(_with_hint, _NO_NUMBER.sub(_in_words, " ".join(wrong)))
        command = f"jaxgbg {sys.argv[1]}" if sys.argv[1:2] and sys.argv[1] in known else "jaxgbg"
        raise ValueError(f"{line} (`{command} --help` shows what there is)") from None


def _with_hint(found: re.Match[str]) -> str:
    meant = suggestion(found[1])
    return found[0] if meant is None else f"{found[0]}: here it is --{meant.replace('_', '-')}"


def _in_words(found: re.Match[str]) -> str:
    whole = found["kinds"] == "INT" or found["says"] == "int()"
    given = found[3] or found[5]
    return f"{found[1]} must be {'a whole number' if whole else 'a number'}, not {given}"


def _without_imports(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments but for `--import MODULE` and `--import=MODULE`, and these modules."""
    kept, modules = [], []
    rest = iter(arguments)
    for argument in rest:
        option, equals, module = argument.partition("=")
        if option != "--import":
            kept.append(argument)
            continue
        module = module if equals else next(rest, "")
        if not module:
            raise ValueError("--import needs a module, such as --import my_games")
        modules.append(module)
    return kept, modules


def main() -> None:
    """Run the command line; a mistake of the user ends with one line and exit code 2."""
    show_traceback = _TRACEBACK in sys.argv[1:]
    sys.argv = [argument for argument in sys.argv if argument != _TRACEBACK]
    end_in_a_line(_run, show_traceback, user_code=True)


def _run() -> None:
    sys.argv, modules = _without_imports(sys.argv)
    if sys.argv[1:] == ["--version"]:
        print(f"jaxgbg {jaxgbg.__version__}")
        return
    import_games(modules)
    # Flags and their help name what is registered, so the user's modules come first.
    from jaxgbg.cli.commands import COMMANDS

    call = _parse(COMMANDS)
    prepare_jax()
    with visible_compilation():
        call()


if __name__ == "__main__":
    main()
