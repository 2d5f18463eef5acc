"""Training and sweeps from Python: progress, callbacks, and results that plot themselves."""

import pytest

import jaxgbg
from jaxgbg.runs import progress_bar as bars

TINY = {"episodes": 160, "eval_every": 80, "opponents": ["random"], "batch": 16}
SWEEP = {
    "game": "nim",
    "seeds": "0:2",
    "settings": TINY | {"variants": "farl"},
    "axes": {"trace_decay": [0.0, 0.25], "game.size": [3], "game.heaps": [2]},
}


def tiny(**changes):
    return jaxgbg.preset(jaxgbg.make("nim", heaps=2, size=3), seeds=[0], **TINY, **changes)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    return jaxgbg.sweep(SWEEP, tmp_path_factory.mktemp("swept"), progress=False)


@pytest.mark.slow
def test_a_run_is_shown_tells_its_callbacks_and_draws_its_curve(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bars, "LINE_SECONDS", 0.0)
    told = []
    run = jaxgbg.train(tiny(), tmp_path, callbacks=[told.append])
    assert told == run.results()
    assert "nim: 100%, " in capsys.readouterr().err.splitlines()[-1]
    picture = run.curve()
    assert picture._repr_png_().startswith(b"\x89PNG")
    text = picture.save(tmp_path / "curve.svg").read_text()
    assert "win rate" in text
    assert {"FARL", "no FARL"} <= set(text.replace(">", "<").split("<"))


def test_a_callback_stops_a_run_and_the_same_call_without_it_goes_on(tmp_path, capsys):
    def enough(result):
        raise jaxgbg.StopTraining(f"enough at {result.episodes}")

    stopped = jaxgbg.train(tiny(), tmp_path, callbacks=[enough], progress=False)
    assert stopped.stopped_early
    assert {result.episodes for result in stopped.results()} == {80}
    assert stopped.curve()._repr_png_()
    later = []
    done = jaxgbg.train(tiny(), tmp_path, callbacks=[later.append], progress=False)
    assert done.finished
    assert {result.episodes for result in later} == {160}
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_sweep_draws_and_tabulates_its_own_runs(swept, tmp_path):
    assert (swept.failures, swept.stopped, swept.saved) == ([], [], 0.0)
    # What else lies in the folder is not of this sweep.
    jaxgbg.train(tiny(alpha=0.125), swept.out, progress=False)
    assert [run.finished for run in swept.runs] == [True, True]
    assert [row.settings for row in swept.table().rows] == [
        {"trace_decay": 0.0},
        {"trace_decay": 0.25},
    ]
    text = swept.plot("trace_decay").save(tmp_path / "means.svg").read_text()
    assert "bars 95 % interval" in text
    assert "trace_decay" in text
    assert "episodes" in swept.plot().save(tmp_path / "curves.svg").read_text()
    with pytest.raises(ValueError, match="no run has a setting 'lamda'"):
        swept.plot("lamda")


@pytest.mark.slow
def test_a_sweep_as_a_data_frame(swept):
    pytest.importorskip("pandas")
    frame = swept.frame(baseline="trace_decay=0")
    assert list(frame["trace_decay"]) == [0.0, 0.25]
    assert list(frame["n"]) == [2, 2]


@pytest.mark.slow
def test_callbacks_of_a_sweep_are_called_here_alone(tmp_path):
    with pytest.raises(ValueError, match="executor inline, not processes"):
        jaxgbg.sweep(SWEEP, tmp_path, executor="processes", callbacks=[print])
    told = []
    jaxgbg.sweep(
        SWEEP | {"axes": {}},
        tmp_path,
        callbacks=[lambda run, result: told.append((run.game.name, result.episodes))],
        progress=False,
    )
    assert told == [("nim", 80)] * 2 + [("nim", 160)] * 2


@pytest.mark.slow
def test_a_unit_that_fails_is_told_and_kept(tmp_path, capsys):
    def broken(run, result):
        raise KeyError("mine")

    swept = jaxgbg.sweep(SWEEP | {"axes": {}}, tmp_path, callbacks=[broken], progress=False)
    (failure,) = swept.failures
    assert "mine" in failure.reason
    assert "a callback raised KeyError: 'mine'" in capsys.readouterr().err
