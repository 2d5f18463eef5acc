"""Who takes part in a tournament: names that tell them apart, agents of runs, what is refused."""

import shutil

import pytest

from jaxgbg.arena.participants import enter, game_of, named
from jaxgbg.games import Nim


@pytest.fixture
def run(trained):
    (folder,) = (trained / "small").glob("nim-*")
    return folder


def names(*what, **options):
    return [participant.name for participant in enter(named(what, **options), Nim())]


def test_all_agents_of_a_run_take_part_or_the_first_one(run):
    entries = named([str(run), "random"])
    assert game_of(entries) == Nim()
    participants = enter(entries, Nim())
    assert [each.name for each in participants] == [
        "seed0-farl",
        "seed1-farl",
        "seed0-none",
        "seed1-none",
        "random",
    ]
    assert len({each.identity for each in participants}) == 5
    assert names(run, "random", first=True) == ["seed0-farl", "random"]


def test_a_name_of_ones_own_comes_before_an_equals_sign(run):
    agent = run / "agents" / "seed0-farl.agent"
    assert names(f"mine={agent}", "the best=random") == ["mine", "the best"]
    assert names(f"run={run}")[:2] == ["run/seed0-farl", "run/seed1-farl"]
    playing = ["look-ahead=2", "search=puct-200", "search=puct-50"]
    assert names(*(f"{agent}:{how}" for how in playing)) == [f"seed0-farl:{how}" for how in playing]


def test_files_of_one_name_are_told_apart_by_their_folders(run, tmp_path):
    other = tmp_path / "other" / "agents"
    other.mkdir(parents=True)
    shutil.copy(run / "agents" / "seed1-farl.agent", other / "seed0-farl.agent")
    agent = run / "agents" / "seed0-farl.agent"
    assert names(agent, other.parent) == [f"{run.name}/seed0-farl", "other/seed0-farl"]


def test_nobody_meets_himself(run, tmp_path):
    agent = run / "agents" / "seed0-farl.agent"
    with pytest.raises(ValueError, match="random takes part twice"):
        names("random", "random")
    with pytest.raises(ValueError, match="seed0-farl takes part twice"):
        names(agent, agent)
    with pytest.raises(ValueError, match="seed0-farl and mine are the same player"):
        names(agent, f"mine={agent}")
    assert len(names(agent, f"ahead={agent}:look-ahead=2")) == 2
