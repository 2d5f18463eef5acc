"""The rate and the remaining time of a run, from the times at which its files show progress."""

import math
from collections import deque

_POINTS = 32


class Pace:
    """Points (time in seconds, episodes of each agent) of one run, the latest few.

    Progress from before a resumption counts as reached at the time `since` of the resumption.
    """

    def __init__(self, since: float = -math.inf) -> None:
        self._since = since
        self._points: deque[tuple[float, float]] = deque(maxlen=_POINTS)

    def note(self, when: float, episodes: float) -> None:
        """Add a point; a run with fewer episodes than before has started again."""
        when = max(when, self._since)
        if self._points and when == self._points[-1][0] and episodes > self._points[-1][1]:
            self._points.pop()
        if self._points and episodes < self._points[-1][1]:
            if when <= self._points[-1][0]:
                return
            self._points.clear()
        if not self._points or (when > self._points[-1][0] and episodes > self._points[-1][1]):
            self._points.append((when, episodes))
            (first, before), anew = self._points[0], len(self._points) == 3
            if anew and (before == 0 or first == self._since):
                # Drop the beginning first, because it includes compile time.
                self._points.popleft()

    @property
    def latest(self) -> tuple[float, float] | None:
        """The latest point."""
        return self._points[-1] if self._points else None

    def rate(self) -> float | None:
        """Episodes of each agent per second, None before there are two points."""
        if len(self._points) < 2:
            return None
        (start, before), (end, after) = self._points[0], self._points[-1]
        return (after - before) / (end - start)

    def left(self, total: float, now: float) -> float | None:
        """Seconds until all `total` episodes are done, None without a rate."""
        rate = self.rate()
        if rate is None:
            return None
        when, episodes = self._points[-1]
        return max((total - episodes) / rate - (now - when), 0.0)


class Budget:
    """Limits work to a share of the time: after t seconds of work, it waits t / share.

    It never waits longer than `most` seconds.
    """

    def __init__(self, share: float, most: float) -> None:
        self._share, self._most = share, most
        self._next = 0.0

    def due(self, now: float) -> bool:
        """Whether the work may be done again."""
        return now >= self._next

    def spent(self, seconds: float, now: float) -> None:
        """Record that the work has just taken this many seconds."""
        self._next = now + min(seconds / self._share, self._most)
