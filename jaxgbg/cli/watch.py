"""The command `watch`: a page on which runs in progress are seen."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.cli.play import Port
from jaxgbg.specs import checked
from jaxgbg.web.play.serving import LOOPBACK, check_extra, listen
from jaxgbg.web.watch.runs import Watched
from jaxgbg.web.watch.serving import PORT, serve_watch


@checked
def watch(
    folder: Annotated[Positional[Path], arg(metavar="RUN|FOLDER")] = Path("runs"),
    host: str = LOOPBACK,
    port: Port = PORT,
    browser: bool = True,
    wait: bool = False,
) -> None:
    """Open a page on runs in progress: curves, rate, time left, and a game of the newest agent.

    It reads what the runs write, changes nothing, and gives way to them on the processor.

    Args:
      folder: A run's folder, or one that holds runs at any depth, at most 200.
      host: Who may reach the page: this machine alone, or 0.0.0.0 for all who can reach it.
      port: Where the page is served; 0 takes any free port.
      browser: Open the page in a browser.
      wait: Begin before there is such a folder, or any run in it.
    """
    check_extra()
    _leave_accelerators_alone()
    watched = Watched(folder, wait)
    try:
        listener = listen(host, port)
        try:
            serve_watch(watched, listener, host, browser)
        finally:
            listener.close()
    finally:
        watched.close()


def _leave_accelerators_alone() -> None:
    """Their memory is the training's."""
    import jax

    jax.config.update("jax_platforms", "cpu")
