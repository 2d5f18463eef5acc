"""The package: its core needs five packages alone, its public names are listed, typed and shown."""

import doctest
import importlib.metadata
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import jaxgbg

ROOT = Path(__file__).resolve().parents[1]

_TRAIN_WITHOUT_EXTRAS = """
import sys
import flax  # It needs rich itself.
for name in "tyro rich matplotlib jinja2 duckdb pandas bitbully pyspiel pgx ludax pytest".split():
    sys.modules[name] = None
import jaxgbg
folder = jaxgbg.train(jaxgbg.preset("nim", seeds=(0,), episodes=200, eval_every=100), sys.argv[1])
agent = jaxgbg.load(folder.path / "agents" / "seed0-farl.agent")
print(jaxgbg.evaluate(agent, "random").shape)
"""


@pytest.mark.slow
def test_training_needs_no_package_beyond_the_core(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", _TRAIN_WITHOUT_EXTRAS, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(2, 40)"


def test_all_public_names_are_listed_and_say_what_they_are():
    public = {
        name
        for name, value in vars(jaxgbg).items()
        if getattr(value, "__module__", None) == "jaxgbg" or name in jaxgbg.__all__
    }
    assert {*jaxgbg.__all__} == public | {"__version__"}
    assert list(jaxgbg.__all__) == sorted(jaxgbg.__all__)
    # What the guides and notebooks are written with.
    assert {*jaxgbg.__all__} >= {
        "Game", "Run", "compete", "evaluate", "load", "make", "make_player", "preset", "register",
        "train",
    }  # fmt: skip
    for name in public:
        assert inspect.getdoc(getattr(jaxgbg, name)), name


def test_everything_may_be_imported_by_a_star():
    names: dict[str, object] = {}
    exec("from jaxgbg import *", names)
    assert {*jaxgbg.__all__} <= names.keys()


def test_the_version_is_that_of_the_distribution():
    assert jaxgbg.__version__ == importlib.metadata.version("jaxgbg")


def test_types_are_shipped():
    assert (Path(jaxgbg.__file__).with_name("py.typed")).is_file()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    # The whole folder goes into the wheel, whatever the kind of a file.
    assert wheel == {"packages": ["jaxgbg"]}


@pytest.mark.slow
def test_the_examples_of_the_package_do_what_they_show():
    failed, attempted = doctest.testmod(jaxgbg)
    assert failed == 0
    assert attempted >= 5
