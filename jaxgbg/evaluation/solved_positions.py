"""How often an agent keeps the game value in ConnectFour, on positions that were solved before.

Far smoother than match results: about 2000 positions instead of 40 games that hang together. The
positions and their solution are a file of this package, made with the solver bitbully by
`experiments/solved_positions.py`; asking an agent needs no solver.
"""

from collections.abc import Sequence
from importlib import resources

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import SHARE, ConnectFour, Game
from jaxgbg.games.connectfour import ConnectFourState
from jaxgbg.games.rollout import select_states
from jaxgbg.players.core import Player

FILE = "connectfour_solved.npz"


class Solver:
    """Judges ConnectFour agents by the share of their moves that keep the game value.

    In every position some legal move keeps the value (win, draw or loss) and another does not.
    Raises ValueError for another game.
    """

    name = "solver"
    scale = SHARE

    def __init__(self, game: Game) -> None:
        if not isinstance(game, ConnectFour):
            raise ValueError(f"the solver judges connectfour only, not {game.name}")
        if game != ConnectFour():
            raise ValueError(f"the solver knows no draw after {game.draw_after} plies")
        with resources.files(__package__).joinpath(FILE).open("rb") as file:
            arrays = np.load(file, allow_pickle=False)
            stones, player, self.keeps = arrays["stones"], arrays["player"], arrays["keeps"]
        self.states = ConnectFourState(
            jnp.asarray(stones),
            jnp.asarray(player),
            jnp.zeros(len(player), bool),
            jnp.zeros((len(player), 2), jnp.float32),
        )

    def scores(self, agent: Player, key: jax.Array, seeds: Sequence[int] = ()) -> np.ndarray:
        """float32[copies, P]: 1 where each copy of the agent keeps the value of position P."""
        repeat = agent.copies
        positions = np.tile(np.arange(len(self.keeps)), repeat)
        states = select_states(self.states, positions)
        actions = np.asarray(agent.act(states, key)).reshape(repeat, -1)
        return self.keeps[np.arange(len(self.keeps)), actions].astype(np.float32)

    def wins(self, scores: np.ndarray) -> None:
        """None: no games are played."""

    def close(self) -> None:
        return None
