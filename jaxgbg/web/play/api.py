"""Pass requests to the table, over any transport, and describe errors."""

from jaxgbg.contents import reason
from jaxgbg.players import EngineError, MissingExtra
from jaxgbg.specs import shown
from jaxgbg.types import JSON
from jaxgbg.web.play.table import Table

_MEMORY = "RESOURCE_EXHAUSTED"


class Refused(Exception):
    """A refused request: an HTTP status and one line."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status


def answered(table: Table, name: str, question: JSON) -> dict[str, JSON]:
    """The table's answer to a request as JSON; raises Refused."""
    if name not in table.answers:
        raise Refused(404, f"there is no request {name[:80]!r} here")
    if not isinstance(question, dict):
        raise Refused(400, f"a request must be a JSON object, not {shown(question)}")
    kind, answer = table.answers[name]
    try:
        return answer(kind.read(question))
    except (ValueError, EngineError, MissingExtra) as error:
        raise Refused(400, reason(error)) from error
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and _MEMORY not in str(error):
            raise
        raise Refused(503, "out of memory: ask for less") from error
