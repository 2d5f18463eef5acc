"""How fast a run is and how long it still takes, by when its files say that it had come how far."""

import math
from collections import deque

_POINTS = 32


class Pace:
    """Points (when in seconds, episodes of each agent) of one run, the newest few.

    What it had reached before it was resumed, at `since`, it has then: it stood still in between.
    """

    def __init__(self, since: float = -math.inf) -> None:
        self._since = since
        self._points: deque[tuple[float, float]] = deque(maxlen=_POINTS)

    def note(self, when: float, episodes: float) -> None:
        """It had come so far then; one that had been further before has begun anew."""
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
                # The beginning, when programs are compiled, tells least.
                self._points.popleft()

    @property
    def latest(self) -> tuple[float, float] | None:
        """The newest point."""
        return self._points[-1] if self._points else None

    def rate(self) -> float | None:
        """Episodes of each agent a second, None before there are two points."""
        if len(self._points) < 2:
            return None
        (start, before), (end, after) = self._points[0], self._points[-1]
        return (after - before) / (end - start)

    def left(self, total: float, now: float) -> float | None:
        """Seconds until all `total` episodes are done, None where no rate is known."""
        rate = self.rate()
        if rate is None:
            return None
        when, episodes = self._points[-1]
        return max((total - episodes) / rate - (now - when), 0.0)


class Budget:
    """Keeps work below a share of the time: after it has taken t seconds, it waits t / share.

    It never waits longer than `most` seconds.
    """

    def __init__(self, share: float, most: float) -> None:
        self._share, self._most = share, most
        self._next = 0.0

    def due(self, now: float) -> bool:
        """Whether it may be done again."""
        return now >= self._next

    def spent(self, seconds: float, now: float) -> None:
        """It has taken so long, and is done now."""
        self._next = now + min(seconds / self._share, self._most)
