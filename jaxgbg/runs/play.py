"""Options for the moves of trained agents."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jaxgbg.search import LookAheadSpec, SearchSpec, parse_for_agent, search_kinds
from jaxgbg.search.lookahead import PLIES, WIDTH, Reply
from jaxgbg.spec_text import fields_of_text
from jaxgbg.specs import Spec, setting

if TYPE_CHECKING:
    from jaxgbg.players import GreedyAgent, Player


@dataclasses.dataclass(frozen=True)
class Play(Spec):
    """Options for an agent's choice of moves when it does not learn; greedy by default.

    Attributes:
      look_ahead: Plies that agents look ahead when they are evaluated; 1 is no search.
      width: Moves to follow at each ply before the last: one number, or one for each; all if empty.
      reply: The other players maximize their own V (own) or minimize the agent's (value).
      ranks: Relative weights of the best, second best ... move, scaled to sum to 1,
        as .6 .3 .1; not given: always the best.
      search: Search before each move, as NAME-N,key=value:
    """

    look_ahead: int = setting(1, **PLIES)
    width: tuple[int, ...] = setting((), **WIDTH)
    reply: Reply = "own"
    ranks: tuple[float, ...] = setting((), high=1_000_000, most=100, short="play_ranks")
    search: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.search and self.changed().keys() != {"search"}:
            raise ValueError("search looks ahead by itself: leave out look_ahead and ranks")
        self.spec()

    def spec(self) -> SearchSpec | None:
        """The search that it plays by; None where it is greedy."""
        if self.search:
            return parse_for_agent(self.search)
        if not self.changed():
            return None
        return LookAheadSpec(self.look_ahead, self.width, self.reply, self.ranks)

    def player(self, agent: GreedyAgent) -> Player:
        """`agent` playing this way; raises ValueError where it cannot."""
        from jaxgbg.players import search_player

        spec = self.spec()
        return agent if spec is None else search_player(spec, agent.game, agent)

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Play:
        """Parse texts such as look-ahead=3, width=3,1 or search=puct-200."""
        return cls(**fields_of_text(cls, entries))

    @classmethod
    def help(cls) -> dict[str, str]:
        texts = super().help()
        if "search" in texts:
            forms = "; ".join(spec.usage() for spec in search_kinds(with_agent=True).values())
            texts["search"] += f" {forms}."
        return texts
