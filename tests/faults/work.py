"""Real commands of jaxgbg in folders of their own, to be disturbed."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

SECONDS = 300.0
"""Longer than any of these commands may take."""


class Wrong(Exception):
    """Something was lost, or was told in another way than promised."""


def left_by(out: Path) -> dict[str, bytes]:
    """By name, what finished runs leave that must not depend on what has happened to them."""
    found = {}
    for summary in out.glob("*/summary.json"):
        folder = summary.parent
        found[f"{folder.name}/state"] = json.loads(summary.read_text())["state_sha256"].encode()
        files = [folder / name for name in ("config.json", "metrics.jsonl", "histograms.json")]
        for path in (*files, *folder.glob("agents/*")):
            found[str(path.relative_to(out))] = path.read_bytes()
    assert found, f"no finished run below {out}"
    return found


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[bool]:
    """A tmpfs of `size` on `folder`; false where mounting is not allowed."""
    folder.mkdir(parents=True)
    options = ["-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    try:
        mounted = not subprocess.run(["mount", *options], capture_output=True).returncode
    except FileNotFoundError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


class Work:
    """One command, given again and again until it is done; `expected` is what it has to leave.

    That is what it leaves undisturbed, or a command like it: `first`, with other arguments, or one
    of another folder.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        cache: Path,
        first: "Sequence[str] | Work" = (),
    ) -> None:
        self.folder, self.out = folder, folder / "runs"
        folder.mkdir(parents=True, exist_ok=True)
        # A process that is killed may leave half an entry: no other test reads this cache.
        caches = {"XDG_CACHE_HOME": str(cache), "JAX_COMPILATION_CACHE_DIR": str(cache / "jax")}
        self._environment = os.environ | caches
        if isinstance(first, Work):
            self._give(arguments)
            self.seconds, self.expected = first.seconds, first.expected
            return
        self._give(first or arguments)
        process = self.start()
        self.under_way(process, self.begun)
        begun = time.monotonic()
        code, complaints = self.end(process)
        if code:
            raise Wrong(f"undisturbed, it ended with {code}: {' '.join(complaints)}")
        # Of work, without the start of the process.
        self.seconds = time.monotonic() - begun
        self.expected = left_by(self.out)
        self.clear()
        self._give(arguments)

    def _give(self, arguments: Sequence[str]) -> None:
        self._command = [sys.executable, "-m", "jaxgbg.cli", *arguments, "--out", str(self.out)]

    def start(self, before: str = "true") -> "subprocess.Popen[str]":
        """The command, after the shell command `before`; it is the leader of its session."""
        return subprocess.Popen(
            ["bash", "-c", f'{before}; exec "$@"', "-", *self._command],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self, process: "subprocess.Popen[str]") -> tuple[int, list[str]]:
        """Wait for a process; its exit code and its complaints, none of them a traceback."""
        try:
            _, text = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Wrong("it did not end") from None
        if "Traceback" in text:
            raise Wrong(f"a traceback: {text}")
        return process.returncode, [line for line in text.splitlines() if "jaxgbg: " in line]

    def finish(self) -> list[str]:
        """Do what is left; returns the complaints."""
        code, complaints = self.end(self.start())
        if code:
            raise Wrong(f"ended with {code}: {' '.join(complaints)}")
        return complaints

    def under_way(self, process: "subprocess.Popen[str]", sign: Callable[[], object]) -> bool:
        """Wait until there is a `sign` of progress; false if the process has ended before."""
        while process.poll() is None and not sign():
            time.sleep(0.005)
        return process.poll() is None

    def begun(self) -> bool:
        """Whether a run has its folder."""
        return any(self.out.glob("*/config.json"))

    def checkpoints(self) -> list[Path]:
        """Those there are, the oldest first."""
        found = self.out.glob("*/checkpoints/*.checkpoint")
        return sorted(found, key=lambda path: int(path.stem))

    def metrics(self) -> list[Path]:
        """Metrics that hold something."""
        return [path for path in self.out.glob("*/metrics.jsonl") if path.stat().st_size]

    def stopped(self, sign: Callable[[], object]) -> bool:
        """Begin, or go on, and stop at a `sign`; false where it was finished before."""
        process = self.start()
        reached = self.under_way(process, sign)
        process.send_signal(signal.SIGTERM)
        code, complaints = self.end(process)
        if code not in (0, 143, -signal.SIGTERM):
            raise Wrong(f"ended with {code}: {' '.join(complaints)}")
        # Between its summary and its end a run is finished.
        return reached and not any(self.out.glob("*/summary.json"))

    def workers(self, process: "subprocess.Popen[str]") -> list[int]:
        """The processes that a sweep has started."""
        path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        try:
            return [int(number) for number in path.read_text().split()]
        except OSError:
            return []

    def compare(self) -> None:
        """Raise Wrong where what was left is not what it has to be."""
        found = left_by(self.out)
        if found != self.expected:
            names = {name for name, content in found.items() if self.expected.get(name) != content}
            names |= self.expected.keys() - found.keys()
            raise Wrong(f"other than undisturbed: {', '.join(sorted(names))}")
        rest = [str(path) for path in self.out.rglob("*.tmp")]
        rest += [str(path) for path in self.out.glob("*/checkpoints")]
        if rest:
            raise Wrong(f"left behind: {', '.join(rest)}")

    def clear(self) -> None:
        """Begin from nothing next time."""
        for path in self.out.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
