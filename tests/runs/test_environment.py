"""What the environment says about JAX: obeyed, or refused in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games import backend, make
from jaxgbg.games.check import check_playable
from jaxgbg.players import make_player
from jaxgbg.results.figures import default_style, new_figure
from jaxgbg.runs import environment, load_agent
from jaxgbg.runs.storage.provenance import provenance, resumed
from jaxgbg.runs.storage.schemas import Provenance

ROOT = Path(__file__).parents[2]


def command(*arguments, **environ):
    """(exit code, standard error) of a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "jaxgbg.cli", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def outcomes(name, tmp_path, value="ntuple"):
    """What an agent of a short training is, and what it thinks, plays and finds by a search."""
    game = make(name)
    opponent = "score" if game.num_players == 1 else "random"
    # A game of 2048 takes hundreds of plies.
    few = jaxgbg.Protocol("choose_01", count=2, repeats=1)
    # The agents of the published layouts take seconds to write.
    small = {"layout": ((0, 1, 4, 5), (0, 1, 2, 3))} if name in ("2048", "connectfour") else {}
    run = jaxgbg.preset(
        game,
        seeds=(0,),
        episodes=16,
        eval_every=16,
        batch=4,
        value=value,
        opponents=(opponent,),
        protocols=(few,),
        **small,
    )
    folder = jaxgbg.train(run, tmp_path, progress=False)
    agent = jaxgbg.load(folder.path / "agents" / "seed0-farl.agent")
    state, key = game.init(jax.random.key(3)), jax.random.key(4)
    found = {
        "training": folder.summary()["state_sha256"],
        "metrics": folder.results(),
        "state": state,
        "next": game.step(state, jnp.argmax(game.legal_actions(state)), key),
        "values": agent.action_values(state),
        "games": jaxgbg.evaluate(agent, opponent),
        "search": jaxgbg.search(agent, 4).statistics(state, key),
        "look-ahead": jaxgbg.look_ahead(agent, 2, 2).action_values(state, key),
    }
    leaves, _ = jax.tree.flatten_with_path(found)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in (
            ("2048", "ntuple"),
            ("connectfour", "ntuple"),
            ("hex", "mlp"),
            ("nim3p", "ntuple"),
            ("tictactoe", "mlp"),
        )
    ],
)
def test_64_bits_change_no_bit(name, value, tmp_path):
    wanted = outcomes(name, tmp_path / "32", value)
    with jax.enable_x64(True):
        found = outcomes(name, tmp_path / "64", value)
        assert jnp.arange(2).dtype == np.int64, "the mode of the program is as it was"
    assert found.keys() == wanted.keys()
    for path, leaf in wanted.items():
        assert found[path].dtype == leaf.dtype, path
        np.testing.assert_array_equal(found[path], leaf, path)


@pytest.mark.parametrize("name", ["2048", "tictactoe"])
def test_rules_have_the_same_types_with_64_bits(name):
    game = make(name)

    def states():
        state = game.init(jax.random.key(1))
        action = jnp.argmax(game.legal_actions(state))
        return state, game.step(state, action, jax.random.key(2))

    wanted = states()
    with jax.enable_x64(True):
        found = states()
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def no_backend(monkeypatch):
    def fail(*_):
        raise AssertionError

    monkeypatch.setattr(jax, "devices", fail)


def test_a_missing_backend_is_named(no_backend):
    with pytest.raises(backend.NoBackend, match="JAX_PLATFORMS=cpu"):
        backend.check_backend()


def test_a_missing_backend_is_no_fault_of_a_game(no_backend):
    with pytest.raises(backend.NoBackend):
        check_playable(make("nim", heaps=2, size=7))


def test_a_missing_backend_is_no_fault_of_an_agent(trained, monkeypatch):
    agent = next(trained.glob("small/*/agents/*.agent"))

    def fail(self):
        raise RuntimeError("Unable to initialize backend")

    monkeypatch.setattr(jaxgbg.Run, "make_learner", fail)
    with pytest.raises(RuntimeError, match="backend"):
        load_agent(agent)


