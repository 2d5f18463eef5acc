"""FARL in borrowed games: forecasts are what the known games say, results are of today's runs."""

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.borrowed_games import forecast, run
from jaxgbg import RunFolder
from tests.experiments.pages import pages_of

HERE = Path(run.__file__).parent


def kept(name: str) -> dict:
    return json.loads((HERE / name).read_text())


def test_a_line_foretells_what_lies_on_it():
    x = np.array([0.0, 0.25, 0.5, 1.0])
    predicted = forecast.forecast(x, 0.1 + 0.6 * x, 0.75)
    assert predicted == {"gain": 0.55, "low": 0.55, "high": 0.55, "word": "much"}


def test_the_interval_is_wider_where_less_is_known():
    x, y = np.linspace(0, 1, 9), np.array([0, 0.2, 0, 0.2, 0.4, 0.2, 0.6, 0.5, 0.4])
    widths = []
    for at in (0.5, 1.0):
        predicted = forecast.forecast(x, y, at)
        widths.append(predicted["high"] - predicted["low"])
    assert 0 < widths[0] < widths[1]


@pytest.mark.parametrize(
    ("gain", "expected"),
    [(0.9, "much"), (0.5, "much"), (0.49, "some"), (0.1, "little"), (-1, "little")],
)
def test_words_have_bounds(gain, expected):
    assert forecast.word(gain) == expected


def test_agreement_asks_for_the_word_and_the_interval():
    predicted = {"gain": 0.4, "low": 0.1, "high": 0.45, "word": "some"}
    assert run.agreement({"gain": {"mean": 0.3}}, predicted) == "yes"
    assert run.agreement({"gain": {"mean": 0.1}}, predicted) == "no"
    assert run.agreement({"gain": {"mean": 0.48}}, predicted) == "yes, outside its interval"
    assert run.agreement({"gain": {"mean": 0.9}}, predicted) == "no, outside its interval"


def test_words_of_a_gain_say_what_its_interval_leaves_open():
    assert run.words({"mean": 0.9, "low": 0.6, "high": 1.0}) == "much"
    assert run.words({"mean": 0.1, "low": -0.3, "high": 0.6}) == "little (little to much)"


def test_errors_are_distances_from_the_gains(monkeypatch):
    monkeypatch.setattr(run, "known_games", lambda: [{"gain": 0.2}, {"gain": 0.4}])
    results = {"a": {"gain": {"mean": 0.5}}, "b": {"gain": {"mean": 0.2}}}
    predicted = [{"gain": 0.7}, {"gain": 0.9}]
    forecasts = {
        game: {"forecast": dict(zip(forecast.MEASURES, predicted, strict=True))} for game in "ab"
    }
    said = run.errors(results, forecasts)
    assert said.endswith("forecast 0.35, rival 0.55, the known games' mean for all 0.15.")


@pytest.mark.figures
def test_kept_forecasts_follow_from_their_measures():
    known = forecast.known_games()
    gains = np.array([one["gain"] for one in known])
    predicted = kept("forecast.json")
    assert predicted.keys() == forecast.EPISODES.keys()
    for one in predicted.values():
        for name in forecast.MEASURES:
            x = np.array([other[name] for other in known])
            again = forecast.forecast(x, gains, one["random"][name])
            # The measures are kept to four digits.
            assert again["word"] == one["forecast"][name]["word"]
            for bound in ("gain", "low", "high"):
                assert again[bound] == pytest.approx(one["forecast"][name][bound], abs=2e-3)


@pytest.mark.figures
def test_kept_results_are_told_as_the_scripts_tell_them():
    predicted, results = kept("forecast.json"), kept("results.json")
    assert len(results) >= 5
    assert results.keys() <= predicted.keys()
    readme = pages_of("borrowed_games")
    for lines in (forecast.table(predicted), run.table(results, predicted)):
        assert "\n".join(lines) in readme
    assert run.errors(results, predicted) in readme
    for game, one in results.items():
        assert one["episodes"][-1] == forecast.EPISODES[game]
        lanes = forecast.SEEDS * len(forecast.VARIANTS)
        assert one["training"]["episodes"] == lanes * forecast.EPISODES[game]
        seeds = [np.array(one["against_random"][variant]) for variant in forecast.VARIANTS]
        assert all(scores.shape == (len(one["episodes"]), forecast.SEEDS) for scores in seeds)
        assert one["gain"]["mean"] == pytest.approx(np.mean(one["gain"]["per_seed"]), abs=1e-4)
        assert one["gain"]["mean"] == pytest.approx(np.mean(one["gain_by_seat"]), abs=1e-4)


@pytest.mark.slow
def test_it_is_foretold_trained_and_drawn(tmp_path, monkeypatch):
    pytest.importorskip("pgx")
    for script in (forecast, run):
        monkeypatch.setattr(script, "prepare_jax", lambda: None)
    monkeypatch.setattr(forecast, "POSITIONS", 40)
    monkeypatch.setattr(forecast, "CONTINUATIONS", 4)
    monkeypatch.setattr(forecast, "SEEDS", 2)
    monkeypatch.setattr(run, "MATCHES", 4)
    monkeypatch.setitem(forecast.EPISODES, "pgx:tic_tac_toe", 80)
    few = [
        "--games",
        "pgx:tic_tac_toe",
        "--out",
        f"{tmp_path / 'runs'}",
        "--results",
        f"{tmp_path}",
    ]
    forecast.main(few)
    run.main(few)
    predicted = json.loads((tmp_path / "forecast.json").read_text())["pgx:tic_tac_toe"]
    assert predicted["random"]["last_mover_loses"] == 0
    result = json.loads((tmp_path / "results.json").read_text())["pgx:tic_tac_toe"]
    assert len(result["gain"]["per_seed"]) == forecast.SEEDS
    assert RunFolder(tmp_path / "runs", forecast.run_of("pgx:tic_tac_toe")).finished
    assert (tmp_path / "gains.png").stat().st_size > 10_000
    # What stands there is not made again.
    (tmp_path / "results.json").write_text(json.dumps({"pgx:tic_tac_toe": result}))
    monkeypatch.setattr(run, "measured", lambda *_: pytest.fail("made again"))
    run.main(few)
