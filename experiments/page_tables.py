"""The tables on the pages of experiments, printed again from the kept data, an iterator for each
experiment; and those that no script prints.
"""

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.averaging import connectfour as averaged_connectfour
from experiments.averaging import run as averaging
from experiments.borrowed_games import forecast
from experiments.borrowed_games import run as borrowed_games
from experiments.compile_time import run as compile_time
from experiments.compile_time import start_up
from experiments.connectfour import tables as connectfour
from experiments.discount import tables as discount
from experiments.exact_2048 import run as exact_2048
from experiments.exact_n_players import against_mcts, sim_recipes
from experiments.exact_n_players import run as exact_n_players
from experiments.farl_predictor import figure as farl_predictor
from experiments.farl_predictor import run as predictor
from experiments.gpu import published
from experiments.gpu import tables as gpu
from experiments.ladder import run as ladder
from experiments.lines_of_action import tables as lines
from experiments.lines_of_action.judge import Judged, kept_networks
from experiments.lockstep import tables as lockstep
from experiments.n_players import equal_time, one_table, perfect, speeds
from experiments.n_players import run as n_players
from experiments.othello_partners import tables as othello_partners
from experiments.page_known import numbers_in
from experiments.page_text import AS_TEXT, EXPERIMENTS, NUMBER, Page, Printed, Row, cells_of, within
from experiments.ralpha import table as ralpha
from experiments.readings import tables as readings
from experiments.rules_in import run as rules_in
from experiments.scaling import run as scaling
from experiments.search import run as search
from experiments.shared import WRITTEN_WITH, ArchivedRun, Section, archived_runs
from experiments.stages import run as stages
from experiments.table1 import (
    draws,
    evaluation_share,
    listed,
    nim3p_mcts,
    overview,
    profile,
    speed,
    verdicts,
)
from experiments.td_sarsa import larger_games as td_sarsa
from experiments.zoo import tables as zoo
from jaxgbg.games import make
from jaxgbg.results.rows import rows as rows_of_run
from jaxgbg.results.statistics import confidence_interval, mean_sem
from jaxgbg.runs.presets import figure as published_figure


def read(path: str) -> Any:
    return json.loads((EXPERIMENTS / path).read_text(encoding="utf-8"))


def kept_records(name: str) -> list[dict[str, Any]]:
    """The records of EXPERIMENT/SECTION of its results.json, or of EXPERIMENT/FILE.json."""
    path = EXPERIMENTS / name
    if path.suffix == ".json":
        rows: list[dict[str, Any]] = read(name)
    else:
        rows = Section(path.parent, path.name).read()
    assert rows, f"{name} has no records"
    return [{key: value for key, value in row.items() if key != WRITTEN_WITH} for row in rows]


