"""Tournaments that were kept, in the database of results."""

import dataclasses
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from jaxgbg import tournament
from jaxgbg.arena import game_records as kept_games
from jaxgbg.arena import scheduler
from jaxgbg.arena.group_play import GroupGames
from jaxgbg.games import Nim
from jaxgbg.results import ask, queries
from jaxgbg.results.stored_ladders import read_ladders
from jaxgbg.web.ladder_chart import ratings_chart, scores_chart

SMALL = Nim(heaps=2, size=3)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A tournament of three in two games an opening, in which the first of a group always wins."""

    def first_wins(game, group, protocol, key, record=False):
        orders = np.array([[0, 1], [1, 0]])
        paid = np.array([1.0, -1.0])[orders]
        return GroupGames(orders, np.tile(paid, (protocol.count, 1, 1)), np.arange(protocol.count))

    monkeypatch.setattr(scheduler, "play_group", first_wins)
    monkeypatch.setattr(kept_games, "fingerprint", str)
    out = tmp_path / "below" / "ladder"
    ladder = tournament(
        ["mcts-2", "b=mcts-3", "random"], SMALL, 12, plies=1, out=out, progress=False
    )
    return out, ladder


def test_a_kept_tournament_answers_in_sql_what_its_ladder_says(kept, tmp_path):
    _, ladder = kept
    rows = ask(tmp_path, sql="select * from ratings order by rank").to_dict("records")
    for row, record in zip(rows, ladder.records(), strict=True):
        assert row["folder"] == "below/ladder"
        expected = {name: record[name] for name in ("rank", "player", "elo", "games", "score")}
        assert {name: row[name] for name in expected} == expected
        assert np.isnan(row["high"]) if record["high"] is None else row["high"] == record["high"]
    (told,) = ask(tmp_path, sql="select * from tournaments").to_dict("records")
    assert (told["players"], told["groups"], told["games"]) == (3, 3, 36)
    assert (told["openings"], told["plies"], told["starts"]) == (6, 1, "random_plies")
    seats = ask(tmp_path, sql="select elo, side from seats order by seat")
    assert list(seats["side"]) == list(SMALL.sides)
    assert list(seats["elo"]) == pytest.approx([seat.elo for seat in ladder.seats], abs=0.1)


def test_a_row_of_games_is_a_seat_of_one(kept, tmp_path):
    points = ask(
        tmp_path,
        sql="select player, 50 + 50 * avg(reward) as score, count(*) as n from games group by all",
    )
    scores = {row.player: row.score for row in kept[1].standings}
    assert dict(zip(points["player"], points["score"], strict=True)) == scores
    assert list(points["n"]) == [24] * 3
    twice = ask(
        tmp_path,
        sql="select opening, count(distinct number) as games, count(distinct player) as players"
        " from games group by opening",
    )
    assert len(twice) == 3 * 6
    assert set(zip(twice["games"], twice["players"], strict=True)) == {(2, 2)}


def test_what_is_damaged_is_named_and_the_rest_is_read(kept, tmp_path):
    out, _ = kept
    path = out / "games.jsonl"
    lines = path.read_text().splitlines()
    three = json.loads(lines[0]) | {"players": ["a", "b", "c"], "seatings": [[0, 1, 2]]}
    three |= {"openings": [0], "rewards": [[[1, 0, 0]]]}
    path.write_text("\n".join([lines[0], "{", lines[2], json.dumps(three)]))
    other = tmp_path / "other"
    other.mkdir()
    (other / "tournament.json").write_text('{"game": {"name": "chess"}}')
    problems = []
    told = ask(tmp_path, sql="select groups from tournaments", complain=problems.append)
    assert list(told["groups"]) == [2]
    assert len(problems) == 3
    for words in (
        "line 2: not valid JSON",
        "a group of 3 players; left out",
        "unknown game 'chess'",
    ):
        assert sum(words in problem for problem in problems) == 1


def test_players_whom_no_games_connect_have_games_but_no_ladder_yet(jaxgbg, kept, tmp_path):
    out, _ = kept
    line = json.loads((out / "games.jsonl").read_text().splitlines()[0])
    apart = line | {"players": ["x", "y"], "names": ["x", "y"]}
    (out / "games.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(apart)}\n")
    problems = []
    assert ask(tmp_path, sql="select * from ratings", complain=problems.append).empty
    assert len(problems) == 1
    assert re.search(r"compared: .*\bx, y\b.*; the tournament has no ratings yet", problems[0])

    def count(table):
        (number,) = ask(tmp_path, sql=f"select count(*) from {table}", complain=str).iloc[0]
        return number

    assert [count(table) for table in ("tournaments", "games", "seats")] == [1, 2 * 12 * 2, 0]
    code, _, _ = jaxgbg("report", tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert (code, "has no ratings yet" in page, "<h2>Ladders" in page) == (0, True, False)


@pytest.mark.parametrize(
    ("sql", "times"),
    [
        ("describe runs", 0),
        ("select count(*) as my_ratings from runs", 0),
        ("select * from Ratings", 1),
        ('select max(elo) from "seats"', 1),
        ("from games", 1),
        ("from TOURNAMENTS", 1),
    ],
)
def test_tournaments_are_read_only_for_who_asks_for_them(kept, tmp_path, monkeypatch, sql, times):
    read = []

    def counted(*arguments):
        read.append(arguments)
        return read_ladders(*arguments)

    monkeypatch.setattr(queries, "read_ladders", counted)
    assert not ask(tmp_path, sql=sql).empty
    assert len(read) == times


def test_without_a_query_a_folder_of_tournaments_holds_no_runs(kept, tmp_path):
    with pytest.raises(ValueError, match="has no runs"):
        ask(tmp_path)


def test_the_report_shows_ladders_where_there_is_no_run(jaxgbg, kept, tmp_path):
    _, ladder = kept
    code, said, err = jaxgbg("report", tmp_path)
    assert (code, err) == (0, "")
    assert "(1 tournament, " in said
    page = (tmp_path / "report.html").read_text()
    assert "<h3>below/ladder</h3>" in page
    # A reader must know which variant of the game they are good at.
    assert "3 participants in nim (heaps 2, size 3, players 2," in page
    for chart in re.findall('<svg class="chart ladder".*?</svg>', page, re.DOTALL):
        root = ElementTree.fromstring(chart)
        names = [text.text for text in root.iter("text") if text.text in ("b", "mcts-2", "random")]
        assert {*names} == {"b", "mcts-2", "random"}
    first, last = ladder.standings[0].player, ladder.standings[2].player
    assert f"{first} against {last}: {ladder.scores[0, 2]:.1f} %" in page
    assert "advantage of the seat of player 1" in page
    assert "No run has been evaluated" not in page


def test_figures_of_a_ladder_bear_names_of_any_letters_and_open_intervals(kept):
    _, ladder = kept
    ladder.standings[0] = dataclasses.replace(ladder.standings[0], player="<&>" * 20)
    for draw in (ratings_chart, scores_chart):
        root = ElementTree.fromstring(draw(ladder))
        assert any((text.text or "").startswith("<&><&>") for text in root.iter("text"))
    # Who never lost has an arrow, who is 0 by definition a point.
    ratings = ratings_chart(ladder)
    assert ratings.count("l9 5l-9 5z") == 2
    assert ratings.count("<circle") == 1
