"""Sweep files that ask for what no sweep has: a line names the file, the field, what may be."""

import pytest

from .cases import Case, run_case

NIM = 'game = "nim"\n'

FILES = [
    # Seeds.
    (NIM + "seeds = [true]", r"seeds must be like \"0:64\" or \[3, 5\], not \[True\]"),
    (NIM + "seeds = true", "seeds must be like .* not True"),
    (NIM + "seeds = [[0]]", r"seeds must be like .* not \[\[0\]\]"),
    (NIM + "seeds = [0, [1]]", r"seeds must be a whole number, not \[1\]"),
    (NIM + "seeds = [0, true]", "seeds must be a whole number, not True"),
    (NIM + "seeds = {a = 1}", "seeds must be like"),
    (NIM + "seeds = 1.5", "seeds must be like .* not 1.5"),
    (NIM + "seeds = -1", r"seeds must lie in \[0, 4,294,967,295\], not -1"),
    (NIM + "seeds = 4294967296", r"seeds must lie in \[0, 4,294,967,295\], not 4294967296"),
    (NIM + 'seeds = "0:10000000000"', "seeds must have at most 100,000 entries"),
    (NIM + 'seeds = "0:1' + "0" * 30 + '"', "seeds must have at most 100,000 entries"),
    (NIM + 'seeds = "0:1:2"', "seeds must be like"),
    (NIM + "seeds = []", "seeds must have at least one entry"),
    (NIM + "seeds = 1979-05-27", "seeds must be like"),
    # How runs are cut into units.
    (NIM + "memory_gb = inf", "memory_gb must be a number, not inf"),
    (NIM + "memory_gb = nan", "memory_gb must be a number, not nan"),
    (NIM + "memory_gb = 1e300", r"memory_gb must lie in \(0, 1,000,000\], not 1e\+300"),
    (NIM + "memory_gb = true", "memory_gb must be a number, not True"),
    (NIM + "lanes = 1.5", "lanes must be a whole number, not 1.5"),
    (NIM + "lanes = 1000000000000", r"lanes must lie in \[1, 100,000\]"),
    (NIM + "chunk = true", "chunk must be a whole number, not True"),
    (NIM + "chunk = -1", r"chunk must lie in \[1, 100,000\], not -1"),
    (NIM + "episodes = 9", "unknown key 'episodes': it belongs under .settings."),
    (NIM + "trials = 3", 'trials needs adaptive = "tpe"'),
    # Games.
    ("game = 3", "a game's name must be text, not 3"),
    ('game = ["nim"]', r"a game's name must be text, not \['nim'\]"),
    ("[axes]\ngame = [{name = 'nim'}]", "a game's name must be text"),
    (NIM + "[settings]\ngame.heaps = 1000000000", r"nim: heaps must lie in \[1, 100\]"),
    (NIM + f"[axes]\ngame.players = [2, {10**30}]", r"nim: players must lie in \[2, 127\]"),
    (NIM + "[settings]\ngame.heaps = true", "nim: heaps must be a whole number, not True"),
    (NIM + "[settings]\ngame.heaps = [3]", r"nim: heaps must be a whole number, not \[3\]"),
    (NIM + "[settings]\ngame.rule = 7", "nim: rule must be text, not 7"),
    # Settings.
    (NIM + "[settings]\nepisodes = 1.5", "episodes must be a whole number, not 1.5"),
    (NIM + "[settings]\nepisodes = true", "episodes must be a whole number, not True"),
    (NIM + f"[settings]\nepisodes = {2**63}", r"episodes must lie in \[1, 2,147,483,648\]"),
    (NIM + f"[settings]\nepisodes = {'9' * 5000}", "x.toml: .*4300 digits"),
    (NIM + "[settings]\nalpha = inf", "alpha must be a number, not inf"),
    (NIM + '[settings]\nalpha = "1"', "alpha must be a number, not '1'"),
    (NIM + "[axes]\nalpha = [[1.0]]", r"alpha must be a number, not \[1.0\]"),
    (NIM + "[axes]\nbatch = [8, 1000000000]", r"batch must lie in \[1, 1,048,576\]"),
    (NIM + "[settings]\nwalks = [1000000000, 3]", r"walks must lie in \[0, 1,000\]"),
    (NIM + "[settings]\nwalks = [3]", r"walks must be a list of 2, not \[3\]"),
    (NIM + "[settings]\nlayout = [0, 1]", "layout must be a list, not 0"),
    (NIM + "[settings]\nlayout = [[[0]]]", r"layout must be a whole number, not \[0\]"),
    (NIM + "[settings]\nopponents = [3]", "opponents must be text, not 3"),
    (NIM + '[settings]\nopponents = [["maxn"]]', r"opponents must be text, not \['maxn'\]"),
    (NIM + '[settings]\nvariants = [["farl"]]', r"variants must be text, not \['farl'\]"),
    (NIM + "[settings]\nvariants = true", "variants must be a list, not True"),
    (NIM + '[settings]\nlearner = ["td"]', r"learner must be one of .* not \[\'td\'\]"),
    (NIM + "[settings]\nvalue = {kind = 3}", "no run has a setting 'value.kind'"),
    (NIM + '[settings]\nprotocols = [{starts = "bogus"}]', "starts must be one of default"),
    (NIM + "[settings]\nprotocols = [3]", "protocol must be a table, not 3"),
    (NIM + "[settings]\nprotocols = [{count = true}]", "count must be a whole number, not True"),
    (NIM + "[settings]\nprotocols = [{games = 3}]", "unknown setting 'games'"),
    (NIM + "[settings]\nprotocols = [{count = 9999, repeats = 99}]", "at most 100,000 games"),
    (NIM + "[settings]\npartner = false", "partner must be text, not False"),
    (NIM + "[settings]\nepisodes = 1979-05-27", "episodes must be a whole number"),
    # Too much of it.
    (
        NIM
        + "[axes]\n"
        + "\n".join(f"{n} = {[*range(1, 101)]}" for n in ("beta", "alpha", "batch")),
        "axes and seeds make 1000000 runs, of which a sweep has at most 10,000",
    ),
    (NIM + 'seeds = "0:20000"\nchunk = 1', "make 20000 runs, of which a sweep has at most 10,000"),
    ("[" * 100_000, "x.toml"),
    (NIM + "x = " + "[" * 100_000, "x.toml: nested more than"),
    ("#" * 20_000_000, "x.toml: 20,000,000 bytes long, and at most 16,777,216 are read"),
    (b"\xff\xfe", "x.toml, line 1: not valid UTF-8"),
    (b"game = 'nim\0'", "x.toml is not valid TOML"),
    (
        b"\xef\xbb\xbfgame = 'nim'",
        "x.toml: starts with a byte-order mark: save it as UTF-8 without",
    ),
    (".".join("a" * 3000) + " = 1", "x.toml: nested more than"),
    (NIM + "[axes]\nfarl = [true, 1]", "farl must be true or false, not 1"),
    (NIM + "[axes]\nfarl = [true]\nvariants = ['farl']", "variants is given twice"),
    (NIM + "[axes]\nfrl = [true]", "no run has a setting 'frl'"),
    (NIM + "sedes = 3", "unknown key 'sedes': did you mean seeds"),
]


@pytest.mark.parametrize("option", ["", " --dry-run"])
@pytest.mark.parametrize(("text", "line"), FILES, ids=[text[-40:] for text, _ in FILES])
def test_the_file_and_the_field_are_named(text, line, option, jaxgbg, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = Case(f"sweep x.toml{option}", f"sweep file x.toml.*{line}|{line}", {"x.toml": text})
    out, new = run_case(case, tmp_path, jaxgbg)
    assert out == ""
    assert new == []


def test_every_line_names_the_file(tmp_path):
    from jaxgbg.sweeps import read_spec

    for text, line in FILES:
        path = tmp_path / "x.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with pytest.raises(ValueError, match=line) as caught:
            read_spec(path)
        assert str(caught.value).startswith(f"sweep file {path}")


def test_farl_is_an_axis(tmp_path):
    from jaxgbg.sweeps import read_spec

    (tmp_path / "x.toml").write_text(NIM + "[axes]\nfarl = [true, false]\n")
    (tmp_path / "y.toml").write_text(NIM + "[axes]\nvariants = ['farl', 'none']\n")
    assert read_spec(tmp_path / "x.toml") == read_spec(tmp_path / "y.toml")
