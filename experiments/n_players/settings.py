"""The games of the study, each for several numbers of players, with our own defaults otherwise."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from jaxgbg import Game, Run, make, preset

VARIANTS = ("farl", "part1", "none")
SEEDS = 10


@dataclasses.dataclass(frozen=True)
class Setting:
    """One game for one number of players: its family, its parameters, and episodes a seed.

    Matches begin `opening` random plies after the start.
    """

    family: str
    players: int
    parameters: Mapping[str, Any]
    episodes: int
    opening: int = 2

    @property
    def name(self) -> str:
        """The name by which `jaxgbg.make` knows the game."""
        return self.family.partition(" ")[0]

    @property
    def label(self) -> str:
        return f"{self.family}, {self.players} players"

    @property
    def game(self) -> Game:
        return make(self.name, players=self.players, **self.parameters)

    def run(self, scale: float = 1.0, seeds: int = SEEDS) -> Run:
        """FARL, its first part alone, and none, side by side; evaluated at the end alone."""
        episodes = max(1, round(scale * self.episodes))
        return preset(
            self.game,
            episodes=episodes,
            eval_every=episodes,
            seeds=range(seeds),
            variants=VARIANTS,
            opponents=("random",),
        )


SETTINGS = (
    *(Setting("nim", n, {}, 50_000) for n in (2, 3, 4, 5, 6)),
    *(Setting("sim K5", n, {"nodes": 5}, 100_000) for n in (2, 3)),
    *(Setting("sim K6", n, {"nodes": 6}, 100_000) for n in (2, 3)),
    *(Setting("yavalath side 3", n, {"size": 3}, 100_000) for n in (2, 3)),
    *(Setting("pig to 15", n, {"target": 15}, 50_000, 0) for n in (2, 3, 4)),
    Setting("ewn 4x4", 2, {"size": 4}, 100_000, 0),
    Setting("ewn 4x4", 4, {"size": 4}, 100_000, 0),
    Setting("ewn 6x6, three stones", 2, {"size": 6, "stones": 3}, 50_000, 0),
    Setting("ewn 6x6, three stones", 3, {"size": 6, "stones": 3}, 50_000, 0),
    Setting("ewn 6x6, three stones", 4, {"size": 6, "stones": 3}, 50_000, 0),
)
