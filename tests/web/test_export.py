"""What makes a file to share: the compiler, the packing, the refusals of the command."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg import jaxprs
from jaxgbg.games import Nim
from jaxgbg.jaxprs import Parameters, UnknownJaxpr
from jaxgbg.web.drawings import drawing_of
from jaxgbg.web.export import compiler, file
from jaxgbg.web.export.bundle import joined
from jaxgbg.web.export.compiler import Program, Unsupported
from jaxgbg.web.export.packing import DENSE, pack
from tests.web.tables import drawn_agent


def test_what_is_not_known_in_javascript_is_named():
    program = Program()
    words = r"^the JAX primitive {} has no translation to JavaScript.* \(jax [\d.]+\)$"
    with pytest.raises(UnknownJaxpr, match=words.format("erf_inv")):
        program.add("bad", lambda x: jax.lax.erf_inv(x), jnp.zeros(3))
    with pytest.raises(UnknownJaxpr, match=words.format("sort")):
        program.add("bad", jnp.sort, jnp.zeros(3))
    with pytest.raises(UnknownJaxpr, match="a JAX scan over arrays has no translation"):
        program.add("bad", lambda x: jax.lax.scan(lambda c, a: (c + a, c), 0.0, x), jnp.zeros(3))
    with pytest.raises(Unsupported, match="of the type complex64"):
        program.add("bad", lambda x: x, jnp.zeros(3, jnp.complex64))


def test_a_page_that_would_take_gigabytes_is_refused_before_its_arrays_are_made():
    program, many = Program(), jnp.zeros(2**15)
    with pytest.raises(Unsupported, match="one position needs more than 33,554,432 numbers"):
        program.add("bad", lambda x: (x[:, None] * x).sum(0), many)
    with pytest.raises(Unsupported, match="one position needs more than 33,554,432 numbers"):
        program.add("bad", lambda x: sum(x * number for number in range(1200)), many)
    assert not program.arrays
    # Weights of any size are arguments, which take no room of their own.
    weights = jax.ShapeDtypeStruct((1, 2**30), jnp.float32)
    program.add("good", lambda x, at: x[0][at], weights, jnp.int32(0))


@pytest.mark.parametrize(
    ("renamed", "function"),
    [
        ("axes", lambda x: x.sum(0)),
        ("axis", lambda x: jnp.cumsum(x)),
        ("dimension_numbers", lambda x: x[x.astype(jnp.int32)]),
        ("mode", lambda x: x.at[jnp.argmax(x)].set(1)),
        ("new_dtype", lambda x: x.astype(jnp.int32)),
        ("permutation", lambda x: jnp.stack([x, x]).T),
        ("padding_config", lambda x: jnp.pad(x, 1)),
        ("body_nconsts", lambda x: jax.lax.while_loop(lambda y: y[0] < 9, lambda y: y + 1, x)),
        ("branches", lambda x: jax.lax.cond(x[0] > 0, lambda y: y, lambda y: -y, x)),
        ("length", lambda x: jax.lax.fori_loop(0, 9, lambda _, y: y + 1, x)),
    ],
)
def test_a_parameter_that_jax_renames_is_named(renamed, function, monkeypatch):
    """As with another version of JAX, in which the parameter has another name."""

    class Renamed(Parameters):
        def __init__(self, primitive, values):
            other = {"other_" * (name == renamed) + name: each for name, each in values.items()}
            super().__init__(primitive, other)

    Program().add("good", function, jnp.ones(4))
    monkeypatch.setattr(jaxprs, "Parameters", Renamed)
    monkeypatch.setattr(compiler, "Parameters", Renamed)
    with pytest.raises(
        UnknownJaxpr, match=f"has no parameter '{renamed}', it has .*other_{renamed}"
    ):
        Program().add("bad", function, jnp.ones(4))


def test_a_parameter_that_jax_adds_is_named(monkeypatch):
    class Extended(Parameters):
        def __init__(self, primitive, values):
            super().__init__(primitive, {**values, "rounding": 2})

    monkeypatch.setattr(compiler, "Parameters", Extended)
    with pytest.raises(
        UnknownJaxpr, match=r"^the JAX primitive add has an unknown parameter 'round"
    ):
        Program().add("bad", lambda x: x + 1, jnp.ones(4))


def test_what_is_known_beforehand_is_computed_beforehand_and_stands_once():
    program = Program()
    table = jnp.arange(5) ** 2
    program.add("one", lambda x: x + jnp.flip(table), jnp.zeros(5, jnp.int32))
    program.add("other", lambda x: x * jnp.flip(table), jnp.zeros(5, jnp.int32))
    (constant,) = program.arrays
    np.testing.assert_array_equal(constant, [16, 9, 4, 1, 0])
    assert program.source.count("D[0]") == 2


def test_of_many_zeros_only_the_rest_is_packed():
    sparse = np.zeros(100_000, np.float32)
    sparse[[3, 200, 99_999]] = [0.5, -0.0, 1e-30]
    entries, text = pack([np.arange(9, dtype=np.int8), sparse])
    # -0.0 is no 0.
    assert entries == [["Int8Array", 9, DENSE], ["Float32Array", 100_000, 3]]
    assert len(text) < 100


def test_modules_become_one_script_or_are_refused():
    modules = {
        "a.js": 'import { f as g } from "./b.js";\nimport * as b from "./b.js";\ng(b);',
        "b.js": "export const f = 1;\nexport function h() {}",
    }
    script = joined(modules, "a.js")
    assert script.index("const module_b") < script.index("const { f: g } = module_b;")
    assert "return { f, h };" in script
    assert "import" not in script
    assert "export" not in script
    with pytest.raises(ValueError, match="not a supported import or export"):
        joined({"a.js": "export default 3;"}, "a.js")


@pytest.fixture(scope="module")
def small():
    game = Nim(heaps=2, size=2)
    return game, {"drawn": drawn_agent(game)}


def test_a_file_loads_nothing(small):
    text = file.game_file(*small)
    assert "src=" not in text
    assert 'href="data:image/svg+xml' in text
    assert text.count("<script") == text.count("</script>") == 3
    assert "default-src 'none'" in text


def test_a_file_that_would_be_too_large_is_refused(small, monkeypatch):
    monkeypatch.setattr(file, "MOST_BYTES", 10_000)
    with pytest.raises(ValueError, match=r"^[\d,]+ active weights of nim make a file of .* MB"):
        file.game_file(*small)


def test_a_drawing_that_needs_numbers_before_there_are_any_is_refused(monkeypatch):
    drawing = drawing_of(Nim())
    asks = dataclasses.replace(drawing, kinds=lambda board: [int(pile) for pile in board])
    monkeypatch.setattr(file, "drawing_of", lambda game: asks)
    with pytest.raises(ValueError, match=r"^nim cannot be played without Python: its drawing or"):
        file.game_file(Nim(), {})


@pytest.mark.slow
def test_the_command_writes_a_file_and_overwrites_none_unasked(jaxgbg, tmp_path):
    path = tmp_path / "game.html"
    nim = ("play", "nim", "--size", "2", "--parameters", "heaps=2", "--export", path)
    code, out, _ = jaxgbg(*nim)
    assert (code, out.startswith(f"{path}: nim in 0.1 MB")) == (0, True)
    path.write_text("mine")
    code, _, error = jaxgbg(*nim)
    assert (code, error) == (2, f"jaxgbg: {path} exists already: --replace overwrites it\n")
    assert path.read_text() == "mine"
    assert jaxgbg(*nim, "--replace")[0] == 0
    assert path.read_text().startswith("<!DOCTYPE html>")


def test_the_command_leaves_nothing_where_it_cannot_write(jaxgbg, tmp_path):
    for arguments, words in (
        (("nim", "--export", tmp_path / "none" / "a.html"), "there is no folder"),
        (("nim", "--export", tmp_path, "--replace"), "Is a directory"),
        (("nim", "--export", tmp_path), "Is a directory"),
        (("nim", "--export", tmp_path / "a.html", "--port", "9"), "which serves no page"),
        (("nim", "--replace"), "--replace goes with --export"),
    ):
        code, _, error = jaxgbg("play", *arguments)
        assert (code, words in error, error.count("\n")) == (2, True, 1)
    assert list(tmp_path.iterdir()) == []
