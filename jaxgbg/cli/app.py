"""The command `jaxgbg`."""

import contextlib
import functools
import inspect
import io
import itertools
import re
import sys
from collections.abc import Callable, Mapping

import jaxgbg
from jaxgbg.cli import session
from jaxgbg.cli.commands import COMMANDS
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.cli.flags import check_no_empty_list, flags_of, in_flags, parse_error
from jaxgbg.cli.outputs import check_outputs
from jaxgbg.extensions import import_modules
from jaxgbg.lazy import Function
from jaxgbg.specs import did_you_mean, shown
from jaxgbg.types import SettingValue

_RULE = re.compile("[-─╰╯]*")
_CONTINUED = re.compile(r"\n {4,}")
_TRACEBACK = "--traceback"
_ALWAYS = (
    "With any command --import MODULE makes a module's own games, players, searches, learners and"
    " value functions known, and --traceback shows the Python traceback of an error."
)


def _deferred(command: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    """A function with the options of `command` that returns the call to make."""

    @functools.wraps(command)
    def bind(*arguments: SettingValue, **options: SettingValue) -> Callable[[], None]:
        bound = inspect.signature(command).bind(*arguments, **options)
        check_outputs(command, bound.arguments)
        return functools.partial(_in_terms_of_flags, functools.partial(command, **bound.arguments))

    # tyro's help would break lines where the docstring's `Args:` does, and it takes the docstring
    # of the wrapped function if there is one.
    del bind.__wrapped__
    bind.__signature__ = inspect.signature(command)  # type: ignore[attr-defined]
    text, arguments, rest = (inspect.getdoc(command) or "").partition("\nArgs:")
    bind.__doc__ = _CONTINUED.sub(" ", f"{text.rstrip()}\n\n{_ALWAYS}\n{arguments}{rest}")
    return bind


def _in_terms_of_flags(call: "functools.partial[None]") -> None:
    """Call a command; a mistake is named by its flag."""
    try:
        call()
    except ValueError as error:
        text = in_flags(str(error), flags_of(call.func))
        if text == str(error):
            raise
        raise ValueError(text) from error


def _described(command: Callable[..., None]) -> Callable[[], Callable[[], None]]:
    """As `_deferred`, without options: to be listed in help."""

    def bind() -> Callable[[], None]:
        return command

    bind.__doc__ = inspect.getdoc(command)
    return bind


def _choices(known: Mapping[str, Function[None]]) -> dict[str, Callable[..., object]]:
    """The commands as tyro reads them; only the one that was named has its options.

    Importing all commands takes longer than any of them, so only the list of all does that.
    """
    named = sys.argv[1] if len(sys.argv) > 1 else ""
    if named not in known:
        return {name: _described(command.func) for name, command in known.items()}
    return {
        name: _deferred(command.func) if name == named else lambda: None
        for name, command in known.items()
    }


def _parse(known: Mapping[str, Function[None]]) -> Callable[[], None]:
    """Parse the command line and return the call to make; raises ValueError for a mistake in it."""
    if sys.argv[1:2] == ["help"]:
        raise ValueError("help is --help: `jaxgbg --help`, or `jaxgbg COMMAND --help`")
    if sys.argv[1:] and not sys.argv[1].startswith("-") and sys.argv[1] not in known:
        near = did_you_mean(sys.argv[1], known) or f": choose one of {', '.join(known)}"
        raise ValueError(f"unknown command {shown(sys.argv[1])}{near}")
    named = sys.argv[1] if sys.argv[1:2] and sys.argv[1] in known else ""
    if named:
        check_no_empty_list(known[named].func, sys.argv[2:])
    import tyro

    from jaxgbg.cli.numbers import NUMBERS

    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.extras.subcommand_cli_from_dict(
                _choices(known),
                prog="jaxgbg",
                description="General board game learning in JAX: TD-FARL on n-tuple values."
                f" {_ALWAYS} --version shows the version.",
                registry=NUMBERS,
            )
    except SystemExit as stop:
        if stop.code != 2:
            raise
        # Keep the first paragraph of tyro's error page; its frame depends on the terminal.
        lines = [line.strip("│ ") for line in complaint.getvalue().splitlines()[1:]]
        text = itertools.dropwhile(_RULE.fullmatch, lines)
        wrong = itertools.takewhile(lambda line: not _RULE.fullmatch(line), text)
        line = parse_error(" ".join(wrong), flags_of(known[named].func) if named else {})
        command = f"jaxgbg {named}".strip()
        raise ValueError(f"{line} (`{command} --help` lists all options)") from None


def _without_imports(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Split off `--import MODULE` and `--import=MODULE`; return (other arguments, modules)."""
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
    import_modules(modules)
    # Flags and their help name what is registered, so the user's modules come first.
    with session.command():
        _parse(COMMANDS)()


if __name__ == "__main__":
    main()
