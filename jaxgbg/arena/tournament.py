"""Tournaments: play all groups, or the pairs of a Swiss system, and resume from a folder."""

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxgbg.arena.game_records import TournamentFolder, TournamentSettings
from jaxgbg.arena.group_play import openings_for
from jaxgbg.arena.match_results import MatchResult
from jaxgbg.arena.participants import Participant, What, close, enter, game_of, named
from jaxgbg.arena.scheduler import Play, Scheduler, here, on_cluster
from jaxgbg.arena.swiss import Pair, fewest_rounds, max_rounds, play_rounds
from jaxgbg.arguments import GroupExecutor, NumGames, Plies, Rounds
from jaxgbg.evaluation import Protocol
from jaxgbg.games import Game, check_own, make
from jaxgbg.games.precision import in_32_bits
from jaxgbg.runs.progress_bar import open_bar
from jaxgbg.runs.storage.files import check_can_make, check_writable
from jaxgbg.runs.storage.locks import only_here
from jaxgbg.runs.storage.recorded_games import RecordedGame, write_games
from jaxgbg.specs import Seed, checked

_MOST_GROUPS = 5_000


class Played(NamedTuple):
    """All games of a tournament: who took part, what each group played, who is rated 0."""

    game: Game
    names: list[str]
    results: list[MatchResult]
    anchor: int | None


@in_32_bits
@checked
def play_tournament(
    participants: Sequence[What] | Mapping[str, What],
    game: Game | str | None = None,
    games: NumGames = 100,
    starts: str = "random_plies",
    plies: Plies = 4,
    seed: Seed = 0,
    out: str | Path | None = None,
    first: bool = False,
    progress: bool = True,
    swiss: Rounds = 0,
    executor: GroupExecutor = "inline",
    address: str | None = None,
    record: str | Path | None = None,
    all_meet: bool = True,
) -> Played:
    """Let all players meet in all seats, from drawn openings.

    In a game of N seats, every N participants form a group.

    Args:
      participants: Names of players ("random", "mcts-100"), agent files, runs or their folders (all
        agents, or the `first`, with FARL) and players. "NAME=WHAT", or a mapping, sets a name.
      game: The game; required if no agent takes part.
      games: Minimum of a group; openings are played in all N! orders, with N > 4 in N rotations.
      starts: The openings, as in `Protocol`; `plies` are those of random openings.
      out: Folder that keeps each finished group. The same call resumes; more players may join.
      swiss: Rounds in which players of similar standing meet, no pair twice; 0 lets all meet.
      executor: "ray" plays each group on the Ray cluster at `address`, or on a new one here; its
        machines must see the same agents' files, and the games are the same.
      record: File that gets all games with their moves, as `recorded_games` reads them; groups of
        `out` that were played without it play again.
      all_meet: False: only the groups of the first participant play.

    Raises ValueError for fewer participants than seats, a duplicate participant, an agent of
    another game, a folder that holds something else, or groups that could not be played, after all
    others; MissingExtra if the package of a player is not installed.
    """
    file = None if record is None else Path(record)
    check_writable(file)
    if address is not None and executor == "inline":
        raise ValueError("address needs the executor ray")
    entries = named(participants, first)
    rules = _known(game_of(entries) if game is None else make(game), entries)
    check_own(rules)
    _check_groups(rules, len(entries), swiss, all_meet)
    protocol = Protocol(starts, count=openings_for(games, rules.num_players), plies=plies)
    entered = enter(entries, rules)
    settings = TournamentSettings(rules, protocol, seed, record is not None)
    play = here if executor == "inline" else partial(on_cluster, address=address)
    try:
        met = _play_in(out, entered, settings, progress, swiss, play, all_meet)
    finally:
        close(entered)
    names = [each.name for each in entered]
    if file is not None:
        write_games(file, _recorded(rules, names, met, seed))
    return Played(rules, names, met, _anchor(entered))


def _play_in(
    out: str | Path | None,
    participants: Sequence[Participant],
    settings: TournamentSettings,
    progress: bool,
    rounds: int,
    play: Play,
    all_meet: bool,
) -> list[MatchResult]:
    """`_play_all`, with the games in the folder `out` if one is named; raises ValueError."""
    if out is None:
        return _play_all(participants, settings, None, progress, rounds, play, all_meet)
    if nameless := [each.name for each in participants if not each.identity]:
        raise ValueError(
            f"{nameless[0]} was made in Python and has no file: leave out the folder (out)"
        )
    check_can_make(Path(out))
    folder = TournamentFolder(out, settings)
    with only_here(folder):
        folder.check()
        return _play_all(participants, settings, folder, progress, rounds, play, all_meet)


