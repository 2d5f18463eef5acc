"""Start the page on this machine: the port, the browser, and the end by Ctrl-C."""

import contextlib
import errno
import ipaddress
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING
from urllib.parse import quote

from jaxgbg.players import MissingExtra
from jaxgbg.web.play import LOOPBACK
from jaxgbg.web.play.table import Table

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

_PLAIN = "/,;+=.-*"
_PATIENCE = 0.5
"""Seconds that compilation may still take after the page has ended."""


def check_extra() -> None:
    """Raise MissingExtra if the server package is not installed."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("the page needs a server: pip install 'jaxgbg[play]'") from error


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """A socket that listens on `host` and `port`, 0 for any free one.

    Raises ValueError, which names the `option` for the port.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise ValueError(f"--host {host}: {error.strerror}") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(64)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ValueError(f"port {port} is in use: choose another by {option}") from error
        raise ValueError(f"cannot listen on {host}, port {port}: {error.strerror}") from error
    return listener


def serve(
    make_table: Callable[[], Table],
    title: str,
    listener: socket.socket,
    host: str,
    browser: bool,
    line: str = "",
) -> None:
    """Serve the page of the game `title` until Ctrl-C, and open it in a browser if requested.

    The page begins with the game `line`.

    The page is available at once, while `make_table` compiles. Errors of `make_table` are raised
    here.
    """
    from jaxgbg.web.play.server import application

    made: Future[Table] = Future()

    def begin(server: "uvicorn.Server") -> None:
        print(f"compiling {title}: some seconds, on the first start up to a minute", flush=True)
        threading.Thread(target=_make, args=(make_table, made, server), daemon=True).start()

    serve_page(
        lambda hosts: application(made, hosts),
        listener,
        host,
        browser,
        f"{title} is played",
        "play there and use its processor",
        begin,
        f"#moves={quote(line, safe=_PLAIN)}" if line else "",
    )
    try:
        made.result(_PATIENCE).close()
    except TimeoutError:
        # Ctrl-C came while XLA was compiling in a thread, which cannot be stopped, and which
        # Python's own end would abort with a message of C++.
        sys.stdout.flush()
        os._exit(0)


def _make(make_table: Callable[[], Table], made: Future[Table], server: "uvicorn.Server") -> None:
    """Make the table next to its server, which ends if that fails."""
    start = time.monotonic()
    try:
        table = make_table()
    # The main thread reports errors of a user's own game.
    except BaseException as error:
        made.set_exception(error)
        server.should_exit = True
    else:
        made.set_result(table)
        print(f"ready after {time.monotonic() - start:.0f} s", flush=True)


def serve_page(
    application: Callable[[Iterable[str]], "ASGIApp"],
    listener: socket.socket,
    host: str,
    browser: bool,
    what: str,
    others: str,
    begin: Callable[["uvicorn.Server"], None] | None = None,
    fragment: str = "",
) -> None:
    """Serve a page until Ctrl-C; `what` says what it shows.

    `others` says what all users can do whom `host` lets in; `begin` is called before the page is
    served; `fragment` ends the page's address.
    """
    port = listener.getsockname()[1]
    loopback = _loopback(listener.getsockname()[0])
    address = address_of(listener, host) + fragment
    print(f"{what} at {address} (Ctrl-C ends it)", flush=True)
    if not loopback:
        print(
            f"jaxgbg: everyone who can reach this machine on port {port} can {others};"
            " there is no password",
            file=sys.stderr,
            flush=True,
        )
    hosts = () if loopback else (host, socket.gethostname(), socket.getfqdn())
    server = server_for(application(hosts))
    if begin is not None:
        begin(server)
    if browser:
        open_browser(address)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


def address_of(listener: socket.socket, host: str = LOOPBACK) -> str:
    """The address of the page for a browser."""
    name, port = listener.getsockname()[:2]
    return f"http://{'localhost' if _loopback(name) else _written(host)}:{port}/"


def open_browser(address: str) -> None:
    """Open a page, which sends its request at once; the server answers when it is up."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def server_for(application: "ASGIApp") -> "uvicorn.Server":
    """The server of an application."""
    import uvicorn

    # No logging setup: it would close streams that other code writes to.
    config = uvicorn.Config(application, log_config=None, ws="none", timeout_graceful_shutdown=1)
    return uvicorn.Server(config)


def _loopback(address: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(address).is_loopback
    return False


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
