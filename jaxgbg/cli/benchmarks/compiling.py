"""Compile time: seconds to trace, lower and compile a training, by combination."""

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax

from jaxgbg.games import make
from jaxgbg.learners import LearnerSpec
from jaxgbg.runs import Training
from jaxgbg.runs.presets import preset
from jaxgbg.types import SettingValue
from jaxgbg.values import ValueSpec
from jaxgbg.xla import without_compilation_cache

# What JAX reports of each program (jax.monitoring).
_TRACE = "/jax/core/compile/jaxpr_trace_duration"
_LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILE = "/jax/core/compile/backend_compile_duration"

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
    the program that compiled longest. `cpu_s` is the processor time of the whole start, what one
    idle core would take. `refused` says why a combination does not exist; all else is None then.
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
    evaluation meets a random opponent.
    """
    row = CompileRow(game, value, learner, search)
    opponent = "score" if make(game).num_players == 1 else "random"
    changes = {"value": value, "learner": learner, **SEARCHES[search]}
    jax.clear_caches()
    try:
        with without_compilation_cache(), _recorded() as spans:
            start = time.process_time()
            training = Training(preset(game, **changes, seeds=(0,), opponents=(opponent,)))
            training.advance(1)
            list(training.evaluate(1))
            cpu = time.process_time() - start
    except ValueError as error:
        return row._replace(refused=str(error))
    compiled = [end - begin for begin, end in spans[_COMPILE]]
    trace, lower, compile_s = (round(_union(spans[each]), 2) for each in (_TRACE, _LOWER, _COMPILE))
    return row._replace(
        programs=len(compiled),
        trace_s=trace,
        lower_s=lower,
        compile_s=compile_s,
        slowest_s=round(max(compiled), 2),
        cpu_s=round(cpu, 1),
    )


_spans: dict[str, list[tuple[float, float]]] | None = None
_listening = False


@contextlib.contextmanager
def _recorded() -> Iterator[dict[str, list[tuple[float, float]]]]:
    """The (start, end) of all tracing, lowering and compiling within the block."""
    global _spans, _listening
    if not _listening:
        # JAX has no public way to take a listener off again.
        jax.monitoring.register_event_duration_secs_listener(_note)
        _listening = True
    _spans = {each: [] for each in (_TRACE, _LOWER, _COMPILE)}
    try:
        yield _spans
    finally:
        _spans = None


def _note(event: str, duration_secs: float, **_: str | int) -> None:
    if _spans is not None and event in _spans:
        now = time.perf_counter()
        _spans[event].append((now - duration_secs, now))


def _union(spans: list[tuple[float, float]]) -> float:
    """Seconds that the spans cover: one program is traced within another."""
    covered, reached = 0.0, -float("inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return covered
