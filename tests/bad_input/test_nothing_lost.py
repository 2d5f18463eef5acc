"""Nothing of others is lost: what is not ours is neither deleted nor replaced, nor waited for."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from jaxgbg.arena.game_records import TournamentFolder, TournamentSettings
from jaxgbg.arena.group_play import GroupGames
from jaxgbg.evaluation import Protocol
from jaxgbg.runs import Result
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.checkpoints import Checkpoint, Checkpoints
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.latest_agent import latest_file, read_latest
from jaxgbg.runs.storage.locks import at_work, killed, only_here
from jaxgbg.runs.storage.metrics import last_episodes
from jaxgbg.runs.storage.run_folder import RunFolder

RUN = preset("nim", seeds=(0,), episodes=300, eval_every=100)
SPARSE = 30 * 10**9
LEAVES = [np.arange(12, dtype=np.float32)]


def tree(root: Path) -> dict:
    """All that lies below a folder: kinds, links, contents."""
    return {
        path.relative_to(root): (
            path.lstat().st_mode,
            os.readlink(path) if path.is_symlink() else "",
            path.read_bytes() if path.is_file() and not path.is_symlink() else b"",
        )
        for path in root.rglob("*")
    }


def pipe(path: Path, _victim: Path) -> None:
    os.mkfifo(path)


KINDS = {
    "link": lambda path, victim: path.symlink_to(victim),
    "dangling link": lambda path, victim: path.symlink_to(victim.with_name("nowhere")),
    "pipe": pipe,
    "folder": lambda path, _victim: path.mkdir(),
}


@pytest.fixture
def victim(tmp_path):
    """A file of somebody else's."""
    path = tmp_path / "elsewhere" / "thesis.txt"
    path.parent.mkdir()
    path.write_text("years of work")
    return path


@pytest.fixture
def folder(tmp_path):
    """The folder of a run that has begun."""
    made = RunFolder(tmp_path / "runs", RUN)
    made.begin()
    return made


def refused(folder: RunFolder, root: Path, complaint: str) -> None:
    before = tree(root)
    with pytest.raises(ValueError, match=complaint):
        folder.begin()
    assert tree(root) == before


OTHERS = (".work.tmp", "sub/.work.tmp", ".config.json.1.tmp", "agents/.seed0-farl.agent.1.tmp")


@pytest.mark.parametrize("linked", [False, True])
def test_a_folder_of_somebody_else_is_refused_and_nothing_in_it_touched(tmp_path, linked):
    run = RunFolder(tmp_path / "runs", RUN)
    place = tmp_path / "home" if linked else run.path
    for name in ("letter.txt", *OTHERS):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("not ours")
    if linked:
        run.path.parent.mkdir()
        run.path.symlink_to(place)
    refused(run, tmp_path, "holds something else")


def test_a_folder_of_another_run_is_refused_and_nothing_in_it_touched(tmp_path):
    other = RunFolder(tmp_path / "runs", preset("nim", seeds=(0,), episodes=301, eval_every=100))
    other.begin()
    for name in OTHERS:
        (other.path / name).parent.mkdir(exist_ok=True)
        (other.path / name).write_text("not ours")
    run = RunFolder(tmp_path / "runs", RUN)
    other.path.rename(run.path)
    refused(run, tmp_path, "is of another run than its folder")


def test_only_files_of_our_own_names_are_cleared_away(folder, victim):
    place = folder.path
    own = [".config.json.4711.tmp", ".summary.json.12.tmp", "agents/.seed0-farl.agent.9.tmp"]
    others = [
        ".letter.tmp",
        ".config.json.tmp",
        ".config.json.x.tmp",
        ".notes.json.4711.tmp",
        "config.json.4711.tmp",
        "agents/.seed1-farl.agent.9.tmp",
        "sub/.config.json.1.tmp",
    ]
    (place / "sub").mkdir()
    (place / ".config.json.5.tmp").symlink_to(victim)
    (place / ".config.json.6.tmp").mkdir()
    before = tree(place)
    for name in (*own, *others):
        (place / name).write_text("half")
    folder.begin()
    after = tree(place)
    assert set(after) == {*before, *map(Path, others)}
    assert victim.read_text() == "years of work"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", ["provenance.json", "metrics.jsonl", "histograms.json", "agents/seed0-farl.agent"]
)
def test_what_stands_in_the_place_of_a_file_of_a_run_is_named_and_stays(
    folder, victim, tmp_path, name, kind
):
    path = folder.path / name
    path.unlink(missing_ok=True)
    KINDS[kind](path, victim)
    refused(folder, tmp_path, f"{name} is (a link, )?not a regular file: move it away")
    if name == "metrics.jsonl":
        with pytest.raises(ValueError, match="not a regular file"):
            folder.append(Result(0, "farl", 100, "maxn", 0.5, 20))
        assert last_episodes(path) == 0


def test_agents_are_not_written_through_a_link(folder, victim, tmp_path):
    shutil.rmtree(folder.path / "agents")
    (folder.path / "agents").symlink_to(victim.parent)
    refused(folder, tmp_path, "agents is a link")


@pytest.mark.parametrize("kind", [*KINDS, "file"])
def test_what_stands_in_the_place_of_a_lock_is_named_and_stays(folder, victim, tmp_path, kind):
    lock = folder.path.with_name(f".{folder.path.name}.lock")
    if kind == "file":
        lock.write_text("somebody's notes")
    else:
        KINDS[kind](lock, victim)
    before = tree(tmp_path)
    with pytest.raises(ValueError, match="is not a lock of jaxgbg"), only_here(folder):
        raise AssertionError("somebody else's file is taken for a lock")
    assert not at_work(folder.path)
    assert not killed(folder.path)
    assert tree(tmp_path) == before


