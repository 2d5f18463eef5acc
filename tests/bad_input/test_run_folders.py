"""Runs on disk with something wrong inside: each is named in a line, and costs itself alone."""

import json
import shutil
import sys

import numpy as np
import pytest

from jaxgbg.runs import RunFolder

from .cases import Case, run_case
from .files import EVALUATION, FOLDER, SUMMARY, config, part, run, run_files

DEEP = b"[" * 100_000


def named(**replaced):
    """A run that is shown all the same."""
    return run_files(**replaced), True


def lost(**replaced):
    """A run that is left out."""
    return run_files(**replaced), False


# The files of a run, whether the run is shown all the same, and what is said.
RUNS = {
    "a summary of another kind": (named(summary={"a": 1}), "summary.json: no episodes, moves"),
    "a summary that is a list": (named(summary=[1]), "summary.json: not a JSON object"),
    "a summary that is empty": (named(summary=b""), "summary.json, line 1: not valid JSON"),
    "a summary cut short": (
        named(summary=b'{"episodes": 1'),
        "summary.json, line 1: not valid JSON",
    ),
    "a summary of brackets": (named(summary=DEEP), "summary.json: nested more than"),
    "diverged is a number": (named(summary=SUMMARY | {"diverged": 3}), "diverged must be a list"),
    "diverged is a list of numbers": (
        named(summary=SUMMARY | {"diverged": [1, 2]}),
        "diverged must be a list",
    ),
    "agents beyond all numbers": (
        named(summary=SUMMARY | {"agents": [[0, "farl", 10**30, 1, 1, 1]]}),
        "agents must lie in",
    ),
    "agents that lost weights": (
        named(summary=SUMMARY | {"agents": [[0, "farl", 9, 1, 1, -1]]}),
        "agents must lie in",
    ),
    "agents that tell too little": (
        named(summary=SUMMARY | {"agents": [[0, "farl", 100]]}),
        "agents must be a list",
    ),
    "seconds are a word": (
        named(summary=SUMMARY | {"training_seconds": "x"}),
        "summary.json: training_seconds must be a number, not 'x'",
    ),
    "seconds beyond all numbers": (
        named(summary=json.dumps(SUMMARY).replace("1.5", "1e999").encode()),
        "training_seconds must",
    ),
    "moves beyond all numbers": (named(summary=SUMMARY | {"moves": 10**400}), "moves must"),
    "a provenance that is a list": (named(provenance=[1]), "provenance.json: not a JSON object"),
    "a command that is a word": (named(provenance={"command": "x"}), "command must be a list"),
    "versions that are a word": (named(provenance={"versions": "x"}), "versions must be"),
    "a device that is a number": (named(provenance={"devices": [1]}), "devices must be text"),
    "half a character": (named(provenance=b'{"started": "\\ud800"}'), "invalid Unicode"),
    "histograms of lists": (named(histograms=[[]]), "histograms.json: not a JSON object"),
    "histograms of numbers": (named(histograms={"weights": 3}), "must be a table, not 3"),
    "histograms of no bins": (
        named(histograms={"weights": {"edges": [], "agents": []}}),
        "edges must be two or more",
    ),
    "histograms of fewer bins": (
        named(
            histograms={
                "weights": {
                    "edges": [0, 1, 2],
                    "agents": [{"seed": 0, "variant": "farl", "counts": [1]}],
                }
            }
        ),
        "counts must be one for each of 2 bins",
    ),
    "a score beyond all numbers": (
        named(metrics=json.dumps(EVALUATION | {"score": 10**400}).encode()),
        "metrics.jsonl, line 1: score is out of range",
    ),
    "an infinite score": (
        named(metrics=json.dumps(EVALUATION).replace("0.5", "1e999").encode()),
        "score is out of range",
    ),
    "a score that is no number": (
        named(metrics=json.dumps(EVALUATION | {"score": np.nan}).encode()),
        "NaN is not a JSON number",
    ),
    "wins of more than all games": (
        named(metrics=json.dumps(EVALUATION | {"wins": 7}).encode()),
        "wins is out of range",
    ),
    "episodes beyond all numbers": (
        named(metrics=json.dumps(EVALUATION | {"episodes": 2**63 - 1}).encode()),
        "episodes is out of range",
    ),
    "a config of brackets": (lost(config=DEEP), "config.json: nested more than"),
    "a config of other seeds": (lost(config=config(seeds=[7])), "config.json: of another run"),
    "a config of a number": (lost(config=b"3"), "config.json: not a JSON object"),
    "a config of a batch of 10^30": (
        lost(config=part("schedule", batch=10**30)["run"]),
        "config.json: batch must",
    ),
    "a config with a list for a fingerprint": (
        lost(config=config(fingerprint=[1])),
        "config.json: fingerprint must be text",
    ),
}  # fmt: skip


# Nothing but a report asks for what these files hold.
ONLY_REPORTED = {
    kind for kind in RUNS
    if kind.startswith(("a provenance", "a command", "versions", "a device", "half"))
}  # fmt: skip