def printed(main: Callable[[list[str]], None], *arguments: str) -> list[str]:
    """The lines that a script prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main([*arguments])
    return out.getvalue().splitlines()


def averaging_tables() -> Iterator[str]:
    yield from averaging.table_of(read("averaging/figures.json"))
    yield from printed(averaged_connectfour.main)


def borrowed_tables() -> Iterator[str]:
    forecasts = read("borrowed_games/forecast.json")
    yield from forecast.table(forecasts)
    yield from borrowed_games.table(read("borrowed_games/results.json"), forecasts)


def connectfour_tables() -> Iterator[str]:
    yield from connectfour.page(
        *(kept_records(f"connectfour/{name}") for name in connectfour.NAMES)
    )


def ablation_tables() -> Iterator[str]:
    """Active weights, plies and value-keeping moves of a run; both AB-DLs; part 1 alone."""
    runs = {one.run.game.name: one for one in archived_runs(EXPERIMENTS / "farl_ablation")}
    run = runs.pop("connectfour")
    last = run.run.schedule.episodes
    solved = [one for one in run.results() if one.opponent == "solver"]
    met = [kept_records(f"farl_ablation/{name}") for name in ("ab-dl", "ab-dl-gbg")]
    for variant in ("farl", "part1", "none"):
        agents = [counts for _, name, *counts in run.summary()["agents"] if name == variant]
        late: dict[int, list[float]] = {}
        for one in solved:
            if one.variant == variant and 5 * one.episodes > 4 * last:
                late.setdefault(one.seed, []).append(100 * one.score)
        yield row(
            variant,
            pair([100 * active / weights for _, _, weights, active in agents], 2),
            pair([moves / episodes for episodes, moves, _, _ in agents]),
            pair([float(np.mean(scores)) for scores in late.values()]),
        )
        own = ([each["mean"] for each in rows if each["variant"] == variant] for rows in met)
        yield row(variant, *map(pair, own))
    for game, other in runs.items():
        yield from part1_rows(game, other)


def part1_rows(game: str, archived: ArchivedRun) -> Iterator[str]:
    """The score of each variant and its difference to part 1 alone, active weights and plies."""
    (opponent,) = archived.run.evaluation.opponents
    scores = {each.variant: each for each in rows_of_run(archived.run, archived.results(), 0.0)}
    for variant, own in scores.items():
        text = own.scale.text
        mean, low, high = readings.difference(own, scores["part1"])
        spread = "" if variant == "part1" else f"{text(mean)} ({text(low)} to {text(high)})"
        agents = [counts for _, name, *counts in archived.summary()["agents"] if name == variant]
        yield row(
            game,
            opponent,
            variant,
            f"{text(own.mean)} ± {text(own.sem)}",
            spread,
            pair([100 * active / weights for _, _, weights, active in agents]),
            pair([moves / episodes for episodes, moves, _, _ in agents], 2),
        )


def pair(values: Sequence[float], digits: int = 1) -> str:
    mean, error = mean_sem([*values])
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def predictor_tables() -> Iterator[str]:
    kept = read("farl_predictor/results.json")
    known = predictor.correlations(predictor.complete(kept), predictor.VARIED)
    assert len(known) == 16
    yield from farl_predictor.table(kept, known).splitlines()


def gpu_tables() -> Iterator[str]:
    for piece in gpu.sections():
        yield from piece.splitlines()
    results = read("gpu/published.json")["results"]
    yield from published.table(results)
    yield from judged_by_criteria(results)


NAMES = {"ab": "ConnectFour, AB", "ab-dl-gbg": "ConnectFour, AB-DL (`ab-dl-gbg`)", "score": "2048"}
WIDEST = {"connectfour": 4, "2048": 8_000}
EXPECTED = {"farl": "agreement", "none": "rejection"}


def judged_by_criteria(results: list[dict[str, Any]]) -> Iterator[str]:
    """Figures at full budgets next to the paper's intervals; then those of each seed."""
    matches = [one for one in results if one["what"] == "match"]
    for opponent, name in NAMES.items():
        for variant, title in (("farl", "FARL"), ("none", "without FARL")):
            own = [
                each
                for each in matches
                if (each["opponent"], each["variant"]) == (opponent, variant)
            ]
            game, limit = own[0]["game"], WIDEST[own[0]["game"]]
            means, times = published.late_means(own)
            scale = make(game).scale
            means = [scale.figure(each) for each in means]
            low, high = confidence_interval(means, span=scale.span, games=times * own[0]["games"])
            mean, error = published_figure(game, opponent, variant) or (np.nan, np.nan)
            below, above = mean - 2 * error, mean + 2 * error
            if scale.percent:
                below, above = max(0.0, below), min(100.0, above)
            meets = low <= above and high >= below
            outcome = "agreement" if meets and high - low <= limit else "decides nothing"
            spread = scale.text(high - low)
            whole = below == round(below) and above == round(above)
            paper = [f"{end:,.0f}" if whole else f"{end:.1f}" for end in (below, above)]
            interval = f"{scale.text(low)} to {scale.text(high)}"
            both = f"{scale.text(mean_sem(means)[0])} ± {scale.text(mean_sem(means)[1])}"
            start, published_ = f"{name}, {title}", " to ".join(paper)
            judged = (spread, f"{limit:,}", outcome if meets else "rejection")
            yield row(start, str(len(means)), both, interval, *judged[:2], published_, judged[2])
            expected = "-" if game == "2048" else EXPECTED[variant]
            yield row(start, published_, interval, *judged, expected)
            if game == "connectfour":
                seeds = [f"{each:.2f}".removesuffix("0") for each in means]
                yield row(f"{'AB' if opponent == 'ab' else '`ab-dl-gbg`'}, {title}", *seeds)
                shorter = [f"{each:.1f}" for each in means]
                yield row(f"{'AB' if opponent == 'ab' else '`ab-dl-gbg`'}, {title}", *shorter)


