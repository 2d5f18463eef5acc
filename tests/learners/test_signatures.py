"""A signature for each game and learner: what a thousand seeded episodes leave in its tables.

A changed signature is a changed behaviour, wanted or not. One that was wanted is written here in
the commit that brings it: `python -m tests.learners.test_signatures` prints the table.
"""

import hashlib
import platform
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import make
from jaxgbg.learners import LearnerSpec
from jaxgbg.runs.lanes import hyperparameters
from jaxgbg.runs.presets import preset
from jaxgbg.values import random_walk
from tests.compiling import FULL_OPTIMISATION

EPISODES = 1000
# What the last bits depend on besides our code and the version of JAX. Compiled for one instruction
# set, and without a library that chooses its own while it runs.
MACHINE = "x86_64"
OPTIONS = FULL_OPTIMISATION | {
    "xla_cpu_max_isa": "AVX2",
    "xla_cpu_experimental_ynn_fusion_type": "",
}
# By the version of JAX: XLA may round a last bit in another way, with it another move is the best
# one, and all later episodes differ. Between jax 0.10.2 and 0.12.0.1 Nim's weights differ by 0.0002
# at most after these episodes and TicTacToe's by up to nine tenths of their mean size: no tolerance
# would tell a fault from that. What holds for every version is checked against the serial float64
# algorithms in tests/reference.
SIGNATURES = {
    "0.10.2": {
        ("tictactoe", "sarsa"): "0b078e17fe9e6e6c",
        ("tictactoe", "q"): "bf9f99ef84258d9b",
        ("tictactoe", "td"): "7e83244194525041",
        ("tictactoe", "td-off-policy"): "bb0984f9b48d15cd",
        ("tictactoe", "td-leaf"): "def7435455d68949",
        ("tictactoe", "td-search"): "510922d39c0f1081",
        ("tictactoe", "sarsa-search"): "d0018b7f95997d4a",
        ("tictactoe", "q-search"): "ca54de06b66be23e",
        ("nim", "sarsa"): "55755ad410d83ae6",
        ("nim", "q"): "0d9e9914d3729b14",
        ("nim", "td"): "5ad0f184dd12e705",
        ("nim", "td-off-policy"): "b0eb6f62fe81da53",
        ("nim", "td-leaf"): "4c41729eab54ac98",
        ("nim", "td-search"): "6064d5fd988c408e",
        ("nim", "sarsa-search"): "7ccc55bb2dc53b68",
        ("nim", "q-search"): "e6abc13a5b2b476a",
        ("nim3p", "sarsa"): "515bef4506d9d455",
        ("nim3p", "q"): "2192dbb908d549d7",
        ("nim3p", "td"): "21ddc48083dc1017",
        ("nim3p", "td-off-policy"): "b0c14f608b9d555e",
        ("nim3p", "td-leaf"): "8aaf8cc365eb4d90",
        ("nim3p", "td-search"): "7cb5622a7f319c9b",
        ("nim3p", "sarsa-search"): "509df7cb273ac668",
        ("nim3p", "q-search"): "3562ec7ca32290d4",
        ("nim3p", "td-one-ply"): "43fc3cee91278911",
        ("connectfour", "sarsa"): "a5b84051b8ea5863",
        ("connectfour", "q"): "2fbcd43b38920fb9",
        ("connectfour", "td"): "3ad043607703082c",
        ("connectfour", "td-off-policy"): "eab0fb090bb0fb3a",
        ("connectfour", "td-leaf"): "4097bba4394550f9",
        ("hex", "sarsa"): "ebf12bd9a228f789",
        ("hex", "q"): "4bb2a6431e1fd25f",
        ("hex", "td"): "67e6dc851b483ce1",
        ("hex", "td-off-policy"): "984417061f334b10",
        ("hex", "td-leaf"): "baa7f829d03ea3d4",
        ("othello", "sarsa"): "c6288f6c12b844ff",
        ("othello", "q"): "c3ed2d1b3db2288c",
        ("othello", "td"): "b98eba513a5d1117",
        ("othello", "td-off-policy"): "9f932e3da5b50c5a",
        ("othello", "td-leaf"): "eafe1ef0a2fdaf6b",
        ("2048", "td"): "316106eb377c3daa",
    },
    "0.12.0.1": {
        ("tictactoe", "sarsa"): "0287a2031a50192a",
        ("tictactoe", "q"): "fc5f1e144af4e169",
        ("tictactoe", "td"): "798f44c9532db14f",
        ("tictactoe", "td-off-policy"): "720407e02debf8fc",
        ("tictactoe", "td-leaf"): "851ed5a7c1ecd24a",
        ("tictactoe", "td-search"): "1e929d8f8830323b",
        ("tictactoe", "sarsa-search"): "98af2c5f685d5aa3",
        ("tictactoe", "q-search"): "32bb3da89ebd0911",
        ("nim", "sarsa"): "a2494485f1f66b3c",
        ("nim", "q"): "f59f83f59b433d51",
        ("nim", "td"): "81abb80de89602d0",
        ("nim", "td-off-policy"): "5fb9443104cf8cb5",
        ("nim", "td-leaf"): "43f9c1ebbf9c28bc",
        ("nim", "td-search"): "f7bb424ca8f3400c",
        ("nim", "sarsa-search"): "8ea2a722c2d1e64d",
        ("nim", "q-search"): "9723d1a107e0420f",
        ("nim3p", "sarsa"): "958b5a16927d99dc",
        ("nim3p", "q"): "6c75f97252a54eb7",
        ("nim3p", "td"): "e67e019ae7f5a0f3",
        ("nim3p", "td-off-policy"): "112b945c8340813c",
        ("nim3p", "td-leaf"): "01934c6aee07227a",
        ("nim3p", "td-search"): "d20d05c0990375df",
        ("nim3p", "sarsa-search"): "1657921f87ea87af",
        ("nim3p", "q-search"): "42137437bf6b2dbd",
        ("nim3p", "td-one-ply"): "cd3ffda423d5808f",
        ("connectfour", "sarsa"): "be33a77416513e47",
        ("connectfour", "q"): "d5d0a70d4e599141",
        ("connectfour", "td"): "d9cfe4500d4a07da",
        ("connectfour", "td-off-policy"): "de08b5f4e5d80e0f",
        ("connectfour", "td-leaf"): "6cbdc973727ca6b7",
        ("hex", "sarsa"): "711747cef83e56bb",
        ("hex", "q"): "a4194e89395b541c",
        ("hex", "td"): "0157ff2a87b2ca73",
        ("hex", "td-off-policy"): "499cd5e7bb0542f0",
        ("hex", "td-leaf"): "ff8ada452dd53ea0",
        ("othello", "sarsa"): "a5f0474e977c06e1",
        ("othello", "q"): "e0f5fff1e2e7ade1",
        ("othello", "td"): "f800642ad120f993",
        ("othello", "td-off-policy"): "6feae086a6aca922",
        ("othello", "td-leaf"): "87d0fa00ab79fa84",
        ("2048", "td"): "10f2402377eb51fd",
    },
}
FAST = [("nim3p", "q")]


