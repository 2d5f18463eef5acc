"""No table-sized copy in the compiled loop: it decides whether training is fast or useless."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg import xla
from jaxgbg.learners import parameter_traces
from jaxgbg.runs import Training
from jaxgbg.runs.chunks import compile_chunk
from jaxgbg.runs.lanes import hyperparameters
from jaxgbg.runs.placement import lane_mesh
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.checkpoints import checksum
from jaxgbg.values import NTuple
from tests.compiling import FULL_OPTIMISATION, INSTRUCTIONS_FOR_USERS
from tests.internals import copied_sizes, entry_of, is_one_kernel, times_compiled


def compiled_chunk(game="connectfour", lanes=1, options=INSTRUCTIONS_FOR_USERS, **changes):
    """The training program of some lanes on one device, and the number of weights of each.

    Its instructions and its memory are those that users get, the machine code may be slower.
    """
    run = preset(game, seeds=range(lanes), variants=("farl",), **changes)
    learner = run.make_learner()
    keys = jax.vmap(jax.random.key)(np.arange(lanes, dtype=np.uint32))
    drawn = jnp.stack([jnp.asarray(run.value.drawn(run.game, seed)) for seed in run.seeds])
    state = jax.eval_shape(jax.vmap(learner.init), keys, drawn)
    hyper = hyperparameters(run, run.lanes)
    chunk = compile_chunk(learner, lane_mesh(1))
    limit = jax.ShapeDtypeStruct((lanes,), jnp.uint32)
    lowered = chunk.lower(state, hyper, limit, jax.ShapeDtypeStruct((), jnp.int32))
    return lowered.compile(options), learner.value.num_weights


def table_copies(compiled, num_weights: int, fusions: bool = True) -> list[int]:
    """The sizes of copies of arrays as large as a table in the compiled program.

    In the fusions that write a network, a copy is the order in which its gradient is gone through.
    """
    return [size for size in copied_sizes(compiled, "f32", fusions) if size >= num_weights]


@pytest.mark.slow
def test_machine_code_alone_is_made_otherwise_for_users():
    quick, users = (
        compiled_chunk("tictactoe", lanes=2, options=options)[0]
        for options in (INSTRUCTIONS_FOR_USERS, FULL_OPTIMISATION)
    )
    assert quick.as_text() == users.as_text()
    assert str(quick.memory_analysis()) == str(users.memory_analysis())


def test_no_table_of_one_number_a_weight_is_turned_around():
    compiled, num_weights = compiled_chunk("tictactoe", lanes=2)
    assert table_copies(compiled, num_weights) == []


@pytest.mark.parametrize(
    ("tcl", "combine", "batch"),
    [
        ("exp", "saturating", 16),
        pytest.param("exp", "sum", 16, marks=pytest.mark.slow),
        pytest.param("exp", "saturating", 1, marks=pytest.mark.slow),
        pytest.param("none", "mean", 16, marks=pytest.mark.slow),
    ],
)
def test_training_copies_no_table(tcl, combine, batch):
    compiled, num_weights = compiled_chunk(tcl=tcl, combine=combine, batch=batch)
    assert table_copies(compiled, num_weights) == []
    assert compiled.memory_analysis().temp_size_in_bytes < num_weights


@pytest.mark.slow
@pytest.mark.parametrize("game", ["hex", "othello", "2048"])
def test_training_other_games_copies_no_table(game):
    compiled, num_weights = compiled_chunk(game, batch=16)
    assert table_copies(compiled, num_weights) == []
    # Scratch stays far below the tables: 4 bytes a weight and 12 of counters.
    largest = {"hex": 16, "othello": 8, "2048": 1}[game]
    assert compiled.memory_analysis().temp_size_in_bytes < largest * num_weights


@pytest.mark.slow
def test_training_with_stages_copies_no_table():
    compiled, num_weights = compiled_chunk("2048", batch=16, stages=(9, 11))
    assert table_copies(compiled, num_weights) == []


@pytest.mark.parametrize(
    "game",
    [
        "nim",
        pytest.param("tictactoe", marks=pytest.mark.slow),
        pytest.param("nim3p", marks=pytest.mark.slow),
    ],
)
def test_one_game_of_one_lane_copies_no_table(game):
    # Nim has a single row a move there, which XLA takes for neither a loop nor a gather.
    compiled, num_weights = compiled_chunk(game, batch=1)
    assert table_copies(compiled, num_weights) == []


@pytest.mark.slow
def test_one_table_for_all_players_is_not_copied():
    compiled, num_weights = compiled_chunk("hex", batch=16, one_table=True)
    assert table_copies(compiled, num_weights) == []


@pytest.mark.slow
def test_training_off_policy_copies_no_table():
    compiled, num_weights = compiled_chunk(learner="td-off-policy", temperature=0.03, batch=16)
    assert table_copies(compiled, num_weights) == []
    assert compiled.memory_analysis().temp_size_in_bytes < num_weights


@pytest.mark.slow
@pytest.mark.parametrize(("batch", "plies"), [(16, 2), (16, 3), (1, 2)])
def test_training_that_looks_ahead_copies_no_table(batch, plies):
    compiled, num_weights = compiled_chunk(learner="td-leaf", train_plies=plies, batch=batch)
    assert table_copies(compiled, num_weights) == []
    assert compiled.memory_analysis().temp_size_in_bytes < num_weights


@pytest.mark.slow
@pytest.mark.parametrize("search", ["puct-20", "puct-20,leaves=4"])
def test_training_that_searches_copies_no_table_of_several_lanes(search):
    compiled, num_weights = compiled_chunk(
        lanes=2, learner="td-search", train_search=search, batch=4
    )
    # Those of all lanes, and what is taken of them, a lane's.
    assert table_copies(compiled, num_weights) == []
    assert compiled.memory_analysis().temp_size_in_bytes < num_weights


@pytest.mark.slow
def test_training_by_rounds_copies_no_table():
    compiled, num_weights = compiled_chunk(replay_episodes=64, passes=2, batch=16)
    assert table_copies(compiled, num_weights) == []
    assert compiled.memory_analysis().temp_size_in_bytes < num_weights


@pytest.mark.slow
def test_traces_over_a_network_copy_no_layer(monkeypatch):
    settings = {"parameter_traces": True, "trace_decay": 0.5, "batch": 1}
    network, smallest = {"value": "mlp", "hidden": (300, 243), **settings}, 42 * 300
    assert table_copies(compiled_chunk(**network)[0], smallest, fusions=False) == []

    # In no order at all, XLA keeps what is overwritten.
    monkeypatch.setattr(parameter_traces, "order_after", lambda array, *others: array)
    compile_chunk.cache_clear()
    copies = table_copies(compiled_chunk(**network)[0], smallest, fusions=False)
    compile_chunk.cache_clear()
    assert copies


@pytest.mark.slow
def test_a_write_that_ignores_the_last_read_is_noticed(monkeypatch):
    honest = NTuple.update

    def careless(self, params, updates, alpha, hyper):
        # The counters grow by what is known before they are read.
        rows = self.rows(updates.features, updates.player)
        stale = params.counters.reshape(self.num_weights, -1)[rows]
        params = honest(self, params, updates, alpha, hyper)
        weights = params.weights.at[rows].add(stale[..., 0])
        return params._replace(weights=weights)

    monkeypatch.setattr(NTuple, "update", careless)
    compile_chunk.cache_clear()
    compiled, num_weights = compiled_chunk(tcl="exp", batch=16, beta=2.6)
    compile_chunk.cache_clear()
    assert compiled.memory_analysis().temp_size_in_bytes > num_weights


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tictactoe", "nim", "nim3p"])
def test_with_one_game_at_a_time_training_is_one_kernel(game):
    compiled = compiled_chunk(game, lanes=2, batch=1)[0]
    assert "scatter(" not in compiled.as_text()
    # The loop over blocks of ticks and all that is in it.
    assert is_one_kernel(compiled)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hidden", "batch", "whole"),
    [((100,), 1, True), ((100, 50), 1, False), ((1000,), 16, False), ((20, 5), 16, True)],
)
def test_only_small_networks_are_trained_in_one_kernel(hidden, batch, whole):
    # There products are plain loops, and take up to forty times as long.
    sizes = {"value": "mlp", "hidden": hidden, "batch": batch}
    compiled = compiled_chunk("connectfour", lanes=1, **sizes)[0]
    program = compiled.as_text()
    assert " dot(" in program
    assert (" while(" not in entry_of(compiled)) == whole
    assert ("scatter(" not in program) == whole


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tictactoe", "nim", "nim3p", "2048"])
def test_loops_train_the_same_as_scatters_bit_for_bit(game, monkeypatch):
    found = []
    for loops in (True, False):
        monkeypatch.setattr(xla, "whole_loops", lambda loops=loops: loops)
        compile_chunk.cache_clear()
        jax.clear_caches()
        program = compiled_chunk(game, batch=1)[0].as_text()
        assert ("scatter(" in program) == (not loops)
        training = Training(preset(game, seeds=(0,), batch=1, episodes=20, eval_every=20))
        training.advance(20)
        found.append(checksum(training.leaves()))
    # What was traced with scatters is nothing for later tests.
    compile_chunk.cache_clear()
    jax.clear_caches()
    assert found[0] == found[1]


def test_connectfour_fits_into_200_mb_a_seed():
    params = jax.eval_shape(preset("connectfour", seeds=(0,)).make_learner().value.init)
    assert sum(leaf.size * leaf.dtype.itemsize for leaf in params) < 200e6


def test_2048_fits_into_1_gb_a_seed():
    params = jax.eval_shape(preset("2048", seeds=(0,)).make_learner().value.init)
    assert sum(leaf.size for leaf in params[:1]) == 4 * 15**6
    assert sum(leaf.size * leaf.dtype.itemsize for leaf in params) < 1e9


@pytest.mark.slow
def test_a_run_compiles_its_chunk_once():
    compile_chunk.cache_clear()
    changes = {"batch": 4, "episodes": 200, "eval_every": 100, "opponents": ("random",)}
    training = Training(preset("nim", seeds=(0,), variants=("farl",), **changes))
    assert len(list(training.evaluations())) == 2
    assert times_compiled(compile_chunk(training.learner, lane_mesh(1), pausing=False)) == 1
