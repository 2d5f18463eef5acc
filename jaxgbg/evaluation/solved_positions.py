"""The share of ConnectFour moves that keep the game value, on positions solved in advance.

This score has far less noise than match results: about 2,000 positions instead of 40 correlated
games. The positions and their solution are a file of this package, made with the solver bitbully by
`experiments/solved_positions.py`; scoring an agent needs no solver.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from importlib import resources
from typing import ClassVar

import numpy as np

from jaxgbg.evaluation.evaluators import Evaluator, EvaluatorSpec
from jaxgbg.games import SHARE, ConnectFour, Game
from jaxgbg.games.connectfour import ConnectFourState
from jaxgbg.games.rollout import select_states
from jaxgbg.lazy import jax, jnp
from jaxgbg.players.core import Player

FILE = "connectfour_solved.npz"


@dataclasses.dataclass(frozen=True)
class SolvedPositionsSpec(EvaluatorSpec):
    """The share of moves that keep the game value in solved ConnectFour positions."""

    kind = "solver"
    scores: ClassVar = {"share": SHARE}

    def build(self, game: Game) -> SolvedPositions:
        return SolvedPositions(game)


class SolvedPositions(Evaluator):
    """Scores ConnectFour agents by the share of their moves that keep the game value.

    In every position some legal move keeps the value (win, draw or loss) and another does not.
    Raises ValueError for another game.
    """

    def __init__(self, game: Game) -> None:
        if not isinstance(game, ConnectFour):
            raise ValueError(f"the solver judges connectfour only, not {game.name}")
        if game != ConnectFour():
            raise ValueError(f"the solver does not support a draw after {game.draw_after} plies")
        with resources.files(__package__).joinpath(FILE).open("rb") as file:
            arrays = np.load(file, allow_pickle=False)
            stones, player, self.keeps = arrays["stones"], arrays["player"], arrays["keeps"]
        self.states = ConnectFourState(
            jnp.asarray(stones),
            jnp.asarray(player),
            jnp.zeros(len(player), bool),
            jnp.zeros((len(player), 2), jnp.float32),
        )

    def scores(
        self, agent: Player, key: jax.Array, seeds: Sequence[int] = ()
    ) -> dict[str, np.ndarray]:
        """The share, float32[copies, P]: 1 where each copy keeps the value of position P."""
        repeat = agent.copies
        positions = np.tile(np.arange(len(self.keeps)), repeat)
        states = select_states(self.states, positions)
        actions = np.asarray(agent.act(states, key)).reshape(repeat, -1)
        kept = self.keeps[np.arange(len(self.keeps)), actions].astype(np.float32)
        return {"share": kept}
