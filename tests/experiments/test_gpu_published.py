"""Full budgets on a GPU: no agent is judged twice or lost, no error stops the rest."""

import dataclasses
import json
import math
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from experiments.gpu import connectfour_list, game2048, judging, published
from experiments.gpu.records import Records, Task
from jaxgbg.runs import LaneName
from jaxgbg.runs.presets import preset
from tests.experiments.pages import pages_of

HERE = {"device": "a test"}
LAYOUT = ((0, 1, 2, 3), (0, 6, 12, 18), (0, 7, 14, 21))
LANES = (LaneName(0, "none"), LaneName(1, "farl"))


def records_in(folder: Path) -> Records:
    return Records(folder / judging.FILE, HERE, judging.KEY)


def match(seed: int, episodes: int, score: float, **fields: object) -> dict[str, object]:
    common = {"what": "match", "game": "connectfour", "opponent": "ab", "variant": "farl"}
    return common | {"seed": seed, "episodes": episodes, "score": score, "games": 40} | fields


def leave(work: Path, episodes: int, lanes: tuple[LaneName, ...] = LANES) -> None:
    for lane in lanes:
        np.save(work / connectfour_list.job_name(episodes, lane), np.full(3, lane.seed))


class Fake:
    """A training that finishes ten episodes in every chunk."""

    episodes = 100

    def __init__(self) -> None:
        self.finished = np.zeros(2, int)

    def advance(self, limit: int) -> None:
        self.finished = np.minimum(self.finished + 10, limit)


def test_every_agent_is_claimed_once_those_trained_longest_first(tmp_path):
    leave(tmp_path, 100)
    leave(tmp_path, 5_000_000)
    (tmp_path / ".5000000-farl-1.npy.tmp").touch()
    names = []
    while (job := judging.claimed(tmp_path)) is not None:
        names.append(connectfour_list.read_job(job[0]))
        assert job[1].tolist() == [names[-1][1].seed] * 3
    farl_first = LANES[::-1]
    assert names == [(episodes, lane) for episodes in (5_000_000, 100) for lane in farl_first]


def test_the_time_is_asked_between_chunks_and_the_last_state_is_told(tmp_path):
    def states(seconds: float) -> list[tuple[int, str]]:
        task = Task(tmp_path, (), 1.0, time.time() + seconds)
        marks = connectfour_list.train_to_marks(Fake(), (0.25, 1.0), lambda: task.left() < 0)
        return [*marks]

    assert states(60) == [(25, "going on"), (100, "done")]
    assert states(-1) == [(0, "stopped")]


def test_judges_go_on_after_an_error_and_end_when_no_agent_will_come(tmp_path, monkeypatch):
    def judge_one(run, name, weights, judges, records):
        if weights[0]:
            raise RuntimeError("broken")
        records.add(match(0, 100, 1.0))

    monkeypatch.setattr(judging, "judge_one", judge_one)
    monkeypatch.setattr(judging, "judges_of", lambda *_: {"ab": None})
    leave(tmp_path, 100)
    (tmp_path / judging.NO_MORE).touch()
    records = records_in(tmp_path)
    judging.judge_all(tmp_path, None, records, time.time() + 60)
    assert records.errors == ["000000100-farl-1.npy: RuntimeError: broken"]
    assert len(records.results) == 1


def test_an_opponent_that_is_missing_leaves_the_others(tmp_path, monkeypatch):
    def judge_by(name, game, protocol):
        if name == "ab":
            raise RuntimeError("not here")
        return name, protocol

    monkeypatch.setattr(judging, "judge_by", judge_by)
    records = records_in(tmp_path)
    judges = judging.judges_of(preset("connectfour"), records)
    assert [*judges] == ["ab-dl-gbg", "ab-dl"]
    assert {(each[1].repeats, each[1].seats) for each in judges.values()} == {(40, (0,))}
    assert records.errors == ["ab: RuntimeError: not here"]


