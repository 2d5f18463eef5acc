"""The page's server: a table behind a few addresses, and a guard in front of it."""

import ipaddress
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from jaxgbg.contents import parse_json, reason
from jaxgbg.types import JSON
from jaxgbg.web.play import page_sources
from jaxgbg.web.play.api import Refused, answered
from jaxgbg.web.play.requests import MOST_BYTES, QUESTIONS, ROOT, description
from jaxgbg.web.play.table import Table

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
HEADERS = {
    # The page loads nothing from elsewhere, and no other page can embed it.
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(table: Table | Future[Table], hosts: Iterable[str] = ()) -> ASGIApp:
    """The server of one table, reached as localhost, by a number, or as one of `hosts`.

    It serves the page while the table is still being prepared; the page then says so.
    """
    if isinstance(table, Table):
        made: Future[Table] = Future()
        made.set_result(table)
    else:
        made = table
    routes = [
        Route(address, give(content, kind), methods=["GET"])
        for address, (content, kind) in _files().items()
    ]
    routes += [
        Route(
            f"{ROOT}/openapi.json",
            give(as_json(description()), "application/json"),
            methods=["GET"],
        ),
        Route(f"{ROOT}/game", _about(made), methods=["GET"]),
        *(Route(f"{ROOT}/{name}", _endpoint(made, name), methods=["POST"]) for name in QUESTIONS),
    ]
    return Guard(Starlette(routes=routes), hosts)


class Guard:
    """Allows requests to this server from its own page, or from no page at all.

    Requests from other pages are recognized by Origin, other names that resolve to this machine by
    the Host header (DNS rebinding). A number cannot be rebound.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app = app
        self.hosts = {"localhost", *(host.lower() for host in hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, value)
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not self._ours(host):
            refused = f"this server is not {host[:80]!r}"
        elif origin and origin.lower() != f"http://{host}".lower():
            refused = f"this server answers only its own page, not {origin[:80]!r}"
        else:
            await self.app(scope, receive, send)
            return
        await _refusal(403, refused)(scope, receive, send)

    def _ours(self, host: str) -> bool:
        name, bracket, port = host.partition("]")
        name, _, port = (name[1:], "", port) if bracket else host.partition(":")
        if port.removeprefix(":") and not port.removeprefix(":").isdecimal():
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower() in self.hosts
        return True


def _files() -> dict[str, tuple[bytes, str]]:
    """The page and the files it loads, by address."""
    files = by_address(page_sources())
    return files | {"/": files["/play.html"]}


def by_address(sources: Mapping[str, str]) -> dict[str, tuple[bytes, str]]:
    """Files by their addresses, as (content, kind), from their texts by name."""
    return {
        f"/{name}": (text.encode(), KINDS[name.rpartition(".")[2]])
        for name, text in sources.items()
    }


def give(content: bytes, kind: str) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers every request with the same content."""

    async def answer(request: Request) -> Response:
        return Response(content, media_type=kind, headers=HEADERS)

    return answer


def _about(made: Future[Table]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint with the game and the players, or the compile time so far."""
    start = time.monotonic()

    async def respond(request: Request) -> Response:
        try:
            content = await run_in_threadpool(lambda: as_json(_ready(made).about()))
        except Refused as refused:
            waiting = {"error": str(refused), "waiting": round(time.monotonic() - start, 1)}
            return Response(as_json(waiting), refused.status, HEADERS, "application/json")
        return Response(content, media_type="application/json", headers=HEADERS)

    return respond


def _ready(made: Future[Table]) -> Table:
    """The table; raises Refused while it is being prepared."""
    if not made.done():
        raise Refused(503, "rules and agents are still being compiled: try again")
    return made.result()


def _endpoint(made: Future[Table], name: str) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that reads a request, answers it in a thread, and reports errors in one line."""

    def worked_out(body: bytes) -> bytes:
        try:
            question = parse_json(body)
        except ValueError as error:
            raise Refused(400, reason(error)) from error
        return as_json(answered(_ready(made), name, question))

    async def respond(request: Request) -> Response:
        try:
            body = await _body(request)
            content = await run_in_threadpool(worked_out, body)
        except Refused as refused:
            return _refusal(refused.status, str(refused))
        except ClientDisconnect:
            # The client has disconnected.
            return Response(status_code=499)
        return Response(content, media_type="application/json", headers=HEADERS)

    return respond


async def _body(request: Request) -> bytes:
    """The body of a request, if it is JSON and not too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "send JSON, as application/json")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise Refused(413, f"a request has at most {MOST_BYTES:,} bytes")
    return bytes(body)


def _refusal(status: int, line: str) -> Response:
    return Response(
        as_json({"error": line}), status, media_type="application/json", headers=HEADERS
    )


def as_json(content: JSON) -> bytes:
    """Compact JSON."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
