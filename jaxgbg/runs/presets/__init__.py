"""Published parameters, evaluation protocols and figures, as data; one file for each source."""

import re
from collections.abc import Mapping
from typing import TypeVar

from jaxgbg.evaluation import Protocol
from jaxgbg.games import Game, check_own, make
from jaxgbg.learners import Schedule
from jaxgbg.players import name_of
from jaxgbg.runs import Evaluation, Run
from jaxgbg.runs.presets import dambra, konen2021, ours, ree2013, sasso2018
from jaxgbg.runs.settings import compose, with_consequences, with_variants
from jaxgbg.specs import shown
from jaxgbg.types import SettingValue
from jaxgbg.values import MLPSpec, NTupleSpec, ValueSpec

__all__ = [
    "GAMES",
    "episodes_of",
    "figure",
    "greatest",
    "note",
    "preset",
    "protocol_for",
    "published_kinds",
    "wins",
]
GAMES = konen2021.GAMES
"""The games with published figures, in the order of tables."""

_PROTOCOLS = konen2021.PROTOCOLS | dambra.PROTOCOLS | sasso2018.PROTOCOLS
# Settings made for other value functions than the n-tuples of Konen & Bagheri.
_VALUES = {MLPSpec.kind: ree2013.network}
_OF_EVALUATION = ("episodes", "eval_every", "opening_plies", "opening_share", "opponents")
_Entry = TypeVar("_Entry")


def preset(game: str | Game, **changes: SettingValue) -> Run:
    """The published run of a game, with `changes` by the short forms of settings.

    With another value function than n-tuples only budget, evaluation and openings are Konen &
    Bagheri's; the network "mlp" is van der Ree & Wiering's, that of Lines of Action Sasso & van
    Lohuizen's. A game that no paper knows gets our own settings, by its name or its size. Raises
    ValueError for an unknown game or setting, where a setting does not fit, and for a user's own
    game that breaks its contract.
    """
    built = make(game) if isinstance(game, str) else game
    check_own(built)
    fields = konen2021.parameters(built) or ours.parameters(built) or _defaults(built)
    kind = changes.get("value", NTupleSpec.kind)
    if not isinstance(kind, str):
        raise ValueError(f"value must be one of {', '.join(ValueSpec.kinds)}, not {shown(kind)}")
    changes = with_variants(changes)
    if kind != NTupleSpec.kind:
        kept = {name: fields[name] for name in _OF_EVALUATION if name in fields}
        fields = kept | (_VALUES[kind](built) if kind in _VALUES else {})
        if kind == MLPSpec.kind:
            fields |= sasso2018.network(built, changes) or {}
    if "layout" in changes and "walks" in changes:
        raise ValueError("choose layout or walks, not both")
    if "episodes" in changes and "eval_every" not in changes:
        fields["eval_every"] = _eval_every(fields, changes["episodes"])
    fields |= with_consequences(changes)
    if isinstance(fields["opponents"], list | tuple):
        fields["opponents"] = tuple(name_of(each) for each in fields["opponents"])
    fields["opponents"] = Evaluation.check("opponents", fields["opponents"])
    if "protocols" not in changes:
        fields["protocols"] = [protocol_for(built, name) for name in fields["opponents"]]
    return compose(built, fields)


def _eval_every(fields: Mapping[str, SettingValue], episodes: SettingValue) -> int:
    """Episodes between evaluations in a run of another length: as published, but ten evaluations
    at least, or all that there can be.
    """
    published: int = fields["eval_every"]
    checked: int = Schedule.check("episodes", episodes)
    return published if checked == fields["episodes"] else min(published, max(1, checked // 10))


def published_kinds(game: Game) -> tuple[str, ...]:
    """The kinds of value function with which some paper has parameters for this game."""
    if konen2021.parameters(game) is not None:
        return tuple(ValueSpec.kinds)
    return (MLPSpec.kind,) if sasso2018.network(game, {}) is not None else ()


def _defaults(game: Game) -> dict[str, SettingValue]:
    """Our own settings for a game that no paper knows, by its size; the layout is the specs'."""
    small = game.num_cells * game.max_plies <= 100
    episodes = 20_000 if small else 100_000
    return {
        "episodes": episodes,
        "eval_every": episodes // 10,
        "alpha_end": 0.5,
        "epsilon_end": 0.0,
        "tcl": "id",
        "sigmoid": game.reward_range[0] >= -1 and game.reward_range[1] <= 1,
        "opponents": ("score" if game.num_players == 1 else "random",),
    }


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
    published: int | None = konen2021.parameters_by_name(game).get("episodes")
    return published


def wins(game: str, opponent: str, values: Mapping[str, SettingValue]) -> float | None:
    """The published share of games won, in %, of settings by their paths; None if there is none."""
    return dambra.wins(game, opponent, values)


def note(game: str, opponent: str) -> str | None:
    """A note for readers of a table with figures against `opponent`."""
    return _look_up(konen2021.NOTES, game, opponent)


def greatest(game: str, opponent: str) -> float | None:
    """The best possible figure, if that is less than the maximum of the game's scale."""
    return konen2021.GREATEST.get((game, opponent))
