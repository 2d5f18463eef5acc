"""The bench times the program that trains, and what the machine gives in the same minute."""

import jax
import pytest

from jaxgbg.cli.benchmarks import training
from jaxgbg.cli.benchmarks.training import bench
from jaxgbg.cli.benchmarks.yardstick import Yardstick, look_ups_a_tick
from jaxgbg.games import make
from jaxgbg.runs.lanes import begin
from jaxgbg.runs.placement import lane_mesh
from jaxgbg.runs.presets import preset

pytestmark = pytest.mark.usefixtures("full_optimization", "processor_time")


@pytest.mark.slow
def test_bench_counts_moves_memory_and_look_ups():
    (row,) = bench("nim", seeds=2, batches=[8], seconds=0.05)
    assert (row.game, row.batch, row.lanes) == ("nim", 8, 4)
    assert row.moves_per_s > 4 * row.episodes_per_s > 0
    # Both players' 216 weights with N, A and the scratch count, four bytes each.
    assert row.peak_mb > 2 * 216 * 4 * 4 / 1e6
    assert row.compile_s > 0
    assert row.look_ups_per_s is not None
    assert row.look_ups_per_s > row.moves_per_s
    # Of the raw rate; reads of one row by many games may hit a cache that random ones miss.
    assert row.share is not None
    assert 0 < row.share < 2


def test_a_game_has_the_size_that_is_named(jaxgbg, monkeypatch):
    seen = []

    def bench(game, *_, **__):
        seen.append(game)
        return [
            training.BenchRow("hex", "td", "ntuple", "asked", 1, 1, 2, 9, 3, 0.1, 1, None, None)
        ]

    monkeypatch.setattr(training, "bench", bench)
    code, *_ = jaxgbg("bench", "hex", "--size", 4)
    assert (code, seen) == (0, [make("hex", size=4)])
    code, _, error = jaxgbg("bench", "hex", "--size", 4, "--rules")
    assert (code, error) == (2, "jaxgbg: --size and --parameters are for the speed of training\n")


def look_ups(**changes) -> int:
    run = preset("tictactoe", seeds=[0], variants=["farl"], **changes)
    (lanes,), (hyper,), _ = begin([run])
    one = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), (lanes, hyper)
    )
    return look_ups_a_tick(run.make_learner(), *one)


# A value of TicTacToe is one weight for each n-tuple and each of 8 images of the board.
IMAGES = 8


@pytest.mark.slow
@pytest.mark.parametrize("tuples", [1, 2])
def test_look_ups_of_a_tick_are_counted_from_the_algorithm(tuples):
    layout = [[0, 1, 2], [3, 4, 5]][:tuples]
    a_value = IMAGES * tuples
    # Nine afterstates are read to choose among, then the last one's value is read and written.
    assert look_ups(layout=layout, batch=1) == 9 * a_value + 2 * a_value
    # In lockstep its updates are joined: each weight's are counted, read, added and forgotten.
    assert look_ups(layout=layout, batch=4) == 9 * a_value + a_value + 4 * a_value


@pytest.mark.slow
def test_a_network_looks_nothing_up():
    assert look_ups(value="mlp", batch=4) == 0


@pytest.mark.slow
def test_a_table_beyond_every_cache_is_slower():
    small, large = (Yardstick(rows, lane_mesh(1)) for rows in (2**10, 2**27))
    # By turns, and the best of each, for the machine may be busy.
    rates = [(small.measure(0.1), large.measure(0.1)) for _ in range(3)]
    best_small, best_large = (max(each) for each in zip(*rates, strict=True))
    assert best_small > 1.2 * best_large > 0
