"""The play page's server: what it serves, whom it answers, and that no question breaks it."""

import asyncio
import json
import re
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxgbg.web.play.requests import MOST_BYTES, ROOT
from jaxgbg.web.play.server import application
from tests.web.tables import table_of

HERE = "http://localhost:8484"


class Client:
    """Asks the server in this process; an error that it did not expect goes up to the test.

    Its loop has a thread of its own, for a browser's loop may run in that of the tests.
    """

    def __init__(self, app) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.open = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE)

    def wait(self, awaited: Coroutine) -> Any:
        return asyncio.run_coroutine_threadsafe(awaited, self.loop).result()

    def get(self, path: str, **given) -> httpx.Response:
        return self.wait(self.open.get(path, **given))

    def post(self, path: str, **given) -> httpx.Response:
        return self.wait(self.open.post(path, **given))

    def post_all(self, path: str, questions: list[dict]) -> list[httpx.Response]:
        """All at once."""

        async def gathered() -> list[httpx.Response]:
            return await asyncio.gather(*(self.open.post(path, json=each) for each in questions))

        return self.wait(gathered())

    def close(self) -> None:
        self.wait(self.open.aclose())
        self.wait(self.loop.shutdown_default_executor())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture(scope="module")
def client():
    table = table_of("nim", heaps=2, size=2)
    opened = Client(application(table, ["board.example"]))
    yield opened
    opened.close()
    table.close()


@pytest.fixture(scope="module")
def document(client):
    return client.get(f"{ROOT}/openapi.json").json()


def ask(client: Client, name: str, **question) -> httpx.Response:
    return client.post(f"{ROOT}/{name}", json=question)


def test_a_game_is_played_by_questions_alone(client):
    about = client.get(f"{ROOT}/game").json()
    assert (about["game"], about["sides"]) == ("nim", ["player 1", "player 2"])
    moves = ""
    for _ in range(6):
        answer = ask(client, "position", moves=moves, values="mover").json()
        if answer["player"] is None:
            break
        moves = ask(client, "move", moves=moves, action=answer["legal"][0]["action"]).json()[
            "moves"
        ]
    assert answer["outcome"] in ("player 1 wins", "player 2 wins")
    assert client.get(f"{ROOT}/position").status_code == 405
    assert client.get("/nothing").status_code == 404


def test_the_page_is_there_while_its_table_is_made():
    made = Future()
    waiting = Client(application(made))
    try:
        assert waiting.get("/").status_code == 200
        for answer in (waiting.get(f"{ROOT}/game"), ask(waiting, "position")):
            assert answer.status_code == 503
            assert answer.json()["error"] == "rules and agents are still being compiled: try again"
        assert waiting.get(f"{ROOT}/game").json()["waiting"] >= 0
        made.set_result(table_of("nim", heaps=2, size=2))
        assert waiting.get(f"{ROOT}/game").json()["title"] == "Nim"
    finally:
        waiting.close()


def test_the_page_needs_nothing_from_elsewhere(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("default-src 'self';")
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert {"board.js", "board.css", "main.js", "play.css"} <= set(loaded)
    scripts = client.get("/main.js").text
    loaded += re.findall(r'from "\./([^"]+)"', scripts)
    for name in loaded:
        answer = client.get(f"/{name}")
        assert answer.status_code == 200, name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", answer.text), name


def test_paths_lead_to_no_other_file(client):
    for path in ("/../server.py", "/%2e%2e/server.py", "/page/play.html", "//etc/passwd"):
        assert client.get(path).status_code in (403, 404)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8484", 200),
        ("LOCALHOST", 200),
        ("127.0.0.1:8484", 200),
        ("[::1]:8484", 200),
        ("192.168.1.7:8484", 200),
        ("board.example:8484", 200),
        # Names that somebody else may let point to this machine.
        ("evil.example:8484", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost:8484@evil.example", 403),
        ("", 403),
        ("[::1", 403),
        ("1.2.3", 403),
    ],
)
def test_a_name_that_was_made_to_point_here_is_refused(client, host, status):
    answer = client.get(f"{ROOT}/game", headers={"host": host})
    assert answer.status_code == status
    if status == 403:
        assert "this server is not" in answer.json()["error"]


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (HERE, 200),
        ("http://localhost:9999", 403),
        ("https://localhost:8484", 403),
        ("http://evil.example", 403),
        ("null", 403),
    ],
)
def test_a_page_of_elsewhere_is_refused(client, origin, status):
    headers = {"origin": origin}
    assert client.post(f"{ROOT}/position", json={}, headers=headers).status_code == status


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "text/plain", 415),
        (b"{}", "", 415),
        (b"{}", "application/json; charset=utf-8", 200),
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"null", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b'{"moves": NaN}', "application/json", 400),
        (b'{"moves": "\\ud800"}', "application/json", 400),
        (b'{"cell": 1' + 5000 * b"0" + b"}", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b" " * 10_000_000, "application/json", 413),
        (b" " * (MOST_BYTES + 1), "application/json", 413),
        (b'{"moves": "' + b"0," * 1_000_000 + b'0"}', "application/json", 400),
    ],
)
def test_what_is_no_question_is_refused_in_a_line(client, body, kind, status):
    answer = client.post(f"{ROOT}/position", content=body, headers={"content-type": kind})
    assert answer.status_code == status
    if status != 200:
        assert 0 < len(answer.json()["error"]) < 400
        assert "\n" not in answer.json()["error"]
    if body in (b"[]", b"null"):
        assert "a request must be a JSON object, not" in answer.json()["error"]


