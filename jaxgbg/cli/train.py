"""The command `train`."""

import sys
from pathlib import Path
from typing import Annotated

from tyro.conf import OmitArgPrefixes

from jaxgbg.arguments import Minutes, Port
from jaxgbg.cli.common import (
    CheckpointEvery,
    GameName,
    Json,
    Log,
    Out,
    Parameters,
    Size,
    TableFormat,
    optional,
)
from jaxgbg.cli.options import NOTHING_GIVEN, SETTINGS, Farl, LayoutFile, given, run_of
from jaxgbg.cli.session import start_jax
from jaxgbg.runs.presets import published_kinds
from jaxgbg.runs.run import Run, Seeds
from jaxgbg.specs import Seed, checked
from jaxgbg.web.watch import PORT


@checked
def train(
    game: GameName,
    settings: OmitArgPrefixes[SETTINGS] = NOTHING_GIVEN,
    size: Size = None,
    parameters: Parameters = (),
    seeds: Seeds = 1,
    seed: Seed = 0,
    farl: Farl = True,
    layout: LayoutFile = None,
    minutes: Annotated[Minutes | None, optional("MINUTES", "a budget of episodes")] = None,
    show: bool = False,
    checkpoint_every: CheckpointEvery = 60.0,
    log: Log = (),
    watch: bool = False,
    watch_port: Port = PORT,
    out: Out = Path("runs"),
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Train agents of one game. Defaults are the published settings; `jaxgbg show GAME` lists them.

    Every learner works with every value function and every partner: td learns values of
    afterstates, sarsa and q those of actions; ntuple stores them in tables, mlp in a network; the
    partner is the agent itself (self-play), a fixed player, or an agent trained before.

    Args:
      seeds: Number of agents, trained in parallel.
      seed: Number of the first seed.
      minutes: Choose the number of episodes so that compiling and training take about this long
        (evaluations excluded).
      show: Only show the settings, and the expected time and memory; see `jaxgbg show`.
      watch: Show the training in a browser, like the command watch.
      watch_port: Port of that page, for this machine only; 0 takes any free port.
    """
    if watch_port != PORT and not watch:
        raise ValueError("--watch-port goes with --watch")
    run = run_of(game, settings, size, parameters, seeds, seed, farl, layout)
    if minutes is not None:
        if "episodes" in given(settings):
            raise ValueError("--minutes sets the episodes: leave out --episodes")
        run = _within(run, minutes)
    if show:
        from jaxgbg.cli.show import show_run

        show_run(run, True, json_file)
        return
    published = published_kinds(run.game)
    if run.value.kind not in published:
        others = f" but with --value {' or '.join(published)}" if published else ""
        print(
            f"jaxgbg: no paper has parameters for {game}{others}; using our own for its size:"
            f" {run.value.describe()}; {run.schedule.describe()}",
            file=sys.stderr,
        )
    from jaxgbg.cli.run_all import run_all

    watched_on = watch_port if watch else None
    run_all([run], out, json_file, checkpoint_every, log, form, watched_on=watched_on)


def _within(run: Run, minutes: float) -> Run:
    """The run with a budget of time, and a line with the command that resumes it."""
    start_jax()
    from jaxgbg.runs.budget import within

    run = within(run, minutes)
    every = run.evaluation.every
    print(
        f"jaxgbg: {minutes:g} minutes are about {run.schedule.episodes:,} episodes; to resume, use"
        f" --episodes {run.schedule.episodes} --eval-every {every} instead of --minutes",
        file=sys.stderr,
    )
    return run
