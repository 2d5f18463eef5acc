"""The settings of TD learning: update by update, or round by round."""

import dataclasses

from jaxgbg.games.core import Game
from jaxgbg.learners.gathering import GatheringLearner
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.spec import LearnerSpec
from jaxgbg.learners.td import TDLearner
from jaxgbg.specs import setting
from jaxgbg.values.core import ValueSpec

# What the boards of a round may take.
_MOST_BYTES = 2**28


@dataclasses.dataclass(frozen=True)
class TDSpec(LearnerSpec):
    """TD(lambda) with Final Adaptation on afterstates (Konen & Bagheri 2021, Algorithms 2, 6).

    Attributes:
      round_games: Games played with fixed values before all their moves are learned, in random
        order; 0 learns move by move.
      passes: How often the moves of a round are learned.
      minibatch: Moves of a round that are learned in one step.
    """

    round_games: int = setting(0, low=0, high=2**20)
    passes: int = setting(1, low=1, high=1000)
    minibatch: int = setting(1, low=1, high=2**20)

    kind = "td"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.round_games and (self.passes, self.minibatch) != (1, 1):
            raise ValueError("passes and minibatch are for round_games of 1 or more")
        if self.round_games and (self.parameter_traces or self.horizon > 1):
            raise ValueError("moves learned by rounds have no traces: set trace_decay 0")

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> TDLearner:
        parts = self._parts(game, value, schedule)
        if not self.round_games:
            return TDLearner(**parts)
        made = GatheringLearner(
            **parts, round_games=self.round_games, passes=self.passes, minibatch=self.minibatch
        )
        needed = made.capacity * made.board.size * made.board.dtype.itemsize
        if needed > _MOST_BYTES:
            raise ValueError(
                f"round_games {self.round_games} of {game.name}, at most {game.max_plies:,} plies"
                f" each, need {needed / 1e6:,.0f} MB; at most {_MOST_BYTES / 1e6:,.0f} MB are kept"
            )
        return made
