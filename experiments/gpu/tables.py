"""The tables of this page in Markdown, and its picture, from the files of what GPUs gave.

    python -m experiments.gpu.tables

Trains nothing.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.gpu.connectfour import GAMES as GAMES_EACH
from experiments.gpu.speed import LADDER
from experiments.shared import Section, add_legend, new_figure, save_figure
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.contents import read_json
from jaxgbg.results.formats import Column, markdown
from jaxgbg.runs.presets import GAMES
from jaxgbg.runs.storage.files import write_json

HERE = Path(__file__).parent
CPU = Section(HERE.parent / "table1", "bench")
NOW, COPYING = "h200", "h100"
"""Machines: with today's program, and with that which copied large tables."""

Results = list[dict[str, Any]]


def kept(machine: str) -> dict[str, Any]:
    """All parts that a machine has measured, by name."""
    parts: dict[str, Any] = json.loads((HERE / f"{machine}.json").read_text())
    return parts


def keep(machine: str, out: Path) -> None:
    """Write the files of all parts in `out` as one file."""
    write_json(
        HERE / f"{machine}.json",
        {path.stem: read_json(path) for path in sorted(out.glob("*.json"))},
    )


def results(machine: str, part: str) -> Results:
    """What a part found on a machine."""
    found: Results = kept(machine)[part]["results"]
    return found


def about(machine: str) -> str:
    """The device of a machine and its versions."""
    (here,) = kept(machine)["speed"]["machines"]
    versions = ", ".join(f"{name} {here['versions'][name]}" for name in ("jax", "numpy"))
    return f"{here['device']}, {versions}, Python {here['python']}, source {here['source']}"


def agreement() -> list[Column]:
    """By how much each game differs from the CPU: root mean squares, and moves of searches."""
    kept = {one["game"]: one for one in results(NOW, "correctness")}
    exact = ("fingerprint", "states", "random_words", "played")
    names = ("weights", "counters", "one_ply", "two_plies")
    columns = [
        Column("game", list(GAMES), False),
        Column(
            "rules, random words, counts",
            ["equal" if all(kept[game][name] for name in exact) else "OTHER" for game in GAMES],
            False,
        ),
    ]
    for name in names:
        cells = [f"{kept[game][name]['mean']:.0e}" for game in GAMES]
        columns.append(Column(name.replace("_", " "), cells, True))
    moves = [f"{kept[game]['moves_puct']:.0%}" for game in GAMES]
    return [*columns, Column("moves of PUCT alike", moves, True)]


def speeds(machine: str) -> list[Column]:
    """Millions of moves a second by game, games in lockstep and lanes; then of the best of them
    what it fetches, and its share of the look-ups that the device gives; and two CPU cores' moves.
    """
    timed = [one for one in results(machine, "speed") if "moves_per_s" in one]
    entries = [entry for entry in LADDER if any(_entry(one) == entry for one in timed)]
    entries.sort(key=lambda entry: entry[0] * entry[1])
    columns = [Column("game", list(GAMES), False)]
    for batch, seeds in entries:
        rates = {one["game"]: one for one in timed if _entry(one) == (batch, seeds)}
        cells = [_millions(rates.get(game)) for game in GAMES]
        columns.append(Column(f"{batch:,} × {2 * seeds}", cells, True))
    best = [
        max((one for one in timed if one["game"] == game), key=lambda one: one["moves_per_s"])
        for game in GAMES
    ]
    fetched = [f"{one['fetched_gb_per_s']:,.0f}" for one in best]
    share = [f"{one['share_of_raw']:.2f}" for one in best]
    cpu = {one["game"]: one for one in CPU.read() if one["batch"] == 64}
    cores = [_millions(cpu[game]) for game in GAMES]
    columns += [Column("GB/s fetched", fetched, True), Column("of look-ups", share, True)]
    return [*columns, Column("two CPU cores, 64 games", cores, True)]


def _entry(one: dict[str, Any]) -> tuple[int, int]:
    return one["batch"], one["lanes"] // 2


def _millions(one: dict[str, Any] | None) -> str:
    if one is None:
        return ""
    rate = one["moves_per_s"] / 1e6
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"


def memory() -> list[Column]:
    """What the device gives by itself: look-ups and additions by the size of the table."""
    both = {machine: results(machine, "speed") for machine in (COPYING, NOW)}
    sizes = sorted({one["bytes"] for one in both[NOW] if one["what"] == "look up"})
    columns = [Column("table", [f"{size / 1e6:,g} MB" for size in sizes], True)]
    for machine, known in both.items():
        for what in ("look up", "add"):
            rates = {one["bytes"]: one["rows_per_s"] for one in known if one["what"] == what}
            cells = [f"{rates[size] / 1e9:.1f}" for size in sizes]
            columns.append(Column(f"{machine.upper()}: {what}, 10⁹/s", cells, True))
    return columns


def copies(machine: str) -> list[str]:
    """GB/s of a copy, reads and writes counted."""
    return [f"{one['gb_per_s']:,.0f}" for one in results(machine, "speed") if one["what"] == "copy"]