def beside_a_good_one(here, files):
    """Write a run's files, and those of the same run, whole, into another folder."""
    whole = {f"good/{name.removeprefix('runs/')}": text for name, text in run_files().items()}
    for name, content in {**files, **whole}.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_bytes(content)


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("command", ["report", "results", "query"])
def test_one_bad_run_is_named_and_the_rest_goes_on(kind, command, here, jaxgbg):
    (files, kept), line = RUNS[kind]
    beside_a_good_one(here, files)
    arguments = {
        "report": ("report", ".", "--out", "page.html"),
        "results": ("results", "."),
        "query": ("results", ".", "--sql", "select folder, mean from summary"),
    }[command]
    code, out, err = jaxgbg(*arguments)
    assert code == 0, err
    if kind in ONLY_REPORTED and command != "report":
        assert err == ""
        return
    assert err.count("\n") == 1, err
    assert err.startswith("jaxgbg: runs/tictactoe-")
    assert line in err
    if command == "report":
        assert ("2 runs" if kept else "1 run,") in out


def test_several_bad_runs_are_a_line_each(here, jaxgbg):
    for number, ((files, _), _) in enumerate(RUNS.values()):
        for name, content in files.items():
            path = here / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    code, _, err = jaxgbg("report", ".", "--out", "page.html")
    assert code == 0
    assert err.count("\n") == len(RUNS), err
    assert {line.split("/")[0] for line in err.splitlines()} == {
        f"jaxgbg: {number}" for number in range(len(RUNS))
    }


@pytest.mark.parametrize(
    ("replaced", "line"),
    [
        ({"summary": {"a": 1}}, "summary.json: no episodes"),
        ({"summary": [1]}, "summary.json: not a JSON object; delete this file"),
        ({"summary": b""}, "summary.json, line 1: not valid JSON"),
        ({"summary": b'{"episodes": 1'}, "summary.json, line 1: not valid JSON"),
        ({"summary": SUMMARY | {"diverged": 3}}, "diverged must be a list"),
        ({"summary": SUMMARY | {"training_seconds": "x"}}, "training_seconds must be a number"),
        ({"config": DEEP}, "config.json: nested more than"),
        ({"config": b"[1]"}, "config.json: not a JSON object"),
        ({"config": {**config(), "seeds": [7]}}, "seeds differs"),
        ({"metrics": b"[1]\n"}, "metrics.jsonl, line 1: not a JSON object"),
        ({"metrics": b"{"}, "metrics.jsonl, line 1: not valid JSON"),
    ],
)
def test_the_same_command_again_says_what_is_wrong_in_the_folder(replaced, line, here, jaxgbg):
    command = "train tictactoe --seeds 1 --episodes 100 --eval-every 50 --out runs"
    case = Case(command, f"^jaxgbg: runs/.*{line}", run_files(**replaced))
    assert run_case(case, here, jaxgbg) == ("", [])


def test_no_evaluation_is_kept_where_the_summary_is_damaged(trained, here, jaxgbg):
    (whole,) = (trained / "small").glob("nim-*")
    shutil.copytree(whole, here / "run")
    (here / "run" / "summary.json").write_text("{")
    before = (here / "run" / "metrics.jsonl").read_bytes()
    case = Case("eval run --keep", "summary.json, line 1: not valid JSON.*train again")
    assert run_case(case, here, jaxgbg) == ("", [])
    assert (here / "run" / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("replaced", "line"),
    [
        ({"config": DEEP}, "config.json.*nested more than"),
        ({"config": b'"tictactoe"'}, "config.json.*must be a table"),
        ({"config": b""}, "config.json.*not valid JSON"),
    ],
)
def test_a_folder_with_a_bad_config_is_not_opened(replaced, line, here):
    beside_a_good_one(here, run_files(**replaced))
    with pytest.raises(ValueError, match=line) as caught:
        RunFolder.open(FOLDER.format(digest=run().digest))
    assert "\n" not in str(caught.value)


def test_an_agent_that_a_run_has_lost_is_named(trained, here, jaxgbg):
    (run,) = (trained / "small").glob("nim-*")
    shutil.copytree(run, here / "lost")
    (here / "lost" / "agents" / "seed1-farl.agent").unlink()
    complaint = r"lost/agents/seed1-farl.agent: No such file, though the run has it"
    for command in ("eval lost", "tournament random lost", "ensemble joined.agent lost"):
        assert run_case(Case(command, complaint), here, jaxgbg) == ("", [])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 elsewhere")
def test_a_folder_whose_name_is_no_utf8_does_not_stop_the_report(trained, here, jaxgbg):
    shutil.copytree(trained / "small", here / "runs" / "\udcff")
    code, _, err = jaxgbg("report", "runs", "--out", "x.html")
    assert code == 0, err
    assert "\\udcff" in (here / "x.html").read_text()
