"""The flags of a run, one for each setting by its short form, and the run that they make."""

import dataclasses
import functools
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import OmitArgPrefixes, arg
from tyro.constructors import PrimitiveConstructorSpec

from jaxgbg.cli.common import optional, read_game
from jaxgbg.cli.session import start_jax
from jaxgbg.evaluation import judge_names
from jaxgbg.extensions import import_installed
from jaxgbg.players import player_names
from jaxgbg.runs import Run
from jaxgbg.runs.play import Play
from jaxgbg.runs.presets import preset
from jaxgbg.runs.settings import Setting, settings
from jaxgbg.search.lookahead import Reply
from jaxgbg.specs import Spec, kind_of, shown
from jaxgbg.types import SettingValue, TypeHint
from jaxgbg.values import read_layout

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from jaxgbg.games import Game
    from jaxgbg.players import Player

_METAVARS = {bool: "true|false", int: "N", float: "X", str: "NAME"}
_TRUE = {"true": True, "false": False}


def _switch(words: list[str]) -> bool:
    """Parse a flag without a value, or with true or false."""
    if words and words[0] not in _TRUE:
        raise ValueError(f"expected true or false, not {shown(words[0])}")
    return _TRUE[words[0]] if words else True


_SWITCH = PrimitiveConstructorSpec(
    nargs=(0, 1),
    metavar=_METAVARS[bool],
    instance_from_str=_switch,
    is_instance=lambda value: isinstance(value, bool),
    str_from_instance=lambda value: [str(value).lower()],
)

# Options whose choices are not a fixed list, because they may contain a file or a number.
_NAMED = {
    "opponents": f"{', '.join(judge_names())}",
    "partner": f"{', '.join(player_names())}",
}
# Set by other options: n-tuples by a file, seeds by their number, variants by --no-farl. `images`
# are set by `jaxgbg agent`.
_SPECIAL = ("layout", "images", "protocols", "seeds", "variants")


@functools.cache
def run_options(*without: str) -> type:
    """Make a dataclass with a field for each flag of a run except `without`; None if not given."""
    fields = [
        (setting.short, _annotated(setting), dataclasses.field(default=None))
        for setting in settings().values()
        if setting.short not in (*_SPECIAL, *without)
    ]
    return dataclasses.make_dataclass("Settings", fields, frozen=True)


def options_of(spec: type[Spec]) -> type:
    """Make a dataclass with a flag for each setting of a spec; None if not given."""
    hints, texts = typing.get_type_hints(spec), spec.help()
    fields = []
    for field in dataclasses.fields(spec):
        element = kind_of(hints[field.name])
        default = "" if field.default is None else f"(default: {field.default})"
        text = texts.get(field.name, "")  # PYTHONOPTIMIZE=2 removes docstrings.
        flag = arg(help=text, metavar=_METAVARS[element], help_behavior_hint=default)
        fields.append(
            (field.name, Annotated[element | None, flag], dataclasses.field(default=None))
        )
    return dataclasses.make_dataclass(spec.__name__, fields, frozen=True)


def given(options: "DataclassInstance") -> dict[str, SettingValue]:
    """The settings that were given, by their short forms."""
    fields = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    return {name: value for name, value in fields.items() if value is not None}


def flag(short: str) -> TypeHint:
    """The annotated type of a flag, by its short form."""
    return _annotated(settings()[short])


def _annotated(setting: Setting) -> TypeHint:
    element, repeated = setting.hint, False
    hint = element
    if typing.get_origin(hint) is tuple:
        element, repeated = typing.get_args(hint)[0], True
    metavar = _METAVARS.get(element, "") + " ..." * repeated
    if element is bool:
        hint = Annotated[bool, _SWITCH]
    elif setting.choices:
        hint = Literal[setting.choices]
    text = setting.help
    if any(f"{choice}: " not in text for choice in setting.choices):
        text = f"{text.rstrip('.')}: {', '.join(setting.choices)}."
    if setting.short in _NAMED:
        text = f"{text.rstrip('.')}: {_NAMED[setting.short]}."
    return Annotated[
        hint | None,
        arg(
            help=text,
            metavar=metavar,
            # The default depends on the game; `jaxgbg show GAME` prints it.
            help_behavior_hint="",
            aliases=["--opponent"] if setting.short == "opponents" else None,
        ),
    ]


