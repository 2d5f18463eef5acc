"""Table 1's kept runs against the curves of the paper's authors, which are no part of the project.

The files here are made up; none of their figures is the authors'.
"""

import json
import math
from pathlib import Path

import pytest

from experiments.archive import unpack
from experiments.shared import archived_runs
from experiments.table1 import report
from experiments.table1.authors import read_curves
from jaxgbg.runs.presets.konen2021 import FINAL_OPPONENTS

TABLE1 = Path(report.__file__).parent


def written(path: Path, **curves: object) -> Path:
    path.write_text(json.dumps({"curves": curves}))
    return path


def points(*logged: tuple[int, float, float]) -> dict[str, object]:
    """A curve of (episodes, mean, standard error)."""
    return {
        "points_mean_sem": [
            {"gameNum": episodes, "evalQ": [mean, error]} for episodes, mean, error in logged
        ]
    }


def beside(path: Path, run: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines printed of one kept run."""
    runs = path.parent / "runs"
    (archived,) = [each for each in archived_runs(TABLE1) if each.name == run]
    unpack([archived], runs)
    before = sorted(path.parent.rglob("*"))
    report.main(["--authors", str(path), "--out", str(runs), "--results", str(path.parent)])
    assert sorted(path.parent.rglob("*")) == before
    return capsys.readouterr().out.splitlines()


def test_every_evaluation_stands_beside_the_authors_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(
        tmp_path / "curves.json",
        Nim3x5_FARL=points((1_000, -0.5, 0.06), (3_000, 0.1, 0.02)),
        Hex6_FARL_eval0_10=points((1_000, 0.0, 0.1)),
    )
    lines = beside(file, "nim-a30d97c2", capsys)
    assert lines[0] == "One game at a time"
    rows = [line.split() for line in lines if line.startswith("farl  ")]
    # The run has an evaluation each thousand episodes, the curve ends at three thousand.
    assert [row[1] for row in rows] == ["1,000", "2,000", "3,000"]
    ours = mean_of("nim-a30d97c2", 1_000)
    assert rows[0][2:6] == [f"{ours[0]:.1f}", "±", f"{ours[1]:.1f}", "10"]
    # A score of -0.5 is a quarter of the points; an error of 0.06 is 3 of a hundred.
    apart = (ours[0] - 25) / math.hypot(ours[1], 3)
    assert rows[0][6:] == ["25.0", "±", "3.0", f"{apart:+.1f}"]
    assert rows[1][6:9] == ["40.0", "±", "2.0*"]
    assert rows[2][6:9] == ["55.0", "±", "1.0"]


def mean_of(run: str, episodes: int) -> tuple[float, float]:
    """Win rate and its standard error of the agents with FARL after so many episodes."""
    (archived,) = [each for each in archived_runs(TABLE1) if each.name == run]
    told = [
        50 + 50 * result.score
        for result in archived.results()
        if (result.variant, result.episodes) == ("farl", episodes)
    ]
    mean = sum(told) / len(told)
    square = sum((each - mean) ** 2 for each in told) / (len(told) - 1)
    return mean, math.sqrt(square / len(told))


def test_what_the_evaluator_of_2048_carries_over_is_taken_off(tmp_path: Path) -> None:
    file = written(
        tmp_path / "curves.json",
        **{"2048_noFARL": points((5, 1_000.0, 1.0), (10, 2_004.0, 1.0), (15, 3_000.0, 1.0))},
    )
    (key,) = curves = read_curves(file)
    assert key == ("2048", "score", "none")
    assert curves[key].mean.tolist() == [1_000.0, 2_000.0, 3_000.0 - 2_004.0 / 250]
    assert curves[key].at(4) is None
    assert curves[key].at(16) is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        "[]",
        "3",
        '{"curves": 3}',
        '{"curves": {}}',
        '{"curves": {"Go_FARL": {}}}',
        '{"curves": {"Nim3x5_FARL": []}}',
        json.dumps({"curves": {"Nim3x5_FARL": points()}}),
        json.dumps({"curves": {"Nim3x5_FARL": points((1_000, math.nan, 0.1))}}),
        json.dumps({"curves": {"Nim3x5_FARL": points((1_000, 0.0, -0.1))}}),
        json.dumps({"curves": {"Nim3x5_FARL": points((2_000, 0.0, 0.1), (1_000, 0.0, 0.1))}}),
        json.dumps({"curves": {"C4_FARL": points((1_000, 0.0, 0.1))}}),
    ],
)
def test_a_file_without_curves_is_refused_in_one_line(
    text: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "curves.json"
    if text is not None:
        file.write_text(text)
    (tmp_path / "runs").mkdir()
    with pytest.raises(SystemExit) as stopped:
        report.main(["--authors", str(file), "--out", str(tmp_path / "runs")])
    assert stopped.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert str(file) in line


def test_rows_of_one_evaluation_are_marked() -> None:
    lines = (TABLE1 / "table.txt").read_text().splitlines()
    headings = [line for line in lines if " against " in line and " episodes" in line]
    marked = {line.split(":")[0] for line in headings if line.endswith(" *")}
    engine = {"engine": "grhino"}
    assert marked == {
        f"{game} against {engine.get(opponent, opponent)}"
        for game, opponents in FINAL_OPPONENTS.items()
        for opponent in opponents
    }
    assert any(line.startswith("* One evaluation") for line in lines)
