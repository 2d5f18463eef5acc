"""A run with a progress bar: episodes/s, time left, the latest scores."""

import signal
from collections.abc import Sequence
from pathlib import Path

from jaxgbg.runs.config import Config
from jaxgbg.runs.execution import run_together
from jaxgbg.runs.stopping import Stopped
from jaxgbg.runs.store import RunFolder
from jaxgbg.runs.train import Evaluation, Progress


def run_with_bar(
    configs: Sequence[Config], out: Path, checkpoint_every: float
) -> tuple[list[RunFolder], list[float], int]:
    """Do runs of one program unless they are done.

    Returns (folders, training seconds of each, 0 or the number of the signal that stopped them).
    """
    from rich import progress as bars
    from rich.console import Console

    folders = [RunFolder(out, config) for config in configs]
    if all(folder.finished for folder in folders):
        return folders, [folder.summary()["training_seconds"] for folder in folders], 0
    bar = bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TextColumn("{task.fields[rate]:>9,.0f} episodes/s"),
        bars.TimeRemainingColumn(),
        bars.TextColumn("{task.fields[latest]}"),
        console=Console(stderr=True),
    )
    now: Progress | None = None
    name = configs[0].game + (f" ({len(configs)} runs)" if len(configs) > 1 else "")
    task = bar.add_task(name, total=None, rate=0.0, latest="")

    def on_chunk(progress: Progress) -> None:
        nonlocal now
        # A bar that starts only now leaves the line to a mistake found before the training.
        bar.start()
        now = progress
        rate = now.episodes / now.seconds
        bar.update(task, completed=now.episodes, total=now.total_episodes, rate=rate)

    def on_evaluation(found: Evaluation) -> None:
        latest = f"{found.opponent}, {found.farl}: {found.score:+.2f} at {found.episodes:,}"
        bar.update(task, latest=latest)

    try:
        run_together(configs, out, on_chunk, on_evaluation, checkpoint_every)
    except KeyboardInterrupt as stop:
        seconds = now.seconds / len(configs) if now else 0.0
        number = stop.signal_number if isinstance(stop, Stopped) else signal.SIGINT
        return folders, [seconds] * len(configs), number
    finally:
        if bar.live.is_started:
            bar.stop()
    return folders, [folder.summary()["training_seconds"] for folder in folders], 0
