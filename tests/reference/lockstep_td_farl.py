"""TD-FARL of B games in lockstep on the tables of one agent: what one tick brings is joined.

The rules are those of docs/concepts.md (Lockstep, Delayed traces). An episode is that of `td_farl`,
cut into stages: a move, or one final update. In a tick every game goes through one stage; all see
the tables as the tick before has left them, and what they call for is made together.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .td_farl import SerialTDFarl, Stage, Transcript, Update, Watch

RULES = ("sum", "mean", "saturating")

Place = tuple[int, int, int]
"""One weight: player, tuple, index."""


@dataclass
class Eligible:
    """A state on the list of one game and player, and what has reached it since its last update.

    `indices` int [N_S, tuples], `slope` that of the value when the state joined the list, `size`
    the sum of the absolute values of all that makes up `change`. One that is `closed` waits to
    leave the list and takes no more errors.
    """

    player: int
    indices: np.ndarray
    slope: float
    share: float = 1.0
    change: float = 0.0
    size: float = 0.0
    closed: bool = False


class Hit(NamedTuple):
    """What one update brings to one weight, which `images` of its state read."""

    change: float
    size: float
    images: int


class LockstepTDFarl(SerialTDFarl):
    """The tables of `SerialTDFarl`, learned from several games at a time.

    `rule` names what the updates come to that hit one weight in one tick. If `delayed`, a state is
    updated once, when it has had the errors of its horizon; else with every error that reaches it.
    """

    def __init__(self, *arguments: Any, rule: str, delayed: bool = False) -> None:
        super().__init__(*arguments)
        if rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, not {rule!r}")
        self.rule, self.delayed = rule, delayed
        self.collisions = 0
        """How many weights were hit by several updates of one tick."""

    def replay(self, games: Sequence[Sequence[Transcript]], watch: Watch | None = None) -> None:
        """Learn from all records of B games, tick by tick, each game's episodes one by one.

        An episode's first move falls in the tick after the last stage of the one before. `watch`
        is called with every move that was not random.
        """
        playing = [self._game(episodes, watch) for episodes in games]
        lists = [[deque[Eligible]() for _ in range(self.game.num_players)] for _ in games]
        while any(stages := [next(game, None) for game in playing]):
            due: list[Eligible] = []
            for theirs, stage in zip(lists, stages, strict=True):
                if stage is not None and stage.clears:
                    self._clear(theirs)
                if stage is not None and stage.update is not None:
                    due += self._reached(theirs[stage.update.player], stage.update)
            self._join(due)

    def _game(self, episodes: Sequence[Transcript], watch: Watch | None) -> Iterator[Stage]:
        """The stages of one game. An episode is done when the tick of its last stage is over."""
        for opening, moves in episodes:
            yield from self._stages(self._start(opening), self._recorded(moves, watch))
            self.episodes_done += 1

    def _clear(self, lists: list[deque[Eligible]]) -> None:
        for states in lists:
            for state in states:
                state.closed = True
            if not self.delayed:
                states.clear()

    def _reached(self, states: deque[Eligible], update: Update) -> list[Eligible]:
        """Puts a state on its list, oldest first, and gives those that are now to be updated."""
        p = self.parameters
        value = float(self.values(update.cells, update.player))
        slope = 1.0 - value**2 if p.sigmoid else 1.0
        states.append(Eligible(update.player, self.indices(update.cells), slope))
        for state in states:
            if not self.delayed:
                state.change = state.size = 0.0
            if not state.closed:
                change = (update.target - value) * state.share * state.slope
                state.change += change
                state.size += abs(change)
                state.share *= p.gamma * p.lambda_
        reached = list(states)
        last = states.popleft() if len(states) == p.horizon else None
        if not self.delayed:
            return reached
        return [] if last is None else [last]

    def _join(self, updates: Sequence[Eligible]) -> None:
        """Make all updates of a tick: a weight moves with the factor that the last tick has left.

        k updates of one weight are made as `_updates_made` times their mean. An update counts once
        however many images of its state hit the weight; N and A gather every image.
        """
        hits: defaultdict[Place, list[Hit]] = defaultdict(list)
        for state in updates:
            for tuple_number, images in enumerate(state.indices.T):
                for index, times in Counter(images.tolist()).items():
                    hit = Hit(state.change, state.size, times)
                    hits[state.player, tuple_number, index].append(hit)
        step = self.alpha / (len(self._tuple_cells) * len(self.symmetries))
        for place, found in hits.items():
            factor = self.tc_factor(*place)
            share = self._updates_made(len(found), factor) / len(found)
            self.weights[place] += step * factor * share * sum(hit.change for hit in found)
            if self.parameters.tcl != "none":
                self.counters_n[place] += share * sum(hit.images * hit.change for hit in found)
                self.counters_a[place] += share * sum(hit.images * hit.size for hit in found)
            self.collisions += len(found) > 1
        self.updates_done += len(updates)

    def _updates_made(self, count: int, factor: float) -> float:
        """How often the mean of `count` updates of one weight is made."""
        if self.rule == "sum":
            return count
        if self.rule == "mean":
            return 1.0
        # One after the other, towards one target, each finds what those before it have left.
        left = 1.0 - min(self.alpha * factor, 1.0)
        return sum(left**number for number in range(count))