def _recorded(
    game: Game, names: Sequence[str], met: Sequence[MatchResult], seed: int
) -> Iterator[RecordedGame]:
    """All games of all groups, with their moves."""
    number = itertools.count(1)
    for group, games in met:
        paid = games.rewards.reshape(-1, game.num_players)
        orders = np.tile(games.seatings, (len(games.openings), 1))
        for (opening, moves), order, rewards in zip(games.moves, orders, paid, strict=True):
            players = tuple(names[group[seat]] for seat in order)
            result = tuple(rewards.tolist())
            yield RecordedGame(game, players, moves, result, opening, seed, next(number))


def _known(game: Game | None, entries: Sequence[object]) -> Game:
    """The game; ValueError if neither the caller nor an agent names one."""
    if game is None:
        what = "the game" if entries else "participants and the game"
        raise ValueError(f"name {what} (--game, or game= in Python): no agent plays")
    return game


def _check_groups(game: Game, players: int, swiss: int, all_meet: bool) -> None:
    """Raise ValueError for too few players, too many groups, or rounds that cannot be paired."""
    seats = game.num_players
    if seats < 2:
        raise ValueError(f"{game.name} is a game of one player, so there are no matches")
    if players < max(2, seats):
        raise ValueError(
            f"a tournament of {game.name} needs at least {max(2, seats)} participants,"
            f" not {players}"
        )
    if swiss and not all_meet:
        raise ValueError("the Swiss system pairs all players (all_meet): leave out swiss")
    if swiss and seats != 2:
        raise ValueError(
            f"the Swiss system pairs two players, and {game.name} is played by {seats}: leave out"
            " swiss, and all groups meet"
        )
    if swiss > max_rounds(players):
        raise ValueError(
            f"{players} participants can be paired for {max_rounds(players)} rounds without"
            f" meeting twice, not for {swiss}: leave out swiss, and everybody meets everybody"
        )
    if 0 < swiss < (fewest := fewest_rounds(players)):
        raise ValueError(
            f"{swiss} round does not connect {players} participants, who cannot be compared then:"
            f" play at least {fewest} (swiss)"
        )
    groups = swiss * (players // 2) if swiss else math.comb(players, seats)
    if groups > _MOST_GROUPS:
        fewer = "" if swiss or seats != 2 else ": the Swiss system (swiss) plays fewer"
        raise ValueError(
            f"{players} participants are {groups:,} groups of {seats}, and at most"
            f" {_MOST_GROUPS:,} are played{fewer}"
        )


def _anchor(participants: Sequence[Participant]) -> int | None:
    """The index of the random player, whose rating is 0; None without one."""
    kinds = [participant.player.name for participant in participants]
    return kinds.index("random") if "random" in kinds else None


def _play_all(
    participants: Sequence[Participant],
    settings: TournamentSettings,
    folder: TournamentFolder | None,
    progress: bool,
    rounds: int,
    play: Play,
    all_meet: bool,
) -> list[MatchResult]:
    """Play all groups or, with `rounds`, the pairs of the Swiss system."""
    with contextlib.closing(open_bar(settings.game.name, progress)) as bar:
        seats = settings.game.num_players
        if rounds:
            total = rounds * (len(participants) // 2)
            return _swiss(
                Scheduler(participants, settings, folder, bar, play, total), settings.seed, rounds
            )
        players = len(participants)
        total = math.comb(players, seats) if all_meet else math.comb(players - 1, seats - 1)
        scheduler = Scheduler(participants, settings, folder, bar, play, total)
        first = scheduler.order.index(0)
        groups = itertools.combinations(range(players), seats)
        return scheduler.meet([group for group in groups if all_meet or first in group])


def _swiss(scheduler: Scheduler, seed: int, rounds: int) -> list[MatchResult]:
    """Play the rounds of the Swiss system; kept games are reused."""
    players, met = len(scheduler.order), list[MatchResult]()

    def meet(pairs: Sequence[Pair]) -> list[float]:
        met.extend(scheduler.meet(pairs))
        return [each.points() for each in met[len(met) - len(pairs) :]]

    # The first pairs are drawn, so that they do not depend on the names.
    play_rounds(players, rounds, np.random.default_rng(seed).permutation(players).tolist(), meet)
    return met
