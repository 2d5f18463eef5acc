"""A search of a user's own, from a module in the working folder, is used wherever ours are."""

import importlib
import json
import shutil
import subprocess
import sys

import jax
import numpy as np
import pytest

import jaxgbg as package
from jaxgbg.extensions import import_modules
from jaxgbg.players import make_player, player_names
from jaxgbg.search import SearchSpec, search_kinds
from jaxgbg.web.play import requests
from tests.web.tables import table_of

MODULE = "flat_monte_carlo"
IMPORT = ("--import", MODULE)


@pytest.fixture
def agent_file(trained, user_folder):
    """A file of its own, as it is named in commands."""
    found = next((trained / "small").glob("nim-*/agents/seed0-farl.agent"))
    return shutil.copy(found, user_folder / "self.agent")


@pytest.fixture
def imported(user_folder):
    return import_modules([MODULE])


def test_it_is_unknown_until_its_module_is_imported(user_folder):
    with pytest.raises(ValueError, match=r"unknown search 'flat-mc-2'.*--import MODULE"):
        SearchSpec.parse("flat-mc-2")
    assert "flat-mc-N" not in player_names()
    import_modules([MODULE])
    assert SearchSpec.parse("flat-mc-2,steps=2").number == 2
    assert {"flat-mc", "flat-mc-N"} <= set(player_names())
    assert "flat-mc" in search_kinds(with_agent=True)
    assert "flat-mc-N for N playouts (steps=1)" in package.runs.play.Play.help()["search"]


def test_its_name_is_its_own(imported):
    kinds = importlib.import_module(MODULE)
    with pytest.raises(ValueError, match="flat-mc: another search of this name"):
        type("Other", (SearchSpec,), {"kind": "flat-mc"})
    with pytest.raises(ValueError, match="puct: another search of this name"):
        type("Mine", (search_kinds()["puct"],), {})
    with pytest.raises(ValueError, match="letters, digits, _ and - only, not 'a,b'"):
        type("Odd", (SearchSpec,), {"kind": "a,b"})
    # The same class, run again as in a notebook, takes the place of the first.
    importlib.reload(kinds)
    assert search_kinds()["flat-mc"] is kinds.FlatMonteCarloSpec


def test_it_finds_the_winning_move(imported):
    game = package.make("nim", heaps=1, size=3)
    player = make_player("flat-mc-30,steps=5", game)
    start = game.init(jax.random.key(0))
    taken = game.afterstate(start, np.int32(player.play_move(start)))
    assert bool(taken.terminal)


@pytest.mark.slow
def test_it_sits_at_the_play_page(imported):
    table = table_of("nim", heaps=2, size=3)
    seats = {each["name"]: each for each in table.about()["seats"]}
    assert seats["flat-mc"]["strength"] == {
        "unit": "playouts", "join": "-", "value": 50, "low": 1, "high": 10_000,
    }  # fmt: skip
    assert seats["agent:search=flat-mc"]["label"] == "drawn, flat-mc"
    for name in ("flat-mc-3", "agent:search=flat-mc-3"):
        chosen = table.choose(requests.Choose("", name, 0))
        assert chosen["action"] in range(6)
    with pytest.raises(ValueError, match="flat-mc-N takes N alone"):
        table.choose(requests.Choose("", "flat-mc-3,steps=2", 0))
    table.close()


@pytest.mark.slow
def test_agents_and_tournaments_use_it(agent_file, user_folder, jaxgbg):
    def records(*arguments):
        code, _, err = jaxgbg(*arguments, *IMPORT, "--json", "rows.json")
        assert code == 0, err
        return json.loads((user_folder / "rows.json").read_text())

    search = ("--search", "flat-mc-4,steps=2")
    (row,) = records("eval", agent_file, *search, "--opponent", "flat-mc-1")
    assert row["opponent"] == "flat-mc-1"
    players = ["random", "flat-mc-2", f"me={agent_file}:search=flat-mc-2"]
    options = ("--game", "nim", "--games", 20, "--out", "t")
    rows = records("tournament", *players, *options)
    assert {row["player"] for row in rows} == {"random", "flat-mc-2", "me"}
    code, _, line = jaxgbg("eval", agent_file, "--search", "flat-mc-4,step=2", *IMPORT)
    assert (code, line.count("\n")) == (2, 1)
    assert "unknown setting 'step': did you mean steps?; known are playouts, steps" in line
    code, _, line = jaxgbg("eval", agent_file, "--search", "flat-mc-0", *IMPORT)
    assert (code, "playouts must lie in [1, 10,000], not 0" in line) == (2, True)


@pytest.mark.slow
def test_it_is_an_axis_of_sweeps_and_leads_training(user_folder, jaxgbg):
    (user_folder / "sweep.toml").write_text(
        'game = "nim"\nseeds = 1\n[settings]\nlearner = "td-search"\nfarl = true\n'
        "episodes = 40\neval_every = 20\nbatch = 4\n[axes]\n"
        'search = ["flat-mc-1", "puct-2"]\ntrain_search = ["flat-mc-1", "puct-2"]\n'
    )
    code, _, err = jaxgbg("sweep", "sweep.toml", *IMPORT)
    assert code == 0, err
    code, _, _ = jaxgbg("results", "runs", *IMPORT, "--json", "rows.json")
    assert code == 0
    rows = json.loads((user_folder / "rows.json").read_text())
    found = {(row["search"], row["train_search"]) for row in rows}
    assert found == {(a, b) for a in ("flat-mc-1", "puct-2") for b in ("flat-mc-1", "puct-2")}


@pytest.mark.slow
def test_help_of_a_command_names_it(user_folder):
    program = "import sys; from jaxgbg.cli.app import main; sys.argv[0] = 'jaxgbg'; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "eval", "--help", *IMPORT],
        capture_output=True,
        text=True,
        check=False,
        cwd=user_folder,
    )
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.replace("│", " ").split())
    assert "flat-mc-N for N playouts (steps=1)" in told


def test_copies_of_an_agent_search_side_by_side(imported):
    game = package.make("nim", heaps=2, size=3)
    run = package.preset(game, seeds=(0, 1), search="flat-mc-4")
    learner = run.make_learner()
    params = jax.tree.map(lambda leaf: np.stack([leaf, leaf]), learner.value.init())
    both = package.GreedyAgent(game, learner.value, params, several=True)
    player = run.play.player(both)
    assert player.copies == 2
    starts = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 6))
    chosen = np.asarray(player.act(starts, jax.random.key(1)))
    legal = np.asarray(jax.vmap(game.legal_actions)(starts))
    assert legal[np.arange(6), chosen].all()
