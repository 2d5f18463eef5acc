"""Agents and layouts that are well sealed and wrong inside: each is refused in a line."""

import os
import tracemalloc
import zipfile

import numpy as np
import pytest

from jaxgbg.contents import open_file
from jaxgbg.runs import load_agent

from .cases import Case, run_case
from .files import (
    agent,
    bad_deflate,
    claimed,
    header,
    part,
    run,
    sealed,
    weights,
    with_entry,
)

DEEP = b"[" * 100_000


def zeros(count):
    return np.zeros(count, np.float32)


def with_nan():
    array = weights().copy()
    array[7] = np.nan
    return agent(array=array)


# What is in the file, and what the line says of it.
AGENTS = {
    "nothing": (lambda: b"", "not an agent of jaxgbg"),
    "a magic line alone": (lambda: b"jaxgbg agent 1\n", "damaged: truncated or altered"),
    "an empty body": (lambda: sealed(b""), "damaged: cannot be unpacked"),
    "a body that is no archive": (lambda: sealed(b"PK\x05\x06" * 9), "damaged: cannot be unpacked"),
    "a bad deflate stream": (bad_deflate, "damaged: cannot be unpacked"),
    "an archive without weights": (
        lambda: sealed(b"PK\x05\x06" + bytes(18)),
        "damaged: cannot be unpacked .*header.npy",
    ),
    "a header that is a list": (lambda: agent([]), "not a JSON object"),
    "a header that is null": (lambda: agent(b"null"), "not a JSON object"),
    "a header that is not valid JSON": (lambda: agent(b"{"), "not valid JSON"),
    "a header in another code": (lambda: agent(b"\xff\xfe"), "not valid UTF-8"),
    "a header without a run": (lambda: agent({"variant": "farl"}), "no run"),
    "a run that is a list": (lambda: agent({"run": [], "variant": "farl"}), "must be a table"),
    "a run that is null": (lambda: agent({"run": None, "variant": "farl"}), "must be a table"),
    "a header of brackets": (lambda: agent(DEEP), "nested more than"),
    "a run of brackets": (
        lambda: agent(b'{"variant": "farl", "run": ' + DEEP + b"]" * 100_000 + b"}"),
        "nested more than",
    ),
    "a long header": (
        lambda: agent(b" " * 2**23 + b"{}"),
        r"uint8\[8388610\] header, but at most 4,194,304 bytes",
    ),
    "weights of another size": (lambda: agent(array=weights()[:-1]), "need float32"),
    "weights of another type": (lambda: agent(array=weights().astype(float)), "float64.*need"),
    "weights as a matrix": (lambda: agent(array=weights()[None]), "need float32"),
    "weights without an array": (lambda: with_entry("weights.npy", b"no"), "without an array"),
    "weights of Python objects": (
        lambda: with_entry("weights.npy", claimed("(3,)", "|O")),
        "weights without an array",
    ),
    "a shape that is a program": (
        lambda: with_entry("weights.npy", claimed("(" * 200)),
        "weights without an array",
    ),
    "a terabyte claimed": (
        lambda: with_entry("weights.npy", claimed(f"({10**12},)")),
        "need float32",
    ),
    "a run that needs a terabyte": (
        lambda: agent(header(value={"kind": "mlp", "hidden": [2**20, 2**20]})),
        r"too short for the 1,0\d\d,\d\d\d,\d\d\d,\d\d\d weights",
    ),
    "more weights than are there": (
        lambda: with_entry("weights.npy", claimed(f"({weights().size},)")),
        "weights, but 128 bytes",
    ),
    "another compression": (
        lambda: with_entry("weights.npy", b"", zipfile.ZIP_LZMA),
        "compressed by another method",
    ),
    "weights that are no numbers": (with_nan, "not finite numbers"),
    "infinite weights": (lambda: agent(array=np.float32(np.inf) + weights()), "not finite numbers"),
    "an unknown variant": (lambda: agent(header(variant="half")), "variant must be one of"),
    "another run's variant": (lambda: agent(header(variant="none")), r"of its run's \(farl\)"),
    "a variant that is a list": (lambda: agent(header(variant=["farl"])), "variant must be text"),
    "no seed": (lambda: agent(header(seeds=[])), "seeds"),
    "two seeds": (lambda: agent(header(seeds=[0, 1])), "one seed, not 2"),
    "a batch of 10^30": (lambda: agent(part("schedule", batch=10**30)), "batch must"),
    "an alpha of 10^400": (lambda: agent(part("schedule", alpha=10**400)), "alpha must"),
    "an unknown setting": (lambda: agent(part("schedule", horses=1)), "horses"),
    "another game": (lambda: agent(header(game={"name": "chess"})), "chess"),
    "no game": (lambda: agent(header(game=3)), "not a known game"),
    "other rules": (lambda: agent(header(fingerprint="0" * 16)), "other rules of tictactoe"),
}  # fmt: skip


