"""The card of an agent: how it was trained and what it scores, as Markdown."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from jaxgbg.cli.building.rating import Rated
from jaxgbg.extensions import imported_modules
from jaxgbg.results.ladder import in_words
from jaxgbg.runs.memory import memory_text
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.files import written_whole
from jaxgbg.runs.storage.provenance import provenance


def write_card(
    folder: Path,
    agent: Path,
    steps: Mapping[str, str],
    rated: Rated,
    notes: Sequence[str],
    seconds: float,
) -> None:
    """Write card.md to the folder; `seconds` are those of this call."""
    lines = _lines(agent, steps, rated, notes, seconds)
    with written_whole(folder / "card.md") as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _lines(
    agent: Path, steps: Mapping[str, str], rated: Rated, notes: Sequence[str], seconds: float
) -> Iterator[str]:
    saved, about = load_agent(agent), provenance()
    versions = [f"{name} {version}" for name, version in about["versions"].items()]
    size = f"{memory_text(agent.stat().st_size)}, {saved.weights.size:,} weights"
    facts = {
        **steps,
        "settings": f"{saved.run.value.describe()}; {saved.run.schedule.describe()}",
        "command": f"`{' '.join(about['command'])}`",
        "time": f"{seconds / 60:,.1f} minutes in all (of the last call, if it was interrupted)",
        "size": size,
        "made with": f"Python {about['python']}, {', '.join(versions)}; {about['machine']}",
    }
    yield f"# {saved.run.game.title}: {agent.name}"
    yield ""
    yield "| | |"
    yield "|---|---|"
    for name, text in facts.items():
        yield f"| {name} | {text} |"
    yield ""
    yield "## Scores"
    yield "From all seats; the agent plays greedily. Intervals are 95%."
    yield ""
    yield "| opponent | n | unit | mean | low | high |"
    yield "|---|---|---|---|---|---|"
    for score in rated.scores:
        figures = (f"{figure:,.1f}" for figure in (score.mean, score.low, score.high))
        yield f"| {score.opponent} | {score.games:,} | {score.unit} | {' | '.join(figures)} |"
    if rated.ladder is not None:
        yield ""
        yield "## Ladder"
        yield "Elo with 95% intervals; the agent met each other player, which did not meet."
        yield ""
        yield "| rank | player | Elo | games |"
        yield "|---|---|---|---|"
        for one in rated.ladder.standings:
            yield f"| {one.rank} | {one.player} | {in_words(one.rating)} | {one.games:,} |"
    if notes:
        yield ""
        yield "## Missing"
        yield from (f"- {note}" for note in notes)
    yield ""
    yield "## Use it"
    yield "In the folder in which the command above ran:"
    # Modules of a user's own are found from there, not from the folder of the agent.
    modules = "".join(f"--import {module} " for module in imported_modules())
    file = shlex.quote(agent.as_posix())
    yield "```"
    for command in (f"play {file}", f"eval {file} --opponent mcts-100"):
        yield f"jaxgbg {modules}{command}"
    yield "```"