def curve() -> list[Column]:
    """The share of value-keeping moves of the last weights by time."""
    points = [one for one in results(NOW, "connectfour") if one["what"] == "curve"]
    shares = [np.array(one["value_keeping"]) for one in points]
    return [
        Column("episodes a seed", [f"{one['episodes']:,}" for one in points], True),
        Column("seconds of training", [f"{one['training_s']:.0f}" for one in points], True),
        Column("seconds in all", [f"{one['wall_s']:.0f}" for one in points], True),
        Column("value kept, mean", [f"{share.mean():.1%}" for share in shares], True),
        Column("least", [f"{share.min():.1%}" for share in shares], True),
        Column("most", [f"{share.max():.1%}" for share in shares], True),
    ]


def matches() -> list[Column]:
    """200 games of each agent against the exact AB-DL, moving first, in the order of the seeds."""
    played = [one for one in results(NOW, "connectfour") if "won" in one]
    played.sort(key=lambda one: (one["what"] == "ensemble", one["seed"]))
    names = [
        f"three, from seed {one['seed']}" if one["what"] == "ensemble" else f"seed {one['seed']}"
        for one in played
    ]
    shares = [f"{one['value_keeping']:.1%}" for one in played]
    games = [f"{one['won']}-{one['drawn']}-{one['lost']}" for one in played]
    return [
        Column("agent", names, False),
        Column("value kept", shares, True),
        Column("won-drawn-lost", games, True),
    ]


def summary() -> str:
    """Of the matches, how many were won whole, and the games that single agents won."""
    played = [one for one in results(NOW, "connectfour") if "won" in one]
    single = [one["won"] for one in played if one["what"] != "ensemble"]
    joined = [one["won"] for one in played if one["what"] == "ensemble"]
    threes = f"{joined.count(GAMES_EACH)} of {len(joined)} ensembles of three agents"
    ones = f"{single.count(GAMES_EACH)} of {len(single)} single agents"
    won = f"{min(single)} to {max(single)} of {GAMES_EACH}, {np.mean(single):.1f} on average"
    return f"{GAMES_EACH}-0-0: {threes}, {ones}; these won {won}"


def table1() -> list[Column]:
    """The rows that were ready in time."""
    last = {one["game"]: one for one in results(NOW, "table1") if "rows" in one}
    rows = [row for game in GAMES if game in last for row in last[game]["rows"]]
    wall = {one["game"]: one["wall_s"] for one in results(NOW, "table1") if "wall_s" in one}
    return [
        Column("game", [row["game"] for row in rows], False),
        Column("opponent", [row["opponent"] for row in rows], False),
        Column("variant", [row["variant"] for row in rows], False),
        Column("mean ± s.e.", [f"{row['mean']:.3g} ± {row['sem']:.2g}" for row in rows], True),
        Column("n", [str(row["n"]) for row in rows], True),
        Column("seconds", [f"{wall[row['game']]:.0f}" for row in rows], True),
    ]


def not_begun() -> list[Column]:
    """The rows that would not have been ready."""
    late = [one for one in results(NOW, "table1") if one["what"] == "no time"]
    return [
        Column("not begun", [one["game"] for one in late], False),
        Column("predicted seconds", [f"{one['foretold_s']:,.0f}" for one in late], True),
        Column("left", [f"{one['left_s']:.0f}" for one in late], True),
    ]


def parts() -> list[Column]:
    """The outcome of each part, and how long it took."""
    outcomes = kept(NOW)["parts"]
    return [
        Column("part", list(outcomes), False),
        Column("state", [one["state"] for one in outcomes.values()], False),
        Column("seconds", [f"{one['seconds']:.0f}" for one in outcomes.values()], True),
    ]


def sections() -> Iterator[str]:
    """All that stands in the page, piece by piece."""
    for machine in (COPYING, NOW):
        yield f"{about(machine)}; a copy moves {copies(machine)[0]} GB/s"
    for columns in (agreement(), speeds(NOW), speeds(COPYING), memory(), curve(), matches()):
        yield markdown(columns)
    yield summary()
    yield markdown(table1())
    yield markdown(not_begun())
    yield markdown(parts())


def draw(path: Path) -> None:
    """The share of value-keeping moves of every seed by seconds of training, and their mean."""
    points = [one for one in results(NOW, "connectfour") if one["what"] == "curve"]
    seconds = [one["training_s"] for one in points]
    shares = 100 * np.array([one["value_keeping"] for one in points])
    figure = new_figure(7, 4)
    axes = figure.subplots()
    axes.plot(seconds, shares, color="#888888", linewidth=0.8)
    axes.plot([], [], color="#888888", linewidth=0.8, label="one seed")
    axes.plot(seconds, shares.mean(1), color="#c2410c", linewidth=2.5, label="mean")
    axes.set(xlabel="seconds of training, all seeds at once", ylabel="moves that keep the value, %")
    axes.set_title(f"ConnectFour, {shares.shape[1]} seeds on one H200")
    add_legend(figure)
    save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=HERE, help="where the picture goes")
    parser.add_argument(
        "--keep", nargs=2, metavar=("MACHINE", "OUT"), help="first keep what a machine left in OUT"
    )
    options = parser.parse_args(arguments)
    if options.keep:
        keep(options.keep[0], Path(options.keep[1]))
    print("\n\n".join(sections()))
    draw(options.results / "connectfour.png")


if __name__ == "__main__":
    end_in_a_line(main)
