"""The command `watch`: a page that shows runs in progress."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.arguments import Port
from jaxgbg.cli.session import start_jax
from jaxgbg.specs import checked
from jaxgbg.web.play import LOOPBACK
from jaxgbg.web.watch import PORT


@checked
def watch(
    folder: Annotated[Positional[Path], arg(metavar="RUN|FOLDER")] = Path("runs"),
    host: Annotated[str, arg(metavar="ADDRESS")] = LOOPBACK,
    port: Port = PORT,
    browser: bool = True,
    wait: bool = False,
) -> None:
    """Open a page on runs in progress: curves, rate, remaining time, a game of the latest agent.

    It only reads what the runs write, and has a lower priority than they have.

    Args:
      folder: Folder of a run, or a folder with runs at any depth, at most 200.
      host: Address to serve the page at: this machine only, or 0.0.0.0 for all that can reach it.
      port: Port of the page; 0 takes any free port.
      browser: Open the page in a browser.
      wait: Start before the folder, or a run in it, exists.
    """
    start_jax()
    from jaxgbg.web.play.serving import check_extra, listen
    from jaxgbg.web.watch.runs import Watched
    from jaxgbg.web.watch.serving import serve_watch

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
    """Use the CPU only: accelerator memory belongs to the trainings."""
    import jax

    jax.config.update("jax_platforms", "cpu")
