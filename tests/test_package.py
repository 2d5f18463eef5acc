"""The package: its core needs five packages alone, its public names are listed, typed and shown."""

import doctest
import importlib.metadata
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import jaxgbg

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

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
    public = {*jaxgbg.__all__} - {"__version__"}
    functions = {name for name, value in vars(jaxgbg).items() if callable(value)}
    assert functions <= {*public, "__getattr__", "__dir__"}
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
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    # The whole folder goes into the wheel, whatever the kind of a file.
    assert wheel == {"packages": ["jaxgbg"]}


@pytest.mark.slow
def test_the_examples_of_the_package_do_what_they_show():
    failed, attempted = doctest.testmod(jaxgbg)
    assert failed == 0
    assert attempted >= 5


def test_the_version_is_dated_everywhere():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.search(r"## \[(\d[^\]]*)\] - (\S+)", changelog).groups()
    assert version == jaxgbg.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version}\ndate-released: {date}\n" in citation


def test_every_dependency_has_a_lower_bound():
    project = PROJECT["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in (each for group in groups for each in group):
        # The dev extra names the other extras of this package.
        assert ">=" in requirement or requirement.startswith("jaxgbg["), requirement


def test_the_page_on_the_index_leads_to_no_file_of_the_repository():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.compile(r"\]\((?!https?:)")
    assert links.search(text)
    for each in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    assert not links.search(text)
    assert "```python\nimport jaxgbg\n" in text


def test_the_oldest_python_is_named_alike():
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    named = [each.rpartition(" ")[2] for each in PROJECT["project"]["classifiers"] if "3." in each]
    assert min(named, key=lambda version: int(version.partition(".")[2])) == oldest


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_does_not_ignore_another_python(tmp_path):
    def make(python: str) -> subprocess.CompletedProcess:
        command = ["make", "-n", "lint", f"VENV={tmp_path}", f"PYTHON={python}"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    assert make(sys.executable).returncode == 0
    (tmp_path / "other").write_text("#!/bin/sh\necho Python 3.99.0\n")
    (tmp_path / "other").chmod(0o755)
    refused = make(str(tmp_path / "other"))
    assert refused.returncode == 2
    assert 'is "Python 3.99.0"' in refused.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_python_that_does_not_work_is_not_found(tmp_path):
    """A shim of pyenv is on PATH and fails; the version itself is in the folder of pyenv."""

    def find(*versions: str) -> str:
        environment = {
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "PYENV_ROOT": str(tmp_path),
            "SYSTEM_BIN": str(system.parent),
        }
        command = ["bash", ROOT / ".ci" / "find_python", *versions]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == (0 if done.stdout else 1), done.stderr
        return done.stdout.strip()

    version = "{}.{}".format(*sys.version_info)
    system = tmp_path / "system" / f"python{version}"
    shim = tmp_path / f"python{version}"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert find(version) == ""
    real = tmp_path / "versions" / f"{version}.0" / "bin" / "python"
    real.parent.mkdir(parents=True)
    real.symlink_to(sys.executable)
    assert find("3.99", version) == str(real)
    # That of the distribution comes first.
    system.parent.mkdir()
    system.symlink_to(sys.executable)
    assert find("3.99", version) == str(system)
