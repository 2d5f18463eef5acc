"""Where the time of a training goes: the kernels of each game's program, by what they are for.

    python -m experiments.table1.profile                      # prints the kept profile as a table
    python -m experiments.table1.profile --take               # takes it again, on one core

XLA's own trace times every kernel, and its program names the lines of Python that each came from. A
kernel that several lines were fused into counts for the last of them. The whole is the time of the
program untraced; what tracing costs, the same for every kernel, is taken off.
"""

import functools
import gzip
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from scipy.optimize import brentq

from experiments.shared import Section, make_parser
from jaxgbg import preset
from jaxgbg.cli.benchmarks import GBG_MOVES
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.chunks import compile_chunk
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.lanes import begin
from jaxgbg.runs.memory import TICKS_A_BLOCK
from jaxgbg.runs.placement import LanePlacement, lane_mesh

SECTION = "profile"
"""The section of results.json."""
# The innermost of these functions says what a kernel is for.
PARTS = {
    "advance": "random words",
    "_select": "choice",
    "_move": "moves",
    "target": "targets",
    "_target": "targets",
    "transition": "targets",
    "apply": "errors",
    "_push": "traces",
    "update": "tables",
    "_advance": "next boards",
}
BETWEEN = "the rest"
COLUMNS = (*dict.fromkeys(PARTS.values()), BETWEEN)
SECONDS = 0.5
EVENTS = 500_000


def parts_of_kernels(program: str) -> dict[str, str]:
    """What each instruction of a compiled program, in XLA's words, is for."""
    part = _parts_of_frames(program)
    found = re.findall(r"^ *(?:ROOT )?%(\S+) = (?:.*stack_frame_id=(\d+))?", program, re.MULTILINE)
    # What no line of Python asked for: XLA's own copies.
    return {name: part(int(frame)) if frame else BETWEEN for name, frame in found}


def _parts_of_frames(program: str) -> Callable[[int], str]:
    def section(title: str, pattern: str) -> dict[int, Any]:
        lines = program.partition(f"\n{title}\n")[2].partition("\n\n")[0]
        rows = re.findall(rf"^(\d+) {pattern}", lines, re.MULTILINE)
        return {int(number): row[0] if len(row) == 1 else row for number, *row in rows}

    functions = section("FunctionNames", r'"(?:.*\.)?([^."]+)"$')
    places = section("FileLocations", r"\{.*function_name_id=(\d+)")
    # No parent is number 0, written as 1.
    stack = section("StackFrames", r"\{file_location_id=(\d+) parent_frame_id=(\d+)")

    @functools.cache
    def part(frame: int) -> str:
        if frame not in stack:
            return BETWEEN
        place, parent = map(int, stack[frame])
        return PARTS.get(functions[int(places[place])]) or part(parent - 1)

    return part


def taken(game: str, seconds: float = SECONDS) -> dict[str, Any]:
    """Microseconds of one core a move, by what they are for: with FARL, the lanes of one group."""
    run, mesh = preset(game, seeds=(0,), variants=("farl",), episodes=2**31), lane_mesh(1)
    learner = run.make_learner()
    (lanes,), (hyper,), _ = begin([run], LanePlacement(1, 1, mesh))
    limits = np.full(lanes.finished.shape, 2**31, np.uint32)
    chunk = compile_chunk(learner, mesh).lower(lanes, hyper, limits, np.int32(1)).compile()
    play = functools.partial(_played, chunk, hyper, limits)
    blocks, span = 1, 0.0
    while span < seconds:
        blocks *= 2
        lanes, span, moves = play(lanes, blocks)
    # A block for its events alone: the trace keeps no more than a million of them.
    lanes, _, _, events = _traced(play, lanes, 1)
    traced = max(1, EVENTS // len(events))
    lanes, _, traced_moves, events = _traced(play, lanes, traced)
    parts, spent, counts = parts_of_kernels(chunk.as_text() or ""), Counter[str](), Counter[str]()
    for event in events:
        # A loop's own time holds that of the kernels in it.
        if event.get("name") in parts and not event["name"].startswith("while"):
            spent[event["name"]] += event["dur"] / traced_moves
            counts[event["name"]] += 1
    whole, times = 1e6 * span / moves, dict.fromkeys(COLUMNS, 0.0)
    for kernel, time_of_it in without_tracing(spent, counts, whole).items():
        times[parts[kernel]] += time_of_it
    times[BETWEEN] += whole - sum(times.values())
    return {
        "game": game,
        "games": run.schedule.batch,
        "moves": moves,
        "kernels a tick": round(counts.total() / (traced * TICKS_A_BLOCK), 1),
        "microseconds a move": round(whole, 3),
        "parts with kernels": sorted({parts[kernel] for kernel in counts}),
        **{part: round(times[part], 4) for part in COLUMNS},
    }


def without_tracing(
    spent: Mapping[str, float], counts: Mapping[str, int], whole: float
) -> dict[str, float]:
    """What kernels take when nobody looks: each traced one less the same time, `whole` in all.

    The trace itself takes up to a microsecond a kernel, more than a small one does. Kernels that
    took less than `whole` together are left as they are.
    """
    most = max(spent[kernel] / counts[kernel] for kernel in spent)

    def left(cost: float) -> dict[str, float]:
        return {kernel: max(0.0, spent[kernel] - cost * counts[kernel]) for kernel in spent}

    def excess(cost: float) -> float:
        return sum(left(cost).values()) - whole

    return left(brentq(excess, 0.0, most)) if excess(0.0) > 0 else left(0.0)


def _played(
    chunk: Any, hyper: Any, limits: np.ndarray, lanes: Any, blocks: int
) -> tuple[Any, float, int]:
    """The lanes after so many blocks of ticks, the core seconds that these took and their moves."""
    before, start = int(np.asarray(lanes.moves).sum()), time.process_time()
    lanes = jax.block_until_ready(chunk(lanes, hyper, limits, np.int32(blocks)))
    span = time.process_time() - start
    return lanes, span, int(np.asarray(lanes.moves).sum()) - before


def _traced(play: Any, lanes: Any, blocks: int) -> tuple[Any, float, int, list[dict[str, Any]]]:
    """What `play` returns, and the events of XLA's trace of it."""
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            lanes, span, moves = play(lanes, blocks)
        (file,) = Path(folder).rglob("*.trace.json.gz")
        events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return lanes, span, moves, events


def table_of(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Per cent of the time that each part takes."""
    heads = ["game", "games", "kernels a tick", "µs a move", *COLUMNS]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        whole = row["microseconds a move"]
        shares = [f"{100 * row[part] / whole:.0f}" for part in COLUMNS]
        cells = [row["game"], row["games"], round(row["kernels a tick"]), f"{whole:.2f}", *shares]
        yield f"| {' | '.join(map(str, cells))} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--take", action="store_true", help="take the profiles again")
    parser.add_argument("--games", nargs="+", choices=GBG_MOVES, default=list(GBG_MOVES))
    options = parser.parse_args(arguments)
    section = Section(options.results, SECTION)
    if options.take:
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_enable_xprof_traceme=true".strip()
        prepare_jax(1)
        # A program that was kept may name the lines of an older source.
        jax.config.update("jax_enable_compilation_cache", False)
        section.write([taken(game) for game in options.games])
    print("\n".join(table_of(section.read())))


if __name__ == "__main__":
    end_in_a_line(main)
