"""The command `bench`: measure speed."""

from typing import Annotated

from tyro.conf import Positional

from jaxgbg.cli.benchmarks import Batches, Seconds
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
from jaxgbg.games import check_own, game_names, make
from jaxgbg.runs.run import Seeds
from jaxgbg.specs import checked


@checked
def bench(
    games: Annotated[Positional[tuple[str, ...]], optional("GAME ...")] = (),
    seeds: Annotated[Seeds | None, optional("N", "10, of large tables 2")] = None,
    batches: Annotated[Batches, optional("N ...")] = None,
    seconds: Seconds = 1.0,
    size: Size = None,
    parameters: Parameters = (),
    learner: flag("learner") = None,  # type: ignore[valid-type]
    value: flag("value") = None,  # type: ignore[valid-type]
    rules: bool = False,
    play: bool = False,
    compile: bool = False,
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
      compile: Measure the seconds until a training starts, for every learner, value function and
        search.
    """
    if rules + play + compile > 1:
        raise ValueError("choose one of --rules, --play and --compile")
    if (size is not None or parameters) and (rules or play or compile):
        raise ValueError("--size and --parameters are for the speed of training")
    start_jax()
    if compile:
        from jaxgbg.cli.benchmarks.compiling import bench_compile, combinations

        for game in games:
            check_own(make(game))
        every = combinations(games or game_names(), learner, value)
        print_records([bench_compile(*each)._asdict() for each in every], json_file, form)
        return
    if play:
        from jaxgbg.cli.benchmarks.playing import bench_answers

        answers = [bench_answers(game) for game in games or game_names()]
        print_records([each._asdict() for each in answers], json_file, form)
        return
    if rules:
        from jaxgbg.cli.benchmarks.rules import bench_rules

        rates = [bench_rules(game)._asdict() for game in games or game_names()]
        print_records(rates, json_file, form)
        return
    from jaxgbg.cli.benchmarks import training

    boards = [read_game(game, size, parameters) for game in games or game_names()]
    chosen = {"learner": learner, "value": value}
    changes = {name: kind for name, kind in chosen.items() if kind is not None}
    timed = [training.bench(board, seeds, batches, seconds, **changes) for board in boards]
    print_records([row._asdict() for rows in timed for row in rows], json_file, form)
    console().print(training.GBG)
