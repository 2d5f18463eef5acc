"""The command `zoo`: the agents that come with the package."""

from collections.abc import Iterator
from typing import Annotated

from tyro.conf import Positional

from jaxgbg.cli.common import Json, TableFormat, optional, print_records, write_rows
from jaxgbg.runs.storage.zoo import PREFIX, Card, card_of, zoo_names
from jaxgbg.specs import checked
from jaxgbg.types import JSON


@checked
def zoo(
    names: Annotated[Positional[tuple[str, ...]], optional("NAME ...", "all")] = (),
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """List the agents that come with jaxgbg; with names, show their cards.

    The name `zoo:NAME` is an agent in every command and in Python: `jaxgbg play zoo:connectfour`.

    Args:
      names: Agents whose cards to show: training, size, scores with 95% intervals.
    """
    cards = {name.removeprefix(PREFIX): card_of(name) for name in names or zoo_names()}
    if not names or form != "table":
        print_records([_row(name, card) for name, card in cards.items()], json_file, form)
        return
    for name, card in cards.items():
        print("\n".join(lines_of(name, card)))
    write_rows(json_file, [{"agent": PREFIX + name} | card.plain() for name, card in cards.items()])


def _row(name: str, card: Card) -> dict[str, JSON]:
    """The row of an agent: its size, its training and its first score."""
    first = card.scores[0]
    return {
        "agent": PREFIX + name,
        "kB": round(card.bytes / 1e3),
        "bits": card.bits,
        "episodes": card.episodes,
        "minutes": round(card.seconds / 60, 1),
        "opponent": first["opponent"],
        "games": first["games"],
        "unit": first["unit"],
        "mean": first["mean"],
        "95%": _interval(first),
    }


def _interval(score: dict[str, JSON]) -> str:
    return f"{score['low']:,} to {score['high']:,}"


def lines_of(name: str, card: Card) -> Iterator[str]:
    """The card of an agent as text."""
    parameters = {key: value for key, value in card.game.items() if key != "name"}
    settings = [f"{key} {value}" for key, value in card.settings.items()]
    versions = [f"{package} {version}" for package, version in card.versions.items()]
    yield f"{PREFIX}{name}"
    yield f"  game       {card.game['name']} {parameters or ''}".rstrip()
    yield f"  command    {card.command}"
    yield f"  settings   {', '.join(settings) or 'those of the preset'}"
    seeds = ", ".join(map(str, card.seeds))
    yield f"  training   seed {seeds}: {card.episodes:,} episodes each, {card.seconds:,.0f} s"
    yield f"  made with  revision {card.revision}, {', '.join(versions)}; {card.machine}"
    yield (
        f"  size       {card.bytes:,} bytes: {card.active:,} of {card.weights:,} weights are not 0,"
        f" {card.bits} bits each"
    )
    yield (
        f"  rounding   other moves in {card.rounding['changed']:,} of"
        f" {card.rounding['positions']:,} positions of its own play, at most"
        f" {card.rounding['greatest_loss']} worse by the values before rounding"
    )
    for score in card.scores:
        starts = f", {score['starts']}" if "starts" in score else ""
        before = score.get("before_rounding")
        yield (
            f"  {score['opponent']:<10} {score['unit']} {score['mean']:,} ({_interval(score)}),"
            f" n = {score['games']:,}{starts}"
            + ("" if before is None else f"; before rounding {before:,}")
        )
    if card.notes:
        yield f"  note       {card.notes}"
