"""The settings of n-tuples, and which kind of them fits a game."""

import dataclasses

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.specs import setting
from jaxgbg.types import SettingValue
from jaxgbg.values.core import ValueSpec
from jaxgbg.values.layouts import (
    MOST_TUPLES,
    Layout,
    check_layout,
    default_layout,
    line_walk,
    random_walk,
)
from jaxgbg.values.ntuple import NTuple
from jaxgbg.values.ntuple_moves import FollowingNTuple, StoneNTuple
from jaxgbg.values.ntuple_stages import StagedNTuple
from jaxgbg.values.one_table import OneTable, OneTableOfStones

MOST_IMAGES = 1_000
"""A board has no more symmetric images than this."""


@dataclasses.dataclass(frozen=True)
class NTupleSpec(ValueSpec):
    """n-tuple tables (Konen & Bagheri 2021, appendix A.3) with temporal coherence (appendix A.5).

    A `layout` takes precedence over `walks`; without both, see `default_layout`.

    Attributes:
      layout: The n-tuples, each a list of cell numbers, for all seeds.
      walks: Number and length of the random walks that every seed draws for itself.
      from_lines: Whether those walks begin with the cells of a winning line, all lines in turn.
      symmetries: Whether a value is learned and looked up for all symmetric images of a board.
      images: These images, as `Game.symmetries` has them, instead of the game's own, such as those
        that simulation has found; for values of afterstates alone.
      sigmoid: Whether a value is the tanh of the sum of its weights.
      tcl: Temporal coherence learning (TCL), step sizes by |N| / A (id) or its exponential (exp).
      beta: Steepness of TCL-EXP.
      combine: How updates of one weight in one tick are combined.
      initial_value: The value of every board before learning, in the unit of rewards. Above the
        values that play reaches it makes the agent explore (optimistic initialization, Guei et al.
        2021); all weights then count as active.
      stages: The values of the game's progress at which the next stage begins, each with tables of
        its own. Progress is the number of pieces, in 2048 the exponent of the largest tile.
      one_table: Whether players share tables: each looks up the image of the board on which it is
        the first player (`Game.seat_rotations`).
    """

    layout: Layout = setting((), most=MOST_TUPLES)
    walks: tuple[int, int] = setting((0, 0), low=0, high=MOST_TUPLES)
    from_lines: bool = False
    symmetries: bool = True
    images: Layout = setting((), most=MOST_IMAGES)
    sigmoid: bool = True
    tcl: str = setting("none", choices=("none", "id", "exp"))
    beta: float = setting(2.7, above=0, high=1_000_000)
    combine: str = setting("saturating", choices=("sum", "mean", "saturating"))
    initial_value: float = setting(0.0, low=-1_000_000, high=1_000_000)
    stages: tuple[int, ...] = setting((), low=1, high=1_000_000, most=16)
    one_table: bool = False

    kind = "ntuple"
    lane_numbers = ("beta",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sigmoid and abs(self.initial_value) >= 1:
            raise ValueError(
                f"initial_value must lie in (-1, 1) with a sigmoid, not {self.initial_value}"
            )
        if list(self.stages) != sorted(set(self.stages)):
            raise ValueError(f"stages must increase, not {', '.join(map(str, self.stages))}")
        if self.stages and self.one_table:
            raise ValueError("choose stages or one_table, not both")

    def layout_of(self, game: Game, seed: int) -> Layout:
        """The n-tuples of one seed; raises ValueError where they do not fit the game."""
        if self.from_lines and not self._varied:
            raise ValueError(
                "from_lines is for walks: choose these, number and length, instead of a layout"
            )
        if self.layout:
            return check_layout(game, self.layout, "layout")
        if any(self.walks):
            draw = line_walk if self.from_lines else random_walk
            return draw(game, *self.walks, seed=seed)
        return default_layout(game)

    def for_seed(self, game: Game, seed: int) -> "NTupleSpec":
        return dataclasses.replace(
            self, layout=self.layout_of(game, seed), walks=(0, 0), from_lines=False
        )

    def drawn(self, game: Game, seed: int) -> np.ndarray:
        """int32[m, L]: the walks of `seed`, if every seed draws its own."""
        if not self._varied:
            return super().drawn(game, seed)
        return np.array(self.layout_of(game, seed), np.int32)

    @property
    def _varied(self) -> bool:
        return not self.layout and any(self.walks)

    def owners(self, game: Game) -> list[int]:
        """The players with tables of their own; raises ValueError for a game without rotations."""
        if not self.one_table:
            return list(range(game.num_players))
        if game.seat_rotations is None:
            raise ValueError(
                f"{game.name}: one_table needs a game whose board can be seen from another seat"
                " (seat_rotations), which this one does not have; leave one_table out"
            )
        return game.seat_rotations.owners

    def build(self, game: Game, of_actions: bool, batch: int) -> NTuple | OneTable:
        owners = self.owners(game)
        tuples, digits = self.layout_of(game, 0), game.num_cell_values
        # Indices are summed in float32 by a matrix product, exact below 2**24.
        longest = max(len(cells) for cells in tuples)
        if digits**longest > 2**24:
            raise ValueError(
                f"{digits}**{longest} weights a tuple: tuples are too long; choose walks, their"
                " number and length, of fewer cells"
            )
        if len({len(cells) for cells in tuples}) > 1 and game.stone_digits:
            raise ValueError(f"{game.name}: all tuples must have one length")
        images, action_images = game.symmetries, game.action_symmetries if of_actions else None
        if self.images:
            images = self._images_for(game, of_actions)
        if not self.symmetries:
            images = np.arange(game.num_cells)[None]
            action_images = np.arange(game.num_actions)[None] if of_actions else None
        fields: dict[str, SettingValue] = {
            "tuples": tuples,
            "symmetries": _rows(images),
            "num_cell_values": digits,
            "num_players": len(owners),
            "sigmoid": self.sigmoid,
            "tcl": self.tcl,
            # With one game at a time nothing is combined; "sum" then saves the scratch count.
            "combine": self.combine if batch > 1 else "sum",
            "varied": self._varied,
            "initial_value": self.initial_value,
            "action_images": None if action_images is None else _rows(action_images),
        }
        actions = game.num_actions if of_actions else 1
        rows = sum(digits ** len(cells) for cells in tuples) * len(owners) * actions
        rows *= len(self.stages) + 1
        if rows >= 2**31:
            raise ValueError(f"layout: {rows:,} weights; at most {2**31 - 1:,} have an index")
        if self.stages:
            return StagedNTuple(game=game, starts=self.stages, **fields)
        if game.stone_digits is not None:
            stones = tuple(game.stone_digits[player] for player in owners)
            tables = StoneNTuple(stone_digits=stones, **fields)
            return OneTableOfStones(tables=tables, game=game) if self.one_table else tables
        if self.one_table:
            return OneTable(tables=NTuple(**fields), game=game)
        if game.change_patterns is not None:
            patterns = zip(*map(_rows, game.change_patterns), strict=True)
            pairs = tuple(tuple(zip(*row, strict=True)) for row in patterns)
            return FollowingNTuple(patterns=pairs, **fields)
        return NTuple(**fields)

    def _images_for(self, game: Game, of_actions: bool) -> np.ndarray:
        """`images` as an array; raises ValueError if they do not fit the game or the learner."""
        if of_actions:
            raise ValueError("images are for values of afterstates: leave them out, or use td")
        cells = list(range(game.num_cells))
        if any(sorted(image) != cells for image in self.images) or list(self.images[0]) != cells:
            raise ValueError(
                f"images must be permutations of the {game.num_cells} cells of {game.name}, the"
                " identity first"
            )
        return np.array(self.images, np.int32)


def _rows(array: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """A matrix as a static field has it."""
    return tuple(tuple(int(number) for number in row) for row in array)
