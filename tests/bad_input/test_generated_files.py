"""Whatever bytes a file holds: what comes out is what it says, or one line; soon, and in little
memory.
"""

import copy
import gc
import json
import resource
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxgbg.games import make
from jaxgbg.results import ask
from jaxgbg.runs import RunFolder, load_agent
from jaxgbg.values import read_layout
from jaxgbg.web.html import write_report

from .files import FOLDER, agent, body_of, config, header, run, run_files, sealed

SECONDS, KIBIBYTES = 1.0, 500 * 1024


@pytest.fixture(scope="module", autouse=True)
def nothing_left_by_others():
    """A collection that falls into what is timed here looks through no objects of earlier tests."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def halves(few, many):
    """A test of `few` inputs, and one of `many`: six thousand in this file."""
    return pytest.mark.parametrize(
        "examples", [few, pytest.param(many, marks=pytest.mark.slow)], ids=["few", "many"]
    )


numbers = st.sampled_from(
    [0, -1, 1, 2, 7, 0.5, -0.0, 1e-320, 1e308, 2**31, 2**53, 2**63, 2**64, 10**30, 10**400]
    + [float("nan"), float("inf"), -float("inf")]
)
words = st.one_of(
    st.text(max_size=5), st.sampled_from(["\ud800", "\0", "farl", "a\nb", "x" * 9999])
)
scalars = st.one_of(st.none(), st.booleans(), numbers, st.integers(), st.floats(), words)
anything = st.one_of(
    st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    st.sampled_from([[[[[[[]]]]]], {"kind": []}, {"name": {}}, list(range(300))]),
).map(copy.deepcopy)


def in_bytes(content):
    return json.dumps(content).encode()


def places(content, path=()):
    """Every place in JSON, as a path of keys and numbers."""
    yield path
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    for key, child in pairs:
        if isinstance(child, dict | list):
            yield from places(child, (*path, key))
        else:
            yield (*path, key)


@st.composite
def altered(draw, content):
    """JSON like `content`, but for one to three places: another value there, none, or one more."""
    content = copy.deepcopy(content)
    for _ in range(draw(st.integers(1, 3))):
        # A place may have gone with another.
        *path, last = draw(st.sampled_from([each for each in places(content) if each] or [("",)]))
        node = content
        for key in path:
            node = node[key]
        how = draw(st.sampled_from(["other", "other", "none", "more"]))
        if how == "none" and last in (node if isinstance(node, dict) else range(len(node))):
            del node[last]
        elif how == "more" and isinstance(node, dict):
            node[draw(st.text(max_size=3))] = draw(anything)
        elif isinstance(node, dict) or node:
            node[last] = draw(anything)
    return content


@st.composite
def damaged(draw, data):
    """Bytes like `data`, but for a few that are others, gone, or doubled."""
    data = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        how = draw(st.sampled_from(["flip", "cut", "end", "double", "insert"]))
        length = draw(st.integers(1, 40))
        if how == "flip" and data:
            data[place] ^= draw(st.integers(1, 255))
        elif how == "cut":
            del data[place : place + length]
        elif how == "end":
            del data[place:]
        elif how == "double":
            data[place:place] = data[place : place + length]
        else:
            data[place:place] = draw(st.binary(max_size=8))
    return bytes(data)


def bytes_like(content):
    """What a file of JSON may hold: the same with another value, damaged, other JSON, or bytes."""
    return st.one_of(
        altered(content).map(in_bytes),
        damaged(in_bytes(content)),
        anything.map(in_bytes),
        st.binary(max_size=200),
    )


def agents():
    """What an agent's file may hold, its checksum right or not."""
    return st.one_of(
        altered(header()).map(agent),
        damaged(in_bytes(header())).map(agent),
        anything.map(agent),
        damaged(body_of(agent())).map(sealed),
        damaged(agent()),
        st.binary(max_size=200),
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    # What is compiled at the first time is not what is timed.
    (folder / "good.agent").write_bytes(agent())
    load_agent(folder / "good.agent")
    for name, content in run_files().items():
        (folder / "warm" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "warm" / name).write_bytes(content)
    ask(folder / "warm")
    write_report(folder / "warm", folder / "page.html")
    return folder


def one_line(path, call):
    """Call a reader of `path`: it reads, or says in a line that names the file what is wrong."""
    begun = time.process_time()
    try:
        call()
    except (ValueError, OSError) as error:
        line = str(error)
        assert "\n" not in line
        assert path.name in line
        assert len(line) < 1000
        line.encode()
    assert time.process_time() - begun < SECONDS


def throw(strategy, examples, check):
    """Call `check` with so many inputs, and see that memory stays where it is."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    options = settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    options(given(strategy)(check))()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < KIBIBYTES


@halves(10, 1000)
def test_an_agent_is_read_or_refused(place, examples):
    path = place / "thrown.agent"

    def check(data):
        path.write_bytes(data)
        one_line(path, lambda: load_agent(path).player())

    throw(agents(), examples, check)


@halves(50, 1000)
def test_a_layout_is_read_or_refused(place, examples):
    path = place / "layout.json"

    def check(data):
        path.write_bytes(data)
        one_line(path, lambda: read_layout(make("tictactoe"), path))

    throw(bytes_like([[0, 1, 2], [4, 5], [8]]), examples, check)


@halves(50, 1000)
def test_a_config_is_read_or_refused(place, examples):
    path = place / "opened"
    path.mkdir(exist_ok=True)

    def check(data):
        (path / "config.json").write_bytes(data)
        one_line(path, lambda: RunFolder.open(path))

    throw(bytes_like(config()), examples, check)


@pytest.mark.parametrize("name", ["summary.json", "metrics.jsonl"])
@halves(50, 1000)
def test_what_a_run_came_to_is_read_or_refused(place, examples, name):
    folder = RunFolder(place / "own", run())
    folder.path.mkdir(parents=True, exist_ok=True)
    whole = json.loads(run_files()[f"{FOLDER.format(digest=run().digest)}/{name}"])

    def check(data):
        (folder.path / name).write_bytes(data)
        reader = folder.summary if name == "summary.json" else folder.results
        one_line(folder.path / name, reader)

    throw(bytes_like(whole), examples, check)


# What a query does not ask for, a report does.
@pytest.mark.parametrize("reader", ["query", "report"])
@halves(10, 500)
def test_a_bad_run_ends_no_report_and_no_query(place, examples, reader):
    root = place / reader
    folder = root / FOLDER.format(digest=run().digest)
    folder.mkdir(parents=True, exist_ok=True)
    files = {name.rpartition("/")[2]: content for name, content in run_files().items()}
    names = ["config.json", "metrics.jsonl", "summary.json"] if reader == "query" else list(files)

    def check(drawn):
        name, data = drawn
        for each, content in files.items():
            (folder / each).write_bytes(data if each == name else content)
        said = []
        begun = time.process_time()
        if reader == "query":
            ask(root, complain=said.append)
        else:
            said += write_report(root, root / "page.html").problems
        assert time.process_time() - begun < SECONDS
        for line in said:
            assert "\n" not in line
            # Games that are not known are reported together, by their names.
            assert name in line or str(folder) in line or "is known here" in line
            line.encode()

    named = [st.tuples(st.just(name), bytes_like(json.loads(files[name]))) for name in names]
    throw(st.one_of(named), examples, check)
