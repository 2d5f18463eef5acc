"""Sweep files: the runs they ask for, the programs these share, and what is wrong in them."""

import pytest

from jaxgbg.games import make
from jaxgbg.runs import Run, Training
from jaxgbg.runs.lanes import program_of
from jaxgbg.runs.memory import lane_memory
from jaxgbg.sweeps.spec import plan, read_spec, units

TINY = {"episodes": 100, "eval_every": 100, "opponents": []}


def runs(**fields):
    return [run for unit in units({"settings": TINY, **fields}) for run in unit.runs]


def test_every_combination_and_chunk_of_seeds_is_a_run():
    found = runs(
        game="tictactoe",
        seeds="2:7",
        chunk=2,
        axes={"alpha": [0.5, 1.0], "variants": ["farl", "none"]},
    )
    cells = {(run.schedule.alpha, run.variants, run.seeds) for run in found}
    seeds = ((2, 3), (4, 5), (6,))
    assert cells == {(a, (f,), s) for a in (0.5, 1.0) for f in ("farl", "none") for s in seeds}
    assert len(found) == 12
    assert {run.schedule.episodes for run in found} == {100}


def test_runs_of_equal_digests_are_two_and_equal_runs_are_one(monkeypatch):
    monkeypatch.setattr(Run, "digest", "12345678")
    axes = [{"alpha": [0.5, 1.0], "epsilon": [0.2]}, {"epsilon": [0.2], "alpha": [1]}]
    assert [run.schedule.alpha for run in runs(game="tictactoe", axes=axes)] == [0.5, 1.0]


def test_an_axis_is_a_path_or_its_short_form_alike():
    tiny = {"episodes": 100, "opponents": []}
    short = units(
        {"game": "nim", "settings": tiny, "axes": {"alpha": [0.5, 0.25], "eval_every": [50]}}
    )
    paths = {"schedule.alpha": [0.5, 0.25], "evaluation.every": [50]}
    tables = {"schedule": {"alpha": [0.5, 0.25]}, "evaluation": {"every": [50]}}
    for axes in (paths, tables):
        assert units({"game": "nim", "settings": tiny, "axes": axes}) == short
    assert [run.schedule.alpha for unit in short for run in unit.runs] == [0.5, 0.25]
    assert {run.evaluation.every for unit in short for run in unit.runs} == {50}


def test_several_tables_of_axes_are_the_combinations_of_each():
    axes = [
        {"learner": ["td", "sarsa"], "variants": ["farl", "none"]},
        {"learner": ["sarsa"], "replan": [False, True]},
    ]
    fields = {"game": "nim", "seeds": [0], "settings": {"variants": ["farl"], **TINY}}
    with pytest.raises(ValueError, match="variants is set for all runs and an axis too"):
        units({**fields, "axes": axes})
    del fields["settings"]["variants"]
    found = units({**fields, "axes": axes})
    both = ("farl", "none")
    assert {
        (run.learner.kind, getattr(run.learner, "replan", None), run.variants)
        for unit in found
        for run in unit.runs
    } == {
        *(
            (kind, again, (one,))
            for kind, again in (("td", None), ("sarsa", False))
            for one in both
        ),
        *(("sarsa", again, both) for again in (False, True)),
    }
    # A run that two of them ask for is done once, and a dry run has each value once.
    twice = plan({**fields, "axes": [*axes, axes[0]]})
    assert twice.units == found
    assert twice.axes == {
        "learner": ("td", "sarsa"),
        "variants": both,
        "replan": (False, True),
    }


def test_parameters_of_the_game_are_axes():
    found = runs(game="nim", seeds=[0], axes={"game.heaps": [1, 2], "game": {"size": [3, 4]}})
    assert [run.game for run in found] == [
        make("nim", heaps=heaps, size=size) for heaps in (1, 2) for size in (3, 4)
    ]
    assert len({run.digest for run in found}) == 4


def test_runs_that_differ_in_numbers_share_a_unit_and_others_do_not():
    axes = {"alpha": [0.5, 1.0], "batch": [8, 16], "game": ["nim", "tictactoe"]}
    found = units({"seeds": [4], "settings": TINY, "axes": axes})
    assert len(found) == 4
    for unit in found:
        assert [run.schedule.alpha for run in unit.runs] == [0.5, 1.0]
        assert len({program_of(run) for run in unit.runs}) == 1
        assert unit.lanes == 4
        assert unit.memory == 4 * lane_memory(unit.runs[0])
    assert len({unit.name for unit in found}) == 4