def ladder_tables() -> Iterator[str]:
    for rows in read("ladder/results.json").values():
        yield from ladder.table(rows)


def lines_tables() -> Iterator[str]:
    folder = EXPERIMENTS / "lines_of_action"
    found = lines.all_tables(Judged(kept_networks(folder / "judged.jsonl")), folder)
    yield from lines.page(found, folder).splitlines()
    yield from features(found["Tables 5.3 to 5.5"])
    yield from tuples()
    for board in kept_records("lines_of_action/solved"):
        start = f"{'White' if board['value'] < 0 else 'Black'} wins in {board['plies']} plies"
        counts = [board[name] for name in ("positions", "won", "lost", "drawn")]
        ends = f"{board['longest']} plies", str(board["without_a_move"])
        size = f"{board['size']}x{board['size']}"
        yield row(size, board["both"], start, *(f"{n:,}".replace(",", " ") for n in counts), *ends)


def features(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What each feature brings, a line for each partner and opponent."""
    cells: dict[tuple[str, str], list[str]] = {}
    for each in rows:
        gain, paper = each["gain"], each.get("paper's gain")
        cell = f"{gain['mean']:+.3f} ± {gain.get('sem', 0):.3f}"
        cell += "" if paper is None else f" ({paper:+.3f})"
        cells.setdefault((each["setting"], each["opponent"]), []).append(cell)
    yield from (row(*names, *gains) for names, gains in cells.items())


def tuples() -> Iterator[str]:
    """The n-tuples: shares won by layout and variant."""
    layouts = {"of 5": "lines", "of 6": "windows", "none": "walks"}
    players = ("centre-of-mass", "random", "SELF")
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in kept_records("lines_of_action/tuples"):
        layout = layouts[str(each["layout"]).partition(" (")[0]]
        opponent = each["opponent"] if each["opponent"] in players else "SELF"
        share = f"{each['mean'] / 100:.3f} ± {each['sem'] / 100:.3f}"
        found.setdefault((layout, each["variant"]), {})[opponent] = share
    for names, shares in found.items():
        yield row(*names, *(shares.get(player, "") for player in players))


def exact_tables() -> Iterator[str]:
    for script in (exact_n_players, sim_recipes, against_mcts):
        yield from printed(script.main, "--show")


def players_tables() -> Iterator[str]:
    for of_round in n_players.rounds(read("n_players/results.json")["results"]):
        yield from n_players.table(of_round)
    yield from n_players.table(read("n_players/longer.json")["results"])
    yield from perfect.table(read("n_players/perfect.json")["results"])
    yield from equal_time.table(read("n_players/equal_time.json")["results"])
    yield from one_table.table(read("n_players/one_table.json")["results"])
    yield from printed(speeds.main, "--show")


def table1_tables() -> Iterator[str]:
    for script in (overview, verdicts, draws, listed, speed, profile):
        yield from printed(script.main)
    yield from printed(evaluation_share.main, "--show")
    yield from printed(nim3p_mcts.main, "--show")


TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "averaging": averaging_tables,
    "borrowed_games": borrowed_tables,
    "connectfour": lambda: "".join(connectfour_tables()).splitlines(),
    "discount": lambda: printed(discount.main),
    "compile_time": lambda: [
        *printed(compile_time.main, "--table"),
        *printed(start_up.main, "--show"),
    ],
    "exact_2048": lambda: printed(exact_2048.main, "--show"),
    "exact_n_players": exact_tables,
    "farl_ablation": ablation_tables,
    "farl_predictor": predictor_tables,
    "gpu": gpu_tables,
    "ladder": ladder_tables,
    "lines_of_action": lines_tables,
    "lockstep": lambda: printed(lockstep.main),
    "n_players": players_tables,
    "networks": list,
    "othello_partners": lambda: printed(othello_partners.main),
    "ralpha": lambda: [*printed(ralpha.main, "tictactoe"), *printed(ralpha.main, "connectfour")],
    "readings": lambda: printed(readings.main),
    "rules_in": lambda: printed(rules_in.main, "--show"),
    "scaling": lambda: printed(scaling.main, "--show"),
    "search": lambda: search.tables(kept_records("search/strength")),
    "stages": lambda: printed(stages.main, "--show"),
    "table1": table1_tables,
    "td_sarsa": lambda: printed(td_sarsa.main, "--show"),
    "zoo": lambda: printed(zoo.main),
}
Heads = dict[str, tuple[str, ...]]
BY_HAND: dict[str, Heads] = {
    "othello_partners": {
        "players, share here, paper, games": ("othello_partners/players",),
        "game, learner, games/s, NumPy, ratio": ("othello_partners/speed",),
    },
    "search": {
        "mean weights, % of the points, bare, 50, 200, 1 000 iterations": ("search/strength",),
        ", one device: positions/s, moves/s, two devices: positions/s, moves/s": ("search/speed",),
        "200 iterations, same visits, same move, visits moved, mean and most,"
        " positions/s of a core: 128 in step, one alone": ("search/yardstick",),
        "match, points, either way, new trees: s of a core, kept": ("search/reuse",),
        "leaves, % of moves that keep the value, worse, better than with 1,"
        " in step: positions/s of a core, alone": ("search/leaves",),
    },
}
"""Tables that no script prints, by their heads, and the sections that have their numbers."""

BY_QUERY = {"game, games, variant, n, moves, error, active"}
"""Heads of tables that a command on their page prints: `tests/experiments/test_scripts.py`."""


class Wrong(NamedTuple):
    """A line of a page, and what is wrong there."""

    page: str
    line: int
    text: str


def glance() -> Iterator[str]:
    """Table 1 in the form of its page, and in that of README.md, without one game at a time."""
    for line in printed(overview.main):
        yield line
        game, opponent, _, *figures = cells_of(line)
        shown = [each.partition(" (")[0].strip("()") for each in figures]
        yield row(game, opponent, *shown)


def table_faults(experiment: str, pages: Sequence[Page]) -> Iterator[Wrong]:
    """The rows that the kept data do not give; pages outside experiments have Table 1 alone."""
    lines = TABLES[experiment]() if experiment else glance()
    known = {cells_of(line) for line in lines if "|" in line}
    by_hand = BY_HAND.get(experiment, {})
    for page in pages:
        for at, (head, *rows) in page.tables():
            title = ", ".join(head)
            if title in BY_QUERY | AS_TEXT:
                continue
            for line, row in enumerate(rows, at + 2):
                if title in by_hand:
                    texts = _numbers_unknown(row, by_hand[title])
                    yield from (Wrong(page.name, line, f"printed {t}: no record") for t in texts)
                elif _has_figures(row, experiment) and not _is_known(row, known):
                    yield Wrong(page.name, line, _compared(row, known))


def _has_figures(row: Row, experiment: str) -> bool:
    """Whether a row has numbers; outside experiments, where rows are texts, those with decimals."""
    return re.search(r"\d" if experiment else r"\d\.\d", " ".join(row)) is not None


def _is_known(row: Row, known: set[Row]) -> bool:
    return row in known or any(within(row, whole) for whole in known)


def _compared(row: Row, known: set[Row]) -> str:
    """The cells in which a row differs from the most similar one."""

    def alike(other: Row) -> tuple[int, int]:
        same = [mine == its for mine, its in zip(row, other, strict=False)]
        return sum(same), next((n for n, each in enumerate(same) if not each), len(same))

    nearest = max((each for each in known if len(each) == len(row)), key=alike, default=())
    printed, recomputed = (
        " | ".join(one for one, two in zip(own, other, strict=True) if one != two)
        for own, other in ((row, nearest or row), (nearest or row, row))
    )
    if not nearest:
        return f"no script prints the row {' | '.join(row)}"
    return f"printed {printed}, recomputed {recomputed}, in the row {' | '.join(row[:3])}"


def _numbers_unknown(row: Row, sections: Sequence[str]) -> Iterator[str]:
    """The numbers of a row, after its first cell, that round no number in the sections."""
    known = np.array([*numbers_in([kept_records(name) for name in sections])])
    known = np.concatenate([known, 100 * known])
    for text in re.findall(r"\d+(?:[ ,]\d{3})*(?:\.\d+)?", ", ".join(row[1:])):
        digits = text.replace(" ", "").replace(",", "")
        # 49 500 has three digits.
        zeros = len(digits) - len(digits.rstrip("0"))
        unit = 10.0 ** (-len(digits.partition(".")[2]) if "." in digits else zeros)
        if not (np.abs(known - float(digits)) <= 0.501 * unit).any():
            yield text


_PANEL = re.compile(r"^(\S+) against (\S+): .*?([\d,]+) episodes")
_ENDS = ("mean", "sem", "low", "high", "paper_mean", "paper_error", "last", "n")
_DIFFERENCES = ("difference", "difference_low", "difference_high")


def box_faults(page: Page, folder: str) -> Iterator[Wrong]:
    """The lines in boxes of `jaxgbg results` that no row of the JSON files in a folder gives."""
    rows = [row for path in sorted((EXPERIMENTS / folder).glob("*.json")) for row in _rows(path)]
    for at, box in page.boxes():
        panel = None
        for line, text in enumerate(box, at):
            panel = _PANEL.match(text) or panel
            if panel is None or "±" not in text or "mean ± s.e." in text or panel.string == text:
                continue
            game, opponent, episodes = panel.groups()
            wanted = {
                "game": game,
                "opponent": opponent,
                "episodes": int(episodes.replace(",", "")),
            }
            own = [row for row in rows if wanted.items() <= row.items()]
            if not any(_prints(row, text) for row in own):
                start = f"{game} against {opponent}: printed {' '.join(text.split())}"
                yield Wrong(page.name, line, f"{start}, recomputed {_figures_for(own, text)}")


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows of `jaxgbg results --json` in a file, of all its sections."""
    content = json.loads(path.read_text(encoding="utf-8"))
    parts = content.values() if isinstance(content, dict) else [content]
    rows = [row for part in parts if isinstance(part, list) for row in part]
    return [row for row in rows if isinstance(row, dict) and "pairs" in row and "low" in row]


def _figures_of(row: dict[str, Any]) -> list[float]:
    """Its numbers in the order of a line, the settings first."""
    settings = [value for name, value in row.items() if name not in (*_ENDS, *_DIFFERENCES)]
    first = [float(each) for each in settings if isinstance(each, int | float)]
    names = (*_ENDS, *(_DIFFERENCES if row["pairs"] else ()))
    return first + [float(row[name]) for name in names if row.get(name) is not None]


def _prints(row: dict[str, Any], text: str) -> bool:
    """Whether a line has figures of this row alone, in their order, and its words are settings."""
    rest = iter(_figures_of(row))
    numbers = [each for each in text.split() if not each[0].isalpha()]
    printed = [Printed(found[0], 0) for found in re.finditer(NUMBER, " ".join(numbers))]
    words = {word for word in text.split() if word[0].isalpha() and word != "to"}
    named = [value for value in row.values() if isinstance(value, str | bool)]
    settings = {each if isinstance(each, str) else "yes" if each else "no" for each in named}
    return words <= settings and all(any(one.rounds(each) for each in rest) for one in printed)


def _figures_for(rows: Sequence[dict[str, Any]], text: str) -> str:
    """The figures of the rows whose variant the line names."""
    words = text.split()
    own = [row for row in rows if row.get("variant", "") in words or "variant" not in row]
    return "; ".join(" ".join(f"{row[name]:.6g}" for name in _ENDS[:4]) for row in own) or "nothing"
