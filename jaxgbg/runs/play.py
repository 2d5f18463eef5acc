"""How a trained agent chooses its moves."""

import dataclasses

from jaxgbg.players import GreedyAgent, LookAheadAgent, SearchAgent
from jaxgbg.search.lookahead import PLIES, WIDTH, Reply
from jaxgbg.search.puct_spec import PUCTSpec
from jaxgbg.specs import Spec, setting


@dataclasses.dataclass(frozen=True)
class Play(Spec):
    """How an agent chooses its moves, when it does not learn; by itself it is greedy.

    Attributes:
      look_ahead: Plies that agents look ahead in games that judge them; 1 is their own choice.
      width: Moves that each ply but the last goes on from: a number, or one a ply; all if empty.
      reply: What the others aim at in it: own (their own V) or value (the agent's lowest V).
      ranks: Probabilities of the best, second best ... move, as .6 .3 .1; the best if empty.
      search: Tree search by the agent's own values, as puct-200 for 200 iterations a move, with
        exploration=1, temperature=1, unvisited=0, width=8, megabytes=1536, solver=0, leaves=1,
        reuse=0 after commas.
    """

    look_ahead: int = setting(1, **PLIES)
    width: tuple[int, ...] = setting((), **WIDTH)
    reply: Reply = "own"
    ranks: tuple[float, ...] = setting((), high=1_000_000, most=100, short="play_ranks")
    search: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.search:
            PUCTSpec.parse(self.search)
            if dataclasses.replace(self, search="") != Play():
                raise ValueError("search looks ahead by itself: leave out look_ahead and ranks")

    def player(self, agent: GreedyAgent) -> GreedyAgent | LookAheadAgent | SearchAgent:
        """`agent` playing this way; raises ValueError where it cannot."""
        if self == Play():
            return agent
        if self.search:
            return SearchAgent(agent, PUCTSpec.parse(self.search))
        return LookAheadAgent(agent, self.look_ahead, self.width, self.reply, self.ranks)
