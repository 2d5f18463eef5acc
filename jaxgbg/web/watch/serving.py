"""Start the page: from the command `watch`, or in a process next to a training."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from jaxgbg.extensions import import_modules, imported_modules, module_command
from jaxgbg.types import JSON
from jaxgbg.web.play import LOOPBACK
from jaxgbg.web.play.serving import (
    address_of,
    check_extra,
    listen,
    open_browser,
    serve_page,
    server_for,
)
from jaxgbg.web.watch.runs import Watched

_NICE = 5
# On Windows, open files cannot be passed to other processes.
_PASSES_FILES = os.name == "posix"
_PATIENCE = 5.0
"""Seconds that the page may take to receive the end of the training."""


def serve_watch(watched: Watched, listener: socket.socket, host: str, browser: bool) -> None:
    """Serve the page until Ctrl-C, and open it in a browser if requested."""
    from jaxgbg.web.watch.server import application

    give_way()
    serve_page(
        lambda hosts: application(watched, hosts),
        listener,
        host,
        browser,
        f"{watched.root} is shown",
        "see these runs",
    )


def give_way() -> None:
    """Lower the priority of this process, before it starts threads."""
    # Imported early, because nothing else here is as slow.
    import matplotlib.ticker  # noqa: F401

    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(_NICE)


class WatchProcess:
    """A page on one run in a separate process, for the duration of the block, on this machine only.

    The training does not wait for it, and its failure does not affect the training. Raises
    ValueError if the port is in use, MissingExtra if the server package is not installed.
    """

    def __init__(self, port: int) -> None:
        check_extra()
        self._listener = listen(LOOPBACK, port, "--watch-port")
        self.address = address_of(self._listener)
        self._process: subprocess.Popen[bytes] | None = None

    def show(self, folder: Path) -> bool:
        """Show the run in `folder`, which need not exist yet; False if that is not possible."""
        passed = [self._listener.fileno()] if _PASSES_FILES else []
        where = f"file {passed[0]}" if passed else f"port {self._listener.getsockname()[1]}"
        if not passed:
            # The other process listens on the port itself.
            self._listener.close()
        arguments = [str(folder), where, *imported_modules()]
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                [*module_command(__name__), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=passed,
                # Only the training handles Ctrl-C.
                process_group=0,
                env=os.environ | {"JAX_PLATFORMS": "cpu"},
            )
        self._listener.close()
        return self._process is not None

    def __enter__(self) -> "WatchProcess":
        return self

    def __exit__(self, *error: object) -> None:
        self._listener.close()
        if self._process is None:
            return
        assert self._process.stdin is not None
        # The end of this pipe tells the process that the training has ended, for any reason.
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Beside(Watched):
    """The watched runs of the process next to a training: it ends once open pages know the end."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, wait=True)
        self.ended = False
        self.told = threading.Event()
        self._asked = 0.0

    def state(self) -> dict[str, JSON]:
        ended, self._asked = self.ended, time.monotonic()
        if ended:
            # While the first curves are drawn, nothing else is read.
            self.wait()
            self.hurry()
        content = super().state() | {"ended": ended}
        if ended:
            self.told.set()
        return content

    def end(self) -> None:
        """The training has ended: wait a short time until open pages have received that."""
        self.ended = True
        if self.looked_at:
            self.told.wait(_PATIENCE / 2)
            # The answer must still be sent.
            time.sleep(0.1)

    @property
    def looked_at(self) -> bool:
        """Whether the page is open in a browser."""
        return time.monotonic() - self._asked < _PATIENCE


def _main() -> None:
    from jaxgbg.runs.devices import prepare_jax
    from jaxgbg.web.watch.server import application

    folder, where, *modules = sys.argv[1:]
    import_modules(modules)
    prepare_jax()
    give_way()
    watched = _Beside(Path(folder))
    server = server_for(application(watched))
    kind, number = where.split()
    listener = (
        listen(LOOPBACK, int(number)) if kind == "port" else socket.socket(fileno=int(number))
    )

    def end_with_training() -> None:
        sys.stdin.buffer.read()
        watched.end()
        os._exit(0)

    threading.Thread(target=end_with_training, daemon=True).start()
    open_browser(address_of(listener))
    server.run(sockets=[listener])


if __name__ == "__main__":
    _main()
