"""The HTML report: what it holds, what it does about damage, and how it behaves in a browser."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from jaxgbg.games import LinesOfAction, Nim
from jaxgbg.games.registry import GAMES
from jaxgbg.results.rows import rows
from jaxgbg.results.table import difference, in_figures
from jaxgbg.runs import RunFolder, train
from jaxgbg.runs.presets import preset
from jaxgbg.runs.storage.schemas import Histogram
from jaxgbg.web.curve_charts import histogram_panels
from jaxgbg.web.html import write_report

_VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """The page's text, its elements and their attributes; wrongly nested elements are an error."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def copied(trained, tmp_path):
    return Path(shutil.copytree(trained, tmp_path / "runs"))


@pytest.fixture(scope="module")
def written(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(trained, path), path


def nim_folder(folder: Path) -> Path:
    return next((folder / "small").glob("nim-*"))


def test_the_report_holds_every_run_and_every_row(trained, written):
    report, path = written
    page = Page(path.read_text(encoding="utf-8"))
    headings = {a["id"] for tag, a in page.elements if tag == "section" and "id" in a}
    assert {"table", "game-nim", "game-tictactoe"} <= headings
    assert len(headings) == 3 + report.runs == 5
    assert report.problems == []
    folder = RunFolder.open(nim_folder(trained))
    expected = rows(folder.run, folder.results(), 1.0)
    assert len(expected) == 2
    assert len(report.rows) == 3
    for row in expected:
        assert in_figures(row, row.mean, row.sem) in page.text
        assert row.scale.text(row.last) in page.text
        assert in_figures(row, row.paper_mean, row.paper_error) in page.text
    assert difference(expected[0]) in page.text
    run = folder.run
    for part in (run.value, run.learner, run.schedule, run.evaluation):
        assert part.describe() in page.text
    kept = json.loads((folder.path / "provenance.json").read_text())
    for words in (kept["revision"], kept["started"], kept["versions"]["jax"], folder.path.name):
        assert words in page.text


def test_the_report_is_one_small_file_that_loads_nothing(written):
    source = written[1].read_text(encoding="utf-8")
    page = Page(source)
    assert not re.search(r"https?://|url\(|@import", source)
    assert not any("src" in attributes for _, attributes in page.elements)
    targets = [a["href"] for tag, a in page.elements if tag in ("a", "use")]
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert targets
    assert {target.removeprefix("#") for target in targets} <= set(ids)
    assert len(ids) == len(set(ids))
    assert written[1].stat().st_size < 1e6
    assert [path.name for path in written[1].parent.iterdir()] == ["report.html"]


def test_the_same_folder_gives_the_same_report(trained, written, tmp_path):
    write_report(trained, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == written[1].read_bytes()


def test_sample_games_are_data_for_the_script_and_stills_for_paper(written):
    source = written[1].read_text(encoding="utf-8")
    records = re.findall(r'<script type="application/json">(.*?)</script>', source)
    # One game in either seat against Max-N; the unfinished run has no agent to play.
    assert len(records) == 2
    for record in records:
        positions = json.loads(record)["positions"]
        assert positions[0][0] == [1] * 15
        assert positions[-1][0] == [0] * 15
        assert len(positions[0][1]) == 15
        assert positions[-1][1] == []
    assert source.count("<figcaption>") >= 8
    assert "player 1 (agent) – player 2 (maxn)" in source


def test_an_unfinished_run_is_said_to_be_one(written):
    text = Page(written[1].read_text(encoding="utf-8")).text
    assert "2 runs, 1 of them finished" in text
    assert "Unfinished: 2 evaluations so far, the last after 100 of 900 episodes." in text


def test_without_a_finished_run_no_training_time_is_given(copied, tmp_path):
    shutil.rmtree(nim_folder(copied))
    write_report(copied, tmp_path / "begun.html")
    text = Page((tmp_path / "begun.html").read_text(encoding="utf-8")).text
    assert "1 run, 0 of them finished, of tictactoe." in text
    assert "of training" not in text


def test_a_run_says_whether_it_kept_tc_factors(written, copied, tmp_path):
    source = written[1].read_text(encoding="utf-8")
    assert "TC factors of active weights" in source
    assert "did not keep its TC factors" not in source
    (nim_folder(copied) / "histograms.json").unlink()
    write_report(copied, tmp_path / "old.html")
    old = (tmp_path / "old.html").read_text(encoding="utf-8")
    assert "TC factors of active weights" not in old
    assert "Weights of seed0-farl.agent that are not 0. This run did not keep its TC" in old


@pytest.mark.parametrize(
    ("name", "content", "still_there"),
    [
        ("agents/seed0-farl.agent", b"jaxgbg agent 1\nno", "Mean over the seeds"),
        ("metrics.jsonl", b"{", "Sample games"),
        ("histograms.json", b"{}[", "Sample games"),
        ("histograms.json", b'{"weights": 3}', "Sample games"),
        ("summary.json", b"", "Sample games"),
    ],
)
def test_a_damaged_file_is_named_and_the_rest_reported(
    jaxgbg, copied, tmp_path, name, content, still_there
):
    (nim_folder(copied) / name).write_bytes(content)
    code, out, err = jaxgbg("report", copied, "--out", tmp_path / "report.html")
    assert code == 0
    assert "2 runs" in out
    assert err.count("\n") == 1
    assert name in err
    text = Page((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert "What could not be read" in text
    assert name in text
    assert still_there in text


def test_a_damaged_line_costs_that_evaluation_alone(jaxgbg, copied, tmp_path):
    metrics = nim_folder(copied) / "metrics.jsonl"
    whole = metrics.read_bytes()
    metrics.write_bytes(whole + b"{\n")
    code, _, err = jaxgbg("report", copied, "--out", tmp_path / "report.html")
    assert code == 0
    assert err.count("\n") == 1
    assert f"metrics.jsonl, line {len(whole.splitlines()) + 1}: not valid JSON" in err.replace(
        "\n", " "
    )
    assert "Mean over the seeds" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_run_without_a_readable_config_is_left_out(jaxgbg, copied):
    (nim_folder(copied) / "config.json").write_text("{}")
    code, out, err = jaxgbg("report", copied, "--json", copied / "rows.json")
    assert code == 0
    assert "1 run," in out
    assert "config.json: not a known game" in err
    assert "nim" not in {row["game"] for row in json.loads((copied / "rows.json").read_text())}


def test_a_run_under_other_rules_or_of_a_game_not_known_is_named_and_left_out(
    jaxgbg, copied, tmp_path
):
    path = nim_folder(copied) / "config.json"
    whole = json.loads(path.read_text())
    for changes, reason in (
        ({"fingerprint": "0" * 16}, "was made under other rules of nim (fingerprint '0000"),
        ({"game": {"name": "elsewhere"}}, "no game 'elsewhere' is known here: 1 run left out"),
    ):
        path.write_text(json.dumps(whole | changes))
        code, out, err = jaxgbg("report", copied, "--out", tmp_path / "report.html")
        assert code == 0
        assert "1 run," in out
        assert reason in err
        assert "damaged" not in err
        assert err.count("\n") == 1


class Claim(Nim):
    """Nim for three under another name, with its own rewards: a game from outside."""

    name = "claim"


@pytest.mark.slow
def test_a_game_from_outside_is_reported_in_its_own_unit(monkeypatch, tmp_path):
    monkeypatch.setitem(GAMES, "claim", lambda **own: Claim(**{"players": 3, **own}))
    run = preset("claim", seeds=(0,), variants=("none",), episodes=100, eval_every=50)
    train(run, tmp_path)
    write_report(tmp_path, tmp_path / "report.html")
    text = Page((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert "Scores: mean reward. Mean" in text
    assert "claim against random" in text
    assert "What could not be read" not in text
    assert not re.search("nim3p|win rate|connectfour", text)
    assert "player 3 (agent)" in text


def test_without_runs_one_line_says_so(jaxgbg, tmp_path):
    for folder, message in ((tmp_path, "has no runs"), (tmp_path / "none", "there is no folder")):
        code, out, err = jaxgbg("report", folder)
        assert code == 2
        assert out == ""
        assert message in err
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_written_is_named(jaxgbg, copied, tmp_path):
    code, _, err = jaxgbg("report", copied, "--out", tmp_path / "missing" / "report.html")
    assert code == 2
    assert "cannot write" in err
    assert err.count("\n") == 1


@pytest.mark.browser
def test_a_game_is_clicked_through(browser, written):
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.goto(written[1].as_uri())
    game = page.locator(".record").first
    record = json.loads(game.locator("script").text_content())["positions"]
    last = len(record) - 1

    def at() -> int:
        """The position shown; all that shows it must agree."""
        number = int(game.locator("input").input_value())
        pieces, moves, *_, caption, _, _ = record[number]
        assert game.locator(".caption").text_content() == caption
        shown = game.locator(".player use:first-child").evaluate_all(
            "uses => uses.filter(use => use.parentNode.matches('.spot'))"
            ".map(use => Number(use.getAttribute('href').split('-').pop()))"
        )
        assert shown == pieces
        values = game.locator(".player .value").all_text_contents()
        assert sorted(filter(None, values)) == sorted(words for *_, words in moves)
        assert game.locator(".moves li").count() == len(moves)
        return number

    def press(name: str) -> int:
        game.get_by_role("button", name=name, exact=True).click()
        return at()

    assert at() == 0
    assert not game.locator(".storyboard").is_visible()
    assert game.get_by_role("button", name="previous").is_disabled()
    assert [press("next"), press("next"), press("previous")] == [1, 2, 1]
    assert press("last") == last
    assert game.get_by_role("button", name="next").is_disabled()
    page.keyboard.press("ArrowLeft")
    assert at() == last - 1
    page.keyboard.press("ArrowRight")
    assert at() == last
    assert press("first") == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert errors == []
    context.close()


@pytest.mark.slow
@pytest.mark.browser
def test_dark_paper_and_no_script_are_served(browser, written):
    grounds = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(written[1].as_uri())
        ground = "getComputedStyle(document.documentElement).backgroundColor"
        grounds[scheme] = page.evaluate(ground)
        page.emulate_media(media="print", color_scheme=scheme)
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        assert page.locator(".storyboard .board").first.is_visible()
        assert not page.locator(".player").first.is_visible()
        context.close()
    assert grounds["light"] == "rgb(255, 255, 255)"
    assert grounds["dark"] != grounds["light"]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written[1].as_uri())
    assert page.locator(".storyboard .board").first.is_visible()
    assert not page.get_by_role("button").first.is_visible()
    context.close()


@pytest.mark.slow
def test_a_network_that_foretells_is_judged_by_what_came(tmp_path):
    run = preset(
        LinesOfAction(size=3),
        value="mlp",
        extras=("cluster",),
        seeds=(0,),
        episodes=20,
        variants=("part1",),
        opponents=(),
    )
    train(run, tmp_path)
    write_report(tmp_path, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    [table] = re.findall(r"Auxiliary predictions.*?<table>(.*?)</table>", page, re.S)
    rows = [re.findall(r"<t[dh][^>]*>(.*?)</t", row) for row in table.split("<tr>")[1:]]
    assert [row[:2] for row in rows[1:]] == [["cluster", "itself"], ["cluster", "the other"]]
    # Two stones a side, connected at the end alone.
    assert all(1 <= float(row[2]) <= 2 for row in rows[1:])


def test_runs_are_named_by_what_differs_and_folded_where_there_are_many(tmp_path):
    from tests.results.test_groups import write_run

    for decay in (0.0, 0.5):
        for seeds in ((0, 1), (2, 3)):
            write_run(tmp_path, seeds, trace_decay=decay)
    write_report(tmp_path, tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    folds = [a for tag, a in page.elements if tag == "details" and a.get("class") == "fold"]
    assert len(folds) == 4
    assert not any("open" in fold for fold in folds)
    for decay in ("0", "0.5"):
        for seeds in ("0 to 1", "2 to 3"):
            assert f"nim3p, trace_decay {decay}, seeds {seeds}" in page.text


def test_the_paper_is_drawn_as_far_as_the_run_goes(tmp_path):
    from tests.results.test_groups import write_run

    write_run(tmp_path, (0, 1), variants=("farl", "none"))
    write_report(tmp_path, tmp_path / "report.html")
    source = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "paper, after 300,000 episodes</text>" in source
    assert "nim3p: the paper&#39;s figures are after 300,000 episodes." in source


def test_a_histogram_has_no_line_where_nobody_has_weights():
    agents = [{"seed": 0, "variant": "farl", "counts": [5, 0, 3]}]
    histogram = Histogram.read({"edges": [0.0, 1.0, 2.0, 3.0], "agents": agents})
    (panel,) = histogram_panels({"weights": histogram})
    lines = re.findall(r'<polyline class="curve farl" points="([^"]+)"', panel)
    ends = [[float(point.split(",")[0]) for point in line.split()] for line in lines]
    assert len(lines) == 2
    assert max(ends[0]) < min(ends[1])
