"""The notebook board: the page's answers by messages, a picture where no widget runs, refusals."""

import base64
import json
import re
import shutil
import sys
import xml.etree.ElementTree as ET

import jax
import pytest

import jaxgbg
from jaxgbg.games import game_names
from jaxgbg.players import GreedyAgent, MissingExtra
from jaxgbg.web.board import widget
from jaxgbg.web.board.still import still
from tests.web.tables import drawn_agent, table_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def agent():
    return drawn_agent(jaxgbg.make("tictactoe"))


@pytest.fixture
def board(agent):
    opened = jaxgbg.board(agent, moves=(4, 0), seats=("person", "person"))
    opened.replies = []
    opened.send = opened.replies.append
    yield opened
    opened.close()


def ask(board, name, **question):
    """What is sent back to a view that asks."""
    board._asked(board, {"from": "view-1", "name": name, "question": question}, [])
    (reply,) = board.replies
    board.replies.clear()
    assert reply.pop("to") == "view-1"
    return reply


@pytest.mark.parametrize(
    "name", [n for n in game_names() if n not in ("othello", "lines_of_action")]
)
def test_a_picture_shows_the_position_and_needs_nothing_else(name):
    table = table_of(name, agent=False)
    try:
        drawn = still(table, "")
        root = ET.fromstring(drawn)
        uses = [use.get("href") for use in root.iter(f"{SVG}use")]
        defined = {f"#{each.get('id')}" for each in root.iter(f"{SVG}g") if each.get("id")}
        assert uses
        assert set(uses) <= defined
        assert len(uses) == 1 + 2 * len(table.drawing.spots)
        assert "http" not in drawn.replace('"http://www.w3.org/2000/svg"', "")
        assert root.findall(f"{SVG}text[@class='caption']")[0].text == root.get("aria-label")
    finally:
        table.close()


def test_a_picture_has_the_agents_values_and_says_who_is_to_move(agent):
    table = table_of("tictactoe")
    root = ET.fromstring(still(table, "4,0"))
    words = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "value"]
    look = table.position(widget.PositionRequest("4,0", "mover"))
    assert sorted(filter(None, words)) == sorted(move["words"] for move in look["legal"])
    assert root.get("aria-label") == "X to move"
    over = ET.fromstring(still(table, "4,0,1,2,7"))
    assert over.get("aria-label") == "the game is over: X wins"
    table.close()


def test_pictures_of_two_games_share_no_name():
    first, second = (still(table_of(name, agent=False), "") for name in ("tictactoe", "nim"))
    names = [set(re.findall(r' id="([^"]+)"', drawn)) for drawn in (first, second)]
    assert names[0].isdisjoint(names[1])


def test_messages_are_answered_as_the_pages_server_answers(board):
    table = table_of("tictactoe")
    question = {"moves": "4,0,8", "values": "all"}
    assert ask(board, "position", **question) == {
        "answer": table.position(widget.PositionRequest(**question))
    }
    game = ask(board, "game")["answer"]
    assert game["board"] == table.about()["board"]
    assert game["agents"] == ["agent"]
    assert ask(board, "tuples", moves="4,0", cell=4)["answer"]["count"] == 8
    # What is sent is JSON as anybody reads it.
    json.dumps(game, allow_nan=False)
    table.close()


def test_a_wrong_question_is_answered_by_one_line(board):
    assert ask(board, "move", moves="4,0", action=4) == {
        "error": "tictactoe: move 3 is not legal there: 4; legal are 1, 2, 3, 5, 6, 7, 8"
    }
    assert ask(board, "close") == {"error": "there is no request 'close' here"}
    assert "depth" in ask(board, "position", depth=3)["error"]


def test_a_fault_of_ours_is_told_to_the_view_too(board, monkeypatch):
    def broken(question):
        raise KeyError("no such thing")

    monkeypatch.setitem(board._table.answers, "history", (widget.PositionRequest, broken))
    with pytest.raises(KeyError):
        ask(board, "history")
    assert [reply["error"] for reply in board.replies] == [
        "Python failed: the notebook's log has more"
    ]


def test_a_search_that_is_interrupted_says_so(board, monkeypatch):
    def interrupted(question):
        raise KeyboardInterrupt

    monkeypatch.setitem(board._table.answers, "choose", (widget.PositionRequest, interrupted))
    assert ask(board, "choose") == {"error": "interrupted"}


