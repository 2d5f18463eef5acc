"""Compile time: seconds to trace, lower and compile a training, by combination."""

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax

from jaxgbg.games import check_own, make
from jaxgbg.learners import LearnerSpec
from jaxgbg.runs import Training
from jaxgbg.runs.compilation import COMPILE, LOWER, TRACE, CompileTimer
from jaxgbg.runs.presets import preset, protocol_for
from jaxgbg.types import SettingValue
from jaxgbg.values import ValueSpec
from jaxgbg.xla import without_compilation_cache

SEARCHES: dict[str, dict[str, SettingValue]] = {
    "greedy": {},
    "look-ahead-2": {"look_ahead": 2},
    "puct-100": {"search": "puct-100"},
}
"""How the evaluated agents choose their moves: settings of a run by the name of the row."""

_PLAIN = "td"


class CompileRow(NamedTuple):
    """Seconds until a training has made its first chunk and its first evaluation.

    `trace_s`, `lower_s` and `compile_s` are those of all `programs` together, `slowest_s` those of
    the program that compiled longest. `cpu_s` is the processor time of all three, as one idle core
    would take, without the moves that are played. `refused` says why a combination does not exist;
    all else is None then.
    """

    game: str
    value: str
    learner: str
    search: str
    programs: int | None = None
    trace_s: float | None = None
    lower_s: float | None = None
    compile_s: float | None = None
    slowest_s: float | None = None
    cpu_s: float | None = None
    refused: str = ""


def combinations(
    games: Sequence[str], learner: str | None = None, value: str | None = None
) -> Iterator[tuple[str, str, str, str]]:
    """(game, value, learner, search): every learner greedy, and every search with `learner` (TD).

    `learner` and `value` restrict the combinations to one kind of each.
    """
    learners = [learner] if learner else list(LearnerSpec.kinds)
    values = [value] if value else list(ValueSpec.kinds)
    for game, kind in itertools.product(games, values):
        yield from ((game, kind, each, "greedy") for each in learners)
        searches = [each for each in SEARCHES if each != "greedy"]
        yield from ((game, kind, learner or _PLAIN, each) for each in searches)


def bench_compile(game: str, value: str, learner: str, search: str) -> CompileRow:
    """Start a training of one seed at the published batch, with and without FARL; time it.

    Nothing is taken from the compile cache or from what this process has compiled before. The
    evaluation meets a random opponent in as few games as its starts allow, because only compiling
    counts.
    """
    row = CompileRow(game, value, learner, search)
    rules = make(game)
    check_own(rules)
    opponent = "score" if rules.num_players == 1 else "random"
    shortest = dataclasses.replace(protocol_for(rules, opponent), count=1, repeats=1)
    changes = {"value": value, "learner": learner, "protocols": [shortest], **SEARCHES[search]}
    jax.clear_caches()
    try:
        with without_compilation_cache():
            timer = CompileTimer()
            training = Training(preset(game, **changes, seeds=(0,), opponents=(opponent,)))
            training.advance(1)
            list(training.evaluate(1))
    except ValueError as error:
        return row._replace(refused=str(error))
    compiled = timer.durations(COMPILE)
    return row._replace(
        programs=len(compiled),
        trace_s=round(timer.seconds(TRACE), 2),
        lower_s=round(timer.seconds(LOWER), 2),
        compile_s=round(timer.seconds(COMPILE), 2),
        slowest_s=round(max(compiled), 2),
        cpu_s=round(timer.cpu_seconds(), 1),
    )