def test_the_runs_are_the_paper_s():
    run, paper = connectfour_list.run_of(LAYOUT, 1.0), preset("connectfour")
    assert (run.learner, run.schedule, run.variants) == (
        paper.learner,
        paper.schedule,
        paper.variants,
    )
    assert (len(run.seeds), run.value.layout, run.schedule.batch) == (10, LAYOUT, 64)
    own, paper = game2048.run_of(1.0), preset("2048")
    schedule = dataclasses.replace(own.schedule, batch=paper.schedule.batch)
    assert (own.learner, own.value, schedule) == (paper.learner, paper.value, paper.schedule)
    assert own.evaluation == paper.evaluation


def test_the_last_fifth_has_the_evaluations_of_the_published_run():
    marks = [round(5_000_000 * mark) for mark in connectfour_list.MARKS]
    assert marks[-10:] == [*range(4_100_000, 5_000_001, 100_000)]
    assert 5 * marks[-11] <= 4 * 5_000_000


def test_the_table_has_the_last_fifth_and_the_paper_s_figure():
    scores = {0: 0.98, 1: 0.99, 2: 0.97}
    late = [match(seed, at, score) for seed, score in scores.items() for at in (900, 1000)]
    early = [match(seed, 800, -1.0) for seed in scores]
    (row,) = [*published.table(late + early)][2:]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:6] == ["connectfour", "ab", "farl", "3", "2", "99.0 ± 0.3"]
    assert cells[-2:] == ["99.0 ± 1.0", "meets the paper's"]


@pytest.mark.figures
def test_the_page_has_the_table_of_the_kept_file(capsys):
    kept = Path(published.__file__).parent / judging.FILE
    published.main(["--show", str(kept)])
    assert capsys.readouterr().out in pages_of("gpu")


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (94, 96.9, "apart"),
        (94, 97, "meets the paper's"),
        (101, 102, "meets the paper's"),
        (101.1, 102, "apart"),
        (math.nan, math.nan, "-"),
    ],
)
def test_intervals_that_meet(low, high, told):
    assert published.outcome(low, high, (99.0, 1.0)) == told


def test_a_layout_is_a_list_or_one_of_several_games(tmp_path):
    path = tmp_path / "layout.json"
    for content in (LAYOUT, {"ConnectFour": {"tuples": LAYOUT}, "source": "x"}):
        path.write_text(json.dumps(content))
        assert connectfour_list.layout_of(path) == LAYOUT


@pytest.mark.slow
def test_it_runs_whole_and_what_breaks_does_not_stop_the_rest(tmp_path, monkeypatch):
    pytest.importorskip("bitbully")

    def broken(task, records):
        raise RuntimeError("no memory")

    # Other tests have used JAX in this process before.
    monkeypatch.setattr(published, "prepare_jax", lambda: None)
    monkeypatch.setattr(game2048, "measure", broken)
    monkeypatch.setattr(connectfour_list, "MARKS", (1.0,))
    # The judges know two seeds.
    monkeypatch.setattr(connectfour_list, "FEW_SEEDS", 1)
    path = tmp_path / "layout.json"
    path.write_text(json.dumps(LAYOUT))
    options = SimpleNamespace(
        layout=path, out=tmp_path, scale=0.00001, seconds=600.0, games=published.GAMES
    )
    with pytest.raises(SystemExit) as stopped:
        published.measure(options)
    assert stopped.value.code == 1
    content = json.loads((tmp_path / judging.FILE).read_text())
    assert content["errors"] == ["2048: RuntimeError: no memory"]
    trained = [one for one in content["results"] if one["what"] == "training"]
    assert [(one["episodes"], one["state"]) for one in trained] == [(50, "done")]
    assert all(active > 0 for one in trained for active in one["active_weights"])
    met = [one for one in content["results"] if one["what"] == "match"]
    names = {(one["episodes"], one["seed"], one["variant"], one["opponent"]) for one in met}
    assert len(names) == len(met) == 2 * 3
    assert {one["games"] for one in met} == {40}
    assert content["machines"][0].keys() >= {"device", "versions", "revision", "source"}
