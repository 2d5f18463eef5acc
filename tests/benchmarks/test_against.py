"""Two revisions are timed in turn, each with its own source."""

import subprocess
from pathlib import Path

import pytest

import jaxgbg
from jaxgbg.cli.benchmarks.against import bench_against, source_of
from jaxgbg.games import make

PACKAGE = Path(jaxgbg.__file__).parent

# Appended to the training loop: every chunk takes .2 s longer.
SLOWER = """
import time

_advance = Training.advance


def _slowly(self, limit):
    time.sleep(0.2)
    self.seconds += 0.2
    _advance(self, limit)


Training.advance = _slowly
"""


@pytest.fixture
def slower(tmp_path):
    """A source tree whose training sleeps, all else linked to ours."""
    package = tmp_path / "other" / "jaxgbg"
    (package / "runs").mkdir(parents=True)
    for folder, name in ((package, "runs"), (package / "runs", "loop.py")):
        source = PACKAGE / folder.relative_to(package)
        for path in source.iterdir():
            if path.name != name:
                (folder / path.name).symlink_to(path)
    loop = (PACKAGE / "runs" / "loop.py").read_text()
    (package / "runs" / "loop.py").write_text(loop + SLOWER)
    return package.parent


@pytest.mark.slow
def test_a_slower_program_is_found_slower(slower):
    row = bench_against(slower, make("nim"), seeds=1, rounds=3, seconds=0.05, batch=8)
    assert (row.game, row.batch, row.lanes, row.rounds) == ("nim", 8, 2, 3)
    assert row.moves_per_s > 1.5 * row.other_moves_per_s > 0
    assert 1.5 < row.low <= row.ratio <= row.high


def test_a_program_that_ends_is_explained(tmp_path):
    (tmp_path / "jaxgbg").mkdir()
    (tmp_path / "jaxgbg" / "__init__.py").write_text("")
    with source_of(str(tmp_path)) as folder, pytest.raises(ValueError, match="does not train: Mod"):
        bench_against(folder, make("nim"))


def test_a_revision_is_unpacked_and_deleted():
    if subprocess.run(["git", "-C", PACKAGE, "rev-parse", "HEAD"], capture_output=True).returncode:
        pytest.skip("not a clone that git reads")
    with source_of("HEAD") as folder:
        assert (folder / "jaxgbg" / "games" / "nim.py").is_file()
        assert [path.name for path in folder.iterdir()] == ["jaxgbg"]
    assert not folder.exists()


@pytest.mark.parametrize("other", ["nowhere", "--help", ""])
def test_what_is_no_revision_is_refused(jaxgbg, other):
    code, _, error = jaxgbg("bench", "nim", f"--against={other}")
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith(f"jaxgbg: --against {other}: neither a folder ")


def test_one_measurement_is_chosen(jaxgbg):
    code, _, error = jaxgbg("bench", "nim", "--against", ".", "--rules")
    assert code == 2
    assert error == "jaxgbg: choose one of --rules, --play, --compile and --against\n"
