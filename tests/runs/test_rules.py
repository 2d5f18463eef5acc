"""Runs and agents belong to the rules that they were made under; under others they are refused."""

import jax.numpy as jnp
import pytest

from jaxgbg.games import fingerprint, make, register
from jaxgbg.games.nim import Nim
from jaxgbg.games.registry import GAMES
from jaxgbg.runs import Run, RunFolder, load_agent, train
from jaxgbg.runs.presets import preset

pytestmark = pytest.mark.slow


class Piles(Nim):
    """Nim by another name, so that its rules may be changed."""

    name = "piles"


class Generous(Piles):
    def afterstate(self, state, action):
        after = super().afterstate(state, action)
        return after._replace(rewards=jnp.where(after.terminal, 0.5 * after.rewards, 0))


@pytest.fixture
def changed_rules(tmp_path, monkeypatch):
    """The folder of a run of Piles, whose winner has been paid half since then."""
    monkeypatch.setattr("jaxgbg.games.registry.GAMES", dict(GAMES))
    from jaxgbg.games import registry

    register("piles", Piles)
    folder = train(small(), tmp_path / "runs")
    # Until then all is well.
    assert RunFolder.open(folder.path).finished
    assert load_agent(agent_of(folder.path)).run == small().for_seed(0)
    registry.GAMES["piles"] = Generous
    return folder.path


def small(**changes):
    settings = {"seeds": [0], "variants": ["farl"], "episodes": 50, "eval_every": 50, **changes}
    return preset(make("piles", heaps=2, size=2), **settings)


def agent_of(folder):
    return folder / "agents" / "seed0-farl.agent"


def test_the_folder_under_other_rules_is_refused_and_left_alone(changed_rules):
    before = {path: path.stat().st_mtime_ns for path in changed_rules.rglob("*")}
    with pytest.raises(ValueError, match=r"piles-\w+ was made under other rules of piles"):
        train(small(), changed_rules.parent)
    with pytest.raises(ValueError, match="made under other rules of piles"):
        RunFolder.open(changed_rules)
    assert {path: path.stat().st_mtime_ns for path in changed_rules.rglob("*")} == before


def test_an_unfinished_run_does_not_go_on_under_other_rules(changed_rules):
    (changed_rules / "summary.json").unlink()
    with pytest.raises(ValueError, match="made under other rules of piles"):
        train(small(), changed_rules.parent)


def test_an_agent_under_other_rules_is_refused(changed_rules):
    old, now = fingerprint(Piles(heaps=2, size=2)), fingerprint(Generous(heaps=2, size=2))
    assert old != now
    with pytest.raises(ValueError, match=f"other rules of piles .*'{old}', now {now}"):
        load_agent(agent_of(changed_rules))


def test_no_partner_is_made_of_an_agent_under_other_rules(changed_rules, tmp_path):
    with pytest.raises(ValueError, match="made under other rules of piles"):
        train(small(partner=str(agent_of(changed_rules))), tmp_path / "others")
    assert not (tmp_path / "others").exists()


def test_every_command_refuses_them_in_one_line(changed_rules, jaxgbg, tmp_path):
    agent = agent_of(changed_rules)
    options = ["--parameters", "heaps=2", "size=2", "--episodes", 50, "--eval-every", 50]
    commands = [
        ("train", "piles", *options, "--opponents", "random", "--out", changed_rules.parent),
        ("eval", changed_rules, "--opponent", "random"),
        ("eval", agent, "--opponent", "random"),
        ("compare", agent, "random"),
        ("compare", agent, agent),
    ]
    for command in commands:
        code, out, err = jaxgbg(*command)
        complaint = err.splitlines()[-1]
        assert (code, out, "other rules of piles" in complaint) == (2, "", True), command
        # Parameters of our own are reported before.
        assert err.count("\n") == 1 + ("no paper has parameters for piles" in err)


def test_a_run_knows_the_rules_it_was_made_under():
    run = preset("nim")
    plain = run.plain()
    assert plain["fingerprint"] == fingerprint(run.game)
    assert Run.read(plain) == run
    with pytest.raises(ValueError, match="made under other rules of nim"):
        Run.read({**plain, "fingerprint": "0" * 16})
