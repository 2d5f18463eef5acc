"""Judges: what evaluates an agent, by matches, by its own score in a game, or by an evaluator."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence

import numpy as np

from jaxgbg.evaluation.evaluators import (
    Evaluator,
    EvaluatorSpec,
    evaluator_kinds,
    evaluator_of,
    score_names,
)
from jaxgbg.evaluation.matches import compete
from jaxgbg.evaluation.played_games import OnGames
from jaxgbg.evaluation.protocol import Position, Protocol
from jaxgbg.games import Game, Scale
from jaxgbg.lazy import jax
from jaxgbg.players import Player, make_player, player_names
from jaxgbg.specs import did_you_mean

DEFAULT_PROTOCOL = Protocol("choose_01", count=10, repeats=4)
"""Ten starts, each the start position or one ply later, every seat."""


class Judge(typing.Protocol):
    """Evaluates agents of one game by one or more scores; `name` is how it was chosen.

    `scales` has the scores by what they are called in results, and says how their means are shown.
    """

    @property
    def name(self) -> str: ...
    @property
    def scales(self) -> Mapping[str, Scale]: ...

    def scores(
        self, agent: Player, key: jax.Array, seeds: Sequence[int] = ()
    ) -> dict[str, np.ndarray]:
        """float32[copies, ...] for each of `scales`: a score for every game or question.

        The same key gives the same scores. `seeds` int[copies] says which copies meet the same
        drawn starts, all if empty.
        """
        ...

    def wins(self, scores: np.ndarray) -> np.ndarray | None:
        """Share of games won, float64[copies], of one of `scores`; None without games."""
        ...

    def close(self) -> None:
        """Free what the judge holds outside this program."""
        ...


@dataclasses.dataclass(frozen=True)
class MatchJudge:
    """Judges by the final rewards of matches, float32[copies, seats, games] (`compete`).

    A game of one player has no opponent. Closing the judge closes the opponent that it owns. All
    games start in `position`, if there is one, and `on_games` receives their moves.
    """

    game: Game
    opponent: Player | None
    protocol: Protocol
    name: str
    owned: bool = True
    position: Position | None = None
    on_games: OnGames | None = None

    @property
    def scales(self) -> dict[str, Scale]:
        return {self.name: self.game.scale}

    def scores(
        self, agent: Player, key: jax.Array, seeds: Sequence[int] = ()
    ) -> dict[str, np.ndarray]:
        given = (self.game, agent, self.opponent, self.protocol, key, seeds)
        return {self.name: compete(*given, self.position, self.on_games)}

    def wins(self, scores: np.ndarray) -> np.ndarray:
        return (scores > 0).reshape(len(scores), -1).mean(1)

    def close(self) -> None:
        if self.opponent is not None and self.owned:
            self.opponent.close()


@dataclasses.dataclass(frozen=True)
class EvaluatorJudge:
    """Judges by the scores of an evaluator, which it closes."""

    name: str
    evaluator: Evaluator

    @property
    def scales(self) -> dict[str, Scale]:
        return score_names(self.name)

    def scores(
        self, agent: Player, key: jax.Array, seeds: Sequence[int] = ()
    ) -> dict[str, np.ndarray]:
        """Raises ValueError for scores that the evaluator's spec does not name, and for NaN."""
        found = self.evaluator.scores(agent, key, seeds)
        expected = evaluator_kinds()[EvaluatorSpec.named(self.name)].scores
        if found.keys() != expected.keys():
            raise ValueError(
                f"{self.name} must return the scores {', '.join(expected)}, not {', '.join(found)}"
            )
        values = {name: np.asarray(found[name], np.float32) for name in expected}
        for name, each in values.items():
            if each.ndim < 2 or len(each) != agent.copies or not each.size:
                raise ValueError(
                    f"{self.name}: the score {name} must be an array"
                    f" [{agent.copies}, ...], one row for each copy of the agent, not of shape"
                    f" {each.shape}"
                )
            if not np.isfinite(each).all():
                wrong = each[~np.isfinite(each)][0]
                raise ValueError(f"{self.name}: the score {name} must be finite, not {wrong}")
        return dict(zip(self.scales, values.values(), strict=True))

    def wins(self, scores: np.ndarray) -> None:
        """None: no games are played."""

    def close(self) -> None:
        self.evaluator.close()


def make_judge(name: str, game: Game, protocol: Protocol | None = None) -> Judge:
    """The judge of that name: "score" in games of one player, an evaluator, or a player to play.

    `protocol` says which games are played, `DEFAULT_PROTOCOL` where it is None. Raises ValueError
    for a name that does not judge this game, MissingExtra where a player lacks its package.
    """
    if EvaluatorSpec.named(name):
        return EvaluatorJudge(name, EvaluatorSpec.parse(name).build(game))
    if (name == "score") != (game.num_players == 1):
        only = '"score" evaluates games of one player, and no player does'
        raise ValueError(f"{name!r} does not evaluate {game.name}: {only}")
    near = did_you_mean(name, evaluator_kinds())
    if near and name not in player_names():
        raise ValueError(f"unknown player {name!r}{near}")
    opponent = None if name == "score" else make_player(name, game)
    return MatchJudge(game, opponent, protocol or DEFAULT_PROTOCOL, name)


def judge_names() -> list[str]:
    """The names that `make_judge` takes."""
    return [*player_names(), *(spec.form() for spec in evaluator_kinds().values()), "score"]


def judges_alone(name: str) -> bool:
    """Whether the judge of that name needs no player: "score" or an evaluator."""
    return name == "score" or bool(EvaluatorSpec.named(name))


def scale_of(name: str, game: Game) -> Scale:
    """The scale of a score in results, without building its judge.

    Raw for an evaluator that is not registered here.
    """
    text = evaluator_of(name)
    if not text:
        return game.scale
    return score_names(text)[name] if EvaluatorSpec.named(text) else Scale("score")


def ranks_agents(name: str) -> bool:
    """Whether a score in results says how strong an agent is: not the second of an evaluator."""
    text = evaluator_of(name)
    return not text or not EvaluatorSpec.named(text) or name == next(iter(score_names(text)))


def in_words(game: str, name: str) -> str:
    """The heading of results in a game: "nim against maxn", "nim by tactics:accuracy", or "2048".

    An evaluator with a single score is named as an opponent is: "connectfour against solver".
    """
    if name == "score":
        return game
    return f"{game} {'against' if evaluator_of(name) in ('', name) else 'by'} {name}"
