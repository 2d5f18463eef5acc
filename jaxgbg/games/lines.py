"""A game as text: its moves, the outcomes of chance, and the position that it starts from.

Moves are action numbers separated by commas, as in `3,2,4`. In games of chance, a point follows,
and the number of the outcome or the random words that drew it: `0.17,2.3`. The words of a random
start position come before a slash: `2881-77/0.17,2.3`. A position that was set up comes before a
semicolon, in the notation of the game (`games.notations`): `XO./.X./... O;2,5`.
"""

import re
from typing import NamedTuple

from jaxgbg.specs import shown

_MOST = 2**32
_WORDS = r"\d{1,10}(?:-\d{1,10})*"
_PLY = rf"\d{{1,10}}(?:\.{_WORDS})?"
_PLIES = rf"(?:{_PLY}(?:,{_PLY})*)?"
_APART = re.compile(r"\d\s+\d")
_MOVES = re.compile(rf"(?:{_WORDS}/)?{_PLIES}", re.ASCII)


class Line(NamedTuple):
    """A parsed game.

    `start` are the random words of the start position, or the text of a position that was set up;
    each of `plies` is an action, followed by the outcome of chance.
    """

    start: tuple[int, ...] | str = ()
    plies: tuple[tuple[int, ...], ...] = ()

    @property
    def text(self) -> str:
        if isinstance(self.start, str):
            start = f"{self.start};"
        else:
            start = "-".join(map(str, self.start)) + "/" if self.start else ""
        return start + ",".join(map(_ply, self.plies))


def is_moves(text: str) -> bool:
    """Whether a text is a list of moves without a position before it.

    Blanks may follow a comma; numbers with blanks alone between them are a position.
    """
    return not _APART.search(text) and bool(_MOVES.fullmatch("".join(text.split())))


def read_line(text: str, most: int = _MOST) -> Line:
    """Parse `Line.text`, ignoring blanks; raises ValueError, also for more than `most` plies."""
    position, semicolon, moves = text.rpartition(";")
    text = "".join(moves.split())
    if text.count(",") >= most:
        raise ValueError(f"a game lasts {most:,} plies at most, not {text.count(',') + 1:,}")
    if not _MOVES.fullmatch(text) or (semicolon and "/" in text):
        raise ValueError(f"not a list of moves such as 3,2,4: {shown(text)}")
    start, _, plies = text.rpartition("/")
    numbers = [
        tuple(map(int, words.split("-"))) if words else ()
        for words in (start, *plies.replace(".", "-").split(","))
    ]
    largest = max(max(each, default=0) for each in numbers)
    if largest >= _MOST:
        raise ValueError(f"{largest} is too large: a word of chance has 32 bits")
    begun = " ".join(position.strip().replace("\n", "/").split()) if semicolon else numbers[0]
    return Line(begun, tuple(numbers[1:]) if plies else ())


def _ply(ply: tuple[int, ...]) -> str:
    action, *chance = ply
    return f"{action}.{'-'.join(map(str, chance))}" if chance else str(action)
