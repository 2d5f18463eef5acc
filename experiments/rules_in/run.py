"""How strong are the agents that `jaxgbg agent` makes of games that others wrote?

    python -m experiments.rules_in.run [--games pgx:hex ludax:yavalath ...] [--minutes 10]
    python -m experiments.rules_in.run --meet mcts-1000     # whom the agents had no time for
    python -m experiments.rules_in.run --show                # the table of the kept figures

Each game goes through `jaxgbg.build_agent` once. Results are in OUT/results.json; what stands there
is not made again. Agents, cards and pages are in folders of OUT.
"""

import json
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments.shared import kept_results, make_rows_parser, measure_missing
from jaxgbg.arena.tournament import play_tournament
from jaxgbg.cli.building.build import build_agent
from jaxgbg.cli.building.rating import AGENT, plain_score, scores_of
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import LUDAX_GAMES, PGX_GAMES
from jaxgbg.runs import RunFolder
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.provenance import versions_of
from jaxgbg.system import file_name

FILE = "results.json"
GAMES = (
    *(f"pgx:{title}" for title in PGX_GAMES),
    *(f"ludax:{title}" for title in LUDAX_GAMES),
)
OPPONENTS = ("random", "mcts-100", "mcts-1000")
Record = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_rows_parser(__file__, __doc__, GAMES, "--games")
    parser.add_argument("--minutes", type=float, default=10.0, help="wall time for each game")
    parser.add_argument("--meet", metavar="PLAYER", help="let the agents in OUT meet it")
    options = parser.parse_args(arguments)
    if options.show:
        print("\n".join(table(kept_results(options.results / FILE))))
        return
    if options.minutes <= 0:
        parser.error("--minutes must be positive")
    if options.meet:
        prepare_jax()
        meet_later(options.out, options.games, options.meet)
        return
    measures = {g: partial(measured, g, options.minutes, options.out) for g in options.games}
    measure_missing(options.out / FILE, "game", measures)


def measured(game: str, minutes: float, out: Path) -> Record:
    """Make the agent of a game; its scores, training and times."""
    begun, used = time.perf_counter(), time.process_time()
    folder = build_agent(game, minutes, out / file_name(game), progress=False)
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    found = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    (run,) = (RunFolder.open(path.parent) for path in folder.glob("*/config.json"))
    summary = run.summary() if run.finished else {}
    trained = [result.episodes for result in run.results()]
    return {
        "game": game,
        "minutes": minutes,
        "config": run.run.digest,
        "planned": run.run.schedule.episodes,
        "episodes": run.run.schedule.episodes if run.finished else max(trained),
        "training_s": summary.get("training_seconds"),
        "moves_per_second": summary.get("moves_per_second"),
        "wall_s": round(time.perf_counter() - begun, 1),
        "cpu_s": round(time.process_time() - used, 1),
        "steps": plan["steps"],
        "packages": versions_of(("pgx", "ludax")),
        **found,
    }


def meet_later(out: Path, games: Sequence[str], opponent: str) -> None:
    """Play the games against an opponent that the agents in `out` had no time for."""
    content = json.loads((out / FILE).read_text(encoding="utf-8"))
    for one in content["results"]:
        if one["game"] not in games or score_of(one, opponent) is not None:
            continue
        folder = out / file_name(one["game"])
        settings = json.loads((folder / "ladder" / "tournament.json").read_text(encoding="utf-8"))
        played = play_tournament(
            {AGENT: folder / f"{folder.name}.agent", opponent: opponent},
            games=2 * settings["openings"],
            starts=settings["starts"],
            plies=settings["plies"],
            out=folder / "ladder",
            progress=False,
        )
        (score,) = map(plain_score, scores_of(played))
        one["scores"].append({**score, "after_the_time": True})
        write_json(out / FILE, content)
        print(one["game"], score, flush=True)


def score_of(one: Record, opponent: str) -> Record | None:
    """The score against an opponent; None if it was not met."""
    return next((score for score in one["scores"] if score["opponent"] == opponent), None)


def outcome(one: Record, opponent: str) -> str:
    """Whether an agent is better than an opponent beyond chance: its interval is on one side."""
    score = score_of(one, opponent)
    if score is None:
        return "not met"
    return "better" if score["low"] > 50 else "worse" if score["high"] < 50 else "undecided"


def table(results: Sequence[Record]) -> Iterator[str]:
    """A line for each game: training, and points in % with 95% intervals."""
    head = ("game", "value", "episodes", "CPU s", "games", *OPPONENTS)
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for one in sorted(results, key=lambda one: GAMES.index(one["game"])):
        scores = [score_of(one, opponent) for opponent in OPPONENTS]
        cells = [one["game"], one["steps"]["value"].partition(",")[0], f"{one['episodes']:,}"]
        cells += [f"{one['cpu_s']:.0f}", str(one["scores"][0]["games"])]
        for score in scores:
            figures = "{mean:.1f} ({low:.1f} to {high:.1f})"
            cells.append("" if score is None else figures.format(**score))
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    end_in_a_line(main)
