"""Tables II to IV of van der Ree & Wiering 2013 in Markdown, from results.json.

    python -m experiments.othello_partners.tables

A learner has the paper's column and one for each way in which it was trained: the mean over the
networks of each network's best session, as in the paper ("averages of the best performances"), with
the standard error over networks, and in brackets the mean of the last ten sessions. Tests against
RAND are read twice: at the paper's 500,000 games and at all games. Then how near they are to the
paper, and what it brings to learn from the partner's moves too, tested against that partner.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from experiments.othello_partners.run import NETWORKS, column
from experiments.shared import Section
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.results.statistics import mean_sem

HERE = Path(__file__).parent
PARTNER_OF = {"bench": "BENCH", "heur": "HEUR", "random": "RAND"}
SESSION_GAMES = 20_000
TABLE_IV_GAMES = 500_000  # the paper's training games for tests against RAND
TABLE_IV = f"random, first {TABLE_IV_GAMES:,} games"
Rows = list[dict[str, Any]]


def over_seeds(rows: Rows) -> Rows:
    """One row for the `n` networks of each cell: means and, of `best`, the error `sem`."""
    cells: dict[Any, Rows] = {}
    for row in rows:
        cells.setdefault((column(row), row["partner"], row["opponent"]), []).append(row)
    return [own[0] | _of_networks(own) for own in cells.values()]


def _of_networks(rows: Rows) -> dict[str, float]:
    points = np.array([row["curve"] for row in rows])
    best = points.max(axis=1)
    mean, sem = mean_sem(best.tolist())
    seconds = float(np.mean([row["seconds"] for row in rows]))
    last_ten = float(points[:, -10:].mean())
    return {"best": mean, "sem": sem, "last_ten": last_ten, "n": len(rows), "seconds": seconds}


def at_paper_games(rows: Rows) -> Rows:
    """Every row, and those of tests against RAND also cut to the paper's games."""
    sessions = TABLE_IV_GAMES // SESSION_GAMES
    cut = [
        row | {"opponent": TABLE_IV, "curve": row["curve"][:sessions]}
        for row in rows
        if row["opponent"] == "random"
    ]
    return rows + cut


def cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    sem = "" if row["n"] == 1 else f" ± {row['sem']:.1f}"
    return f"{row['best']:.1f}{sem} ({row['last_ten']:.1f})"


def table_of(rows: Rows) -> Iterator[str]:
    """The table of one test opponent, a line for each partner."""
    kinds, learners = (dict.fromkeys(of(row) for row in rows) for of in (column, _learner))
    cells = {(column(row), row["partner"]): row for row in rows}
    paper = {(row["learner"], row["partner"]): row["paper_best"] for row in rows}
    columns = [
        (learner, [one for one in kinds if one.split(",")[0] == learner]) for learner in learners
    ]
    heads = [head for learner, own in columns for head in (f"{learner}, paper", *own)]
    yield f"| trained against | {' | '.join(heads)} |"
    yield "|---" * (1 + len(heads)) + "|"
    for partner in dict.fromkeys(row["partner"] for row in rows):
        texts = [
            text
            for learner, own in columns
            for text in (
                str(paper.get((learner, partner), "")),
                *(cell(cells.get((one, partner))) for one in own),
            )
        ]
        yield f"| {partner} | {' | '.join(texts)} |"


def _learner(row: dict[str, Any]) -> str:
    return str(row["learner"])


def agreement_of(rows: Rows) -> Iterator[str]:
    """How near the best sessions are to the paper's, over the partners that a column has."""
    yield (
        "| column | tested against | partners | networks each | minutes a network"
        " | mean difference | mean distance | rank correlation |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for one, opponent in _pairs(rows):
        chosen = [row for row in rows if (column(row), row["opponent"]) == (one, opponent)]
        ours, paper = (np.array([row[name] for row in chosen]) for name in ("best", "paper_best"))
        if len(chosen) > 2:
            apart, order = ours - paper, spearmanr(ours, paper).statistic
            counts = sorted({row["n"] for row in chosen})
            minutes = np.mean([row["seconds"] for row in chosen]) / 60
            yield (
                f"| {one} | {opponent} | {len(chosen)} | {' or '.join(map(str, counts))}"
                f" | {minutes:.0f} | {apart.mean():+.1f}"
                f" | {np.abs(apart).mean():.1f} | {order:.2f} |"
            )


def own_or_both(rows: Rows) -> Iterator[str]:
    """Tested against whom it was trained against: by its own moves, and by the partner's too."""
    yield "| column | partner | own moves | paper | the partner's too | paper |"
    yield "|---|---|---|---|---|---|"
    cells = {(column(row), row["opponent"], row["partner"]): row for row in rows}
    for one, opponent in _pairs(rows):
        partner = PARTNER_OF[opponent.split(",")[0]]
        own, both = (cells.get((one, opponent, partner + more)) for more in ("", "-LRN"))
        if own is not None and both is not None:
            texts = (f"{cell(row)} | {row['paper_best']}" for row in (own, both))
            budget = opponent[len(opponent.split(",")[0]) :]
            yield f"| {one} | {partner}{budget} | {' | '.join(texts)} |"


def _pairs(rows: Rows) -> list[tuple[str, str]]:
    """Each column with each test opponent."""
    opponents = dict.fromkeys(str(row["opponent"]) for row in rows)
    return [(one, opponent) for one in dict.fromkeys(map(column, rows)) for opponent in opponents]


def main(arguments: Sequence[str] | None = None) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=__doc__, formatter_class=raw).parse_args(arguments)
    rows = over_seeds(at_paper_games(Section(HERE, NETWORKS).read()))
    for opponent in dict.fromkeys(row["opponent"] for row in rows):
        print(f"\n**Tested against {opponent}**\n")
        print("\n".join(table_of([row for row in rows if row["opponent"] == opponent])))
    print("\n**Agreement**\n")
    print("\n".join(agreement_of(rows)))
    print("\n**By its own moves, or by its partner's too**\n")
    print("\n".join(own_or_both(rows)))


if __name__ == "__main__":
    end_in_a_line(main)
