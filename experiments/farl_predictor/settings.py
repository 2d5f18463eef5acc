"""The games of this experiment, and how each is trained and opened."""

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from jaxgbg import preset
from jaxgbg.training import RunFolder
from jaxgbg.training.config import Config
from jaxgbg.papers.table1 import table1_config


@dataclasses.dataclass(frozen=True)
class Setting:
    """One game: its label, its published preset with `parameters` and its own budget.

    `published` games are those of Table 1 with the runs made for it; their `episodes` and `seeds`
    are those of these runs. Matches begin `opening` random plies after the start. `changes` are
    other fields of the config. A game of `afterthought` was added when the gains were known, to
    explain them: it is measured, but neither predicted nor counted.
    """

    label: str
    preset: str
    episodes: int
    parameters: tuple[tuple[str, object], ...] = ()
    published: bool = False
    seeds: int = 5
    opening: int = 2
    changes: tuple[tuple[str, object], ...] = ()
    afterthought: bool = False

    def configs(self, scale: float, seeds: int | None) -> dict[str, Config]:
        """The run of each variant: FARL alone, then none alone; one run of both if published."""
        count = seeds or self.seeds
        if self.published:
            if self.preset == "connectfour":
                # The run of experiments/farl_ablation.
                both = preset("connectfour", seeds=tuple(range(4)), episodes=self.episodes)
            else:
                # 2048 ran for a quarter of the published budget.
                share = 0.25 if self.preset == "2048" else 1.0
                both = table1_config(self.preset, self.seeds, share)
            if scale == 1 and seeds is None:
                return {"farl": both, "none": both}
            episodes = max(1, round(scale * both.episodes))
            both = dataclasses.replace(
                both, episodes=episodes, eval_every=episodes, seeds=tuple(range(count))
            )
            return {"farl": both, "none": both}
        episodes = max(1, round(scale * self.episodes))
        return {
            variant: preset(
                self.preset,
                game_parameters=self.parameters,
                episodes=episodes,
                eval_every=episodes,
                seeds=tuple(range(count)),
                opponents=("random",),
                farl=(variant,),
                **dict(self.changes),
            )
            for variant in ("farl", "none")
        }


SETTINGS = (
    Setting("tictactoe", "tictactoe", 30_000, published=True, seeds=10),
    Setting("nim", "nim", 20_000, published=True, seeds=10),
    Setting("nim3p", "nim3p", 300_000, published=True, seeds=10),
    Setting("connectfour", "connectfour", 1_500_000, published=True, seeds=4),
    Setting("hex 6x6", "hex", 300_000, published=True, seeds=10),
    Setting("othello 8x8", "othello", 250_000, published=True, opening=4),
    Setting("2048", "2048", 50_000, published=True, seeds=2),
    Setting("nim misere", "nim", 20_000, (("rule", "last_loses"),)),
    Setting("nim, 3 players", "nim", 20_000, (("players", 3),)),
    Setting("nim, 4 players", "nim", 20_000, (("players", 4),)),
    Setting("nim misere, 4 players", "nim", 20_000, (("players", 4), ("rule", "last_loses"))),
    Setting("hex 3x3", "hex", 30_000, (("size", 3),)),
    Setting("hex 4x4", "hex", 50_000, (("size", 4),)),
    Setting("hex 3x3 misere", "hex", 30_000, (("size", 3), ("misere", True))),
    Setting("hex 4x4 misere", "hex", 50_000, (("size", 4), ("misere", True))),
    Setting("othello 4x4", "othello", 20_000, (("size", 4),), opening=4),
    Setting("othello 6x6", "othello", 15_000, (("size", 6),), opening=4),
    Setting("connectfour, 12 plies", "connectfour", 60_000, (("draw_after", 12),)),
    Setting("connectfour, 21 plies", "connectfour", 60_000, (("draw_after", 21),)),
    # Fewer cells a tuple: positions share more of their weights.
    Setting(
        "hex 3x3, 3-tuples",
        "hex",
        30_000,
        (("size", 3),),
        changes=(("walks", (25, 3)),),
        afterthought=True,
    ),
    Setting(
        "hex 3x3 misere, 3-tuples",
        "hex",
        30_000,
        (("size", 3), ("misere", True)),
        changes=(("walks", (25, 3)),),
        afterthought=True,
    ),
    Setting(
        "hex 3x3 misere, one 9-tuple",
        "hex",
        30_000,
        (("size", 3), ("misere", True)),
        changes=(("tuples", (tuple(range(9)),)),),
        afterthought=True,
    ),
    Setting(
        "nim misere, 2-tuples",
        "nim",
        20_000,
        (("rule", "last_loses"),),
        changes=(("tuples", ((0, 1), (1, 2), (0, 2))),),
        afterthought=True,
    ),
)


def folder_of(config: Config, out: Path, finished: Iterable[Path]) -> RunFolder:
    """The folder of a run that is finished in one of these places, else the one in `out`."""
    for place in (out, *finished):
        folder = RunFolder(place, config)
        if folder.finished:
            return folder
    return RunFolder(out, config)
