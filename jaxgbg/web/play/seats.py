"""The players that may take a seat: agents, with look-ahead or search, and other players."""

import contextlib
import dataclasses
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from jaxgbg.extensions import import_installed
from jaxgbg.games import Game
from jaxgbg.players import (
    PLAYERS,
    EngineError,
    GreedyAgent,
    LookAheadAgent,
    MissingExtra,
    Player,
    make_player,
    search_player,
)
from jaxgbg.runs.play import Play
from jaxgbg.search import LookAheadSpec, PUCTSpec, SearchSpec, search_kinds
from jaxgbg.specs import shown
from jaxgbg.types import JSON

MOST_PLIES, MOST_LEAVES = 6, 1_000_000
MOST_ITERATIONS = 100_000
"""The maximum number of iterations; more would take minutes."""
MOST_SEARCHED = 10_000
"""Iterations that agents value a position in each of, which takes longer than a roll-out."""
_FIRST = 1000
"""The strength that the page starts with is no greater."""
_MOST_KEPT = 16
_WEAK, _MIDDLING, _STRONG = 20, 200, 1000
"""Iterations of MCTS at the levels of a game without agents."""


def agent_names(count: int) -> list[str]:
    """The names of agents in seats and requests: agent, agent-1, agent-2 ..."""
    return [f"agent-{number}" if number else "agent" for number in range(count)]


def seats_of(text: str) -> list[str]:
    """The seats that a text lists, commas between them; one before key= belongs to a search."""
    return re.split(r",(?![\w-]+=)", text)


