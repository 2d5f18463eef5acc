"""A run with a progress bar: episodes/s, time left, the latest scores."""

from pathlib import Path

from jaxgbg.runs.config import Config
from jaxgbg.runs.store import RunFolder, run
from jaxgbg.runs.train import Evaluation, Progress


def run_with_bar(config: Config, out: Path) -> tuple[RunFolder, float, bool]:
    """Do a run unless it is done; returns (folder, training seconds, stopped by Ctrl-C)."""
    from rich import progress as bars
    from rich.console import Console

    folder = RunFolder(out, config)
    if folder.finished:
        return folder, folder.summary()["training_seconds"], False
    bar = bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TextColumn("{task.fields[rate]:>9,.0f} episodes/s"),
        bars.TimeRemainingColumn(),
        bars.TextColumn("{task.fields[latest]}"),
        console=Console(stderr=True),
    )
    seconds = 0.0
    task = bar.add_task(config.game, total=None, rate=0.0, latest="")

    def on_chunk(now: Progress) -> None:
        nonlocal seconds
        # A bar that starts only now leaves the line to a mistake found before the training.
        bar.start()
        seconds = now.seconds
        rate = now.episodes / now.seconds
        bar.update(task, completed=now.episodes, total=now.total_episodes, rate=rate)

    def on_evaluation(found: Evaluation) -> None:
        latest = f"{found.opponent}, {found.farl}: {found.score:+.2f} at {found.episodes:,}"
        bar.update(task, latest=latest)

    try:
        run(config, out, on_chunk, on_evaluation)
    except KeyboardInterrupt:
        return folder, seconds, True
    finally:
        if bar.live.is_started:
            bar.stop()
    return folder, folder.summary()["training_seconds"], False
