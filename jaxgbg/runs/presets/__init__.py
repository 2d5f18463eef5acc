"""Published parameters, evaluation protocols and figures, as data; one file for each source."""

import re
from collections.abc import Mapping
from typing import TypeVar

from jaxgbg.evaluation import Protocol
from jaxgbg.games import Game, check_own, make
from jaxgbg.learners import Schedule, TDSpec
from jaxgbg.players import name_of
from jaxgbg.runs import Evaluation, Run
from jaxgbg.runs.presets import dambra, konen2021, ours, ree2013, sasso2018
from jaxgbg.runs.presets.core import Preset
from jaxgbg.runs.settings import short_forms
from jaxgbg.specs import shown
from jaxgbg.types import SettingValue
from jaxgbg.values import MLPSpec, NTupleSpec, ValueSpec

__all__ = [
    "GAMES",
    "Preset",
    "episodes_of",
    "figure",
    "greatest",
    "note",
    "preset",
    "protocol_for",
    "published_kinds",
    "source",
    "wins",
]
GAMES = konen2021.GAMES
"""The games with published figures, in the order of tables."""

_PROTOCOLS = konen2021.PROTOCOLS | dambra.PROTOCOLS | sasso2018.PROTOCOLS
# The settings that decide which preset a run begins with.
_CHOOSING = {"value", "learner", "replay_episodes"}
_Entry = TypeVar("_Entry")


def preset(game: str | Game, **changes: SettingValue) -> Run:
    """The published run of a game, or of the game of that name, with `changes` to its settings.

    Settings go by their short forms: `preset("nim", seeds=range(3), episodes=1e4, hidden=20,
    opponents="maxn")`. A list of one entry may be the entry alone, except for `seeds`, where a
    number could be a seed or their number. Without `seeds` and `farl` there are ten seeds, each
    with FARL and without, as published; `jaxgbg train` trains one, with FARL.

    With another value function than n-tuples only budget, evaluation and openings are Konen &
    Bagheri's; the network "mlp" is van der Ree & Wiering's, that of Lines of Action Sasso & van
    Lohuizen's. A game that no paper knows gets our own settings, by its name or its size. Raises
    ValueError for an unknown game or setting, where a setting does not fit, and for a user's own
    game that breaks its contract.
    """
    built = make(game)
    check_own(built)
    changes = short_forms(built, changes)
    if "layout" in changes and "walks" in changes:
        raise ValueError("choose layout or walks, not both")
    chosen = _preset_of(built, **{name: changes[name] for name in _CHOOSING & changes.keys()})
    if "episodes" in changes and "eval_every" not in changes:
        changes["eval_every"] = _eval_every(chosen, changes["episodes"])
    opponents = changes.get("opponents", chosen.evaluation.opponents)
    if isinstance(opponents, list | tuple):
        opponents = tuple(name_of(each) for each in opponents)
    changes["opponents"] = Evaluation.check("opponents", opponents)
    if changes.get("search"):
        # The ranks of a preset are not for searches, which refuse them.
        changes.setdefault("play_ranks", ())
    if "protocols" not in changes:
        changes["protocols"] = [protocol_for(built, name) for name in changes["opponents"]]
    return chosen.run(built, **changes)


def _preset_of(
    game: Game,
    value: SettingValue = None,
    learner: SettingValue = TDSpec.kind,
    replay_episodes: SettingValue = None,
) -> Preset:
    """The preset for a game with this kind of value function, `learner` and length of rounds.

    Without a kind it is a network in the games for which we chose one, else n-tuples.
    """
    by_tuples = konen2021.preset_of(game) or ours.preset_of(game)
    network = ours.network_of(game)
    if value is None:
        return network or by_tuples
    if not isinstance(value, str):
        raise ValueError(f"value must be one of {', '.join(ValueSpec.kinds)}, not {shown(value)}")
    if value == NTupleSpec.kind:
        return by_tuples
    if value != MLPSpec.kind:
        return Preset().with_budget(by_tuples)
    ours_or_theirs = network or sasso2018.preset_of(game, learner, replay_episodes)
    return ours_or_theirs or ree2013.preset_of(game).with_budget(by_tuples)


def _eval_every(published: Preset, episodes: SettingValue) -> int:
    """Episodes between evaluations in a run of another length: as published, but ten evaluations
    at least, or all that there can be.
    """
    every = published.evaluation.every
    checked: int = Schedule.check("episodes", episodes)
    return every if checked == published.schedule.episodes else min(every, max(1, checked // 10))


def source(game: Game, kind: str) -> str:
    """The paper with settings for a game and a kind of value function; empty if they are ours."""
    return _preset_of(game, kind).source


def published_kinds(game: Game) -> tuple[str, ...]:
    """The kinds of value function with which some paper has parameters for this game."""
    return tuple(kind for kind in ValueSpec.kinds if source(game, kind))


def protocol_for(game: Game, opponent: str) -> Protocol:
    """The published evaluation of `game` against `opponent`; else ten random starts, every seat."""
    published = _look_up(_PROTOCOLS, game.name, opponent)
    return published or Protocol("choose_01", count=10, repeats=4)


def _look_up(entries: dict[tuple[str, str], _Entry], game: str, opponent: str) -> _Entry | None:
    # An opponent may carry an argument: mcts-1000, mcts-1000,exploration=2.
    for known in (opponent, re.split("[-,]", opponent)[0], "*"):
        if (game, known) in entries:
            return entries[game, known]
    return None


def figure(game: str, opponent: str, variant: str) -> tuple[float, float] | None:
    """The published (mean, standard error) of a game by its name, in its unit."""
    return konen2021.FIGURES.get((game, opponent), {}).get(variant)


def episodes_of(game: str) -> int | None:
    """After how many episodes the figures of a game are published; None for other games."""
    return konen2021.PRESETS[game].schedule.episodes if game in GAMES else None


def wins(game: str, opponent: str, values: Mapping[str, SettingValue]) -> float | None:
    """The published share of games won, in %, of settings by their paths; None if there is none."""
    return dambra.wins(game, opponent, values)


def note(game: str, opponent: str) -> str | None:
    """A note for readers of a table with figures against `opponent`."""
    return _look_up(konen2021.NOTES, game, opponent)


def greatest(game: str, opponent: str) -> float | None:
    """The best possible figure, if that is less than the maximum of the game's scale."""
    return konen2021.GREATEST.get((game, opponent))
