"""TD, SARSA and Q-learning with the same n-tuples on Nim, ConnectFour and Hex.

    python -m experiments.td_sarsa.larger_games --games nim hex connectfour    # trains
    python -m experiments.td_sarsa.larger_games --pace    # sizes and paces, into paces.json
    python -m experiments.td_sarsa.larger_games --show    # the tables, from the kept files

First every learner is trained with four multiples of the preset's step size, on seeds that are used
for nothing else, with Final Adaptation. The multiple with the highest mean score is then trained on
the judged seeds, with Final Adaptation and without. All other settings are those of the preset.
"""

import dataclasses
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.archive import read_rows
from experiments.shared import (
    WRITTEN_WITH,
    FinishedRun,
    Record,
    archived_runs,
    make_rows_parser,
    written_with,
)
from jaxgbg import preset, sweep
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.lane_results import Source
from jaxgbg.results.rows import Row, group, source_of
from jaxgbg.results.statistics import paired_difference
from jaxgbg.runs import Run
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.loop import Training
from jaxgbg.runs.memory import lane_memory
from jaxgbg.runs.storage.files import write_json
from jaxgbg.sweeps.spec import units
from jaxgbg.types import JSON

HERE = Path(__file__).parent
LEARNERS = ("td", "sarsa", "q")
MULTIPLES = (0.25, 0.5, 1.0, 2.0)
"""Of the preset's step sizes, the first and the last one."""
PACES = "paces.json"
PACE_SECONDS = 3.0
FIRST_OF_CHOICE = 100
"""The first seed of the trainings that choose a step size; judged seeds are below."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A game, its budgets and its opponents; the step size is chosen by the first one.

    `choice` has the episodes and the number of seeds that choose the step size, `judged` those of
    the agents that are judged. `changes` are further settings of all runs. A run has `chunk` seeds.
    """

    game: str
    opponents: tuple[str, ...]
    choice: tuple[int, int]
    judged: tuple[int, int]
    evaluations: int = 20
    changes: Mapping[str, JSON] = dataclasses.field(default_factory=dict)
    chunk: int = 10

    def choosing(self) -> dict[str, JSON]:
        """The sweep of all step sizes."""
        every = itertools.product(LEARNERS, MULTIPLES)
        return self.sweep(self.choice, FIRST_OF_CHOICE, every, variants=["farl"])

    def judging(self, choice: Iterable[FinishedRun]) -> dict[str, JSON]:
        """The sweep of the judged agents, with the step sizes that these runs choose."""
        return self.sweep(self.judged, 0, chosen_steps(choice, self).items())

    def sweep(
        self, budget: tuple[int, int], first: int, steps: Iterable[tuple[str, float]], **more: JSON
    ) -> dict[str, JSON]:
        """The sweep of these learners and multiples of the step size."""
        episodes, seeds = budget
        schedule = preset(self.game).schedule
        axes: list[JSON] = []
        for learner, multiple in steps:
            ends: dict[str, JSON] = {"learner": [learner], "alpha": [multiple * schedule.alpha]}
            if schedule.alpha_end is not None:
                ends["alpha_end"] = [multiple * schedule.alpha_end]
            axes.append(ends)
        settings = {
            "episodes": episodes,
            "eval_every": max(1, episodes // self.evaluations),
            "opponents": list(self.opponents),
            **self.changes,
            **more,
        }
        seed_list: list[JSON] = [*range(first, first + seeds)]
        fields: dict[str, JSON] = {"game": self.game, "seeds": seed_list, "chunk": self.chunk}
        return fields | {"memory_gb": 5, "settings": settings, "axes": axes}


SETTINGS = {
    "nim": Setting("nim", ("maxn",), (20_000, 3), (20_000, 10)),
    "hex": Setting(
        "hex",
        ("mcts-1000", "mcts-100"),
        choice=(20_000, 3),
        judged=(50_000, 10),
        evaluations=1,
        changes={"game.size": 4},
    ),
    # A lane of SARSA takes a gigabyte.
    "connectfour": Setting(
        "connectfour",
        ("solver", "ab"),
        choice=(20_000, 2),
        judged=(100_000, 4),
        evaluations=5,
        changes={"walks": [70, 8]},
        chunk=2,
    ),
}


def chosen_steps(runs: Iterable[FinishedRun], setting: Setting) -> dict[str, float]:
    """The multiple of the step size with the highest mean score, for each learner."""
    best: dict[str, tuple[float, float]] = {}
    for row in rows_of(runs, setting.opponents[0]):
        multiple = multiple_of(row.settings["alpha"], setting)
        learner = str(row.settings["learner"])
        best[learner] = max(best.get(learner, (-1.0, 0.0)), (row.mean, multiple))
    return {learner: multiple for learner, (_, multiple) in best.items()}


def multiple_of(alpha: object, setting: Setting) -> float:
    """A step size as a multiple of the preset's."""
    assert isinstance(alpha, float)
    return alpha / preset(setting.game).schedule.alpha


def rows_of(runs: Iterable[FinishedRun], opponent: str) -> list[Row]:
    """A row for each learner, step size and variant against an opponent."""
    sources: list[Source] = [source_of(each.run, each.results()) for each in runs]
    rows = group(sources, ("learner", "alpha", "variant")).rows
    return [row for row in rows if row.opponent == opponent]


class Runs(NamedTuple):
    """The runs of a game: those that choose the step size, and those that are judged."""

    choice: list[FinishedRun]
    judged: list[FinishedRun]


def runs_of(runs: Iterable[FinishedRun], game: str) -> Runs:
    own = [each for each in runs if each.run.game.name == game]
    first = [each for each in own if each.run.seeds[0] >= FIRST_OF_CHOICE]
    return Runs(first, [each for each in own if each.run.seeds[0] < FIRST_OF_CHOICE])


def train(setting: Setting, out: Path) -> None:
    """Choose the step sizes, and train the judged agents; what is done is not trained again."""
    choice = sweep(setting.choosing(), out / f"{setting.game}-choice").runs
    sweep(setting.judging(choice), out / setting.game)


def step_table(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """By learner: the mean score with each multiple of the step size."""
    yield f"| game | learner | n | {' | '.join(f'{m:g} x' for m in MULTIPLES)} |"
    yield "|---" * (3 + len(MULTIPLES)) + "|"
    for game, setting in SETTINGS.items():
        found = rows_of(runs_of(runs, game).choice, setting.opponents[0])
        for learner in LEARNERS:
            own = {
                multiple_of(row.settings["alpha"], setting): row
                for row in found
                if row.settings["learner"] == learner
            }
            if own:
                cells = [f"{own[m].mean:.1f}" for m in MULTIPLES]
                yield f"| {' | '.join([game, learner, str(own[1.0].n), *cells])} |"


def score_table(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """By learner: the scores, what Final Adaptation brings, and the differences to TD."""
    yield (
        "| game | against | learner | step | n | with FARL | without | FARL brings"
        " | minus TD, with FARL | minus TD, without |"
    )
    yield "|---" * 10 + "|"
    for game, setting in SETTINGS.items():
        judged = runs_of(runs, game).judged
        for opponent in setting.opponents:
            found = {
                (str(row.settings["learner"]), row.variant): row
                for row in rows_of(judged, opponent)
            }
            for learner in LEARNERS if found else ():
                both = [found[learner, variant] for variant in ("farl", "none")]
                step = multiple_of(both[0].settings["alpha"], setting)
                cells = [game, opponent, learner, f"{step:g} x", str(both[0].n)]
                cells += [f"{row.mean:.1f} ± {row.sem:.1f}" for row in both]
                cells.append(difference(*both))
                behind = [difference(row, found["td", row.variant]) for row in both]
                cells += behind if learner != "td" else ["", ""]
                yield f"| {' | '.join(cells)} |"


def difference(row: Row, other: Row) -> str:
    """The difference of two rows, paired by seed, with its 95% interval."""
    own, others = (dict(enumerate(each.per_seed)) for each in (row, other))
    games = min(row.games(), other.games())
    found = paired_difference(own, others, row.scale.span, games)
    assert found is not None
    mean, low, high = found
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"


def size_table(runs: Sequence[FinishedRun], paces: Sequence[Record]) -> Iterator[str]:
    """By learner: weights, memory in training, moves in a CPU second, active weights, plies."""
    yield (
        "| game | learner | weights | memory of an agent | moves a CPU second"
        " | active, FARL | none | plies, FARL | none |"
    )
    yield "|---" * 9 + "|"
    for one in paces:
        cells = [f"{one['weights']:,}", f"{one['bytes'] / 1e6:,.2f} MB", f"{one['moves_per_s']:,}"]
        judged = [
            each
            for each in runs_of(runs, one["game"]).judged
            if kind_of(each.run) == one["learner"]
        ]
        yield f"| {' | '.join([one['game'], one['learner'], *cells, *active(judged)])} |"


def kind_of(run: Run) -> str:
    return type(run.learner).kind


def active(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """Active weights and plies of an episode, with FARL and without, over the agents of runs."""
    agents = [agent for each in runs for agent in each.summary()["agents"]]
    for text, figure in (
        ("{:,.0f}", lambda episodes, moves, weights, active: active),
        ("{:.1f}", lambda episodes, moves, weights, active: moves / episodes),
    ):
        for variant in ("farl", "none"):
            values = [figure(*counts) for _, name, *counts in agents if name == variant]
            yield text.format(sum(values) / len(values)) if values else ""


def pace(setting: Setting, learner: str) -> Record:
    """The size of an agent in training, and the moves that it makes in a CPU second.

    One agent with Final Adaptation, at the start of its training.
    """
    fields = setting.sweep((10**8, 1), 0, [(learner, 1.0)], variants=["farl"], opponents=[])
    ((run,),) = (unit.runs for unit in units(fields))
    training = Training(run)
    training.advance(training.episodes)
    moves, start = training.progress().moves, time.process_time()
    while (spent := time.process_time() - start) < PACE_SECONDS:
        training.advance(training.episodes)
    return {
        "game": setting.game,
        "learner": learner,
        "weights": run.make_learner().value.num_weights,
        "bytes": lane_memory(run),
        "moves_per_s": round((training.progress().moves - moves) / spent),
        WRITTEN_WITH: written_with(),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_rows_parser(__file__, __doc__, [*SETTINGS], "--games")
    parser.add_argument("--pace", action="store_true", help="only measure sizes and paces")
    options = parser.parse_args(arguments)
    if options.show:
        show(options.results)
        return
    prepare_jax()
    chosen = [SETTINGS[game] for game in options.games]
    if options.pace:
        rows = [pace(setting, learner) for setting in chosen for learner in LEARNERS]
        write_json(options.results / PACES, rows)
        return
    for setting in chosen:
        train(setting, options.out)


def show(folder: Path) -> None:
    """Print the tables of the kept runs and paces."""
    runs, paces = archived_runs(folder), read_rows(folder / PACES)
    for table in (score_table(runs), size_table(runs, paces), step_table(runs)):
        print("\n".join(table), end="\n\n")


if __name__ == "__main__":
    end_in_a_line(main)
