"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.page_tables import read
from experiments.page_text import EXPERIMENTS, Claim, cells_in
from experiments.shared import archived_runs
from jaxgbg.results.statistics import confidence_interval, mean_sem

OUTSIDE = {
    "0.4 among perfect players": "the rules of Nim3P",
    "The paper says that 8 % of the weights are active with FARL and .9 % without, and that"
    " the second part of FARL alone costs 1 % or less": "the paper, footnote 7",
    "without (.9). The ratio": "the paper, footnote 7",
    """the paper's "1 % or less".""": "the paper, footnote 7",
    """agrees with the paper's "1 % or less".""": "the paper, footnote 7",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    (run,) = (
        one
        for one in archived_runs(EXPERIMENTS / "farl_ablation")
        if one.run.game.name == "connectfour"
    )
    late = 0.8 * run.run.schedule.episodes
    scores: dict[str, dict[int, list[float]]] = {"farl": {}, "part1": {}, "none": {}}
    for one in run.results():
        if one.opponent == "ab" and one.episodes > late:
            scores[one.variant].setdefault(one.seed, []).append(100 * (one.score + 1) / 2)
    means = {
        variant: [sum(each) / len(each) for each in by_seed.values()]
        for variant, by_seed in scores.items()
    }
    both = *mean_sem(means["farl"]), *mean_sem(means["part1"])
    yield "Against AB {} ± {} % with both parts, {} ± {} with part 1", *both
    _, most = confidence_interval([0.0] * 4, span=(0.0, 100.0), games=40)
    yield "that all win none of 40 games leave up to {} %", most
    discount = cells_in("discount")
    yield (
        "without FARL win {}% (TicTacToe) and {}% (Nim, [discount]",
        discount("ntuple | 1", "random, without"),
        discount("1 | 49.5 ± 0.3", "random, without"),
    )
    ladder = read("ladder/results.json")
    elo = {
        game: min(row["elo"] for row in rows if row["player"].startswith("no FARL"))
        for game, rows in ladder.items()
    }
    games = ("tictactoe", "nim", "connectfour", "nim3p")
    yield "at least {}, {} and {} Elo above it in", *(elo[game] for game in games[:3])
    yield "ConnectFour, and at {} in Nim3P", elo[games[3]]
    cells = cells_in("farl_ablation")
    ends = [cells(f"{game} | maxn | farl", "minus part 1", 2) for game in ("tictactoe", "nim")]
    yield "Part 2 brings at most {} points in TicTacToe and {} in Nim", *ends
