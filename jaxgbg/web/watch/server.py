"""The server of the page: its files, the progress of runs, curves, the game."""

from collections.abc import Awaitable, Callable, Iterable
from importlib import resources

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from jaxgbg.types import JSON
from jaxgbg.web.play.requests import ROOT
from jaxgbg.web.play.server import HEADERS, Guard, as_json, by_address, give
from jaxgbg.web.watch.runs import Watched

_SHARED = ("board.js", "board.css", "page.js", "page.css")


def application(watched: Watched, hosts: Iterable[str] = ()) -> ASGIApp:
    """The server of watched runs, reached as localhost, by a number, or as one of `hosts`."""
    files = by_address(_sources())
    files |= {"/": files.pop("/watch.html")}
    routes = [
        Route(address, give(content, kind), methods=["GET"])
        for address, (content, kind) in files.items()
    ]
    answers: dict[str, Callable[[], dict[str, JSON]]] = {
        "state": watched.state,
        "curves": lambda: {"html": watched.curves()},
        "game": lambda: {"html": watched.game.html},
    }
    routes += [
        Route(f"{ROOT}/{name}", _endpoint(answer), methods=["GET"])
        for name, answer in answers.items()
    ]
    return Guard(Starlette(routes=routes), hosts)


def _sources() -> dict[str, str]:
    """The page's files by name, including those shared with the report and the play page."""
    pages = resources.files("jaxgbg.web")
    own = [file for file in (pages / "watch" / "page").iterdir() if not file.name.endswith(".j2")]
    shared = [*(pages / "page" / name for name in _SHARED), pages / "play" / "page" / "icon.svg"]
    return {file.name: file.read_text("utf-8") for file in (*own, *shared)}


def _endpoint(answer: Callable[[], dict[str, JSON]]) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        content = await run_in_threadpool(lambda: as_json(answer()))
        return Response(content, media_type="application/json", headers=HEADERS)

    return respond