class Seats:
    """The players of one game, created on first use; `agents` by their labels.

    `branching()` is the number of positions that may follow one; it limits the look-ahead.
    """

    def __init__(
        self, game: Game, agents: Mapping[str, GreedyAgent], branching: Callable[[], int]
    ) -> None:
        self.game, self._branching = game, branching
        names = agent_names(len(agents))
        self.agents = dict(zip(names, agents.values(), strict=True))
        self._labels = dict(zip(names, agents, strict=True))
        self._made: OrderedDict[str, tuple[Player, threading.Lock]] = OrderedDict()
        self._lock = threading.Lock()
        import_installed()
        self._names = [name for name in PLAYERS if self._plays(name)]
        self._searches = [name for name in search_kinds(alone=True) if self._plays(name)]

    def _plays(self, name: str) -> bool:
        """Whether a player supports this game and has its packages; it is cached if so."""
        try:
            self.player(name)
        except (ValueError, EngineError, MissingExtra):
            return False
        return True

    @cached_property
    def most_plies(self) -> int:
        """The maximum look-ahead of agents."""
        branching = self._branching()
        plies = range(2, MOST_PLIES + 1)
        return max((n for n in plies if branching**n <= MOST_LEAVES), default=1)

    def choices(self) -> list[dict[str, JSON]]:
        """The available players: name, label, and the range of strength if it can be chosen.

        The name of a player with a chosen strength is name, `join`, number, then the name of a
        switch that is on.
        """
        choices: list[dict[str, JSON]] = []
        for name, agent in self.agents.items():
            deeper = agent.value.num_actions == 1
            plies = {"unit": "plies", "join": ":look-ahead=", "value": 1, "low": 1}
            strength = plies | {"high": self.most_plies} if deeper else None
            choices.append({"name": name, "label": self._labels[name], "strength": strength})
        for name, agent in self.agents.items():
            for kind, spec in search_kinds(with_agent=True).items():
                # How far an agent looks ahead is chosen in its own seat.
                if kind != LookAheadSpec.kind:
                    label = f"{self._labels[name]}, {spec.label or kind}"
                    choices += self._searching(f"{name}:search={kind}", label, spec(), agent)
        for name in self._names:
            choices.append({"name": name, "label": name, "strength": None})
        for name in self._searches:
            choices += self._searching(name, name, search_kinds()[name](), None)
        return choices

    def _searching(
        self, name: str, label: str, spec: SearchSpec, agent: GreedyAgent | None
    ) -> list[dict[str, JSON]]:
        """The choice of a search, none where it cannot be had."""
        most = self._most(spec, agent)
        if not most:
            return []
        strength = {"unit": spec.strength, "join": "-", "value": min(spec.number, most, _FIRST)}
        choice = {"name": name, "label": label, "strength": strength | {"low": 1, "high": most}}
        switch = spec.switch
        if switch and self._most(dataclasses.replace(spec, **{switch.field: True}), agent) == most:
            choice["switch"] = {
                "name": f",{switch.field}=1",
                "label": switch.label,
                "title": switch.title,
            }
        return [choice]

    @property
    def perfect(self) -> str | None:
        """The name of a player of perfect play, if one supports this game."""
        return next((name for name in ("maxn", "ab-dl") if name in self._names), None)

    def levels(self) -> list[dict[str, str]]:
        """Opponents for people from easy to strong: what the level is called, and its player."""
        mcts = "mcts" in self._searches
        weak = f"mcts-{_WEAK}" if mcts else "random"
        if self.agents:
            first = next(iter(self.agents))
            searched = self._most(PUCTSpec(), self.agents[first])
            deeper = self.agents[first].value.num_actions == 1 and self.most_plies > 1
            strong = f"{first}:look-ahead={min(3, self.most_plies)}" if deeper else None
            if searched:
                strong = f"{first}:search=puct-{min(PUCTSpec().number, searched)}"
            players = [weak, first, strong]
        elif mcts:
            players = [weak, f"mcts-{_MIDDLING}", self.perfect or f"mcts-{_STRONG}"]
        else:
            players = [weak, None, self.perfect]
        labels = ("easy", "medium", "strong")
        found = [
            {"label": label, "player": player}
            for label, player in zip(labels, players, strict=True)
            if player
        ]
        if len(found) == 2:
            found[1]["label"] = labels[2]
        return found

    def _most(self, spec: SearchSpec, agent: GreedyAgent | None) -> int:
        """The greatest strength of a search that may be had here, 0 where it cannot search."""
        limits = [MOST_ITERATIONS, MOST_SEARCHED, 1000, 100, 10, 1]
        if spec.strength == "plies":
            limits = [self.most_plies]
        elif agent is not None:
            limits = limits[1:]
        for most in limits:
            try:
                search_player(self._with_strength(spec, most), self.game, agent)
            except ValueError:
                continue
            return most
        return 0

    def _with_strength(self, spec: SearchSpec, strength: int) -> SearchSpec:
        return dataclasses.replace(spec, **{spec.strength: strength})

    def _check(self, spec: SearchSpec, agent: GreedyAgent | None) -> None:
        """Raise ValueError where a search would take too long, or memory that it may not have."""
        switch = spec.switch
        on = {switch.field: getattr(spec, switch.field)} if switch else {}
        if dataclasses.replace(self._with_strength(type(spec)(), spec.number), **on) != spec:
            settings = f"N and {switch.field}=1" if switch else "N"
            raise ValueError(f"here {spec.kind}-N takes {settings} alone, no other settings")
        most = self._most(spec, agent)
        # Where it cannot search at all, it says so itself.
        if most and not 1 <= spec.number <= most:
            raise ValueError(
                f"{spec.kind} takes 1 to {most:,} {spec.strength} here, not {spec.number:,}"
            )

    def player(self, name: str) -> tuple[Player, threading.Lock]:
        """The player of that name, and the lock to hold while it thinks.

        Raises ValueError for an unknown name and for a strength that is too large, EngineError and
        MissingExtra if the player cannot be created.
        """
        with self._lock:
            if name in self._made:
                self._made.move_to_end(name)
                return self._made[name]
        own = self._make(name), threading.Lock()
        with self._lock:
            made = self._made.setdefault(name, own)
            full = len(self._made) > _MOST_KEPT
            oldest = self._made.popitem(last=False)[1] if full else None
        if made is not own:
            # Another request has made the same player meanwhile.
            own[0].close()
        if oldest is not None:
            # Do not close a player that is still thinking.
            with oldest[1]:
                oldest[0].close()
        return made

    @contextlib.contextmanager
    def seated(self, name: str) -> Iterator[Player]:
        """The player of that name for as long as it thinks, alone; raises as `player` does."""
        while True:
            made = self.player(name)
            with made[1]:
                # Another request may have closed it before this one held its lock.
                if self._made.get(name) is made:
                    yield made[0]
                    return

    def agent(self, name: str) -> GreedyAgent | LookAheadAgent:
        """The agent of that name, "" for the first, which may look ahead; raises ValueError."""
        name = name or next(iter(self.agents), "")
        player = self._agent(name)
        if player is None:
            known = ", ".join(self.agents) or "none"
            raise ValueError(f"there is no agent {shown(name)} here; agents are {known}")
        if not isinstance(player, GreedyAgent | LookAheadAgent):
            raise ValueError(f"{name}: moves are valued by an agent that looks ahead at most")
        return player

    def _agent(self, name: str) -> Player | None:
        """The agent of that name, playing as said after it; None where no agent is so called."""
        own, colon, options = name.partition(":")
        agent = self.agents.get(own)
        if agent is None:
            return None
        play = Play.parse(options.split(":") if colon else [])
        if spec := play.spec():
            self._check(spec, agent)
        return play.player(agent)

    def _make(self, name: str) -> Player:
        agent = self._agent(name)
        if agent is not None:
            return agent
        if name not in PLAYERS and SearchSpec.named(name) in search_kinds(alone=True):
            self._check(SearchSpec.parse(name), None)
        return make_player(name, self.game)

    def close(self) -> None:
        """Free what the players hold."""
        with self._lock:
            for player, _ in self._made.values():
                player.close()
            self._made.clear()
