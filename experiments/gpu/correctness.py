"""Whether this device computes what a CPU did: rules to the bit, values and tables to rounding.

Rules: the fingerprint of each game and every word of the states of its random games. Tables: all
moves of the training at random, so that no rounding can turn one game into another; what is left
is the order of sums. Choices: action values, look-ahead and searches of tables drawn at random.
"""

import hashlib
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.gpu.records import Records, Task
from experiments.gpu.speed import reason_of
from jaxgbg.games import make
from jaxgbg.games.fingerprint import fingerprint
from jaxgbg.games.rollout import select_states
from jaxgbg.games.sampling import sample_games
from jaxgbg.players import GreedyAgent, LookAheadAgent, SearchAgent, make_player
from jaxgbg.runs.chunks import compile_chunk
from jaxgbg.runs.lanes import begin
from jaxgbg.runs.placement import LanePlacement, lane_mesh
from jaxgbg.runs.presets import GAMES, preset
from jaxgbg.runs.run import Run
from jaxgbg.search import LookAheadSpec, PUCTSpec

KEY = ("game",)
REFERENCE = Path(__file__).with_name("reference.npz")
TOLERANCE = 1e-3
"""Of the difference, its root mean square over that of what was expected.

Float32 sums of up to 400 terms differ by up to 1e-5 of their size with the order of the terms,
which a GPU's scatter leaves open, and by less with the device's tanh and exp. A training adds that
up, and where a TCL counter is a sum that nearly cancels, its weight's steps take up far more: so
not the worst entry decides, which is recorded too.
"""
MOVES_ALIKE = 0.9
"""The least share of equal moves of a search: each of its steps takes the larger of two sums."""

_BLOCKS, _KEPT, _POSITIONS, _ITERATIONS = 8, 256, 32, 32
_MCTS = ("hex",)


def measure(task: Task, records: Records) -> None:
    """Compare each game with the reference; a difference is a result, not an error."""
    with np.load(REFERENCE) as kept:
        reference = {name: kept[name] for name in kept.files}
    for game in task.games:
        if {"game": game} in records or task.left() < 0:
            continue
        start = time.perf_counter()
        try:
            found = computed(game, reference[f"{game}/rows"])
        except Exception as error:
            records.fail(f"{game}: {reason_of(error)}")
            continue
        expected = {
            name.removeprefix(f"{game}/"): array
            for name, array in reference.items()
            if name.startswith(f"{game}/")
        }
        told = compared(found, expected)
        records.add({"game": game, **told, "seconds": round(time.perf_counter() - start, 1)})


def make_reference() -> None:
    """Write what `measure` compares with; ValueError anywhere but on a CPU."""
    if jax.default_backend() != "cpu":
        raise ValueError("the reference is a CPU's: set JAX_PLATFORMS=cpu")
    arrays: dict[str, Any] = {}
    for game in GAMES:
        for name, array in computed(game).items():
            arrays[f"{game}/{name}"] = array
        print(game, flush=True)
    np.savez_compressed(REFERENCE, **arrays)


