"""The settings that all learners share, and how they build one."""

import dataclasses
from typing import ClassVar, TypedDict

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.learners.action_values import BootstrapRule
from jaxgbg.learners.openings import Lines, opening_lines
from jaxgbg.learners.policy import EpsilonGreedy
from jaxgbg.learners.schedules import Schedule
from jaxgbg.learners.selection import check_ranks
from jaxgbg.learners.tick import Learner
from jaxgbg.specs import Spec, setting
from jaxgbg.values.core import HasAuxiliary, HasGradients, ValueFunction, ValueSpec

# A longer eligibility list is a mistake: each update would change all of its states. The place in a
# delayed list is an int8.
_LONGEST_LIST = 128

RANDOM_TESTS = ("gbg", "current", "adapted", "letter")
"""What may be tested for a random move that is not learned from: see `TDSpec.random_test`.

The default is what GBG does, which is one thing for TD and another for SARSA and Q-learning.
"""

FARL_PARTS = {"farl": (True, True), "part1": (True, False), "none": (False, False)}
"""(final_others, final_zero) of each variant: parts 1 and 2 of Final Adaptation."""


class LearnerParts(TypedDict):
    """The fields of a `Learner` without its rule."""

    game: Game
    policy: EpsilonGreedy
    value: ValueFunction
    batch: int
    horizon: int
    opening_plies: int
    opening_share: float
    opening_lines: Lines
    delayed: bool
    parameter_traces: int
    one_explores: bool
    linear_alpha: bool
    learn_start: bool


@dataclasses.dataclass(frozen=True)
class LearnerSpec(Spec):
    """The settings of a learner (Konen & Bagheri 2021, Algorithms 2, 5 and 6).

    Attributes:
      trace_decay: Trace decay lambda of the eligibility traces; 0 updates only the last state.
      trace_cut: Eligibilities below this are dropped, which determines the horizon.
      reset_traces: Empty all traces after a random move that is not learned from.
      delayed_traces: Update a state once, when it leaves the traces; faster for long traces.
      parameter_traces: Eligibility over the parameters instead of over past states; networks only.
      shared_traces: One trace over the parameters for all players of a game, instead of one each.
      discount: Gamma, in the TD error and in the choice of moves.
      learn_from_random: Learn after random moves too.
      learn_from_partner: Also learn from the partner's moves.
      terminal_value_zero: Count a terminal afterstate as 0 when choosing a move.
      ranks: Relative weights of the best, second best ... move, scaled to sum to 1,
        for moves that are not random; not given: always the best.
      temperature: Choose moves that are not random in proportion to exp(q / temperature), with
        q = reward + gamma * V; the best if 0.
      one_explores: Only one player explores in each episode, the players in turn; the others make
        their best moves.
    """

    trace_decay: float = setting(0.0, low=0, below=1)
    trace_cut: float = setting(0.1, above=0, below=1)
    reset_traces: bool = False
    delayed_traces: bool = False
    parameter_traces: bool = False
    shared_traces: bool = False
    discount: float = setting(1.0, low=0, high=1)
    learn_from_random: bool = True
    learn_from_partner: bool = False
    terminal_value_zero: bool = setting(False, former="zero_terminal")
    ranks: tuple[float, ...] = setting((), high=1_000_000, most=100)
    temperature: float = setting(0.0, low=0, high=1_000_000)
    one_explores: bool = False

    kinds: ClassVar[dict[str, type[Spec]]] = {}
    # The settings in which lanes of one program may differ: traced, not compiled in. Fields of
    # `Hyperparameters`, or entries of its `rule`.
    lane_numbers: ClassVar[tuple[str, ...]] = (
        "trace_decay",
        "discount",
        "learn_from_random",
        "terminal_value_zero",
        "reset_traces",
        "learn_from_partner",
    )
    of_actions: ClassVar[bool] = False
    off_policy: ClassVar[bool] = False
    variants: ClassVar[tuple[str, ...]] = tuple(FARL_PARTS)
    # Whether the rule hands the auxiliary targets of a value function to its updates.
    learns_auxiliary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranks(self.ranks)
        if self.ranks and self.temperature:
            raise ValueError("choose ranks or a temperature, not both")
        if self.parameter_traces and self.delayed_traces:
            raise ValueError("choose parameter_traces or delayed_traces, not both")
        if self.shared_traces and not self.parameter_traces:
            raise ValueError("shared_traces are parameter_traces: set both")
        if self.horizon > _LONGEST_LIST and not self.parameter_traces:
            raise ValueError(
                f"trace_decay {self.trace_decay} with trace_cut {self.trace_cut} makes lists of"
                f" {self.horizon:,} states; at most {_LONGEST_LIST:,} are kept"
            )

    @property
    def bootstrap(self) -> BootstrapRule:
        """The bootstrap rule in the choice of moves, in training and by its agents."""
        return BootstrapRule(self.terminal_value_zero, self.discount)

    @property
    def horizon(self) -> int:
        """The length of an eligibility list, including the current state.

        1 + floor(ln cut / ln lambda), and 1 for lambda = 0.
        """
        if self.trace_decay == 0:
            return 1
        return 1 + int(np.floor(np.log(self.trace_cut) / np.log(self.trace_decay)))

    def build(self, game: Game, value: ValueSpec, schedule: Schedule) -> Learner:
        """Build the learner of `game`, static under jit; ValueError if the parts do not fit."""
        raise NotImplementedError

    def parts(self, game: Game, value: ValueSpec, schedule: Schedule) -> LearnerParts:
        """The fields of the `Learner` that `build` makes, except its rule.

        Raises ValueError if the parts do not fit.
        """
        built = value.build(game, self.of_actions, schedule.batch)
        if self.parameter_traces and not isinstance(built, HasGradients):
            raise ValueError(
                f"parameter_traces need gradients, and {value.kind} has eligibility lists"
            )
        if isinstance(built, HasAuxiliary):
            if not self.learns_auxiliary:
                raise ValueError(
                    f"{self.kind} learns no auxiliary outputs: choose extras_as inputs, or the"
                    " learner td"
                )
            if self.parameter_traces or self.horizon > 1:
                raise ValueError(
                    "extras as outputs are learned without traces: set trace_decay 0, or extras_as"
                    " inputs"
                )
        # One game at a time is exactly the serial algorithm.
        delayed = self.delayed_traces and schedule.batch > 1 and self.horizon > 1
        plies, traces = schedule.opening_plies, 1 if self.shared_traces else game.num_players
        return {
            "game": game,
            "policy": EpsilonGreedy(self.off_policy, self.ranks, self.temperature),
            "value": built,
            "batch": schedule.batch,
            "horizon": self.horizon,
            "opening_plies": plies,
            "opening_share": schedule.opening_share,
            "opening_lines": opening_lines(game, plies) if schedule.opening_cycle else (),
            "delayed": delayed,
            "parameter_traces": traces if self.parameter_traces else 0,
            "one_explores": self.one_explores,
            "linear_alpha": schedule.alpha_decay == "linear",
            "learn_start": True,
        }
