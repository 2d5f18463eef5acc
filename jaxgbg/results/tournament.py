"""A tournament: played group by group, and gone on with later where a folder keeps the groups."""

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from jaxgbg.arena import Protocol
from jaxgbg.arena.protocol import MOST_GAMES
from jaxgbg.arena.tournament import openings_for, play_group
from jaxgbg.games import Game, make
from jaxgbg.results.kept_games import Settings, TournamentFolder
from jaxgbg.results.ladder import Ladder, Met
from jaxgbg.results.queries import to_stderr
from jaxgbg.specs import Limits, Seed, checked
from jaxgbg.training.bars import open_bar
from jaxgbg.training.entrants import Entrant, What, close, enter, game_of, named
from jaxgbg.training.store import only_here

NumGames = Annotated[int, Limits(low=1, high=MOST_GAMES)]
Plies = Annotated[int, Limits(low=0, high=10_000)]

_MOST_GROUPS = 5_000


@checked
def tournament(
    participants: Sequence[What] | Mapping[str, What],
    game: Game | str | None = None,
    games: NumGames = 100,
    starts: str = "random_plies",
    plies: Plies = 4,
    seed: Seed = 0,
    out: str | Path | None = None,
    first: bool = False,
    progress: bool = True,
) -> Ladder:
    """Every player meets every other in all seats from drawn openings; returns the ladder.

    `participants` are names of players ("random", "mcts-100"), files of agents, runs or their
    folders (every agent, or with `first` the first one, with FARL) and players; "NAME=WHAT", or a
    mapping, gives a name of one's own. In a game of N seats every N of them are a group, which
    plays at least `games` games: openings as `Protocol` has `starts`, of so many `plies` where they
    are random, each in all orders of seats (of more than four players in N rotations). `out` keeps
    each group as it is done; the same call goes on from there, and more players may join. Raises
    ValueError for fewer participants than seats, one who takes part twice, an agent of another
    game, or a folder that holds something else; MissingExtra where a player lacks its package.
    """
    entries = named(participants, first)
    rules = make(game) if isinstance(game, str) else game or game_of(entries)
    if rules is None:
        raise ValueError("no agent takes part that would say which game: name it (game)")
    seats = rules.num_players
    if seats < 2:
        raise ValueError(f"{rules.name} is a game of one player, and nobody meets another there")
    if len(entries) < max(2, seats):
        raise ValueError(
            f"a tournament of {rules.name} needs at least {max(2, seats)} participants,"
            f" not {len(entries)}"
        )
    if math.comb(len(entries), seats) > _MOST_GROUPS:
        raise ValueError(
            f"{len(entries)} participants are {math.comb(len(entries), seats):,} groups of {seats},"
            f" and at most {_MOST_GROUPS:,} are played"
        )
    protocol = Protocol(starts, count=openings_for(games, seats), plies=plies)
    entrants = enter(entries, rules)
    settings = Settings(rules, protocol, seed)
    try:
        if out is None:
            met = _play_all(entrants, settings, None, progress)
        else:
            if nameless := [entrant.name for entrant in entrants if not entrant.identity]:
                raise ValueError(
                    f"{nameless[0]} was made in Python and has no file: leave out the folder (out)"
                )
            folder = TournamentFolder(out, settings)
            with only_here(folder):
                folder.check()
                met = _play_all(entrants, settings, folder, progress)
    finally:
        close(entrants)
    return Ladder(rules, [entrant.name for entrant in entrants], met, _anchor(entrants))


def _anchor(entrants: Sequence[Entrant]) -> int | None:
    """The number of the random player, whose rating is 0."""
    kinds = [entrant.player.name for entrant in entrants]
    return kinds.index("random") if "random" in kinds else None


def _play_all(
    entrants: Sequence[Entrant],
    settings: Settings,
    folder: TournamentFolder | None,
    progress: bool,
) -> list[Met]:
    """Let all groups meet that have not yet, and keep each."""
    # A group is in one order, whatever that of the participants.
    order = sorted(range(len(entrants)), key=lambda at: (entrants[at].identity, entrants[at].name))
    known = {} if folder is None else folder.read(to_stderr)
    bar = open_bar(settings.game.name, progress)
    met = []
    groups = list(itertools.combinations(order, settings.game.num_players))
    before = sum(tuple(entrants[at].identity for at in group) in known for group in groups)
    try:
        for number, group in enumerate(groups):
            players = tuple(entrants[at].identity for at in group)
            names = [entrants[at].name for at in group]
            if (kept := known.get(players)) is not None:
                games = kept.games
            else:
                bar.show(number / len(groups), ", ".join(names), before / len(groups))
                key = settings.key([a or b for a, b in zip(players, names, strict=True)])
                sitting = [entrants[at].player for at in group]
                games = play_group(settings.game, sitting, settings.protocol, key)
                if folder is not None:
                    folder.append(players, names, games)
            met.append(Met(group, games))
    finally:
        bar.close()
    return met
