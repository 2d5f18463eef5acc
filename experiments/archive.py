"""The data files of an experiment: `runs.jsonl.gz`, its finished runs, and `results.json`.

    python -m experiments.archive unpack table1 --out runs/table1
    python -m experiments.archive pack table1 runs/table1/*/
    python -m experiments.archive add lockstep nim runs/nim.json

`unpack` restores the run folders byte for byte, so that `jaxgbg results` and `jaxgbg plot` can read
them. `pack` adds finished runs to the archive, or replaces those of the same name. Agents and
checkpoints are not archived. `add` puts the rows of a file that `jaxgbg results --json` wrote into
results.json, as the section of the given name. In Python, `experiments.shared` reads both files:
`archived_runs` and `Section`.
"""

import argparse
import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.shared import ARCHIVE, ArchivedRun, Record, Section, archived_runs, opened
from jaxgbg import RunFolder
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.contents import parse_json, read_json
from jaxgbg.runs.storage.files import write_json, written_whole

HERE = Path(__file__).parent
FILES = ("config", "provenance", "summary")


def unpack(runs: Sequence[ArchivedRun], out: Path) -> list[Path]:
    """Write archived runs as run folders into `out`; returns these folders."""
    folders = []
    for archived in runs:
        folder = out / archived.name
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            write_json(folder / f"{name}.json", archived.files[name])
        metrics = "".join(json.dumps(line) + "\n" for line in archived.files["metrics"])
        if metrics:
            (folder / "metrics.jsonl").write_text(metrics, encoding="utf-8", newline="\n")
        folders.append(folder)
    return folders


def pack(experiment: Path, folders: Iterable[RunFolder]) -> None:
    """Add runs to the archive of an experiment; raises ValueError for an unfinished one."""
    runs = {}
    if (experiment / ARCHIVE).exists():
        runs = {archived.name: archived for archived in archived_runs(experiment)}
    for folder in folders:
        if not folder.finished:
            raise ValueError(f"{folder.path} is not finished: only finished runs are archived")
        files = {name: read_json(folder.path / f"{name}.json") for name in FILES}
        metrics = folder.path / "metrics.jsonl"
        # A run without opponents has none.
        lines = metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else []
        files["metrics"] = [parse_json(line) for line in lines]
        runs[folder.path.name] = ArchivedRun(folder.path.name, files)
    text = "".join(json.dumps({"name": name} | runs[name].files) + "\n" for name in sorted(runs))
    with written_whole(experiment / ARCHIVE) as temporary:
        # Without a date, so that the same runs give the same file.
        temporary.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_rows(file: Path) -> list[Record]:
    """The rows in a JSON file; raises ValueError where it holds something else."""
    try:
        rows = read_json(file)
    except OSError as error:
        raise ValueError(f"{file}: {error.strerror}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{file} holds no list of rows: write it with jaxgbg results --json")
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    commands = parser.add_subparsers(dest="command", required=True)
    experiments = sorted(path.parent.name for path in HERE.glob("*/README.md"))
    unpacking = commands.add_parser("unpack", help="restore the run folders")
    packing = commands.add_parser("pack", help="add finished runs")
    adding = commands.add_parser("add", help="add rows to results.json")
    for command in (unpacking, packing, adding):
        command.add_argument("experiment", choices=experiments, metavar="EXPERIMENT")
    unpacking.add_argument("--out", type=Path, help="folder of runs; default runs/EXPERIMENT")
    packing.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders of runs")
    adding.add_argument("section", metavar="SECTION")
    adding.add_argument("file", type=Path, metavar="FILE", help="rows as a JSON list")
    options = parser.parse_args(arguments)
    experiment = HERE / options.experiment
    try:
        if options.command == "pack":
            pack(experiment, opened(parser, options.runs))
        elif options.command == "add":
            Section(experiment, options.section).write(read_rows(options.file))
        else:
            out = options.out or Path("runs") / options.experiment
            print(f"{len(unpack(archived_runs(experiment), out))} runs in {out}")
    except FileNotFoundError:
        parser.exit(2, f"error: {options.experiment} has no archived runs\n")
    except ValueError as error:
        parser.exit(2, f"error: {error}\n")


if __name__ == "__main__":
    end_in_a_line(main)
