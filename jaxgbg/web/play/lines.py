"""A game as text: its moves, and the outcomes of chance.

Moves are action numbers separated by commas, as in `3,2,4`. In games of chance, a point follows,
and the number of the outcome or the random words that drew it: `0.17,2.3`. The words of a random
start position come before a slash: `2881-77/0.17,2.3`.
"""

import re
from typing import NamedTuple

from jaxgbg.specs import shown

_MOST = 2**32
_WORDS = r"\d{1,10}(?:-\d{1,10})*"
_PLY = rf"\d{{1,10}}(?:\.{_WORDS})?"
PATTERN = rf"(?:{_WORDS}/)?(?:{_PLY}(?:,{_PLY})*)?"
_TEXT = re.compile(PATTERN, re.ASCII)


class Line(NamedTuple):
    """A parsed game.

    `start` are the random words of the start position; each of `plies` is an action, followed by
    the outcome of chance.
    """

    start: tuple[int, ...] = ()
    plies: tuple[tuple[int, ...], ...] = ()

    @property
    def text(self) -> str:
        start = "-".join(map(str, self.start)) + "/" if self.start else ""
        return start + ",".join(map(_ply, self.plies))


def read_line(text: str, most: int = _MOST) -> Line:
    """Parse `Line.text`, ignoring blanks; raises ValueError, also for more than `most` plies."""
    text = "".join(text.split())
    if text.count(",") >= most:
        raise ValueError(f"a game lasts {most:,} plies at most, not {text.count(',') + 1:,}")
    if not _TEXT.fullmatch(text):
        raise ValueError(f"not a list of moves such as 3,2,4: {shown(text)}")
    start, _, plies = text.rpartition("/")
    numbers = [
        tuple(map(int, words.split("-"))) if words else ()
        for words in (start, *plies.replace(".", "-").split(","))
    ]
    largest = max(max(each, default=0) for each in numbers)
    if largest >= _MOST:
        raise ValueError(f"{largest} is too large: a word of chance has 32 bits")
    return Line(numbers[0], tuple(numbers[1:]) if plies else ())


def _ply(ply: tuple[int, ...]) -> str:
    action, *chance = ply
    return f"{action}.{'-'.join(map(str, chance))}" if chance else str(action)
