"""The game of the tutorial, which lives outside the package, is a full citizen."""

import dataclasses
import importlib
import tomllib
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from jaxgbg.extensions import import_modules
from jaxgbg.games import check_game, check_playable, fingerprint, game_names, make
from jaxgbg.games.registry import GAMES, GROUP

FOLDER = Path(__file__).parents[2] / "docs" / "tutorial"


@pytest.fixture(scope="module")
def pebbles():
    """The module, imported from its own folder as `--import pebbles` does there."""
    known = dict(GAMES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(FOLDER)
        patch.syspath_prepend(FOLDER)
        import_modules(["pebbles"])
        yield importlib.import_module("pebbles")
    GAMES.clear()
    GAMES.update(known)


@pytest.mark.slow
def test_the_game_of_the_tutorial_is_registered_and_keeps_the_contract(pebbles):
    game = make("pebbles", cups=4)
    assert "pebbles" in game_names()
    assert game == pebbles.Pebbles(cups=4)
    assert check_game(game) == check_game(make("pebbles")) == []
    check_playable(game)


def test_its_last_pebbles_pay(pebbles):
    game = make("pebbles", cups=2, pebbles=2)
    state = game.init(jax.random.key(0))
    for action in (0, 0, 1, 1):
        state = game.step(state, action, jax.random.key(0))
    assert state.terminal
    assert state.rewards.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.slow
def test_a_changed_rule_changes_its_fingerprint(pebbles):
    class Generous(pebbles.Pebbles):
        def afterstate(self, state, action):
            after = super().afterstate(state, action)
            return after._replace(rewards=jnp.minimum(after.rewards * 1.5, 1.0))

    prints = {fingerprint(game) for game in (make("pebbles"), make("pebbles", cups=4), Generous())}
    assert len(prints) == 3
    assert fingerprint(dataclasses.replace(make("pebbles"))) in prints


def test_the_entry_point_that_the_tutorial_shows_names_its_game(pebbles):
    shown = tomllib.loads((FOLDER / "entry_point.toml").read_text())["project"]["entry-points"]
    ((name, target),) = shown[GROUP].items()
    module, _, attribute = target.partition(":")
    assert getattr(importlib.import_module(module), attribute) is GAMES[name]