def test_a_lock_that_a_killed_process_left_is_taken_over(folder):
    lock = folder.path.with_name(f".{folder.path.name}.lock")
    lock.touch()
    assert killed(folder.path)
    with only_here(folder):
        assert at_work(folder.path)
        assert not killed(folder.path)
    assert not lock.exists()


@pytest.fixture
def kept(tmp_path):
    """Checkpoints in a folder of their own, with none yet."""
    checkpoints = Checkpoints(tmp_path / "checkpoints", "a", 0.0)
    yield checkpoints
    checkpoints.close()


def save(kept: Checkpoints, times: int = 1) -> None:
    for _ in range(times):
        kept.save(Checkpoint(LEAVES, 1, 1.0, [(0, "ab")]), wait=True)


def test_of_a_folder_of_checkpoints_our_own_alone_are_deleted(kept, tmp_path):
    place = kept.folder
    place.mkdir()
    others = {
        "letter.txt": b"not ours",
        "1.checkpoint": b"of another program",
        "02.checkpoint": b"x",
        "notes.damaged": b"x",
        "3.checkpoint.old": b"x",
        "sub/5.checkpoint": b"x",
    }
    (place / "sub").mkdir()
    for name, content in others.items():
        (place / name).write_bytes(content)
    theirs = Checkpoints(tmp_path / "b", "b", 0.0)
    save(theirs)
    theirs.close()
    others["2.checkpoint"] = (tmp_path / "b" / "1.checkpoint").read_bytes()
    (place / "2.checkpoint").write_bytes(others["2.checkpoint"])
    before = tree(place)
    # The oldest make room for new ones, but for those of others.
    save(kept, 4)
    assert {"5.checkpoint", "6.checkpoint"} < {path.name for path in place.iterdir()}
    assert not (place / "3.checkpoint").exists()
    kept.remove()
    assert tree(place) == before


def test_a_folder_of_checkpoints_that_is_a_link_stays(tmp_path):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "checkpoints").symlink_to("scratch")
    kept = Checkpoints(tmp_path / "checkpoints", "a", 0.0)
    save(kept)
    before = sorted(path.name for path in (tmp_path / "scratch").iterdir())
    kept.remove()
    assert before == ["1.checkpoint"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["checkpoints", "scratch"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "zeros", "padded"])
def test_what_is_no_checkpoint_is_not_waited_for_nor_read_whole(kept, victim, capsys, kind):
    save(kept, 2)
    newest = kept.folder / "2.checkpoint"
    if kind in KINDS:
        newest.unlink()
        KINDS[kind](newest, victim)
    elif kind == "zeros":
        newest.write_bytes(b"")
    if kind in ("zeros", "padded"):
        # Of 30 GB no block is taken.
        os.truncate(newest, SPARSE)
    before = newest.lstat()
    assert kept.restore(LEAVES) is not None
    assert "is damaged and left out" in capsys.readouterr().err
    aside = kept.folder / "2.checkpoint.damaged"
    assert (aside.lstat().st_mode, aside.lstat().st_size) == (before.st_mode, before.st_size)
    kept.remove()
    # Pipes and folders are none of ours.
    assert aside.exists() == (kind in KINDS)
    assert not (kept.folder / "1.checkpoint").exists()


@pytest.mark.parametrize("kind", ["pipe", "zeros"])
def test_who_watches_does_not_wait_for_what_is_no_checkpoint(folder, victim, kind):
    place = folder.path / "checkpoints"
    place.mkdir()
    path = place / "1.checkpoint"
    if kind == "pipe":
        KINDS[kind](path, victim)
    else:
        path.touch()
        os.truncate(path, SPARSE)
    assert latest_file(folder.path, RUN) == path
    with pytest.raises(ValueError, match=r"1\.checkpoint is damaged"):
        read_latest(path, RUN)


@pytest.mark.parametrize("kind", KINDS)
def test_games_of_a_tournament_are_not_written_elsewhere(victim, tmp_path, kind):
    settings = TournamentSettings(RUN.game, Protocol("random_plies", count=1, plies=0), 0)
    made = TournamentFolder(tmp_path / "cup", settings)
    made.path.mkdir()
    left = made.path / ".tournament.json.4711.tmp"
    left.write_text("{")
    made.check()
    games = GroupGames(np.array([[0, 1]]), np.array([[[1.0, -1.0]]]), np.array([0]))
    made.append(["a", "b"], ["a", "b"], games)
    assert not left.exists()
    path = made.path / "games.jsonl"
    path.unlink()
    KINDS[kind](path, victim)
    before = tree(tmp_path)
    with pytest.raises(ValueError, match="not a regular file"):
        made.check()
    with pytest.raises(ValueError, match="not a regular file"):
        made.append(["a", "b"], ["a", "b"], games)
    assert tree(tmp_path) == before


def test_a_file_is_not_written_through_what_has_the_name_of_its_temporary_one(victim, tmp_path):
    link = tmp_path / f".rows.json.{os.getpid()}.tmp"
    link.symlink_to(victim)
    write_json(tmp_path / "rows.json", [1])
    assert victim.read_text() == "years of work"
    assert link.is_symlink()
    assert (tmp_path / "rows.json").read_text() == "[\n 1\n]\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["elsewhere", link.name, "rows.json"]
    )
