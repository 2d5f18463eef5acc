"""The command `show`: the settings, time and memory of a training before it begins."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tyro.conf import OmitArgPrefixes

from jaxgbg.cli.common import (
    GameName,
    Json,
    Parameters,
    Size,
    print_table,
    write_rows,
)
from jaxgbg.cli.options import NOTHING_GIVEN, SETTINGS, Farl, LayoutFile, run_of
from jaxgbg.cli.session import start_jax
from jaxgbg.evaluation import EvaluatorSpec
from jaxgbg.games import make
from jaxgbg.players import MissingExtra
from jaxgbg.results.axes import VARIANT, run_values, value_text
from jaxgbg.runs import Run
from jaxgbg.runs.presets import konen2021, published_kinds, source
from jaxgbg.runs.progress_bar import rough_duration
from jaxgbg.runs.run import Seeds
from jaxgbg.runs.settings import settings as all_settings
from jaxgbg.specs import Seed, checked, pluralize
from jaxgbg.types import JSON, SettingValue

# Printed above the settings, or set by a flag with another name.
_ELSEWHERE = ("seeds", "protocols", VARIANT)
# Found by `jaxgbg agent`; no flag sets it.
_WITHOUT_FLAG = "images"


@checked
def show(
    game: GameName,
    settings: OmitArgPrefixes[SETTINGS] = NOTHING_GIVEN,
    size: Size = None,
    parameters: Parameters = (),
    seeds: Seeds = 1,
    seed: Seed = 0,
    farl: Farl = True,
    layout: LayoutFile = None,
    time: bool = True,
    json_file: Json = None,
) -> None:
    """Show what `train` would do with the same options: settings, budget, opponents, time, memory.

    Without options these are the published settings of the game, or our own if there are none. The
    time is measured: a second of this training on this machine, scaled to all of it.

    Args:
      seeds: Number of agents, trained in parallel.
      seed: Number of the first seed.
      time: Compile and train for a second to estimate the total time.
    """
    run = run_of(game, settings, size, parameters, seeds, seed, farl, layout)
    show_run(run, time, json_file)


def show_run(run: Run, timed: bool, json_file: Path | None) -> None:
    """Print a run: what it is and needs, then each setting by its flag, then the expected time."""
    start_jax()
    from jaxgbg.runs.memory import check_memory, lane_memory, memory_text

    memory = len(run.lanes) * lane_memory(run)
    check_memory([run])
    facts = [*_facts(run), ("memory", f"{memory_text(memory)} for {_agents(run)}")]
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        print(f"{name:<{width}}  {text}")
    print()
    records = list(_records(run))
    print_table(records, ["flag", "value"], lambda record, name: str(record[name]))
    if timed:
        sys.stdout.flush()
        try:
            seconds = _expected_seconds(run, memory)
        except MissingExtra as error:
            print(f"\nexpected: no time here, since training does not start: {error}")
        else:
            records.append({"flag": "", "setting": "expected_seconds", "value": round(seconds, 1)})
            print(f"\nexpected: {rough_duration(seconds)} for {_agents(run)} on {_devices()}")
    write_rows(json_file, records)


def _expected_seconds(run: Run, memory: int) -> float:
    """Train for a second to estimate the time of all of it."""
    from rich.console import Console

    from jaxgbg.sweeps import Unit
    from jaxgbg.sweeps.estimate import expected_seconds

    with Console(stderr=True).status("timing the first second of it"):
        (seconds,) = expected_seconds([Unit((run,), len(run.lanes), memory)])
    assert seconds is not None
    return seconds


def _devices() -> str:
    import jax

    devices = pluralize(jax.device_count(), f"{jax.devices()[0].device_kind} device")
    return f"{devices} of this machine"


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    """The main facts of a run, as (name, text)."""
    game, schedule = run.game, run.schedule
    yield (
        "game",
        f"{game.name}: {pluralize(game.num_players, 'player')}, {game.num_cells} cells,"
        f" {game.num_actions:,} actions, at most {game.max_plies:,} plies",
    )
    yield "settings", source(game, run.value.kind) or _our_own(run)
    times = -(-schedule.episodes // run.evaluation.every)
    yield (
        "budget",
        f"{schedule.episodes:,} episodes of each agent, {pluralize(times, 'evaluation')}",
    )
    for opponent in run.evaluation.opponents:
        if EvaluatorSpec.named(opponent):
            yield "evaluator", opponent
            continue
        protocol = run.evaluation.protocol_of(opponent)
        words = protocol.describe() if protocol is not None else "the default protocol"
        yield "opponent", f"{opponent}: {words}"
    if game.name not in konen2021.GAMES or game != make(game.name):
        # The figures are those of the standard board and number of players.
        return
    for name, opponents in konen2021.FINAL_OPPONENTS.items():
        if name == game.name:
            yield "later", f"`jaxgbg table1` also meets {', '.join(opponents)}"
    for (name, opponent), figures in konen2021.FIGURES.items():
        if name == game.name:
            told = (f"{variant} {mean:,g} ± {sem:,g}" for variant, (mean, sem) in figures.items())
            yield "paper", f"against {opponent}: {', '.join(told)}"


def _our_own(run: Run) -> str:
    """The source of settings that no paper has, and with which value function one has some."""
    published = published_kinds(run.game)
    others = f" but with --value {' or '.join(published)}" if published else ""
    return f"our own for its size; no paper has any for {run.game.name}{others}"


def _records(run: Run) -> Iterator[dict[str, JSON]]:
    """Make a record for each setting of the run."""
    values = run_values(run)
    for setting in all_settings().values():
        value = values[setting.path]
        if (value is None and setting.kinds) or setting.path in _ELSEWHERE:
            continue
        if setting.short in (*_ELSEWHERE, _WITHOUT_FLAG) or setting.path == "evaluation.protocols":
            continue
        flag = "--" + setting.short.replace("_", "-")
        yield {"flag": flag, "setting": setting.path, "value": _typed(value)}


def _typed(value: SettingValue) -> str:
    """A value as its flag takes it; empty if the flag is left out for it."""
    if value is None or value == ():
        return ""
    return str(value).lower() if isinstance(value, bool) else value_text(value)


def _agents(run: Run) -> str:
    """The number of agents of a run, in words."""
    each = f", {' and '.join(run.variants)}" if len(run.variants) > 1 else ""
    return f"{pluralize(len(run.lanes), 'agent')}{each}"
