"""How a trained agent chooses its moves."""

import dataclasses

from jaxgbg.players import GreedyAgent, LookAheadAgent
from jaxgbg.search.lookahead import PLIES, WIDTH, Reply
from jaxgbg.specs import Spec, setting


@dataclasses.dataclass(frozen=True)
class Play(Spec):
    """How an agent chooses its moves, when it does not learn; by itself it is greedy.

    Attributes:
      look_ahead: Plies that agents look ahead in games that judge them; 1 is their own choice.
      width: Moves that each ply but the last goes on from: a number, or one a ply; all if empty.
      reply: What the others aim at in it: own (their own V) or value (the agent's lowest V).
      ranks: Probabilities of the best, second best ... move, as .6 .3 .1; the best if empty.
    """

    look_ahead: int = setting(1, **PLIES)
    width: tuple[int, ...] = setting((), **WIDTH)
    reply: Reply = "own"
    ranks: tuple[float, ...] = setting((), high=1_000_000, most=100, short="play_ranks")

    def player(self, agent: GreedyAgent) -> GreedyAgent | LookAheadAgent:
        """`agent` playing this way; raises ValueError where it cannot."""
        if self == Play():
            return agent
        return LookAheadAgent(agent, self.look_ahead, self.width, self.reply, self.ranks)
