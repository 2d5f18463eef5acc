"""Whom an agent meets, for how long, and with what result, from all seats."""

import contextlib
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from jaxgbg.arena.match_results import pair_points
from jaxgbg.arena.tournament import Played, play_tournament
from jaxgbg.evaluation import Protocol, start_states
from jaxgbg.games import Game
from jaxgbg.games.sampling import sample_games
from jaxgbg.players import make_player
from jaxgbg.results.ladder import Ladder
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs.compilation import CompileTimer
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.types import JSON

AGENT = "agent"
STRENGTHS = (100, 1_000, 10_000)
"""Iterations of the MCTS players, in their order."""
_PILOT_GAMES = 4
# Later positions have shorter roll-outs than the first ones, which are timed.
_LATER = 0.7
# The last evaluation of a compiled program, with starting costs.
_SLACK = 1.2


class Score(NamedTuple):
    """What an agent scores against an opponent in n games: the mean in `unit`, 95% low to high."""

    opponent: str
    games: int
    unit: str
    mean: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The score in words."""
        figures = f"{self.mean:,.1f} ({self.low:,.1f} to {self.high:,.1f})"
        return f"{self.opponent}: {self.unit} {figures}, n = {self.games:,}"


class Rated(NamedTuple):
    """The scores of an agent, the ladder of games for two, and who was not met, and why."""

    scores: list[Score]
    ladder: Ladder | None
    unmet: list[str]


def protocol_of(game: Game, games: int) -> Protocol:
    """Starts after two random plies; the start position in games that may end that soon."""
    if int(sample_games(game).plies.min()) <= 2:
        return Protocol("default", count=games)
    return Protocol("random_plies", count=games, plies=2)


@cache
def seconds_of_a_game(game: Game) -> float:
    """The expected time of a game of mcts-100 among some that play in lockstep, timed at starts."""
    player = make_player(f"mcts-{STRENGTHS[0]}", game)
    states, _ = start_states(game, protocol_of(game, _PILOT_GAMES), jax.random.key(0))
    np.asarray(player.act(states, jax.random.key(0)))
    start = time.perf_counter()
    np.asarray(player.act(states, jax.random.key(1)))
    move = (time.perf_counter() - start) / _PILOT_GAMES
    plies = float(sample_games(game).plies.mean())
    return move * _LATER * plies / game.num_players * max(1, game.num_players - 1)


def rate(
    game: Game,
    agent: Path,
    versions: list[Path],
    folder: Path,
    games: int,
    deadline: float,
    least: float,
    say: Callable[[str], None],
) -> Rated:
    """Let an agent meet random, earlier `versions` and MCTS until `deadline` (time.monotonic()).

    However late it is, mcts-100 is met if that takes less than `least` seconds.
    `games` are those of a match. Two players meet in a tournament, whose `folder` keeps the games,
    so that the same call resumes. With more players the agent has each seat in turn and the
    opponent all others. A game for one is scored.
    """
    earlier = {version.stem: str(version) for version in versions}
    if game.num_players == 1:
        files = {AGENT: str(agent), **earlier}
        scores = [_judged(game, file, "score", games, name) for name, file in files.items()]
        for score in scores:
            say(score.text)
        return Rated(scores, None, [])
    cost = games * seconds_of_a_game(game)
    opponents = {"random": "random", **earlier}
    meet = _tournament if game.num_players == 2 else _tables
    results = meet(game, str(agent), folder, games)
    scores, ladder = results(opponents)
    for score in scores:
        say(score.text)
    for strength in STRENGTHS:
        name, left = f"mcts-{strength}", deadline - time.monotonic()
        left = max(left, least if strength == STRENGTHS[0] else 0.0)
        if cost > left:
            unmet = f"{name} was not met: about {_seconds(cost)} needed, {_seconds(left)} left"
            say(unmet)
            return Rated(scores, ladder, [unmet])
        opponents[name] = name
        start, compiling = time.monotonic(), CompileTimer()
        scores, ladder = results(opponents)
        say(scores[-1].text)
        # Of kept games nothing is learned about the time.
        played = time.monotonic() - start - compiling.seconds()
        cost = 10 * (_SLACK * played if played > cost / 10 else cost)
    return Rated(scores, ladder, [])


def _seconds(seconds: float) -> str:
    """A time in words; two that differ do not both round to 0 s."""
    return f"{max(seconds, 0):,.{2 if seconds < 1 else 0}f} s"


Meet = Callable[[dict[str, str]], tuple[list[Score], Ladder | None]]
"""Scores against these opponents, and the ladder of a tournament."""


def _tournament(game: Game, agent: str, folder: Path, games: int) -> Meet:
    """The agent meets each opponent; games in the folder are not played again."""
    protocol = protocol_of(game, 1)

    def meet(opponents: dict[str, str]) -> tuple[list[Score], Ladder | None]:
        participants = {AGENT: agent, **opponents}
        settings = (games, protocol.starts, protocol.plies)
        played = play_tournament(participants, game, *settings, out=folder, all_meet=False)
        return list(scores_of(played)), Ladder(*played)

    return meet


def scores_of(played: Played) -> Iterator[Score]:
    """The points of the first participant against each other one, openings as independent."""
    pairs = pair_points(played.results)
    for number, name in enumerate(played.names[1:], 1):
        points = [100 * each for each in pairs[0, number]]
        low, high = confidence_interval(points, span=(0.0, 100.0), games=2)
        yield Score(name, 2 * len(points), "points (%)", float(np.mean(points)), low, high)


def _tables(game: Game, agent: str, folder: Path, games: int) -> Meet:
    """The agent has each seat in turn, and copies of one opponent have the others."""
    del folder
    known: dict[str, Score] = {}
    each_seat = -(-games // game.num_players)

    def meet(opponents: dict[str, str]) -> tuple[list[Score], Ladder | None]:
        for name, what in opponents.items():
            known[name] = known.get(name) or _judged(game, agent, what, each_seat, name)
        return list(known.values()), None

    return meet


def _judged(game: Game, agent: str, what: str, games: int, name: str) -> Score:
    """The mean score of an agent by a judge; games count as independent."""
    with contextlib.closing(judge_by(what, game, protocol_of(game, games))) as judge:
        (scale,) = judge.scales.values()
        (scores,) = judge.scores(load_agent(agent).player(), jax.random.key(0)).values()
    figures = [scale.figure(float(score)) for score in scores.ravel()]
    low, high = confidence_interval(figures, span=scale.span, games=1)
    return Score(name, len(figures), scale.label, float(np.mean(figures)), low, high)


def plain_score(score: Score) -> dict[str, JSON]:
    """A score as JSON knows it, rounded."""
    figures = {name: round(getattr(score, name), 3) for name in ("mean", "low", "high")}
    return {**score._asdict(), **figures}
