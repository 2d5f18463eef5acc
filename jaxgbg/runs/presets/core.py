"""What a preset is: the settings of a run without its game."""

import dataclasses

from jaxgbg.games import Game
from jaxgbg.learners import LearnerSpec, Schedule, TDSpec
from jaxgbg.runs.play import Play
from jaxgbg.runs.run import Evaluation, Run
from jaxgbg.runs.settings import compose
from jaxgbg.types import SettingValue
from jaxgbg.values import Layout, NTupleSpec, ValueSpec


@dataclasses.dataclass(frozen=True)
class Preset:
    """The parts of a `Run` that a paper publishes, or we choose, for a game on boards of any size.

    A preset is no `Run` yet: its n-tuples may be too large for a board on which a user draws
    others. `run` checks the whole.

    Attributes:
      source: The paper, as `jaxgbg show` names it; empty for our own settings.
    """

    source: str = ""
    value: ValueSpec = NTupleSpec()
    learner: LearnerSpec = TDSpec()
    schedule: Schedule = Schedule()
    evaluation: Evaluation = Evaluation()
    play: Play = Play()
    variants: tuple[str, ...] = ("farl", "none")

    def run(self, game: Game, **changes: SettingValue) -> Run:
        """The run of `game` with these settings, but for `changes` by the short forms of settings.

        Raises ValueError for an unknown setting, and for settings that do not fit together.
        """
        parts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del parts["source"]
        return compose(game, parts, changes)

    def with_layout(self, layout: Layout) -> "Preset":
        """These settings, on these n-tuples."""
        assert isinstance(self.value, NTupleSpec)
        return dataclasses.replace(self, value=dataclasses.replace(self.value, layout=layout))

    def with_budget(self, other: "Preset") -> "Preset":
        """These settings with the budget, openings and evaluations of another preset.

        If those are our own, so is the whole.
        """
        schedule = dataclasses.replace(
            self.schedule,
            episodes=other.schedule.episodes,
            opening_plies=other.schedule.opening_plies,
            opening_share=other.schedule.opening_share,
        )
        source = self.source if other.source else ""
        evaluation = other.evaluation
        return dataclasses.replace(self, source=source, schedule=schedule, evaluation=evaluation)