# Commands one after the other in one process: most of what one takes is importing JAX.
IN_TURN = """
import contextlib, io, json, sys
from jaxgbg.cli import app
from jaxgbg.runs import devices
devices.prepare_jax()
devices.prepare_jax = lambda: None
for words in json.loads(sys.argv[1]):
    sys.argv, said = ["jaxgbg", *words], io.StringIO()
    code = 0
    with contextlib.redirect_stderr(said):
        try:
            app.main()
        except SystemExit as stop:
            code = stop.code
    print(json.dumps([code, said.getvalue()]))
"""


@pytest.mark.slow
def test_every_command_names_a_missing_backend(trained, tmp_path):
    agent = str(next(trained.glob("small/*/agents/*.agent")))
    training = (
        "train",
        "tictactoe",
        "--episodes",
        "20",
        "--seeds",
        "1",
        "--out",
        tmp_path / "runs",
    )
    ended = [command(*training, JAX_PLATFORMS="cuda")]
    others = [
        ("eval", agent),
        ("tournament", agent, "random"),
        ("play", "nim", "--export", str(tmp_path / "nim.html")),
        ("check", "nim"),
        ("perft", "nim"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN, json.dumps(others)],
        env=os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cuda"},
        capture_output=True,
        text=True,
        check=True,
    )
    ended += map(json.loads, done.stdout.splitlines())
    assert len(ended) == 1 + len(others)
    for code, complaint in ended:
        assert code == 2, complaint
        assert complaint.startswith("jaxgbg: JAX cannot start on cuda"), complaint
        assert complaint.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_uncompiled_programs_are_refused(tmp_path, monkeypatch):
    run = jaxgbg.preset("nim", seeds=(0,), episodes=4)
    with jax.disable_jit(), pytest.raises(ValueError, match="JAX_DISABLE_JIT"):
        jaxgbg.train(run, tmp_path)
    assert not list(tmp_path.iterdir())


def test_unknown_flags_of_xla_are_refused(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_no_such_flag=1")
    with pytest.raises(ValueError, match="XLA_FLAGS=--xla_no_such_flag"):
        environment.check_xla_flags()


def test_no_flags_cost_nothing(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setattr(environment.subprocess, "run", None)
    environment.check_xla_flags()


def test_a_resumption_keeps_its_versions_and_says_what_has_changed(capsys, tmp_path):
    now = provenance()
    earlier = Provenance.read({k: v for k, v in now.items() if k != "settings"})
    same = resumed(earlier, tmp_path)
    assert capsys.readouterr().err == ""
    assert same.resumed_with == (now["versions"] | now["settings"],)
    other = Provenance.read(same.plain() | {"resumed_with": [{"jax": "0.1"}]})
    again = resumed(other, tmp_path)
    assert f"jax 0.1 before, {jax.__version__} now" in capsys.readouterr().err
    assert len(again.resumed_with) == 2
    drawn = Provenance.read(now | {"settings": {"jax_default_prng_impl": "rbg"}})
    resumed(drawn, tmp_path)
    assert "jax_default_prng_impl rbg before" in capsys.readouterr().err


def test_figures_do_not_depend_on_the_users_matplotlibrc(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.setitem(matplotlib.rcParams, "text.usetex", True)
    with default_style():
        assert not new_figure(1, 1).text(0, 0, "x").get_usetex()
    assert matplotlib.rcParams["text.usetex"]


def test_maxn_is_solved_where_nan_is_an_error():
    with jax.debug_nans(True):
        game = make("nim", heaps=2, size=3)
        player = make_player("maxn", game)
        assert player.play_move(game.init(jax.random.key(0))) is not None


@pytest.mark.slow
def test_without_docstrings_everything_works_but_help_texts():
    assert command("train", "--help", PYTHONOPTIMIZE="2")[0] == 0
