"""The play page as a notebook widget; needs anywidget."""

import base64
import html
import json
import secrets
from collections.abc import Sequence
from importlib import resources

import anywidget
import traitlets
from IPython.display import display

from jaxgbg.types import JSON
from jaxgbg.web.board.still import still
from jaxgbg.web.play import page_sources
from jaxgbg.web.play.api import Refused, answered
from jaxgbg.web.play.requests import PositionRequest
from jaxgbg.web.play.table import Table

PERSON = "person"
# The modules for requests and for the address; widget.js replaces them.
_OF_THE_PAGE = {"main.js", "api.js", "address.js", "fault.js"}


def _script() -> str:
    """widget.js with everything it needs: the page's modules, markup and style."""
    page = page_sources()
    modules = {name for name in page if name.endswith(".js")} - _OF_THE_PAGE
    sources = {name: page[name] for name in sorted(modules)}
    # The page loads board.js as a script, so all modules see its names.
    sources["surface.js"] = sources.pop("board.js") + sources["surface.js"]
    markup = page["play.html"].partition('<div class="play">')[2].rpartition("</div>")[0]
    style = page["board.css"] + page["play.css"] + _OWN_STYLE
    held = f"const SOURCES = {json.dumps(sources)}, MARKUP = {json.dumps(markup)}, STYLE = "
    script = resources.files("jaxgbg.web").joinpath("board", "widget.js").read_text("utf-8")
    return script.replace('const SOURCES = {}, MARKUP = "", STYLE = ""', held + json.dumps(style))


# Isolated from the notebook's own style.
_OWN_STYLE = """
:host { all: initial; display: block; }
.play { background: var(--ground); border-radius: 12px; padding: 0.75rem; }
.waiting { color: var(--faint); font: 13px system-ui, "DejaVu Sans", sans-serif; }
"""


class Board(anywidget.AnyWidget):
    """A board in a notebook, with everything the play page has; a picture if widgets do not work.

    Attributes:
      moves: The game so far, as in "4,0"; the board follows changes.
      seats: The players, "person" or the name of a player, one for each seat.
    """

    _esm = _script()
    moves = traitlets.Unicode().tag(sync=True)
    seats = traitlets.List(traitlets.Unicode()).tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)
    mark = traitlets.Unicode().tag(sync=True)

    def __init__(self, table: Table, moves: str = "", seats: Sequence[str] = ()) -> None:
        self._table = table
        moves = table.position(PositionRequest(moves))["moves"]
        mark = f"jaxgbg-still-{secrets.token_hex(4)}"
        super().__init__(moves=moves, seats=list(seats), still=still(table, moves), mark=mark)
        self.on_msg(self._asked)

    @traitlets.validate("moves")
    def _legal(self, proposal: dict[str, JSON]) -> str:
        moves: str = self._table.position(PositionRequest(proposal["value"]))["moves"]
        return moves

    @traitlets.validate("seats")
    def _known(self, proposal: dict[str, JSON]) -> list[str]:
        game, seats = self._table.game, proposal["value"]
        if len(seats) > game.num_players:
            raise ValueError(f"{game.name} has {game.num_players} seats, not {len(seats)}")
        for name in seats:
            if name != PERSON:
                self._table.seats.player(name)
        return list(seats)

    @traitlets.observe("moves")
    def _drawn(self, change: dict[str, JSON]) -> None:
        self.still = still(self._table, change["new"])

    def _asked(self, widget: object, content: dict[str, JSON], buffers: object) -> None:
        """Answer a request of the board, like the page's server."""
        del widget, buffers
        reply = {"to": content["from"], "error": "Python failed: the notebook's log has more"}
        try:
            if content["name"] == "game":
                answer = self._table.about()
            else:
                answer = answered(self._table, content["name"], content["question"])
            reply = {"to": content["from"], "answer": answer}
        except Refused as refused:
            reply["error"] = str(refused)
        except KeyboardInterrupt:
            reply["error"] = "interrupted"
        finally:
            self.send(reply)

    def close(self) -> None:
        """Remove the board, and free what its players hold."""
        self._table.close()
        super().close()

    def __repr__(self) -> str:
        plies = self._table.position(PositionRequest(self.moves))["ply"]
        return f"<board of {self._table.game.name}, ply {plies}>"

    def _ipython_display_(self, **kwargs: JSON) -> None:
        """Show the widget, and after it the picture, which the widget hides where it runs.

        In the same output as the widget, the picture would never be shown: converters to HTML
        choose the widget, which is blank there.
        """
        shown = super()._repr_mimebundle_(**kwargs)
        if shown is not None:
            data, about = shown
            display({**data, "text/plain": repr(self)}, metadata=about, raw=True)
        image = base64.b64encode(self.still.encode()).decode()
        words = html.escape(repr(self))
        picture = f'<img class="{self.mark}" alt="{words}" src="data:image/svg+xml;base64,{image}">'
        display({"text/html": picture, "image/svg+xml": self.still}, raw=True)