@pytest.mark.parametrize("kind", AGENTS)
def test_an_agent_with_something_wrong_inside_is_one_line(kind, here, jaxgbg):
    make, line = AGENTS[kind]
    case = Case("eval bad.agent", rf"^jaxgbg: agent file bad.agent.*{line}", {"bad.agent": make()})
    assert run_case(case, here, jaxgbg) == ("", [])


@pytest.mark.parametrize(
    "command",
    [
        "eval bad.agent --opponent random",
        "compare bad.agent random",
        "compare good.agent bad.agent",
        "train tictactoe --episodes 50 --partner bad.agent --out new",
        "eval agents --opponent random",
    ],
)
def test_every_command_that_takes_an_agent_says_so(command, here, jaxgbg):
    bad = agent(array=weights()[:-1])
    files = {"bad.agent": bad, "good.agent": agent(), "agents/agents/bad.agent": bad}
    case = Case(command, "agent file .*bad.agent: .*need float32", files)
    out, new = run_case(case, here, jaxgbg)
    assert out == ""
    assert [path for path in new if path.is_file()] == []


def test_the_good_one_among_these_is_good(here):
    (here / "good.agent").write_bytes(agent())
    assert load_agent(here / "good.agent").run == run()


def test_megabytes_of_zeros_are_refused_before_they_are_unpacked(here):
    # A thousand times as long as the file.
    content = agent(array=zeros(2**23))
    assert len(content) < 2**16
    (here / "large.agent").write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"float32\[8388608\] weights, but its n-tuples"):
            load_agent("large.agent")
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("eval {}", "a.agent"),
        ("train tictactoe --episodes 50 --out new --layout {}", "layout.json"),
        ("train tictactoe --episodes 50 --out new --partner {}", "b.agent"),
    ],
)
def test_what_is_no_regular_file_is_not_waited_for(command, name, here, jaxgbg):
    os.mkfifo(here / name)
    for path in (name, "/dev/zero"):
        out, new = run_case(Case(command.format(path), "not a regular file|unknown"), here, jaxgbg)
        assert (out, new) == ("", [])


def test_what_is_no_regular_file_is_closed_again(here):
    (here / "large").write_bytes(bytes(9))
    before = os.listdir("/proc/self/fd")
    for path in (".", "/dev/zero", "large"):
        with pytest.raises(ValueError, match=r"not a regular file|9 bytes long"):
            open_file(path, most=8)
    assert os.listdir("/proc/self/fd") == before


LAYOUTS = {
    "nothing": (b"", "not valid JSON"),
    "brackets": (DEEP, "nested more than"),
    "closed brackets": (b"[" * 500 + b"]" * 500, "nested more than"),
    "another code": (b"\xff", "not valid UTF-8"),
    "a hundred megabytes": (b" " * 10**8, "100,000,000 bytes long, and at most 16,777,216"),
    "an object": (b"{}", "expected a list"),
    "no tuple": (b"[]", "holds no tuple"),
    "a number": (b"[3]", "tuple 0"),
    "a list of lists of lists": (b"[[[1]]]", "tuple 0"),
    "true": (b"[[true]]", "tuple 0"),
    "another board's cell": (b"[[9]]", "cells 0 to 8"),
    "a number beyond all boards": (b"[[" + b"9" * 4000 + b"]]", "cells 0 to 8"),
    "a number of too many digits": (b"[[" + b"9" * 5000 + b"]]", "digits"),
}


@pytest.mark.parametrize("kind", LAYOUTS)
def test_a_layout_with_something_wrong_inside_is_one_line(kind, here, jaxgbg):
    content, line = LAYOUTS[kind]
    command = "train tictactoe --episodes 50 --out new --layout layout.json"
    case = Case(command, rf"^jaxgbg: layout file layout.json.*{line}", {"layout.json": content})
    assert run_case(case, here, jaxgbg) == ("", [])
