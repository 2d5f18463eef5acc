"""The evaluations of a stored run in packed form, as a folder may hold millions of them."""

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence

from jaxgbg.runs import Result
from jaxgbg.types import JSON

COLUMNS = ("line", *Result._fields)
"""The number of the line in metrics.jsonl, and the fields of `Result`."""
_OF_CURVES = ("episodes", "score")
_OTHERS = ("line", "games", "wins")
_LANE = ("opponent", "variant", "seed")
_WINS, _GAMES = (_OTHERS.index(name) - len(_OTHERS) for name in ("wins", "games"))


class Evaluations:
    """Evaluations, lane by lane, as two lines of JSON that are parsed on each access.

    The first line has the data of curves, the second everything else.
    """

    __slots__ = ("packed",)

    def __init__(self, packed: str) -> None:
        self.packed = packed

    @classmethod
    def pack(cls, columns: Sequence[Sequence[object]]) -> "Evaluations":
        """Pack `COLUMNS` of equal length, which may be empty."""
        named = dict(zip(COLUMNS, columns or ((),) * len(COLUMNS), strict=True))
        lanes: dict[tuple[object, ...], list[int]] = {}
        for at, lane in enumerate(zip(*(named[name] for name in _LANE), strict=True)):
            lanes.setdefault(lane, []).append(at)

        def text(names: Sequence[str]) -> str:
            kept = [
                [*lane, *([named[name][at] for at in places] for name in names)]
                for lane, places in lanes.items()
            ]
            return json.dumps(kept, separators=(",", ":"))

        return cls(f"{text(_OF_CURVES)}\n{text(_OTHERS)}")

    @classmethod
    def of(cls, results: Iterable[Result]) -> "Evaluations":
        """The evaluations of a run in memory."""
        made = list(results)
        return cls.pack([range(1, len(made) + 1), *zip(*made, strict=True)] if made else [])

    def lanes(self) -> Iterator[tuple[str, str, int, list[int], list[float]]]:
        """(opponent, variant, seed, episodes, scores) of each lane, in the order of the lines."""
        return iter(json.loads(self.packed.partition("\n")[0]))

    def wins(self) -> Iterator[tuple[str, str, int, list[int], list[float]]]:
        """Like `lanes`, with shares of games won; evaluations without them are skipped."""
        others = json.loads(self.packed.partition("\n")[2])
        for (*lane, episodes, _), other in zip(self.lanes(), others, strict=True):
            known = [(at, w) for at, w in zip(episodes, other[_WINS], strict=True) if w is not None]
            if known:
                yield (*lane, [at for at, _ in known], [w for _, w in known])  # type: ignore[misc]

    def fewest_games(self, opponent: str) -> int:
        """Games of the smallest evaluation against `opponent`; 0 if there is none."""
        others = json.loads(self.packed.partition("\n")[2])
        games = [other[_GAMES] for other in others if other[0] == opponent]
        return min(itertools.chain.from_iterable(games), default=0)

    def columns(self) -> list[list[JSON]]:
        """All of `COLUMNS`, in the order of the lines."""
        rows = []
        parts = map(json.loads, self.packed.split("\n"))
        for (opponent, variant, seed, *curve), (_, _, _, *others) in zip(*parts, strict=True):
            for episodes, score, line, games, wins in zip(*curve, *others, strict=True):
                rows.append((line, seed, variant, episodes, opponent, score, games, wins))
        rows.sort(key=lambda row: row[0])
        return (
            [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in COLUMNS]
        )

    def column(self, name: str) -> list[JSON]:
        """One of `COLUMNS`."""
        return self.columns()[COLUMNS.index(name)]

    def __bool__(self) -> bool:
        return any(True for _ in self.lanes())
