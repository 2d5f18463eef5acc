"""Counts of move sequences of games for N players, by an independent program in C++ or Python.

    python -m tests.games.known_counts [GAME ...]

Compares them with `perft` ply by ply; a difference ends it. The tests compare a part of them.
"""

import argparse
import dataclasses
import time
from collections.abc import Sequence

import jax.numpy as jnp

from jaxgbg.games import ChineseCheckers, EinStein, Game, Maedn, Nim, Sim, Yavalath
from jaxgbg.games.perft import PerftRow, perft


@dataclasses.dataclass(frozen=True)
class SimUntilOut(Sim):
    """Ends with the first player who is out: how many sequences of a ply put one out."""

    def afterstate(self, state, action):
        return _until_out(self, super().afterstate(state, action))


@dataclasses.dataclass(frozen=True)
class YavalathUntilOut(Yavalath):
    """Ends with the first player who is out."""

    def afterstate(self, state, action):
        return _until_out(self, super().afterstate(state, action))


def _until_out(game, after):
    return after._replace(terminal=after.terminal | ~jnp.all(game.active(after)))


def _star(rows: int, players: int, **settings: object) -> ChineseCheckers:
    return ChineseCheckers(rows, players, **{"backward": True, "goal": "own", **settings})


Counts = Sequence[int | tuple[int, int]]
"""From ply 1 on: sequences and, where it is not 0, how many of them end the game there."""

