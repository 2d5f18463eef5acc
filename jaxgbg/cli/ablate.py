"""The command `ablate`: train with and without FARL."""

from pathlib import Path
from typing import Annotated

from tyro.conf import OmitArgPrefixes, Positional

from jaxgbg.cli.common import CheckpointEvery, Json, Log, Out, TableFormat, optional
from jaxgbg.cli.numbers import whole
from jaxgbg.cli.options import check_effects, given, run_options
from jaxgbg.evaluation import judge_names
from jaxgbg.runs.presets import preset
from jaxgbg.specs import checked
from jaxgbg.types import SettingValue, TypeHint

_ByGame = Annotated[tuple[str, ...], optional("N|GAME=N ...")]
_SeedsByGame = Annotated[tuple[str, ...], optional("N|GAME=N ...", "10")]
_Opponents = Annotated[
    tuple[str, ...],
    optional(
        "NAME|GAME=NAME ...",
        aliases=["--opponent"],
        help="Evaluate against these players or agent files, in all games or one:"
        f" {', '.join(judge_names())}.",
    ),
]
# In `ablate`, these options differ by game.
_Shared: TypeHint = run_options("episodes", "eval_every", "batch", "opponents")
_NOTHING_SHARED = _Shared()


@checked
def ablate(
    games: Annotated[Positional[tuple[str, ...]], optional("GAME ...")],
    seeds: _SeedsByGame = ("10",),
    episodes: _ByGame = (),
    eval_every: _ByGame = (),
    batch: _ByGame = (),
    opponents: _Opponents = (),
    settings: OmitArgPrefixes[_Shared] = _NOTHING_SHARED,
    part1: bool = False,
    checkpoint_every: CheckpointEvery = 60.0,
    log: Log = (),
    out: Out = Path("runs"),
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Train with and without FARL, and compare with the published figures.

    Args:
      games: Games to train; `jaxgbg games` lists them, `jaxgbg show GAME` shows their settings.
      seeds: Number of agents of each variant, for all games or for one.
      episodes: Episodes of each agent; default: the paper's.
      eval_every: Episodes between evaluations.
      batch: Number of games in lockstep.
      part1: Also train with part 1 of FARL alone.
    """
    if not games:
        raise ValueError("name at least one game; `jaxgbg games` lists them")
    by_game: dict[str, dict[str, SettingValue]] = {
        "opponents": _opponents(opponents, games),
        "episodes": _numbers("episodes", episodes, games),
        "eval_every": _numbers("eval-every", eval_every, games),
        "batch": _numbers("batch", batch, games),
    }
    seeds_of = _numbers("seeds", seeds, games)
    variants = ("farl", "part1", "none") if part1 else ("farl", "none")
    runs = [
        preset(
            game,
            seeds=range(seeds_of.get(game, 10)),
            variants=variants,
            **given(settings),
            **{name: each[game] for name, each in by_game.items() if game in each},
        )
        for game in games
    ]
    for run in runs:
        check_effects(run, given(settings))
    from jaxgbg.cli.run_all import run_all

    run_all(runs, out, json_file, checkpoint_every, log, form)


def _numbers(option: str, entries: tuple[str, ...], games: tuple[str, ...]) -> dict[str, int]:
    """Parse ("10", "connectfour=4") as a number for each game; raises ValueError."""
    numbers: dict[str, int] = {}
    for entry in sorted(entries, key=lambda entry: "=" in entry):
        game, _, text = entry.rpartition("=")
        if game and game not in games:
            raise ValueError(f"--{option} {entry}: {game!r} is not among the games to train")
        try:
            number = whole(text)
        except ValueError as error:
            raise ValueError(f"--{option} {entry}: expected N or GAME=N") from error
        if number < 1:
            raise ValueError(f"--{option} {entry}: must be at least 1")
        numbers.update({name: number for name in ([game] if game else games)})
    return numbers


def _opponents(entries: tuple[str, ...], games: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Parse ("maxn", "connectfour=solver") as names by game; a game's own names take precedence.

    The options of an agent file may contain more "=".
    """
    of_all = tuple(entry for entry in entries if entry.partition("=")[0] not in games)
    named = dict.fromkeys(games, of_all) if of_all else {}
    for game in games:
        own = tuple(e.removeprefix(f"{game}=") for e in entries if e.startswith(f"{game}="))
        if own:
            named[game] = own
    return named
