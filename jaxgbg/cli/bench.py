"""The command `bench`: measure speed."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

from tyro.conf import Positional, arg

from jaxgbg.cli.benchmarks import GBG, Batches, Rounds, Seconds
from jaxgbg.cli.common import (
    Json,
    Parameters,
    Size,
    TableFormat,
    console,
    optional,
    print_records,
    read_game,
)
from jaxgbg.cli.options import flag
from jaxgbg.cli.session import start_jax
from jaxgbg.games import game_names
from jaxgbg.runs.run import Seeds
from jaxgbg.specs import checked


@checked
def bench(
    games: Annotated[Positional[tuple[str, ...]], optional("GAME ...")] = (),
    seeds: Annotated[Seeds | None, optional("N", "10, of large tables 2")] = None,
    batches: Annotated[Batches, optional("N ...")] = None,
    seconds: Annotated[Seconds, arg(metavar="SECONDS")] = 1.0,
    size: Size = None,
    parameters: Parameters = (),
    learner: flag("learner") = None,  # type: ignore[valid-type]
    value: flag("value") = None,  # type: ignore[valid-type]
    rules: bool = False,
    play: bool = False,
    compile: bool = False,
    against: Annotated[str | None, optional("FOLDER|REVISION")] = None,
    rounds: Rounds = 10,
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Measure the speed of training at the published parameters, of the rules alone, or of `play`.

    Args:
      games: Games; all if none is named.
      seeds: Number of parallel seeds, each with and without FARL.
      batches: Batch sizes to try; default: 1, that of the game, and a search for the best.
      seconds: Duration of each timing.
      rules: Time random play instead of training, and pgx too if it is installed.
      play: Measure the response time of the play page, in milliseconds.
      compile: Measure the seconds until a training starts, for all learners, values and searches.
      against: Train in turn with another revision of jaxgbg, a folder with its source or its name
        in git (HEAD~1), and compare the speed; at the published batch size or those of --batches.
      rounds: Number of timings of each revision.
    """
    if rules + play + compile + (against is not None) > 1:
        raise ValueError("choose one of --rules, --play, --compile and --against")
    training = not (rules or play or compile)
    _check_given(training, rules or play, (size, *parameters), (learner, value))
    start_jax()
    named = games or game_names()
    rows: Iterable[NamedTuple]
    if compile:
        from jaxgbg.cli.benchmarks.compiling import bench_compile, combinations

        rows = itertools.starmap(bench_compile, combinations(named, learner, value))
    elif play or rules:
        from jaxgbg.cli.benchmarks import playing
        from jaxgbg.cli.benchmarks import rules as rules_alone

        rows = map(playing.bench_answers if play else rules_alone.bench_rules, named)
    else:
        from jaxgbg.cli.benchmarks.against import compare
        from jaxgbg.cli.benchmarks.training import bench_games

        boards = [read_game(game, size, parameters) for game in named]
        kinds = {"learner": learner, "value": value}
        changes = {name: kind for name, kind in kinds.items() if kind is not None}
        timed = (boards, seeds, batches, seconds, changes)
        rows = bench_games(*timed) if against is None else compare(against, rounds, *timed)
    print_records([row._asdict() for row in rows], json_file, form)
    if training and against is None:
        console().print(GBG)


def _check_given(
    training: bool, playing: bool, board: Sequence[object], kinds: Sequence[object]
) -> None:
    """Raise ValueError for options of a board, or kinds of learning, that have no effect."""
    if any(each is not None for each in board) and not training:
        raise ValueError("--size and --parameters are for the speed of training")
    if any(each is not None for each in kinds) and playing:
        raise ValueError("--learner and --value do not go with --rules and --play")