# Flags and their help name all that is registered.
import_installed()
SETTINGS: TypeHint = run_options()
NOTHING_GIVEN = SETTINGS()
LayoutFile = Annotated[
    Path | None,
    optional("FILE", help="JSON file: a list of n-tuples, each a list of cell numbers."),
]
Farl = Annotated[
    bool, arg(help="Train with Final Adaptation (FARL), as published; --no-farl trains without.")
]


def run_of(
    game: str,
    settings: "DataclassInstance",
    size: int | None,
    parameters: tuple[str, ...],
    seeds: int,
    seed: int,
    farl: bool,
    layout: Path | None,
) -> Run:
    """Make the run from the options of `train`; raises ValueError."""
    rules = read_game(game, size, parameters)
    changes = given(settings)
    if layout is not None:
        changes["layout"] = read_layout(rules, layout)
    run = preset(rules, seeds=range(seed, seed + seeds), **changes)
    check_effects(run, changes)
    if not farl or len(run.variants) > 1:
        run = dataclasses.replace(run, variants=("farl" if farl else "none",))
    return run


def check_effects(run: Run, changes: Mapping[str, SettingValue]) -> None:
    """Raise ValueError for an option without effect, which would make another run of the same."""
    if not changes:
        return
    plies = run.schedule.opening_plies
    if "opening_plies" in changes and plies >= run.game.max_plies:
        raise ValueError(
            f"--opening-plies {plies}: games of {run.game.name} end within"
            f" {run.game.max_plies:,} plies: choose fewer"
        )
    needs = {
        "beta": ("--tcl id or exp", getattr(run.value, "tcl", "") != "none"),
        "trace_cut": ("--trace-decay above 0", run.learner.trace_decay > 0),
        "reply": ("--look-ahead of 2 plies or more", run.play.look_ahead > 1),
    }
    for name, (needed, there) in needs.items():
        if name in changes and not there:
            raise ValueError(f"--{name.replace('_', '-')} needs {needed}: add it, or leave it out")


def _play_flag(hint: TypeHint, name: str, metavar: str, default: str = "") -> TypeHint:
    return Annotated[hint, optional(metavar, default, help=Play.help().get(name, ""))]


@dataclasses.dataclass(frozen=True)
class _Playing:
    """Flags for how agents choose their moves."""

    look_ahead: _play_flag(int, "look_ahead", "N", "1") = 1  # type: ignore[valid-type]
    width: _play_flag(tuple[int, ...], "width", "N ...") = ()  # type: ignore[valid-type]
    reply: _play_flag(Reply, "reply", "own|value", "own") = "own"  # type: ignore[valid-type]
    ranks: _play_flag(tuple[float, ...], "ranks", "P ...") = ()  # type: ignore[valid-type]
    search: _play_flag(str, "search", "NAME-N") = ""  # type: ignore[valid-type]

    def read(self) -> Play:
        if self.reply != "own" and self.look_ahead == 1:
            raise ValueError("--reply needs --look-ahead of 2 plies or more: add it")
        return Play(self.look_ahead, self.width, self.reply, self.ranks, self.search)


Playing: TypeHint = OmitArgPrefixes[_Playing]
GREEDY: _Playing = _Playing()


def named_player(
    who: str, game: str | None, size: int | None, parameters: tuple[str, ...], playing: _Playing
) -> "tuple[Game, Player]":
    """The player that a command names, and its game; raises ValueError.

    `who` is an agent's file, the folder of a run for its first agent or, with `game`, the name of a
    player.
    """
    start_jax()
    from jaxgbg.runs.opponents import agent_file, file_of, make_opponent, names_agent
    from jaxgbg.runs.storage.agents import load_agent

    what = str(agent_file(Path(who)))
    saved = load_agent(file_of(what)) if names_agent(what) else None
    if saved is not None and (game is not None or size is not None or parameters):
        raise ValueError("an agent has its own game: leave out --game and its parameters")
    if saved is not None:
        rules = saved.run.game
    elif game is None:
        raise ValueError(f"{what} is no agent file: name one, or the --game that it plays")
    else:
        rules = read_game(game, size, parameters)
    if playing == GREEDY:
        player = make_opponent(what, rules)
    elif saved is None or file_of(what) != what:
        raise ValueError("options of play are for an agent's file alone")
    else:
        player = playing.read().player(saved.player())
    return rules, player