def test_units_stay_within_lanes_and_memory():
    fields = {"game": "nim", "seeds": "0:2", "settings": TINY, "axes": {"beta": [1.0, 2.0, 3.0]}}
    (whole,) = units(fields)
    assert whole.lanes == 12
    assert [unit.lanes for unit in units(fields | {"lanes": 8})] == [8, 4]
    # One run is a unit even where it is larger than what was allowed.
    assert [unit.lanes for unit in units(fields | {"lanes": 1})] == [4, 4, 4]
    small = units(fields | {"memory_gb": 9 * lane_memory(whole.runs[0]) / 1e9})
    assert [unit.lanes for unit in small] == [8, 4]


def test_the_memory_of_a_lane_is_that_of_its_arrays():
    (run,) = runs(game="hex", seeds=[3], axes={"variants": ["farl"]})
    leaves = Training(run).leaves()
    assert lane_memory(run) == pytest.approx(sum(leaf.nbytes for leaf in leaves), rel=0.01)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("game = ", "is not valid TOML"),
        ('gmae = "nim"', "unknown key 'gmae'"),
        ("seeds = 3", "name the game"),
        ('game = "go"', "unknown game 'go'"),
        ('game = "nim"\nseeds = "a:b"', "seeds must be like"),
        ('game = "nim"\nseeds = "5:5"', "at least one"),
        ('game = "nim"\nchunk = 0', r"chunk must lie in \[1, 100,000\], not 0"),
        ('game = "nim"\nlanes = 0', r"lanes must lie in \[1, 100,000\], not 0"),
        ('game = "nim"\nmemory_gb = 0', r"memory_gb must lie in \(0, 1,000,000\], not 0"),
        ('game = "nim"\n[axes]\nalhpa = [1]', "no run has a setting 'alhpa'"),
        ('game = "nim"\n[axes]\nalpha = 1.0', "must be a list"),
        ('game = "nim"\n[axes]\nalpha = []', "must be a list"),
        ('game = "nim"\naxes = 3', "axes must be a table, .axes., or several, ..axes.."),
        ('game = "nim"\naxes = [3]', "axes must be a table, .axes., or several, ..axes.."),
        ('game = "nim"\naxes = []', "axes must be a table, .axes., or several, ..axes.."),
        ('game = "nim"\n[[axes]]\nbatch = [1]\n[[axes]]\nalpha = 1', "alpha must be a list"),
        ('[[axes]]\ngame = ["nim"]\n[[axes]]\nbatch = [1]', "name the game"),
        ('game = "nim"\n[axes]\nbatch = [0]', r"batch must lie in \[1, 1,048,576\], not 0"),
        ('game = "nim"\n[axes]\ngame = ["hex"]', "game is set for all runs and an axis too"),
        ('game = "nim"\nseeds = [true]', r"seeds must be like .* not \[True\]"),
        ('game = "nim"\nseeds = true', "seeds must be like .* not True"),
        ('game = "nim"\nseeds = [1.5]', r"seeds must be like .* not \[1.5\]"),
        ('game = "nim"\n[settings]\nepisodes = 1.5', "episodes must be a whole number, not 1.5"),
        ('game = "nim"\n[settings]\nepisodes = true', "episodes must be a whole number, not True"),
        ('game = "nim"\n[settings]\nseeds = [1]', "seeds belong at the top of the file"),
        ('game = "nim"\n[settings]\nhidden = [9]', "hidden is for value mlp"),
        ('game = "nim"\n[settings]\nreplan = true', "replan is for learner sarsa"),
        ('game = "nim"\n[axes]\nlearner.replan = [true]', "replan is for learner sarsa"),
        ('game = "nim"\n[settings]\nvalue = "mlp"\ntcl = "id"', "tcl is for value ntuple"),
        ('game = "nim"\n[axes]\ngame.horses = [1]', "horses"),
        ('game = "nim"\n[axes]\ngame.heaps = [2.5]', "heaps must be a whole number, not 2.5"),
        ('game = "nim"\n[settings]\nschedule.alpha = 1.0\nalpha = 1.0', "given twice"),
        (
            'game = "nim"\n[settings]\nalpha = 1.0\n[axes]\nschedule.alpha = [1]',
            "alpha is set for all runs and an ax",
        ),
        ('game = "nim"\n[settings]\nlearner = "dream"', "learner must be one of"),
        ('game = "nim"\n[settings]\nbatch = "many"', "batch must be a whole number, not 'many'"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path, text, complaint):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=complaint) as error:
        read_spec(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="No such file"):
        read_spec(tmp_path / "none.toml")
