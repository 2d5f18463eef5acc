"""Whatever is given as a setting, by Python, a sweep file or a flag, is taken or told in a line."""

import dataclasses
import json
import time
from collections.abc import Iterator

import optax
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxgbg.games import Nim, game_names, make
from jaxgbg.runs import Run
from jaxgbg.runs import settings as run_settings
from jaxgbg.runs.storage.schemas import Histogram
from jaxgbg.specs import Spec
from jaxgbg.sweeps.spec import units

SECONDS = 10.0
FAST = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# 10 000 in all, most of them where one takes a millisecond.
SLOW = settings(FAST, max_examples=4800, derandomize=False)


def specs(base: type[Spec] = Spec) -> Iterator[type[Spec]]:
    """Every spec of the package that is made, not only inherited from."""
    for spec in base.__subclasses__():
        if spec.__module__.startswith("jaxgbg."):
            yield from specs(spec)
            if dataclasses.fields(spec):
                yield spec


FIELDS = [(spec, field.name) for spec in specs() for field in dataclasses.fields(spec)]
SHORT = sorted(run_settings.settings())
REQUIRED = {
    "Run": {"game": Nim()},
    "Summary": dict.fromkeys(("episodes", "moves", "training_seconds", "moves_per_second"), 0),
    "About": {
        "run": "",
        "metrics_sha256": [],
        "reached": 0,
        "seconds": 0,
        "metrics": [],
        "bytes": 0,
    },
    "AgentHeader": {"run": Run(Nim(), seeds=[0]), "variant": "farl"},
    "Counts": {"seed": 0, "variant": "farl", "counts": []},
    "Histogram": {"edges": [0, 1]},
    "Histograms": {"weights": Histogram((0.0, 1.0))},
}
PARAMETERS = [(name, f.name) for name in game_names() for f in dataclasses.fields(make(name))]

whole = st.integers() | st.integers(-(10**40), 10**40) | st.sampled_from([2**31, 2**63, 10**4000])
words = st.text(max_size=12) | st.sampled_from([*dir(optax), "nan", "1e999", "farl", "self", "td"])
scalars = st.none() | st.booleans() | whole | st.floats() | words
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4), max_leaves=8)
small = st.integers(-2, 300) | st.floats(-1, 2) | st.lists(st.integers(-1, 9), max_size=3)
anything = values | small


def is_taken_or_named(call) -> None:
    """`call` returns, or raises ValueError of one line, and soon."""
    begun = time.process_time()
    line = "taken"
    try:
        call()
    except ValueError as error:
        line = str(error)
    assert len(line.splitlines()) == 1, line
    assert len(line) < 2000
    assert time.process_time() - begun < SECONDS


def from_python(field, value):
    spec, name = field
    others = REQUIRED.get(spec.__name__, {})
    is_taken_or_named(lambda: spec(**{**others, name: value}))
    is_taken_or_named(lambda: spec.read({**others, "kind": spec.kind, name: value}))


def from_a_game(parameter, value):
    game, name = parameter
    is_taken_or_named(lambda: make(game, **{name: value}))
    is_taken_or_named(lambda: type(make(game))(**{name: value}))


def from_a_sweep(name, value):
    for table in ({"settings": {name: value}}, {"axes": {name: value}}, {"axes": {name: [value]}}):
        is_taken_or_named(lambda table=table: units({"game": "nim", "seeds": [0], **table}))
    for key in ("game", "seeds", "chunk", "lanes", "memory_gb", "settings", "axes"):
        is_taken_or_named(lambda key=key: units({"game": "nim", "seeds": [0], key: value}))


def from_a_flag(jaxgbg, name, value):
    given_words = [_word(each) for each in (value if isinstance(value, list) else [value])]
    code, _, err = jaxgbg("train", "nim", f"--{name.replace('_', '-')}", *given_words)
    assert code in (0, 2)
    assert "Traceback" not in err
    assert code == 0 or err.count("\n") == 1, err


def _word(value) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.fixture
def untrained(jaxgbg, monkeypatch, tmp_path):
    """The command line, which stops where training would begin."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("jaxgbg.cli.run_all.run_all", lambda *_, **__: None)
    return jaxgbg


def test_every_spec_is_found():
    names = {spec.__name__ for spec, _ in FIELDS}
    assert names >= {"Run", "Schedule", "TDSpec", "NTupleSpec", "MLPSpec", "Protocol", "UnitLimits"}


@FAST
@given(st.sampled_from(FIELDS), anything)
def test_from_python(field, value):
    from_python(field, value)


@FAST
@given(st.sampled_from(PARAMETERS), anything)
def test_from_a_game(parameter, value):
    from_a_game(parameter, value)


@FAST
@given(st.sampled_from(SHORT), anything)
def test_from_a_sweep_file(name, value):
    from_a_sweep(name, value)


@settings(FAST, max_examples=8)
@given(name=st.sampled_from(sorted({*SHORT} - {"variants", "protocols"})), value=anything)
def test_from_a_flag(untrained, name, value):
    from_a_flag(untrained, name, value)


@pytest.mark.slow
@SLOW
@given(st.sampled_from(FIELDS), anything)
def test_thousands_from_python(field, value):
    from_python(field, value)


@pytest.mark.slow
@SLOW
@given(st.sampled_from(PARAMETERS), anything)
def test_thousands_from_a_game(parameter, value):
    from_a_game(parameter, value)


@pytest.mark.slow
@settings(SLOW, max_examples=300)
@given(st.sampled_from(SHORT), anything)
def test_hundreds_from_a_sweep_file(name, value):
    from_a_sweep(name, value)


@pytest.mark.slow
@settings(SLOW, max_examples=100)
@given(name=st.sampled_from(SHORT), value=anything)
def test_a_hundred_from_a_flag(untrained, name, value):
    from_a_flag(untrained, name, value)
