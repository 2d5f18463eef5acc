"""Tournament scheduling: groups play in this process or on a Ray cluster."""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence

from jaxgbg.arena.game_records import TournamentFolder, TournamentSettings
from jaxgbg.arena.group_play import GroupGames, play_group
from jaxgbg.arena.match_results import MatchResult
from jaxgbg.arena.participants import Participant, close, enter, named
from jaxgbg.evaluation import Protocol
from jaxgbg.extensions import import_modules, imported_modules
from jaxgbg.runs.compilation import CompileTimer
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.progress_bar import Bar
from jaxgbg.runs.ray_tasks import line, on_ray
from jaxgbg.runs.run import read_game
from jaxgbg.system import warn
from jaxgbg.types import JSON

Group = Sequence[Participant]
OnMatch = Callable[[Group], None]
"""A callback that receives each group whose games are reported."""

Play = Callable[
    [Sequence[Group], TournamentSettings, OnMatch], Iterator[tuple[int, GroupGames | Exception]]
]
"""Plays groups; yields the number of each and its games, or an exception, as they end."""


def here(
    groups: Sequence[Group], settings: TournamentSettings, on_match: OnMatch
) -> Iterator[tuple[int, GroupGames | Exception]]:
    """Play one group after the other in this process; an exception is raised."""
    for number, group in enumerate(groups):
        on_match(group)
        yield number, _games(group, settings)


def on_cluster(
    groups: Sequence[Group],
    settings: TournamentSettings,
    on_match: OnMatch,
    address: str | None = None,
) -> Iterator[tuple[int, GroupGames | Exception]]:
    """Play each group as a task on a Ray cluster; a task whose worker was lost starts again.

    Raises ValueError for a player made in Python, which no other process can create.
    """
    for each in (each for group in groups for each in group):
        if not each.what:
            raise ValueError(
                f"{each.name} was made in Python and cannot be sent to a cluster: leave out ray"
            )
    tasks = [(_as_text(group, settings),) for group in groups]
    for number, games in on_ray(play_sent, tasks, address):
        on_match(groups[number])
        yield number, games


def _games(group: Group, settings: TournamentSettings) -> GroupGames:
    key = settings.key([each.identity or each.name for each in group])
    players = [each.player for each in group]
    return play_group(settings.game, players, settings.protocol, key, settings.record)


def _as_text(group: Group, settings: TournamentSettings) -> str:
    """A group, its settings and the modules of games that a worker must import, as JSON."""
    content = {
        "imports": imported_modules(),
        "settings": settings.plain(),
        "record": settings.record,
        "group": {each.identity: each.what for each in group},
    }
    return json.dumps(content)


def play_sent(text: str) -> GroupGames:
    """Play the games of a group that is given as JSON.

    Raises ValueError if this machine has other rules, or another agent in the same file.
    """
    # If this process has used JAX before, its settings stay as they are.
    with contextlib.suppress(RuntimeError):
        prepare_jax(devices=1)
    content: dict[str, JSON] = json.loads(text)
    import_modules(content["imports"])
    given = content["settings"]
    game = read_game(given["game"])
    protocol = Protocol(given["starts"], count=given["openings"], plies=given["plies"])
    settings = TournamentSettings(game, protocol, given["seed"], content["record"])
    if settings.plain() != given:
        raise ValueError(f"a machine of the cluster has other rules of {game.name}")
    group = enter(named(content["group"]), game)
    try:
        for each in group:
            if each.identity != each.name:
                raise ValueError(f"{each.what} is another agent than when the tournament began")
        return _games(group, settings)
    finally:
        close(group)


class Scheduler:
    """Plays the groups that have no games yet, `total` in all, and keeps their games.

    `order` maps its numbers of players to those of the participants.
    """

    def __init__(
        self,
        participants: Sequence[Participant],
        settings: TournamentSettings,
        folder: TournamentFolder | None,
        bar: Bar,
        play: Play,
        total: int,
    ) -> None:
        self._settings, self._folder, self._bar = settings, folder, bar
        self._play, self._total, self._done, self._found = play, total, 0, 0
        self._compiling = CompileTimer()
        # The order within a group does not depend on the order of the participants.
        self.order = sorted(
            range(len(participants)),
            key=lambda at: (participants[at].identity, participants[at].name),
        )
        self._participants = [participants[at] for at in self.order]
        self._known = {} if folder is None else folder.read(warn)

    def meet(self, groups: Sequence[Sequence[int]]) -> list[MatchResult]:
        """Return the games of groups, whose players are indices into `order`.

        Raises ValueError if some could not be played, after all others have been.
        """
        sitting = [[self._participants[at] for at in group] for group in groups]
        found = [self._known.get(_identities(group)) for group in sitting]
        games = [None if kept is None else kept.games for kept in found]
        if self._settings.record:
            # Games that were played without a record play again.
            games = [None if each is None or not each.moves else each for each in games]
        missing = [at for at, each in enumerate(games) if each is None]
        self._found += len(groups) - len(missing)
        self._done += len(groups) - len(missing)
        failures = []
        played = self._play([sitting[at] for at in missing], self._settings, self._show)
        for number, result in played:
            group = sitting[missing[number]]
            if isinstance(result, Exception):
                failures.append(f"{' - '.join(each.name for each in group)}: {line(result)}")
                continue
            games[missing[number]] = result
            self._done += 1
            if self._folder is not None:
                self._folder.append(_identities(group), [each.name for each in group], result)
        if failures:
            again = "" if self._folder is None else "; the same command plays what is missing"
            raise ValueError(
                f"{len(failures):,} of {len(missing):,} groups could not be played, first"
                f" {failures[0]}{again}"
            )
        return [
            MatchResult(tuple(self.order[at] for at in group), each)
            for group, each in zip(groups, games, strict=True)
            if each is not None
        ]

    def _show(self, group: Group) -> None:
        text = ", ".join(filter(None, (*(each.name for each in group), self._compiling.text())))
        share, before = self._done / self._total, self._found / self._total
        self._bar.show(share, text, before, self._compiling.seconds())


def _identities(group: Group) -> tuple[str, ...]:
    return tuple(each.identity for each in group)