KNOWN: dict[str, tuple[Game, Counts]] = {
    "nim3p": (
        Nim(players=3, rule="nim3p"),
        (15, 180, (1_680, 6), (12_015, 144), (66_753, 1_800), (291_930, 14_760)),
    ),
    "ewn-3x3": (
        EinStein(3),
        (9, 84, (727, 46), (5_934, 469), (40_847, 7_321), (244_254, 52_437)),
    ),
    "ewn-4x4": (EinStein(4), (9, 81, 759, 7_143, (68_005, 478), (643_567, 8_777))),
    "ewn-5x5": (EinStein(5), (18, 324, 6_162, 117_366, (2_332_164, 316))),
    "ewn-5x5-nearest": (
        EinStein(5, choice="nearest"),
        (18, 324, 6_162, 117_336, (2_310_895, 311)),
    ),
    "ewn-6x6-3": (EinStein(6, 3), (18, 324, 5_886, 113_031)),
    "ewn-6x6-3-nearest": (EinStein(6, 3, choice="nearest"), (18, 324, 5_886, 112_599)),
    "ewn-4x4-4": (EinStein(4, 4), (9, 81, 753, (7_002, 44), (66_810, 652))),
    "ewn-6x6-4": (EinStein(6, 4), (18, 324, 5_886, 106_929, 2_052_162)),
    "ewn-6x6-4-nearest": (
        EinStein(6, 4, choice="nearest"),
        (18, 324, 5_886, 106_929, 2_044_386),
    ),
    "yavalath-3": (
        Yavalath(3),
        (19, 342, 5_814, 93_024, (1_395_360, 38_880), (18_990_720, 529_848),
         (239_991_336, 19_895_976)),
    ),
    "yavalath-3-swap": (
        Yavalath(3, swap=True), (19, 361, 6_156, 98_838, (1_488_384, 38_880))
    ),
    "yavalath-4-swap": (
        Yavalath(4, swap=True), (37, 1_369, 47_952, 1_631_700, (53_892_720, 464_508))
    ),
    "yavalath-5-swap": (Yavalath(5, swap=True), (61, 3_721, 219_600, 12_740_460)),
    "yavalath-3-3": (Yavalath(3, 3), (19, 342, 5_814, 93_024, 1_395_360, 19_535_040)),
    "sim-K5": (
        Sim(5),
        (10, 90, 720, 5_040, (30_240, 2_520), (138_600, 11_520), (508_320, 138_240),
         (1_110_240, 298_080), (1_624_320, 933_120), (691_200, 691_200)),
    ),
    "sim-K6": (
        Sim(6),
        (15, 210, 2_730, 32_760, (360_360, 15_840), (3_445_200, 151_200),
         (29_646_000, 4_082_400), (204_508_800, 27_993_600)),
    ),
    "sim-K5-3": (
        Sim(5, 3),
        (10, 90, 720, 5_040, 30_240, 151_200, 604_800, (1_814_400, 12_960), (3_602_880, 51_840),
         (3_551_040, 3_551_040)),
    ),
    "sim-K6-3": (Sim(6, 3), (15, 210, 2_730, 32_760, 360_360, 3_603_600, 32_432_400)),
    "sim-K5-3-out": (SimUntilOut(5, 3), (10, 90, 720, 5_040, 30_240, 151_200, (604_800, 50_400))),
    "sim-K6-3-out": (
        SimUntilOut(6, 3), (15, 210, 2_730, 32_760, 360_360, 3_603_600, (32_432_400, 1_425_600))
    ),
    "chinese-1-2": (_star(1, 2), (2, 4, 20, 100, (384, 2))),
    "chinese-1-3": (_star(1, 3), (2, 4, 8, 40, 194)),
    "chinese-1-4": (_star(1, 4), (2, 4, 8, 16, (74, 1))),
    "chinese-1-6": (_star(1, 6), (2, 4, 7, 12, 20)),
    "chinese-2-2": (_star(2, 2), (6, 36, 372, 3_644, 37_732)),
    "chinese-2-3": (_star(2, 3), (6, 36, 216, 2_232, 21_742)),
    "chinese-2-4": (_star(2, 4), (6, 34, 192, 1_090, 10_031)),
    "chinese-2-6": (_star(2, 6), (6, 34, 180, 974, 5_218)),
    "chinese-3-2": (_star(3, 2), (10, 100, 1_600, 22_240, 339_792)),
    "chinese-3-3": (_star(3, 3), (10, 100, 1_000, 16_000, 222_400)),
    "chinese-3-4": (_star(3, 4), (10, 98, 940, 9_214)),
    "chinese-3-6": (_star(3, 6), (10, 98, 920, 8_622, 80_798)),
    "chinese-4-2": (_star(4, 2), (14, 196, 4_144, 72_608, 1_436_192)),
    "chinese-4-3": (_star(4, 3), (14, 196, 2_744, 58_016, 1_016_512)),
    "chinese-4-4": (_star(4, 4), (14, 194, 2_656, 36_806, 751_136)),
    "chinese-4-6": (_star(4, 6), (14, 194, 2_628, 35_574, 481_580)),
    "chinese-1-2-forward": (_star(1, 2, backward=False), (2, 4, 16, 64, (198, 2))),
    "chinese-2-2-forward": (_star(2, 2, backward=False), (6, 36, 312, 2_624, 23_508)),
    "chinese-1-3-forward": (_star(1, 3, backward=False), (2, 4, 8, 32, 124)),
    "chinese-2-3-forward": (_star(2, 3, backward=False), (6, 36, 216, 1_872, 15_638)),
    "maedn-2": (
        Maedn(2), (6, 36, 216, 1_296, 7_776, 46_861, 284_706, 1_747_777, 10_934_483)
    ),
    "maedn-2-adjacent": (
        Maedn(2, opposite=False),
        (6, 36, 216, 1_296, 7_776, 46_861, 284_706, 1_747_728, 10_929_683),
    ),
    "maedn-3": (Maedn(3), (6, 36, 216, 1_296, 7_776, 46_661, 280_991, 1_694_672)),
    "maedn-4": (Maedn(4), (6, 36, 216, 1_296, 7_776, 46_661, 279_991, 1_685_097)),
    "maedn-2-q4-1": (
        Maedn(2, 4, 1),
        (6, 36, 216, (1_296, 1), (7_770, 26), (46_464, 239), (277_350, 3_073),
         (1_645_662, 28_427)),
    ),
    "maedn-2-q4-2": (Maedn(2, 4, 2), (6, 36, 216, 1_301, 7_961, 49_396, 316_355, 2_073_513)),
}  # fmt: skip


def assert_known(name: str, plies: int | None = None) -> list[PerftRow]:
    """Compares the first `plies` plies of a game, or all that are known; returns ours."""
    game, known = KNOWN[name]
    known = known[:plies]
    rows = perft(game, len(known))
    found = [(row.paths, sum(row.ended.values())) for row in rows]
    assert found == [(each, 0) if isinstance(each, int) else each for each in known], name
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="GAME", help=", ".join(KNOWN))
    for name in parser.parse_args().names or KNOWN:
        start = time.process_time()
        assert_known(name)
        spent = time.process_time() - start
        print(f"{name}: {len(KNOWN[name][1])} plies, {spent:.0f} s", flush=True)


if __name__ == "__main__":
    main()
