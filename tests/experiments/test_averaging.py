"""Averaged weights: tables are those of kept figures, the study's own and ConnectFour's."""

import json
from pathlib import Path

import pytest

from experiments.averaging import connectfour, run
from experiments.shared import Section
from tests.experiments.pages import pages_of

HERE = Path(run.__file__).parent
NAMES = (connectfour.NETWORKS, "matches")


@pytest.mark.figures
def test_kept_figures_of_averaged_weights_are_those_of_the_script() -> None:
    kept = json.loads((HERE / "figures.json").read_text())
    for row in kept:
        scale = float(row["command"].split("--scale ")[1].split()[0])
        again = run.run_of(row["game"], row["condition"], scale, row["n"])
        assert (row["config"], row["episodes"]) == (again.digest, again.schedule.episodes)
        assert row["mean"] == pytest.approx(sum(row["per_seed"]) / row["n"], abs=1e-4)
    assert "\n".join(run.table_of(kept)) in pages_of("averaging")


@pytest.mark.figures
def test_means_of_connectfour_are_those_of_its_kept_networks() -> None:
    kept = [Section(connectfour.STUDY, name).read() for name in NAMES]
    assert "\n".join(connectfour.table_of(*kept)) in pages_of("averaging")


def test_means_are_compared_network_by_network() -> None:
    about = {"condition": "base", "episodes": 100}
    networks = [
        {**about, "config": name, "last": {"10": 0.1, "100": 0.8}, "mean": {"100": mean}}
        for name, mean in (("a", 0.82), ("b", 0.79))
    ]
    wins = {("a", "last"): 100, ("a", "mean"): 90}
    met = [
        {"config": config, "weights": weights, "opponent": "ab-dl", "wins": count}
        for (config, weights), count in wins.items()
    ]
    lines = connectfour.table_of(networks, met)[2:]
    told = "2 | 80.0 ± 0.0 | 80.5 ± 1.5 | +0.50 ± 1.50 | 1, 1 | 1 | -10.0 | 0, 1 |"
    names = [("100", "base"), ("100", "**all**"), ("all", "**all**")]
    assert lines == [f"| {episodes} | {name} | {told}" for episodes, name in names]
    # A condition of one network has no row of its own.
    assert len(connectfour.table_of(networks[:1], met)) == 4
