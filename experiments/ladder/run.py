"""The ladder of each game, from random to perfect play: trained agents and players are rated.

python -m experiments.ladder.run                  # every game; what is done already is found again
python -m experiments.ladder.run nim --games 100
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.shared import Section, make_parser, older_layout
from jaxgbg import RunFolder, make, preset, tournament, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs import Run
from jaxgbg.runs.devices import prepare_jax

VARIANTS = {"farl": "FARL", "none": "no FARL"}


class Climb(NamedTuple):
    """The fixed players of a game's ladder, and how long and how often agents are trained.

    `openings` are random plies, `games` those of each group: fewer where search takes its time.
    `setting` are parameters of the game, those of experiments.n_players with more players.
    """

    players: tuple[str, ...]
    episodes: int
    seeds: int
    openings: int
    games: int
    setting: Mapping[str, int] = {}


_SEARCHES = ("random", "mcts-10", "mcts-100", "mcts-1000")

CLIMBS = {
    "tictactoe": Climb((*_SEARCHES, "maxn"), 30_000, 2, 2, 2400),
    "nim": Climb((*_SEARCHES, "maxn"), 30_000, 2, 2, 1200),
    "nim3p": Climb(("random", "mcts-10", "mcts-100", "maxn"), 30_000, 1, 2, 600),
    "connectfour": Climb((*_SEARCHES, "ab"), 20_000, 1, 4, 2000),
    "sim": Climb(_SEARCHES, 100_000, 2, 2, 120, {"nodes": 6, "players": 3}),
    "pig": Climb(_SEARCHES, 50_000, 2, 0, 120, {"target": 15, "players": 3}),
    "ewn": Climb(_SEARCHES, 50_000, 2, 0, 120, {"size": 6, "stones": 3, "players": 3}),
}


def run_of(game: str) -> Run:
    """The agents of a game's ladder: both variants at the published parameters, shortly trained."""
    climb = CLIMBS[game]
    return preset(
        make(game, **climb.setting),
        seeds=range(climb.seeds),
        variants=tuple(VARIANTS),
        episodes=climb.episodes,
        eval_every=climb.episodes,
        opponents=["random"],
        **older_layout(game),
    )


def entrants(folder: RunFolder) -> dict[str, str | Path]:
    """Who meets on the ladder, by the names of its table."""
    climb = CLIMBS[folder.run.game.name]
    agents = {
        f"{words} {seed}": folder.path / "agents" / f"seed{seed}-{variant}.agent"
        for variant, words in VARIANTS.items()
        for seed in range(climb.seeds)
    }
    return {name: name for name in climb.players} | agents


def table(records: Sequence[dict[str, Any]]) -> list[str]:
    """The rows of a ladder in Markdown."""
    seats = [name for name in records[0] if name.startswith("score_seat_")]
    lines = ["| player | Elo ± 95 % | points % | by seat % |", "|---|---|---|---|"]
    for row in records:
        elo = f"{row['elo']:.0f} ± {((row['high'] or 0) - (row['low'] or 0)) / 2:.0f}"
        if row["high"] is None:
            elo = f"> {row['low']:.0f}"
        elif row["low"] is None:
            elo = f"< {row['high']:.0f}"
        elif row["high"] == row["low"]:
            elo = f"{row['elo']:.0f}"
        by_seat = " / ".join(f"{row[name]:.1f}" for name in seats)
        lines.append(f"| {row['player']} | {elo} | {row['score']:.1f} | {by_seat} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("game", nargs="*", help=", ".join(CLIMBS))
    parser.add_argument("--games", type=int, help="of each group, instead of the ladder's own")
    options = parser.parse_args(arguments)
    if unknown := {*options.game} - {*CLIMBS}:
        parser.error(f"no ladder of {', '.join(sorted(unknown))}: choose of {', '.join(CLIMBS)}")
    prepare_jax()
    for game in options.game or CLIMBS:
        climb = CLIMBS[game]
        folder = train(run_of(game), options.out)
        games = options.games or climb.games
        ladder = tournament(
            entrants(folder),
            folder.run.game,
            games=games,
            plies=climb.openings,
            out=options.out / f"{game}-{games}-games",
        )
        Section(options.results, game).write(ladder.records())
        ladder.plot(options.results / f"{game}.png")
        print("\n".join([f"**{game}**", "", *table(ladder.records()), "", *ladder.notes(), ""]))


if __name__ == "__main__":
    end_in_a_line(main)
