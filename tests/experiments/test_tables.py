"""Every row of every table in the pages of experiments is one of the kept data.

The scripts of an experiment print its tables again. A table that no script prints is in `BY_HAND`,
and its numbers are roundings of numbers in the data that it names. Tables in boxes, which
`jaxgbg results` prints, are compared in `test_sweeps.py` and `test_scripts.py`.
"""

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from experiments.averaging import connectfour as averaged_connectfour
from experiments.averaging import run as averaging
from experiments.borrowed_games import forecast
from experiments.borrowed_games import run as borrowed_games
from experiments.connectfour import tables as connectfour
from experiments.discount import tables as discount
from experiments.farl_predictor import figure as farl_predictor
from experiments.farl_predictor import run as predictor
from experiments.gpu import published
from experiments.gpu import tables as gpu
from experiments.ladder import run as ladder
from experiments.lines_of_action import tables as lines
from experiments.lines_of_action.judge import Judged, kept_networks
from experiments.lockstep import tables as lockstep
from experiments.n_players import run as n_players
from experiments.othello_partners import tables as othello_partners
from experiments.ralpha import table as ralpha
from experiments.readings import tables as readings
from experiments.search import run as search
from experiments.shared import archived_runs
from experiments.table1 import listed, profile, speed
from experiments.zoo import tables as zoo
from jaxgbg.games import make
from jaxgbg.results.statistics import confidence_interval, mean_sem
from jaxgbg.runs.presets import figure as published_figure
from tests.experiments.pages import EXPERIMENTS, kept_records

pytestmark = pytest.mark.figures
Row = tuple[str, ...]


def read(path: str) -> Any:
    return json.loads((EXPERIMENTS / path).read_text(encoding="utf-8"))


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
    """Active weights, plies and value-keeping moves of a run; both AB-DLs."""
    (run,) = archived_runs(EXPERIMENTS / "farl_ablation")
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


def players_tables() -> Iterator[str]:
    results = {one["label"]: one for one in read("n_players/results.json")["results"]}
    yield from n_players.table([results[s.label] for s in n_players.SETTINGS if s.label in results])


def table1_tables() -> Iterator[str]:
    # test_scripts.py compares this page with what experiments.table1.overview prints.
    yield from (EXPERIMENTS.parent / "docs" / "table-1.md").read_text("utf-8").splitlines()
    for script in (listed, speed, profile):
        yield from printed(script.main)


TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "averaging": averaging_tables,
    "borrowed_games": borrowed_tables,
    "connectfour": lambda: "".join(connectfour_tables()).splitlines(),
    "discount": lambda: printed(discount.main),
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
    "search": lambda: search.tables(kept_records("search/strength")),
    "table1": table1_tables,
    "td_sarsa": list,
    "zoo": lambda: printed(zoo.main),
}
Heads = dict[str, tuple[str, ...]]
BY_HAND: dict[str, Heads] = {
    "gpu": {
        "figure, paper's interval, agreement, rejection": (),
        ", difference, 95%, width, outcome": (),
        "part, share, what it does, what it writes": (),
    },
    "othello_partners": {
        "players, share here, paper, games": ("othello_partners/players",),
        "game, learner, games/s, NumPy, ratio": ("othello_partners/speed",),
    },
    "readings": {
        "change, forecast with FARL, outcome, forecast without, outcome": (),
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
    "table1": {
        "figure, here, paper, ": (),
        "with FARL, against AB, 64 games in lockstep, one game at a time": (),
        "against, with FARL, 95%, paper, without, 95%, paper": (),
        # By commands of the page, which test_scripts.py runs.
        "seed, fours, farl, ab, farl, ab-dl, farl, solver, farl-mean, ab, farl-mean, ab-dl,"
        " farl-mean, solver": (),
        "game, games, variant, n, moves, error, active": (),
    },
    "zoo": {
        "weights, file, MB, positions with other moves": (),
    },
}
"""Tables that no script prints, by their heads, and the sections that have their numbers."""


def tables_of(text: str) -> Iterator[list[Row]]:
    """The tables of a page as rows of cells, the head first."""
    for block in re.findall(r"(?:^ *\|.*\n)+", text + "\n", re.MULTILINE):
        rows = [cells(line) for line in block.splitlines()]
        yield [rows[0], *(each for each in rows[2:] if any(map(str.isdigit, "".join(each))))]


def cells(line: str) -> Row:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return tuple(cell.strip().replace("**", "") for cell in inner.split("|"))


def within(short: Row, whole: Row) -> bool:
    """Whether these cells stand in a longer row, in the same order."""
    rest = iter(whole)
    return all(cell in rest for cell in short)


def numbers(content: Any) -> Iterator[float]:
    """All numbers in records, and a hundred times each."""
    if isinstance(content, dict | list):
        for each in content.values() if isinstance(content, dict) else content:
            yield from numbers(each)
    elif isinstance(content, int | float):
        yield from (float(content), 100.0 * content)


def rounds(text: str, known: np.ndarray) -> bool:
    """Whether a number in a table is a rounding of a known one; 49 500 has three digits."""
    digits = text.replace(" ", "").replace(",", "")
    zeros = len(digits) - len(digits.rstrip("0"))
    unit = 10.0 ** (-len(digits.partition(".")[2]) if "." in digits else zeros)
    return bool((np.abs(known - float(digits)) <= 0.501 * unit).any())


def test_no_experiment_is_left_out() -> None:
    assert {page.parent.name for page in EXPERIMENTS.glob("*/README.md")} == TABLES.keys()


@pytest.mark.parametrize("experiment", TABLES)
def test_every_row_is_printed_from_the_kept_data(experiment: str) -> None:
    known = {cells(line) for line in TABLES[experiment]() if "|" in line}
    left: dict[str, list[Row]] = {}
    for page in sorted((EXPERIMENTS / experiment).glob("*.md")):
        for head, *rows in tables_of(page.read_text(encoding="utf-8")):
            for each in rows:
                if each not in known and not any(within(each, whole) for whole in known):
                    left.setdefault(", ".join(head), []).append(each)
    by_hand = BY_HAND.get(experiment, {})
    assert left == {head: left.get(head, []) for head in by_hand}
    for head, sections in by_hand.items():
        kept = np.array([*numbers([kept_records(name) for name in sections])])
        texts = re.findall(
            r"\d+(?:[ ,]\d{3})*(?:\.\d+)?", " | ".join(", ".join(each[1:]) for each in left[head])
        )
        assert not sections or [text for text in texts if not rounds(text, kept)] == []
