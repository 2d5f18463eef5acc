"""Facts about a run for the reader: its name, settings and provenance."""

import dataclasses
import shlex
from collections import Counter
from collections.abc import Sequence

from jaxgbg.games import Game
from jaxgbg.results.axes import VARIANT, find_axes
from jaxgbg.results.curves import STYLES
from jaxgbg.results.folders import StoredRun
from jaxgbg.runs import Run
from jaxgbg.runs.storage.schemas import Provenance


def run_names(runs: Sequence[StoredRun]) -> list[str]:
    """A name for each run: its game and the settings that differ within that game, seeds last."""
    kinds = [(run.shared.content["game"]["name"], _values(run)) for run in runs]
    games = dict.fromkeys(game for game, _ in kinds)
    axes = {game: find_axes([kind for kind in kinds if kind[0] == game]).others for game in games}
    names = []
    for game, values in kinds:
        known = [axis for axis in axes[game] if values.get(axis.path) is not None]
        names.append(", ".join([game, *(axis.label(values[axis.path]) for axis in known)]))
    seeds = [f"{name}, {_seeds(run.seeds)}" for name, run in zip(names, runs, strict=True)]
    several = Counter(names)
    names = [
        longer if several[name] > 1 else name for name, longer in zip(names, seeds, strict=True)
    ]
    # Two folders with the same seeds.
    several = Counter(names)
    return [
        f"{name} ({run.path})" if several[name] > 1 else name
        for name, run in zip(names, runs, strict=True)
    ]


def _values(run: StoredRun) -> dict[str, object]:
    """The settings of a run; its variants as one value, because they are trained together."""
    return {**run.shared.values, VARIANT: " and ".join(run.shared.values[VARIANT])}


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    whole = list(seeds) == list(range(seeds[0], seeds[-1] + 1))
    told = f"{seeds[0]} to {seeds[-1]}" if whole else ", ".join(map(str, seeds[:6]))
    return f"seeds {told}" + (" ..." if not whole and len(seeds) > 6 else "")


def game_text(game: Game) -> str:
    """The name of a game and all its parameters."""
    parameters = ", ".join(f"{name} {value}" for name, value in dataclasses.asdict(game).items())
    return game.name + (f" ({parameters})" if parameters else "")


def settings_text(run: Run) -> list[tuple[str, str]]:
    """The descriptions of the parts of the run; the complete config is shown below them."""
    return [
        ("Game", game_text(run.game)),
        ("Value function", run.value.describe()),
        ("Learner", run.learner.describe()),
        ("Schedule", run.schedule.describe()),
        ("Evaluation", run.evaluation.describe()),
        *([("Averaging", run.averaging.describe())] if run.averaging.on else []),
        ("Partner", run.partner),
        ("Variants", ", ".join(STYLES[variant][0] for variant in run.variants)),
        ("Seeds", ", ".join(map(str, run.seeds))),
    ]


def provenance_text(stored: StoredRun) -> list[tuple[str, str]]:
    """The provenance of a run, as far as it is known."""
    kept = Provenance(**stored.content("provenance.json", Provenance))
    found = {
        "Folder": str(stored.path),
        "Command": shlex.join(kept.command),
        "Started": kept.started,
        "Devices": ", ".join(kept.devices),
        "Machine": kept.machine,
        "Revision": kept.revision,
        "Python": kept.python,
        "Versions": ", ".join(f"{name} {version}" for name, version in kept.versions.items()),
        **{
            f"Resumed {when}": ", ".join(f"{name} {version}" for name, version in by.items())
            for when, by in zip(
                kept.resumed[-len(kept.resumed_with) :], kept.resumed_with, strict=False
            )
        },
    }
    return [(name, words or "not kept") for name, words in found.items()]