def test_python_sets_the_position_and_the_picture_follows(board):
    before = board.still
    board.moves = "4,0,8"
    assert board.still == still(board._table, "4,0,8") != before
    assert repr(board) == "<board of tictactoe, ply 3>"
    for wrong in ("4,4", "x"):
        with pytest.raises(ValueError, match=r"not legal|no position of tictactoe: 1 row"):
            board.moves = wrong
    assert board.moves == "4,0,8"
    with pytest.raises(ValueError, match="unknown player 'nobody'"):
        board.seats = ["nobody"]
    with pytest.raises(ValueError, match="2 seats, not 3"):
        board.seats = ["person"] * 3


def test_a_notebook_is_given_the_widget_and_the_picture(board, monkeypatch):
    shown = []
    monkeypatch.setattr(widget, "display", lambda data, **_: shown.append(data))
    board._ipython_display_()
    live, picture = shown
    assert "application/vnd.jupyter.widget-view+json" in live
    assert live["text/plain"] == "<board of tictactoe, ply 2>"
    # Whoever prefers the widget has the picture as well, for it is an output of its own.
    assert picture["image/svg+xml"] == board.still
    found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', picture["text/html"])
    assert base64.b64decode(found[1]).decode() == board.still
    assert f'class="{board.mark}"' in picture["text/html"]


def test_a_start_that_chance_draws_is_the_same_for_all_views():
    board = jaxgbg.board("2048")
    assert re.fullmatch(r"[\d-]+/", board.moves)
    board.close()


def test_the_script_holds_every_module_that_its_table_loads():
    held = json.JSONDecoder().raw_decode(widget.Board._esm.partition("const SOURCES = ")[2])[0]
    needed, known = ["table.js"], set()
    while needed:
        name = needed.pop()
        known.add(name)
        needed += set(re.findall(r'from "\./([\w.]+)"', held[name])) - known
    assert known == set(held)
    assert "function fillBoard" in held["surface.js"]
    assert 'id="board"' in widget.Board._esm.replace("\\", "")


def test_a_run_is_opened_with_its_first_agent(trained, tmp_path):
    folder = next((trained / "small").glob("nim-*"))
    for what in (jaxgbg.RunFolder.open(folder), folder, str(folder)):
        board = jaxgbg.board(what)
        assert board._table.game == jaxgbg.RunFolder.open(folder).run.game
        (label,) = board._table.seats.agents.values()
        assert isinstance(label, GreedyAgent)
        board.close()
    damaged = tmp_path / "nim"
    shutil.copytree(folder, damaged)
    for file in (damaged / "agents").iterdir():
        file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"is damaged: .*train it again"):
        jaxgbg.board(damaged)
    begun = next(trained.glob("tictactoe-*"))
    with pytest.raises(ValueError, match="is not the folder of a finished run"):
        jaxgbg.board(jaxgbg.RunFolder.open(begun))


def test_what_no_board_can_show_is_refused_in_a_line(agent, tmp_path):
    two = GreedyAgent(agent.game, agent.value, agent.params, several=True)
    two.params = jax.tree.map(lambda leaf: leaf.repeat(2, 0), two.params)
    for what, options, line in (
        ((), {}, "name a game, an agent or a run"),
        (("tictactoe", "hex"), {}, "of one game, not tictactoe and hex"),
        ((agent, "hex"), {}, "plays tictactoe, not hex"),
        ((two,), {}, "2 agents: choose one"),
        (("nothing",), {}, "unknown game 'nothing'"),
        ((tmp_path / "nothing.agent",), {}, "No such file"),
        ((jaxgbg.look_ahead(agent, 2),), {}, "not a LookAheadAgent; set look-ahead .* in seats"),
        ((agent,), {"size": 3}, "parameters are for a game's name"),
        (("tictactoe",), {"moves": "4,4"}, "move 2 is not legal"),
        (("tictactoe",), {"seats": "person"}, "seats must be a list"),
        (("tictactoe",), {"seats": ["agent"]}, "unknown player 'agent'"),
    ):
        with pytest.raises(ValueError, match=line) as refused:
            jaxgbg.board(*what, **options)
        assert "\n" not in str(refused.value)


def test_without_anywidget_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "jaxgbg.web.board.widget")
    with pytest.raises(MissingExtra, match=r"pip install 'jaxgbg\[notebooks\]'"):
        jaxgbg.board("tictactoe")
