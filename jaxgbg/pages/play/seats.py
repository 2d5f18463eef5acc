"""The players that may take a seat: agents, with look-ahead or search, and other players."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from jaxgbg.games import Game
from jaxgbg.players import (
    PLAYERS,
    EngineError,
    GreedyAgent,
    LookAheadAgent,
    MissingExtra,
    Player,
    SearchAgent,
    make_player,
)
from jaxgbg.search.puct_spec import PUCTSpec
from jaxgbg.specs import shown

MOST_PLIES, MOST_LEAVES = 6, 1_000_000
MOST_ITERATIONS = 100_000
"""The maximum number of iterations; more would take minutes."""
MOST_SEARCHED = 10_000
"""The maximum number of iterations with agents, whose values take longer than roll-outs."""
_FIRST_ITERATIONS, _FIRST_SEARCHED = 1000, 200
_MOST_KEPT = 16
_WEAK, _MIDDLING, _STRONG = 20, 200, 1000
"""Iterations of MCTS at the levels of a game without agents."""
_AGENT = re.compile(r"([\w. -]+?)(?::look-ahead=(\d{1,9}))?", re.ASCII)
_SEARCH = ":search=puct"
_PROVING = ":solver=1"
_SWITCH = {
    "name": _PROVING,
    "label": "proofs",
    "title": "Stop searching positions whose win, draw or loss is proven",
}
# Commas separate seats, so search settings follow a colon here.
_SEARCHING = re.compile(rf"([\w. -]+?){_SEARCH}(?:-(\d{{1,9}}))?({_PROVING})?", re.ASCII)


def agent_names(count: int) -> list[str]:
    """The names of agents in seats and requests: agent, agent-1, agent-2 ..."""
    return [f"agent-{number}" if number else "agent" for number in range(count)]


def _iterations(value: int, high: int) -> dict[str, Any]:
    """The strength of a search: name-value is the name of a player."""
    return {"unit": "iterations", "join": "-", "value": value, "low": 1, "high": high}


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
        self._names = [name for name in PLAYERS if self._plays(name)]

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

    def choices(self) -> list[dict[str, Any]]:
        """The available players: name, label, and the range of strength if it can be chosen.

        The name of a player with a chosen strength is name, `join`, number, then the name of a
        switch that is on.
        """
        choices: list[dict[str, Any]] = []
        for name, agent in self.agents.items():
            deeper = agent.value.num_actions == 1
            plies = {"unit": "plies", "join": ":look-ahead=", "value": 1, "low": 1}
            strength = plies | {"high": self.most_plies} if deeper else None
            choices.append({"name": name, "label": self._labels[name], "strength": strength})
        for name in self.agents:
            if most := self._most_searched(name):
                strength = _iterations(min(_FIRST_SEARCHED, most), most)
                label = f"{self._labels[name]}, tree search"
                choice = {"name": name + _SEARCH, "label": label, "strength": strength}
                if self._most_searched(name, proving=True) == most:
                    choice["switch"] = _SWITCH
                choices.append(choice)
        for name in self._names:
            choices.append({"name": name, "label": name, "strength": self._strength(name)})
        return choices

    def _strength(self, name: str) -> dict[str, Any] | None:
        """The range of strength of a player, if it can be chosen."""
        if not PLAYERS[name].argument:
            return None
        if PLAYERS[name].unit == "iterations":
            return _iterations(_FIRST_ITERATIONS, MOST_ITERATIONS)
        most = self.most_plies
        return {"unit": "plies", "join": "-", "value": min(2, most), "low": 1, "high": most}

    def levels(self) -> list[dict[str, str]]:
        """Opponents from easy to strong: the label of the level, and its player."""
        mcts = "mcts" in self._names
        weak = f"mcts-{_WEAK}" if mcts else "random"
        perfect = next((name for name in ("maxn", "ab-dl") if name in self._names), None)
        if self.agents:
            first = next(iter(self.agents))
            searched = self._most_searched(first)
            deeper = self.agents[first].value.num_actions == 1 and self.most_plies > 1
            strong = f"{first}:look-ahead={min(3, self.most_plies)}" if deeper else None
            if searched:
                strong = f"{first}{_SEARCH}-{min(_FIRST_SEARCHED, searched)}"
            players = [weak, first, strong]
        elif mcts:
            players = [weak, f"mcts-{_MIDDLING}", perfect or f"mcts-{_STRONG}"]
        else:
            players = [weak, None, perfect]
        labels = ("easy", "medium", "strong")
        found = [
            {"label": label, "player": player}
            for label, player in zip(labels, players, strict=True)
            if player
        ]
        if len(found) == 2:
            found[1]["label"] = labels[2]
        return found

    def _most_searched(self, name: str, proving: bool = False) -> int:
        """The maximum number of tree search iterations of an agent; 0 if it cannot search."""
        for most in (MOST_SEARCHED, 1000, 100):
            try:
                SearchAgent(self.agents[name], PUCTSpec(most, solver=proving))
            except ValueError:
                continue
            return most
        return 0

    def player(self, name: str) -> tuple[Player, threading.Lock]:
        """The player of that name, and the lock to hold while it thinks.

        Raises ValueError for an unknown name and for a strength that is too large, EngineError and
        MissingExtra if the player cannot be created.
        """
        with self._lock:
            if name in self._made:
                self._made.move_to_end(name)
                return self._made[name]
        made = self._make(name), threading.Lock()
        with self._lock:
            made = self._made.setdefault(name, made)
            full = len(self._made) > _MOST_KEPT
            oldest = self._made.popitem(last=False)[1] if full else None
        if oldest is not None:
            # Do not close a player that is still thinking.
            with oldest[1]:
                oldest[0].close()
        return made

    def agent(self, name: str) -> GreedyAgent | LookAheadAgent:
        """The agent of that name, "" for the first; raises ValueError."""
        name = name or next(iter(self.agents), "")
        found = _AGENT.fullmatch(name)
        if found is None or found[1] not in self.agents:
            known = ", ".join(self.agents) or "none"
            raise ValueError(f"there is no agent {shown(name)} here; agents are {known}")
        plies = int(found[2] or 1)
        if plies != 1 and not 1 <= plies <= self.most_plies:
            raise ValueError(f"agents look 1 to {self.most_plies} plies ahead here, not {plies}")
        agent = self.agents[found[1]]
        return agent if plies == 1 else LookAheadAgent(agent, plies)

    def _searching(self, name: str, iterations: int, proving: bool) -> SearchAgent:
        most = self._most_searched(name, proving)
        if not most:
            # Its error says why it cannot.
            return SearchAgent(self.agents[name], PUCTSpec(1, solver=proving))
        if not 1 <= iterations <= most:
            raise ValueError(
                f"agents search with 1 to {most:,} iterations here, not {iterations:,}"
            )
        return SearchAgent(self.agents[name], PUCTSpec(iterations, solver=proving))

    def _make(self, name: str) -> Player:
        found = _SEARCHING.fullmatch(name)
        if found is not None and found[1] in self.agents:
            return self._searching(found[1], int(found[2] or _FIRST_SEARCHED), bool(found[3]))
        found = _AGENT.fullmatch(name)
        if found is not None and found[1] in self.agents:
            return self.agent(name)
        base, _, argument = name.partition("-")
        strength = base in PLAYERS and PLAYERS[base].argument and argument.isdecimal()
        plies = base in PLAYERS and PLAYERS[base].unit == "plies"
        if strength and plies and (len(argument) > 9 or int(argument) > self.most_plies):
            raise ValueError(
                f"{base} looks 1 to {self.most_plies} plies ahead here, not {shown(argument)}"
            )
        if strength and (len(argument) > 9 or int(argument) > MOST_ITERATIONS):
            raise ValueError(
                f"{base} plays with at most {MOST_ITERATIONS:,} iterations here, not"
                f" {shown(argument)}"
            )
        return make_player(name, self.game)

    def close(self) -> None:
        """Free what the players hold."""
        with self._lock:
            for player, _ in self._made.values():
                player.close()
            self._made.clear()
