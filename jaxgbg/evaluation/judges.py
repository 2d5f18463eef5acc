"""Judges: whatever evaluates an agent, be it a match, a score alone, or a solution of the game."""

import dataclasses
import typing
from collections.abc import Sequence

import jax
import numpy as np

from jaxgbg.evaluation.matches import compete
from jaxgbg.evaluation.protocol import Protocol
from jaxgbg.evaluation.solved_positions import Solver
from jaxgbg.games import Game, Scale
from jaxgbg.players import Player, make_player, player_names
from jaxgbg.specs import did_you_mean

DEFAULT_PROTOCOL = Protocol("choose_01", count=10, repeats=4)
"""Ten starts, each the start position or one ply later, every seat."""


class Judge(typing.Protocol):
    """Evaluates agents of one game; `name` is the word for it in tables.

    `scale` says how the means of its scores are shown.
    """

    @property
    def name(self) -> str: ...
    @property
    def scale(self) -> Scale: ...

    def scores(self, agent: Player, key: jax.Array, seeds: Sequence[int] = ()) -> np.ndarray:
        """A score for every game or question, float32[copies, ...]; the same key, the same ones.

        `seeds` int[copies] says which copies meet the same drawn starts, all if empty.
        """
        ...

    def wins(self, scores: np.ndarray) -> np.ndarray | None:
        """Share of games won, float64[copies], of what `scores` gave; None without games."""
        ...

    def close(self) -> None:
        """Free what the judge holds outside this program."""
        ...


@dataclasses.dataclass(frozen=True)
class MatchJudge:
    """Judges by the final rewards of matches, float32[copies, seats, games] (`arena.compete`).

    A game of one player has no opponent. Closing the judge closes the opponent that it owns.
    """

    game: Game
    opponent: Player | None
    protocol: Protocol
    name: str
    owned: bool = True

    @property
    def scale(self) -> Scale:
        return self.game.scale

    def scores(self, agent: Player, key: jax.Array, seeds: Sequence[int] = ()) -> np.ndarray:
        return compete(self.game, agent, self.opponent, self.protocol, key, seeds)

    def wins(self, scores: np.ndarray) -> np.ndarray:
        return (scores > 0).reshape(len(scores), -1).mean(1)

    def close(self) -> None:
        if self.opponent is not None and self.owned:
            self.opponent.close()


def make_judge(name: str, game: Game, protocol: Protocol | None = None) -> Judge:
    """The judge of that name: "score" in games of one player, "solver", or a player to play with.

    `protocol` says which games are played, `DEFAULT_PROTOCOL` where it is None. Raises ValueError
    for a name that does not judge this game, MissingExtra where a player lacks its package.
    """
    if (name == "score") != (game.num_players == 1):
        only = '"score" evaluates games of one player, and nothing else does'
        raise ValueError(f"{name!r} does not evaluate {game.name}: {only}")
    if name in _SOLUTIONS:
        return _SOLUTIONS[name](game)
    near = did_you_mean(name, _SOLUTIONS)
    if near and name not in player_names():
        raise ValueError(f"unknown player {name!r}{near}")
    opponent = None if name == "score" else make_player(name, game)
    return MatchJudge(game, opponent, protocol or DEFAULT_PROTOCOL, name)


def judge_names() -> list[str]:
    """The names that `make_judge` takes."""
    return [*player_names(), *_SOLUTIONS, "score"]


def scale_of(name: str, game: Game) -> Scale:
    """The scale of the judge of that name, without making it."""
    return _SOLUTIONS[name].scale if name in _SOLUTIONS else game.scale


_SOLUTIONS = {"solver": Solver}