@pytest.mark.parametrize(
    ("name", "question", "words"),
    [
        ("position", {"moves": "9"}, "move 1 is not legal"),
        ("position", {"moves": 3}, "moves must be text"),
        ("position", {"move": "3"}, "unknown setting 'move': did you mean moves?"),
        ("position", {"kind": "x"}, "unknown setting 'kind'; known are moves, values, judge"),
        ("position", {"look": "x"}, "unknown setting 'look'"),
        ("position", {"values": "mine"}, "values must be one of none, mover, all"),
        ("position", {"values": "mover", "judge": "maxn"}, "there is no agent 'maxn' here"),
        ("move", {"action": 2**31}, "action must lie in"),
        ("move", {"action": 1.5}, "action must be a whole number"),
        ("move", {"action": True}, "action must be a whole number"),
        ("move", {}, "give an action or a player"),
        ("choose", {"player": "mcts-1000000000"}, "iterations must lie in"),
        ("tuples", {"cell": 7}, "nim has cells 0 to 1"),
    ],
)
def test_a_wrong_question_is_answered_by_what_is_wrong(client, name, question, words):
    answer = ask(client, name, **question)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_the_description_names_every_question_and_its_fields(client, document):
    assert document["openapi"] == "3.1.0"
    posts = {path for path, methods in document["paths"].items() if "post" in methods}
    names = ("position", "move", "choose", "history", "perfect", "tuples", "page")
    assert posts == {f"{ROOT}/{name}" for name in names}
    for path in posts:
        schema = schema_of(document, path)
        assert schema["additionalProperties"] is False
        defaults = {name: entry["default"] for name, entry in schema["properties"].items()}
        assert all(entry["description"] for entry in schema["properties"].values())
        answer = client.post(path, json=defaults)
        # Nobody is named who should move.
        expected = 400 if path.endswith(("/move", "/choose")) else 200
        assert answer.status_code == expected, answer.text


def test_the_description_of_an_answer_is_what_is_answered(client, document):
    answers = document["paths"][f"{ROOT}/tuples"]["post"]["responses"]["200"]
    schema = answers["content"]["application/json"]["schema"]
    answer = ask(client, "tuples", moves="0", cell=0).json()
    fits(answer, schema)
    assert answer["tuples"]
    with pytest.raises(AssertionError):
        fits(answer | {"counters": None}, schema)


def fits(value, schema) -> None:
    """That some JSON is as a schema of ours says, all of it and nothing else."""
    kinds = {"integer": int, "number": (int, float), "string": str, "array": list, "object": dict}
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    assert any(
        value is None if name == "null" else isinstance(value, kinds[name]) for name in names
    )
    if "object" in names:
        assert value.keys() == schema["properties"].keys() == {*schema["required"]}
        for name, inner in schema["properties"].items():
            fits(value[name], inner)
    for each in value if "array" in names else ():
        fits(each, schema["items"])


def schema_of(document, path):
    body = document["paths"][path]["post"]["requestBody"]
    return body["content"]["application/json"]["schema"]


_PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
_ANYTHING = st.recursive(
    _PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
_WORDS = st.sampled_from(
    ["", "0", "0,2", "1,3", "1,3,0", "agent", "agent:look-ahead=2", "agent:search=puct-3", "random"]
    + ["maxn", "mcts-9"]
) | st.text(max_size=12)


def _valid(entry: dict) -> st.SearchStrategy:
    if "enum" in entry:
        return st.sampled_from(entry["enum"])
    if entry["type"] == "integer":
        return st.integers(-1, 6) | st.integers(entry["minimum"], entry["maximum"])
    return _WORDS


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_question_ends_in_an_error_of_the_server(client, document, data):
    paths = [path for path, methods in document["paths"].items() if "post" in methods]
    path = data.draw(st.sampled_from(paths))
    fields = {
        name: _valid(entry) for name, entry in schema_of(document, path)["properties"].items()
    }
    question = data.draw(st.fixed_dictionaries({}, optional=fields) | _ANYTHING)
    if data.draw(st.integers(0, 4)) == 0 and isinstance(question, dict):
        question = question | data.draw(st.dictionaries(st.sampled_from([*fields]), _ANYTHING))
    answer = client.post(
        path, content=json.dumps(question), headers={"content-type": "application/json"}
    )
    assert answer.status_code in (200, 400)
    content = answer.json()
    if answer.status_code == 400:
        assert list(content) == ["error"]
        assert "\n" not in content["error"]


def test_many_who_ask_at_once_are_all_answered(client):
    questions = [{"moves": str(number % 4), "player": "random", "seed": 1} for number in range(32)]
    answers = [each.json()["moves"] for each in client.post_all(f"{ROOT}/move", questions)]
    assert [each.split(",")[0] for each in answers] == [str(number % 4) for number in range(32)]
    assert answers == answers[:4] * 8