def pairs() -> list[tuple[str, str]]:
    """Every game and learner of the package that fit each other."""
    games = ("tictactoe", "nim", "nim3p", "connectfour", "hex", "othello", "2048")
    shipped = [k for k, s in LearnerSpec.kinds.items() if s.__module__.startswith("jaxgbg.")]
    return [
        (name, kind)
        for name in games
        for kind in shipped
        if kind == "td" or not make(name).stochastic
        # A tree before every move takes long: of searches the small games speak for all. Of the
        # older TD one does.
        if not kind.endswith("-search") or name in ("tictactoe", "nim", "nim3p")
        if kind != "td-one-ply" or name == "nim3p"
    ]


def signature(name: str, kind: str) -> str:
    """Sixteen hexadecimal digits of the parameters after EPISODES episodes of the preset's kind."""
    game = make(name)
    layout = random_walk(game, 8, min(4, game.num_cells), seed=1)
    changes: dict[str, Any] = {
        "layout": layout,
        "learner": kind,
        "opponents": (),
        "episodes": EPISODES,
    }
    if kind.endswith("-search"):
        changes["train_search"] = "puct-4"
    if kind == "td-off-policy":
        changes["trace_decay"] = 0.0
    run = preset(game, seeds=(1,), variants=("farl",), batch=16, **changes)
    learner = run.make_learner()
    hyper = jax.tree.map(lambda leaf: leaf[0], hyperparameters(run, run.lanes))
    advance = jax.jit(learner.advance, static_argnums=3, compiler_options=OPTIONS)
    lane = jax.jit(learner.init, compiler_options=OPTIONS)(jax.random.key(1))
    while lane.finished < EPISODES:
        lane, _ = advance(lane, hyper, jnp.uint32(EPISODES), 256)
    content = hashlib.sha256()
    for leaf in jax.tree.leaves(lane.params):
        content.update(np.ascontiguousarray(leaf).tobytes())
    return content.hexdigest()[:16]


CASES = [pytest.param(*case, marks=[] if case in FAST else pytest.mark.slow) for case in pairs()]


@pytest.mark.skipif(
    jax.__version__ not in SIGNATURES or platform.machine() != MACHINE,
    reason=f"no signatures of jax {jax.__version__} on {platform.machine()}: on {MACHINE} write"
    " those that `python -m tests.learners.test_signatures` prints, if all other tests pass",
)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_thousand_episodes_leave_the_signature(name, kind):
    assert signature(name, kind) == SIGNATURES[jax.__version__][name, kind]


@pytest.mark.parametrize("version", SIGNATURES)
def test_every_game_and_learner_has_one(version):
    signatures = SIGNATURES[version]
    assert set(signatures) == set(pairs())
    assert len(set(signatures.values())) == len(signatures)


if __name__ == "__main__":
    for name, kind in pairs():
        print(f'        ("{name}", "{kind}"): "{signature(name, kind)}",', flush=True)
