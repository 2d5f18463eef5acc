"""A judge on one CPU core: takes agents from a folder and lets them meet the paper's opponents.

    JAX_PLATFORMS=cpu python -m experiments.gpu.judging FOLDER --layout FILE --out OUT --seconds 300

`experiments.gpu.published` starts one for each core it can spare.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from experiments.gpu.connectfour_list import GAME, OPPONENTS, layout_of, read_job, run_of
from experiments.gpu.records import Records, machine
from experiments.gpu.speed import reason_of
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import Judge
from jaxgbg.games.precision import in_32_bits
from jaxgbg.players import GreedyAgent
from jaxgbg.runs import LaneName, Run
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.loop import evaluate
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.presets import protocol_for

FILE, KEY = "published.json", ("what", "game", "episodes", "seed", "variant", "opponent")
NO_MORE = "no-more"
"""The file in the folder of agents that says that none will come."""
_SPARED = 2
_MOST_FAILURES = 5


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", type=Path, metavar="FOLDER", help="the agents")
    parser.add_argument("--layout", type=Path, required=True, help="their n-tuples")
    parser.add_argument("--out", type=Path, required=True, help="folder of results")
    parser.add_argument("--scale", type=float, default=1.0, help="times the published budget")
    parser.add_argument("--seconds", type=float, required=True, help="from now on")
    parser.add_argument("--core", type=int, help="the only core to work on")
    options = parser.parse_args(arguments)
    until = time.time() + options.seconds
    os.nice(10)
    if options.core is not None:
        # Before JAX starts: it has as many threads as there are cores.
        os.sched_setaffinity(0, {options.core})
    prepare_jax(1)
    run = run_of(layout_of(options.layout), options.scale)
    judge_all(options.work, run, Records(options.out / FILE, machine(), KEY), until)


def judge_all(work: Path, run: Run, records: Records, until: float) -> None:
    """Judge agent after agent, those trained longest first, until none will come."""
    failures, judges = 0, judges_of(run, records)
    while judges and time.time() < until and failures < _MOST_FAILURES:
        # Asked first, so that no agent comes between the two questions.
        no_more = (work / NO_MORE).exists()
        job = claimed(work)
        if job is None:
            if no_more:
                return
            time.sleep(0.2)
            continue
        name, weights = job
        try:
            judge_one(run, name, weights, judges, records)
        except Exception as error:
            failures += 1
            records.fail(f"{name}: {reason_of(error)}")


def judges_of(run: Run, records: Records) -> dict[str, Judge]:
    """All opponents that can be met here; what is wrong with another is kept."""
    judges = {}
    for name in OPPONENTS:
        try:
            judges[name] = judge_by(name, run.game, protocol_for(run.game, name))
        except Exception as error:
            records.fail(f"{name}: {reason_of(error)}")
    return judges


def claimed(work: Path) -> tuple[str, np.ndarray] | None:
    """The next agent, which nobody else gets: the name of its file and its weights."""
    # Farther trained ones first, and those with FARL, whose games are the longest.
    for path in sorted(work.glob("*.npy"), key=lambda path: (-int(path.name[:9]), path.name)):
        mine = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(FileNotFoundError):
            path.rename(mine)
            weights = np.load(mine)
            mine.unlink()
            return path.name, weights
    return None


@in_32_bits
def judge_one(
    run: Run, name: str, weights: np.ndarray, judges: dict[str, Judge], records: Records
) -> None:
    """One agent against all opponents, each figure kept at once."""
    episodes, lane = read_job(name)
    agent = agent_of(run, lane, weights)
    for number, judge in enumerate(judges.values()):
        start = time.perf_counter()
        key = jax.random.fold_in(jax.random.key(run.lanes.index(lane)), number)
        key = jax.random.fold_in(key, episodes)
        (result,) = evaluate(agent, judge, episodes, (lane,), key)
        seconds = round(time.perf_counter() - start, 2)
        records.add({"what": "match", "game": GAME, **result._asdict(), "seconds": seconds})


def agent_of(run: Run, lane: LaneName, weights: np.ndarray) -> GreedyAgent:
    """The player with these weights."""
    value = run.make_learner().value
    params = value.with_weights(jnp.asarray(weights), run.value.drawn(run.game, lane.seed))
    several = jax.tree.map(lambda leaf: leaf[None], params)
    return GreedyAgent(run.game, value, several, run.learner.bootstrap, several=True)


@contextlib.contextmanager
def judges_beside(
    work: Path, layout: Path, out: Path, scale: float, end: float
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Judges on all cores but two, on their CPUs alone; they finish, or are stopped at the end."""
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "experiments.gpu.judging", str(work), "--layout", str(layout)]
    command += ["--out", str(out), "--scale", str(scale), "--seconds", f"{end - time.time():.1f}"]
    # The device and its memory are the training's.
    alone = {**os.environ, "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    running = [
        subprocess.Popen([*command, "--core", str(core)], env=alone)
        for core in cores[_SPARED:] or cores[-1:]
    ]
    try:
        yield running
        (work / NO_MORE).touch()
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(end - time.time(), 0.1))
    finally:
        for process in running:
            process.kill()
            process.wait()


if __name__ == "__main__":
    end_in_a_line(main)