def compared(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """How far each piece is from the expected one, and whether all of them agree.

    Hashes must be equal; numbers within `TOLERANCE` by root mean squares; moves in
    `MOVES_ALIKE` of the positions.
    """
    told: dict[str, Any] = {}
    agree = True
    for name, array in expected.items():
        if array.dtype.kind == "U":
            told[name] = bool(found[name] == array)
            agree &= told[name]
        elif name.startswith("moves"):
            told[name] = round(float((found[name] == array).mean()), 4)
            agree &= told[name] >= MOVES_ALIKE
        elif name != "rows":
            told[name] = distance(found[name], array)
            agree &= told[name]["mean"] <= TOLERANCE
    return {"agrees": bool(agree), **told}


def distance(found: np.ndarray, expected: np.ndarray) -> dict[str, float]:
    """The root mean square and the greatest of the differences, over that of what was expected.

    Infinite where other entries are infinite, or not a number.
    """
    finite = np.isfinite(expected)
    if found.shape != expected.shape or (np.isfinite(found) != finite).any():
        return {"mean": float("inf"), "most": float("inf")}
    if not finite.any():
        return {"mean": 0.0, "most": 0.0}
    size = _root_mean_square(expected[finite]) or 1.0
    off = found[finite].astype(float) - expected[finite]
    return {"mean": _root_mean_square(off) / size, "most": float(np.abs(off).max()) / size}


def _root_mean_square(numbers: np.ndarray) -> float:
    return float(np.sqrt(np.square(numbers, dtype=np.float64).mean()))


def computed(name: str, rows: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """All that is compared of one game, on the device of this process.

    `rows` are those of the tables that the reference has kept; drawn where it is None.
    """
    game = make(name)
    states = sample_games(game).states
    whole = hashlib.sha256()
    for leaf in jax.tree.leaves(states):
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            whole.update(np.asarray(leaf).tobytes())
    bits = jax.random.bits(jax.random.key(0), (1000,))
    return {
        "fingerprint": np.array(fingerprint(game)),
        "states": np.array(whole.hexdigest()),
        "random_words": np.array(hashlib.sha256(np.asarray(bits).tobytes()).hexdigest()),
        **_trained(name, rows),
        **_chosen(name, _positions(states)),
    }


def _positions(states: Any) -> Any:
    """Some positions of random games in which there is still something to choose."""
    going = np.argwhere(~np.asarray(states.terminal))
    chosen = going[np.linspace(0, len(going) - 1, _POSITIONS).astype(int)]
    return select_states(states, tuple(chosen.T))


def random_run(name: str) -> Run:
    """The published run of a game, but that every move is random and is learned from."""
    return preset(
        name,
        seeds=(0,),
        variants=("farl", "none"),
        batch=4,
        epsilon=1.0,
        epsilon_end=1.0,
        learn_from_random=True,
        episodes=100_000,
    )


def _trained(name: str, rows: np.ndarray | None) -> dict[str, np.ndarray]:
    """Rows of both lanes' tables after 256 ticks, by the very program that trains."""
    run = random_run(name)
    lanes = len(run.lanes)
    placement = LanePlacement(lanes, lanes, lane_mesh(1))
    (state,), (hyper,), _ = begin([run], placement)
    limit = jax.device_put(np.full(lanes, run.schedule.episodes, np.uint32), placement.sharding)
    chunk = compile_chunk(run.make_learner(), placement.mesh)
    state = chunk(state, hyper, limit, np.int32(_BLOCKS))
    weights = np.asarray(state.params.weights)
    if rows is None:
        touched = np.flatnonzero(weights[0])
        rows = np.random.default_rng(0).choice(touched, min(_KEPT, len(touched)), replace=False)
        rows = np.sort(rows).astype(np.int32)
    counters = np.asarray(state.params.counters).reshape(*weights.shape, -1)[:, rows]
    return {
        "rows": rows,
        "weights": weights[:, rows],
        # Without the scratch count, which is 0 between two ticks.
        "counters": counters[..., :-1],
        "played": np.array(f"{state.moves} moves, {state.finished} episodes"),
    }


def _chosen(name: str, states: Any) -> dict[str, np.ndarray]:
    """Values of all actions by tables drawn at random, and the moves of searches."""
    run = preset(name, seeds=(0,))
    learner = run.make_learner()
    # The raw stream of PCG64 is the same in every version.
    words = np.random.PCG64(0).random_raw(learner.value.num_weights)
    drawn = (words >> 40).astype(np.float32) / 2**24 - np.float32(0.5)
    params = learner.value.with_weights(0.1 * drawn, run.value.drawn(learner.game, 0))
    agent = GreedyAgent(learner.game, learner.value, params)
    key = jax.random.key(1)
    search = SearchAgent(agent, PUCTSpec(iterations=_ITERATIONS, width=2))
    found = {
        "one_ply": agent.action_values(states),
        "two_plies": LookAheadAgent(agent, LookAheadSpec(2)).action_values(states, key),
        "moves_puct": search.act(states, key),
    }
    if name in _MCTS:
        found["moves_mcts"] = make_player("mcts-100", learner.game).act(states, key)
    return {name: np.asarray(array) for name, array in found.items()}
