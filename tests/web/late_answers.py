"""Servers whose answers come late: JAXGBG_TEST_DELAY=0.3 delays each answer by 0.3 s.

A test that passes only with quick answers fails now and then on a busy machine, and each time here.
"""

import asyncio
import os
from typing import TYPE_CHECKING

from jaxgbg.web.play.requests import ROOT
from jaxgbg.web.play.serving import server_for

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

DELAY = float(os.environ.get("JAXGBG_TEST_DELAY", "0"))


def late_server(application: "ASGIApp") -> "uvicorn.Server":
    """The server of an application, which answers requests of the page after the delay."""

    async def late(scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "http" and scope["path"].startswith(ROOT):
            await asyncio.sleep(DELAY)
        await application(scope, receive, send)

    return server_for(late)
