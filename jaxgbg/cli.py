"""The command `jaxgbg`."""

import contextlib
import functools
import io
import itertools
import signal
import sys
from collections.abc import Callable
from typing import Any

import tyro

from jaxgbg import commands
from jaxgbg.games import import_games
from jaxgbg.training.devices import prepare_jax
from jaxgbg.training.files import check_writable
from jaxgbg.training.stopping import Stopped

# What JAX calls it.
_OUT_OF_MEMORY = "RESOURCE_EXHAUSTED: Out of memory"


def _parse(known: dict[str, Callable[..., None]]) -> Callable[[], None]:
    """The command line as a call yet to be made; raises ValueError where it is wrong."""

    def deferred(command: Callable[..., None]) -> Callable[..., Any]:
        @functools.wraps(command)
        def bind(*arguments: Any, **options: Any) -> Callable[[], None]:
            # Every command writes its rows there, after all its work.
            check_writable(options.get("json_file"))
            return functools.partial(command, *arguments, **options)

        return bind

    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.extras.subcommand_cli_from_dict(
                {name: deferred(command) for name, command in known.items()},
                prog="jaxgbg",
                description="General board game learning in JAX: TD-FARL on n-tuple values."
                " --import MODULE, with any command, makes a module's own games known.",
            )
    except SystemExit as stop:
        if stop.code != 2:
            raise
        # Of the parser's framed page the first paragraph says what is wrong.
        lines = [line.strip("│ ") for line in complaint.getvalue().splitlines()[1:]]
        wrong = itertools.takewhile(lambda line: line and line[0] not in "─╰", lines)
        raise ValueError(f"{' '.join(wrong)} (`jaxgbg --help` shows what there is)") from None


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
    try:
        sys.argv, modules = _without_imports(sys.argv)
        import_games(modules)
        call = _parse(
            {
                "games": commands.games,
                "check": commands.check,
                "train": commands.train,
                "ablate": commands.ablate,
                "table1": commands.table1,
                "sweep": commands.sweep,
                "eval": commands.evaluate,
                "compare": commands.compare,
                "results": commands.results,
                "perft": commands.perft,
                "bench": commands.bench,
                "report": commands.report,
            }
        )
        prepare_jax()
        call()
    except (ValueError, OSError) as error:
        _fail(error)
    except RuntimeError as error:
        from jaxgbg.players import EngineError, MissingExtra

        if _OUT_OF_MEMORY in str(error):
            _fail(MemoryError())
        if not isinstance(error, EngineError | MissingExtra):
            raise
        _fail(error)
    except MemoryError as error:
        _fail(error)
    except KeyboardInterrupt as stop:
        print("jaxgbg: stopped", file=sys.stderr)
        sys.exit(128 + (stop.signal_number if isinstance(stop, Stopped) else signal.SIGINT))


def _fail(error: Exception) -> None:
    line = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        line = "out of memory: take fewer --seeds, a smaller --batch, or a larger machine"
    print(f"jaxgbg: {line}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
