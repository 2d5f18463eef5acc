"""Measure how long every combination of game, value function, learner and search takes to start.

`python -m experiments.compile_time.run` adds a line to `jax-VERSION.jsonl` for each combination
that has none yet, so it goes on after an interruption. `--again SECONDS` measures those again that
took longer, and keeps the new figure. `--table` prints the tables of the page.
"""

import argparse
import json
import platform
import statistics
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from jaxgbg.cli.benchmarks.compiling import bench_compile, combinations
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games.registry import GAMES
from jaxgbg.runs.devices import prepare_jax

FOLDER = Path(__file__).parent
AIM_SECONDS = 30
SHOWN = 12


def measure(path: Path, again: float | None) -> None:
    """Append what is missing to the lines of `path`."""
    prepare_jax(1)
    rows = read(path)
    every = sorted(
        combinations(sorted(GAMES)), key=lambda names: (names[2] != "td", names[3] != "greedy")
    )
    for names in every:
        known = rows.get(names)
        if known is None or (again is not None and (known["cpu_s"] or 0) > again):
            row = bench_compile(*names)._asdict()
            facts = {
                "python": platform.python_version(),
                "jax": version("jax"),
                "jaxlib": version("jaxlib"),
            }
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row | facts) + "\n")


def read(path: Path) -> dict[tuple[str, ...], dict]:
    """The last line of each combination by (game, value, learner, search)."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = map(json.loads, lines)
    return {
        tuple(row[name] for name in ("game", "value", "learner", "search")): row for row in rows
    }


def table(paths: list[Path]) -> None:
    """Print the combinations by version, the longest of each game, and the longest of all."""
    versions = {path.stem.removeprefix("jax-"): read(path) for path in paths}
    print("| jax | combinations | refused | median CPU s | longest CPU s | above 30 s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, rows in versions.items():
        seconds = _seconds(rows.values())
        above = sum(each > AIM_SECONDS for each in seconds)
        print(
            f"| {name} | {len(rows)} | {len(rows) - len(seconds)} |"
            f" {statistics.median(seconds):.1f} | {seconds[-1]} | {above} |"
        )
    print(f"\n| game | {' | '.join(f'{name}: median, longest' for name in versions)} |")
    print("| --- |" + " ---: |" * len(versions))
    for game in sorted({names[0] for rows in versions.values() for names in rows}):
        figures = []
        for rows in versions.values():
            own = _seconds(row for names, row in rows.items() if names[0] == game)
            figures.append(f"{statistics.median(own):.1f}, {own[-1]}" if own else "–")
        print(f"| {game} | {' | '.join(figures)} |")
    print(f"\n| game | value | learner | search | {' | '.join(versions)} |")
    print("| --- | --- | --- | --- |" + " ---: |" * len(versions))
    both = {names for rows in versions.values() for names, row in rows.items() if row["cpu_s"]}
    cells = {
        names: [rows.get(names, {}).get("cpu_s") for rows in versions.values()] for names in both
    }
    slowest = sorted(cells, key=lambda names: (-max(each or 0 for each in cells[names]), names))
    for names in slowest[:SHOWN]:
        shown = ["–" if each is None else str(each) for each in cells[names]]
        print(f"| {' | '.join((*names, *shown))} |")


def _seconds(rows: Iterable[dict]) -> list[float]:
    """CPU seconds of the combinations that exist, in rising order."""
    return sorted(row["cpu_s"] for row in rows if row["cpu_s"] is not None)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.compile_time.run", description=__doc__
    )
    parser.add_argument("--table", action="store_true", help="print the tables of the page")
    parser.add_argument(
        "--again", type=float, metavar="SECONDS", help="measure again what took longer"
    )
    parser.add_argument("--out", type=Path, default=FOLDER, help="where the lines are kept")
    options = parser.parse_args(arguments)
    if options.table:
        table(sorted(options.out.glob("jax-*.jsonl")))
    else:
        measure(options.out / f"jax-{version('jax')}.jsonl", options.again)


if __name__ == "__main__":
    end_in_a_line(main)
