"""`show`: what is published of a game, and what a training of it takes here."""

import dataclasses
import json
import re

import pytest

from jaxgbg.cli.commands import COMMANDS
from jaxgbg.games import game_names, make
from jaxgbg.players import MissingExtra
from jaxgbg.runs.presets import preset
from jaxgbg.runs.settings import settings

_WITHOUT = ("seeds", "variants", "protocols", "images")


@pytest.fixture(autouse=True)
def no_pilot(monkeypatch):
    timed = []
    monkeypatch.setattr(
        "jaxgbg.sweeps.estimate.expected_seconds",
        lambda units: timed.append(units) or [7200.0] * len(units),
    )
    return timed


def test_every_setting_of_train_is_told_with_its_published_value(jaxgbg, tmp_path, no_pilot):
    code, out, _ = jaxgbg("show", "connectfour", "--json", tmp_path / "x.json")
    assert code == 0
    told = dict(re.findall(r"^--([\w-]+) +(\S.*?)? *$", out, re.M))
    run = preset("connectfour")
    assert told["alpha"] == "3.7"
    assert told["tcl"] == "exp"
    assert told["episodes"] == "5,000,000"
    assert told["eval-every"] == "100,000"
    assert told["opponents"] == " ".join(run.evaluation.opponents)
    kinds = {run.value.kind, run.learner.kind}
    here = {s.short for s in settings().values() if not s.kinds or kinds & set(s.kinds)}
    assert {name.replace("-", "_") for name in told} == here - set(_WITHOUT)
    for words in ("Konen & Bagheri 2021", "opponent  ab: ", "99 ± 1", "MB for 1 agent"):
        assert words in out
    assert "expected: 2.0 h for 1 agent on" in out
    assert json.loads((tmp_path / "x.json").read_text())[-1]["value"] == 7200
    ((unit,),) = no_pilot
    assert unit.runs[0].variants == ("farl",)


def test_settings_are_shown_without_the_extra_that_training_needs(jaxgbg, tmp_path, monkeypatch):
    def missing(units):
        raise MissingExtra("this opponent needs bitbully: pip install 'jaxgbg[connectfour]'")

    monkeypatch.setattr("jaxgbg.sweeps.estimate.expected_seconds", missing)
    code, out, err = jaxgbg("show", "connectfour", "--json", tmp_path / "x.json")
    assert (code, err) == (0, "")
    assert out.endswith("needs bitbully: pip install 'jaxgbg[connectfour]'\n")
    records = json.loads((tmp_path / "x.json").read_text())
    assert "schedule.episodes" in {record["setting"] for record in records}


UNPUBLISHED = (
    "lines_of_action", "pig", "ewn", "sim", "yavalath", "chinese_checkers", "maedn", "backgammon"
)  # fmt: skip


def test_train_shows_the_run_that_it_would_train(jaxgbg, tmp_path):
    arguments = ("nim", "--episodes", 500, "--alpha", 2, "--seeds", 3, "--no-farl")
    code, shown, _ = jaxgbg("train", *arguments, "--show", "--out", tmp_path / "runs")
    assert code == 0
    assert "500 episodes of each agent, 10 evaluations" in shown
    assert re.search(r"--alpha +2\b", shown)
    assert "3 agents" in shown
    assert not (tmp_path / "runs").exists()
    assert jaxgbg("show", *arguments)[1] == shown
    assert "expected" not in jaxgbg("show", *arguments, "--no-time")[1]


def test_every_game_can_be_shown(jaxgbg):
    for name in game_names():
        code, out, err = jaxgbg("show", name, "--no-time")
        assert (code, err) == (0, "")
        assert ("no paper has any" in out) == (name in UNPUBLISHED)
        (memory,) = re.findall(r"^memory +([\d,.]+) [kMG]B for 1 agent$", out, re.MULTILINE)
        assert float(memory.replace(",", "")) >= 1


def test_the_papers_figures_are_shown_for_the_papers_game_alone(jaxgbg):
    assert "paper  " in jaxgbg("show", "nim3p", "--no-time")[1]
    code, out, _ = jaxgbg("show", "nim3p", "--parameters", "players=4", "--no-time")
    assert code == 0
    assert "4 players" in out
    assert not re.search(r"^(paper|later) ", out, re.MULTILINE)


def test_the_help_names_all_games_that_have_a_size(jaxgbg):
    text = re.sub(r"[│\s]+", " ", jaxgbg("show", "--help")[1])
    (named,) = re.findall(r"Size of the board \((.+?)\), or of each heap \((.+?)\)", text)
    named = {name for names in named for name in names.split(", ")}
    sized = {name for name in game_names() if "size" in dataclasses.asdict(make(name))}
    assert named == sized


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_no_empty_default_and_no_python_type(jaxgbg, command):
    code, out, err = jaxgbg(command, "--help")
    assert (code, err) == (0, "")
    assert not re.findall(r"\(default: (?:None|''|)\)|\{None\}|\[\[|--\w+ STR\b", out)
    # No gap between paragraphs that is wider than the others.
    assert "\n\n\n" not in out


def test_help_breaks_lines_at_the_edge_alone(jaxgbg, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    _, out, _ = jaxgbg("sweep", "--help")
    assert "racing keeps those not significantly worse than the best. tpe trains only as" in out
    assert "at 1/8, 1/4 and 1/2 of the episodes; racing" in out


def test_help_does_not_say_sixty_times_where_values_are_told(jaxgbg):
    code, out, _ = jaxgbg("train", "--help")
    assert code == 0
    assert out.count("published settings") == 1
    assert "jaxgbg show GAME" in out
