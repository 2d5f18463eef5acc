"""A game of the latest agent, played in a separate thread when there is a new agent."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from jaxgbg.contents import reason
from jaxgbg.results.curves import STYLES
from jaxgbg.runs import Run
from jaxgbg.runs.run import LaneName
from jaxgbg.runs.storage.latest_agent import LatestAgent, latest_file, read_latest, untrained
from jaxgbg.web.chart import Series, chart
from jaxgbg.web.drawings.core import seat_colours
from jaxgbg.web.positions import shape_markup, value_on, value_scale, value_text
from jaxgbg.web.record_view import RecordView
from jaxgbg.web.records import GameRecord, record_games
from jaxgbg.web.watch.pace import Budget
from jaxgbg.web.watch.templates import rendered

_SHAPES = "latest-shape"
_MOST_WAIT = 600.0
_MOST_POINTS = 120
"""The maximum number of points of a curve."""


class LatestGame:
    """The latest agent's game as markup, and a line about the agent, or why there is no game.

    Reading and playing take `share` of the time, not counting the very first game, which includes
    most of the compile time.
    """

    def __init__(self, share: float) -> None:
        self.html = ""
        self.line = "The game is being compiled …"
        self.latest: LatestAgent | None = None
        self._budget = Budget(share, _MOST_WAIT)
        self._tried: object = None
        self._pool = ThreadPoolExecutor(1)
        self._playing: Future[None] | None = None
        self._lock = threading.Lock()

    def show(self, folder: Path, run: Run, name: str) -> None:
        """Play with the latest agent of a run if it is a new one and there is time for it."""
        with self._lock:
            busy = self._playing is not None and not self._playing.done()
            if busy or not self._budget.due(time.monotonic()):
                return
            try:
                file = latest_file(folder, run)
                which: object = folder
                if file is not None:
                    which = file, file.stat().st_mtime_ns
                elif self.html:
                    return
            except OSError:
                return
            if which != self._tried:
                self._tried = which
                if not self.html:
                    agent = "An untrained agent" if file is None else f"The agent of {file.name}"
                    self.line = f"{name}{agent} is playing …"
                self._playing = self._pool.submit(self._play, file, run, name)

    def wait(self) -> None:
        """Wait until the current game is over."""
        if self._playing is not None:
            self._playing.result()

    def close(self) -> None:
        """Wait for the current game, and play no other."""
        self._pool.shutdown(cancel_futures=True)

    def _play(self, file: Path | None, run: Run, name: str) -> None:
        start, first = time.process_time(), False
        try:
            if file is None:
                agent, lane = untrained(run)
                record = record_games(agent, ())[0]
                self.html = _markup(record, f"{name}{_about_untrained(lane)}")
                self.line, first = "", True
            else:
                latest = read_latest(file, run)
                record = record_games(latest.agent, (), latest.episodes % 2**32)[0]
                self.html = _markup(record, f"{name}{_about(latest)}")
                first = self.latest is None
                self.latest, self.line = latest, ""
        # Every error of a user's own game: otherwise it would be lost in this thread.
        except Exception as error:
            which = "the untrained agent" if file is None else file.name
            self.line = f"{name}No game of {which}: {reason(error)}."
        seconds = time.process_time() - start
        if not first:
            self._budget.spent(seconds, time.monotonic())


def _about_untrained(lane: LaneName) -> str:
    return (
        f"No checkpoint yet: the agent of seed {lane.seed}, {STYLES[lane.variant][0]}, as it was"
        " before its training, plays against itself."
    )


def _about(latest: LatestAgent) -> str:
    """A line about the agent of the game."""
    lane, clock = latest.lane, time.strftime("%H:%M:%S", time.localtime(latest.written))
    text = f"The agent of seed {lane.seed}, {STYLES[lane.variant][0]},"
    text += f" after {latest.episodes:,} episodes"
    text += f" ({latest.file.name}, written at {clock}"
    if latest.moves_per_second is not None:
        text += f"; {latest.moves_per_second:,.0f} moves/s of training until then"
    return f"{text}), plays against itself."


def _markup(record: GameRecord, about: str) -> str:
    """The game, its board and its value curve."""
    view = RecordView(record, _SHAPES)
    looks = [(side, f"seat seat-{seat % 8}") for seat, side in enumerate(record.game.sides)]
    return rendered(
        "watched_game.html.j2",
        about=about,
        record=view,
        shapes=shape_markup(view.drawing, _SHAPES),
        looks=looks if record.game.num_players > 1 else [],
        colours=[
            f"--seat-{seat}: {colour}"
            for seat, colour in enumerate(seat_colours(view.drawing, record.game.sides)[:8])
        ],
        curve=_value_curve(record),
    )


def _value_curve(record: GameRecord) -> str:
    """Each player's expected result at each of its turns, and its final reward."""
    game, plies = record.game, len(record.actions)
    scale = value_scale(game)
    series = []
    for seat, side in enumerate(game.sides):
        turns = np.flatnonzero(record.players[:plies] == seat)
        if len(turns) > _MOST_POINTS:
            turns = turns[np.linspace(0, len(turns) - 1, _MOST_POINTS).astype(int)]
        expected = record.rewards[turns, seat] + record.values[turns].max(1, initial=-np.inf)
        figures = [value_on(scale, figure) for figure in [*expected, record.rewards[-1, seat]]]
        known = [figure is not None for figure in figures]
        x = np.append(turns, plies)[known].astype(float)
        y = np.array([figure for figure in figures if figure is not None], float)
        series.append(Series(side, f"seat seat-{seat % 8}", x, y, y, y))
    # A move is valued by what it pays and what may follow: the sum can leave the range of rewards.
    label = f"estimated {'value' if game.num_players == 2 else game.scale.label}"
    # Among several players the axis holds all rewards, so that no small difference fills the panel.
    bounds = game.reward_range if game.num_players > 1 else ()
    heights = [float(height) for one in series for height in one.y]
    heights += [scale.figure(float(reward)) for reward in bounds]
    return chart(
        "Value estimates of each player",
        "moves",
        label,
        series,
        "{:g}".format,
        partial(value_text, scale),
        span=(min(heights), max(heights)) if bounds else None,
        x_span=(0, max(plies, 1)),
    )
