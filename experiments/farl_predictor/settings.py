"""The games of this experiment, and how each is trained and opened."""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from experiments.shared import older_layout
from jaxgbg import Game, Run, RunFolder, make, preset, with_changes
from jaxgbg.runs.presets.table1 import table1_run

LAYOUT = older_layout("connectfour")


@dataclasses.dataclass(frozen=True)
class Setting:
    """One game: its label and its published preset with a budget of its own.

    `published` games are those of Table 1 with the runs made for it; their `episodes` and `seeds`
    are those of these runs. Matches begin `opening` random plies after the start. `changes` are
    other settings of the run. A game of `afterthought` was added when the gains were known, to
    explain them: it is measured, but neither predicted nor counted.
    """

    label: str
    game: Game
    episodes: int
    published: bool = False
    seeds: int = 5
    opening: int = 2
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    afterthought: bool = False

    def runs(self, scale: float, seeds: int | None) -> dict[str, Run]:
        """The run of each variant: FARL alone, then none alone; one run of both if published."""
        count = seeds or self.seeds
        if self.published:
            if self.game.name == "connectfour":
                # Shorter than the run of Table 1.
                both = preset(self.game, seeds=range(4), episodes=self.episodes, **LAYOUT)
            else:
                # This run of 2048 is shorter, and lies with those of the variants.
                share = 0.25 if self.game.name == "2048" else 1.0
                both = table1_run(self.game.name, self.seeds, share)
            if scale != 1 or seeds is not None:
                episodes = max(1, round(scale * both.schedule.episodes))
                shorter = {"episodes": episodes, "eval_every": episodes, "seeds": range(count)}
                both = with_changes(both, shorter)
            return {"farl": both, "none": both}
        episodes = max(1, round(scale * self.episodes))
        return {
            variant: preset(
                self.game,
                episodes=episodes,
                eval_every=episodes,
                seeds=range(count),
                opponents=("random",),
                variants=(variant,),
                **self.changes,
            )
            for variant in ("farl", "none")
        }


SETTINGS = (
    Setting("tictactoe", make("tictactoe"), 30_000, published=True, seeds=10),
    Setting("nim", make("nim"), 20_000, published=True, seeds=10),
    Setting("nim3p", make("nim3p"), 300_000, published=True, seeds=10),
    Setting("connectfour", make("connectfour"), 1_500_000, published=True, seeds=4),
    Setting("hex 6x6", make("hex"), 300_000, published=True, seeds=10),
    Setting("othello 8x8", make("othello"), 250_000, published=True, opening=4),
    Setting("2048", make("2048"), 50_000, published=True, seeds=2),
    Setting("nim misere", make("nim", rule="last_loses"), 20_000),
    Setting("nim, 3 players", make("nim", players=3), 20_000),
    Setting("nim, 4 players", make("nim", players=4), 20_000),
    Setting("nim misere, 4 players", make("nim", players=4, rule="last_loses"), 20_000),
    Setting("hex 3x3", make("hex", size=3), 30_000),
    Setting("hex 4x4", make("hex", size=4), 50_000),
    Setting("hex 3x3 misere", make("hex", size=3, misere=True), 30_000),
    Setting("hex 4x4 misere", make("hex", size=4, misere=True), 50_000),
    Setting("othello 4x4", make("othello", size=4), 20_000, opening=4),
    Setting("othello 6x6", make("othello", size=6), 15_000, opening=4),
    *(
        Setting(
            f"connectfour, {plies} plies",
            make("connectfour", draw_after=plies),
            60_000,
            changes=LAYOUT,
        )
        for plies in (12, 21)
    ),
    # Fewer cells a tuple: positions share more of their weights.
    Setting(
        "hex 3x3, 3-tuples",
        make("hex", size=3),
        30_000,
        changes={"walks": (25, 3)},
        afterthought=True,
    ),
    Setting(
        "hex 3x3 misere, 3-tuples",
        make("hex", size=3, misere=True),
        30_000,
        changes={"walks": (25, 3)},
        afterthought=True,
    ),
    Setting(
        "hex 3x3 misere, one 9-tuple",
        make("hex", size=3, misere=True),
        30_000,
        changes={"layout": (tuple(range(9)),)},
        afterthought=True,
    ),
    Setting(
        "nim misere, 2-tuples",
        make("nim", rule="last_loses"),
        20_000,
        changes={"layout": ((0, 1), (1, 2), (0, 2))},
        afterthought=True,
    ),
)


def folder_of(run: Run, out: Path, finished: Iterable[Path]) -> RunFolder:
    """The folder of a run that is finished in one of these places, else the one in `out`."""
    folders = (RunFolder(place, run) for place in (out, *finished))
    return next((folder for folder in folders if folder.finished), RunFolder(out, run))
