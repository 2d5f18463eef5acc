"""The faults: each disturbs a work once, and says whether it found it at work."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from jaxgbg.runs.storage.agents import load_agent

from .work import Work, Wrong

# Of a run, and of the picture that is drawn when the run is finished.
_NO_ROOM = ("no space left to write", "File too large", "No space left on device")


def _some_time(work: Work, draw: random.Random) -> None:
    time.sleep(draw.uniform(0, work.seconds / 3))


def _signalled(work: Work, draw: random.Random, number: int, times: int = 1) -> bool:
    process = work.start()
    work.under_way(process, work.begun)
    _some_time(work, draw)
    at_work = process.poll() is None
    for _ in range(times):
        process.send_signal(number)
    code, complaints = work.end(process)
    # A shell would say 128 and the signal's number; so does a run that has kept a checkpoint.
    if at_work and code not in (0, -number, 128 + number):
        raise Wrong(f"ended with {code}: {' '.join(complaints)}")
    return at_work and code != 0


def kill(work: Work, draw: random.Random) -> bool:
    return _signalled(work, draw, signal.SIGKILL)


def kill_at_start(work: Work, draw: random.Random) -> bool:
    """Before anything, or hardly anything, is written."""
    process = work.start()
    time.sleep(draw.uniform(0, 3))
    process.kill()
    return work.end(process)[0] == -signal.SIGKILL


def terminate(work: Work, draw: random.Random) -> bool:
    return _signalled(work, draw, signal.SIGTERM)


def interrupt(work: Work, draw: random.Random) -> bool:
    return _signalled(work, draw, signal.SIGINT)


def terminate_twice(work: Work, draw: random.Random) -> bool:
    return _signalled(work, draw, signal.SIGTERM, times=2)


def _ends_for_want_of_room(work: Work, before: str = "true") -> bool:
    code, complaints = work.end(work.start(before))
    if code == 0:
        return False
    if code != 2 or len(complaints) > 2 or not any(text in complaints[-1] for text in _NO_ROOM):
        raise Wrong(f"ended with {code}: {' '.join(complaints) or 'no complaint'}")
    return True


def small_files(work: Work, draw: random.Random) -> bool:
    """No file may be larger than 1 or 2 KiB."""
    return _ends_for_want_of_room(work, f"ulimit -f {draw.randint(1, 2)}")


def full_disk(work: Work, draw: random.Random) -> bool:
    """All room but a few KiB is taken; `work` lies on a disk of its own."""
    with _taken(work.folder / "filler", draw.randrange(0, 24) * 1024):
        return _ends_for_want_of_room(work)


@contextlib.contextmanager
def _taken(filler: Path, left: int) -> Iterator[None]:
    try:
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(65536)):
                pass
        os.truncate(filler, max(0, filler.stat().st_size - left))
        yield
    finally:
        filler.unlink()


def flip(path: Path, draw: random.Random) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)


def _flipped_checkpoints(work: Work, draw: random.Random, newest: int) -> bool:
    if not work.stopped(work.checkpoints):
        return False
    harmed = work.checkpoints()[-newest:]
    for path in harmed:
        content = bytearray(path.read_bytes())
        # After the first line: with another number there, it is another version's.
        place = draw.randrange(content.index(b"\n") + 1, len(content))
        content[place] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
    complaints = work.finish()
    named = [line for line in complaints if "is damaged and left out" in line]
    if len(named) != len(harmed):
        raise Wrong(f"{len(harmed)} damaged, {len(named)} named")
    return True


def flipped_checkpoint(work: Work, draw: random.Random) -> bool:
    return _flipped_checkpoints(work, draw, 1)


def flipped_checkpoints(work: Work, draw: random.Random) -> bool:
    return _flipped_checkpoints(work, draw, 2)


def flipped_metrics(work: Work, draw: random.Random) -> bool:
    """Those of an unfinished run, that a checkpoint counts on."""
    if not work.stopped(work.metrics):
        return False
    flip(draw.choice(work.metrics()), draw)
    if not any("has been changed" in line for line in work.finish()):
        raise Wrong("nobody noticed")
    return True


def flipped_agent(work: Work, draw: random.Random) -> bool:
    """It must be noticed; it is made again by a run that has lost its summary."""
    work.finish()
    path = draw.choice(sorted(work.out.glob("*/agents/*")))
    flip(path, draw)
    with contextlib.suppress(ValueError):
        load_agent(path)
        raise Wrong("nobody noticed")
    (path.parents[1] / "summary.json").unlink()
    work.finish()
    return True


def two_writers(work: Work, draw: random.Random) -> bool:
    """The second is refused; the first goes on, and is killed so that more can come."""
    first = work.start()
    work.under_way(first, work.begun)
    second = work.start()
    code, complaints = work.end(second)
    first.kill()
    work.end(first)
    if any(work.out.glob("*/summary.json")):
        # The first was done before the second came.
        return False
    if code != 2 or "another process is at work" not in " ".join(complaints):
        raise Wrong(f"the second ended with {code}: {' '.join(complaints)}")
    return True


def lost_worker(work: Work, draw: random.Random) -> bool:
    """A worker of a sweep is killed; another one does what it has left undone."""
    process = work.start()
    work.under_way(process, work.begun)
    _some_time(work, draw)
    workers = work.workers(process)
    for number in workers[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    code, complaints = work.end(process)
    if code:
        raise Wrong(f"ended with {code}: {' '.join(complaints)}")
    return bool(workers)


def lost_sweep(work: Work, draw: random.Random) -> bool:
    """The process that waits for the workers is killed; they end what they are at."""
    return _signalled(work, draw, signal.SIGKILL)


class Kind(NamedTuple):
    """A fault by its name, which work it disturbs, and how."""

    name: str
    work: str
    strike: Callable[[Work, random.Random], bool]


KINDS = (
    Kind("kill -9", "train", kill),
    Kind("kill -9 while it starts", "train", kill_at_start),
    Kind("SIGTERM", "train", terminate),
    Kind("Ctrl-C", "train", interrupt),
    Kind("SIGTERM twice", "train", terminate_twice),
    Kind("no file above 1 or 2 KiB (ulimit -f)", "train", small_files),
    Kind("full disk (tmpfs)", "disk", full_disk),
    Kind("kill -9 on a small disk (tmpfs)", "disk", kill),
    Kind("a bit of the newest checkpoint", "train", flipped_checkpoint),
    Kind("a bit of each checkpoint", "train", flipped_checkpoints),
    Kind("a bit of unfinished metrics", "train", flipped_metrics),
    Kind("a bit of an agent", "train", flipped_agent),
    Kind("two writers in one folder", "train", two_writers),
    Kind("kill -9 of a sweep's worker", "sweep", lost_worker),
    Kind("kill -9 of a sweep", "sweep", lost_sweep),
    Kind("SIGTERM to a sweep", "sweep", terminate),
)
