"""How often an agent keeps the game value in ConnectFour, on positions that were solved before.

Far smoother than match results: about 2000 positions instead of 40 games that hang together. The
positions and their solution are a file of this package, made by `python -m jaxgbg.arena.solver`
with the solver bitbully; asking an agent needs no solver.
"""

from importlib import resources
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games import SHARE, ConnectFour, Game
from jaxgbg.games.connectfour import ConnectFourState
from jaxgbg.players.core import Player

_FILE = "connectfour_solved.npz"


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
        with resources.files(__package__).joinpath(_FILE).open("rb") as file:
            arrays = np.load(file, allow_pickle=False)
            stones, player, self.keeps = arrays["stones"], arrays["player"], arrays["keeps"]
        self.states = ConnectFourState(
            jnp.asarray(stones),
            jnp.asarray(player),
            jnp.zeros(len(player), bool),
            jnp.zeros((len(player), 2), jnp.float32),
        )

    def scores(self, agent: Player, key: jax.Array) -> np.ndarray:
        """float32[copies, P]: 1 where each copy of the agent keeps the value of position P."""
        repeat = agent.copies
        states = jax.tree.map(
            lambda leaf: jnp.tile(leaf, (repeat, *[1] * (leaf.ndim - 1))), self.states
        )
        actions = np.asarray(agent.act(states, key)).reshape(repeat, -1)
        return self.keeps[np.arange(len(self.keeps)), actions].astype(np.float32)

    def wins(self, scores: np.ndarray) -> None:
        """None: no games are played."""

    def close(self) -> None:
        return None


def solved_positions(count: int, seed: int) -> dict[str, np.ndarray]:
    """`count` different positions of games that are half random, half perfect, and which legal
    moves keep their value: `stones` uint32[P, 2, 2], `player` int8[P], `keeps` bool[P, 7].
    """
    from jaxgbg.players.alphabeta import ILLEGAL, AlphaBeta

    game, solver = ConnectFour(), AlphaBeta()
    generator = np.random.default_rng(seed)
    step = jax.jit(jax.vmap(game.afterstate))
    positions: dict[bytes, tuple[np.ndarray, int, np.ndarray]] = {}
    while len(positions) < count:
        states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 256))
        for _ in range(game.max_plies):
            legal = np.asarray(jax.vmap(game.legal_actions)(states))
            scores = np.sign(np.where(legal, solver.scores(states), ILLEGAL)).astype(int)
            outcomes = np.where(legal, scores, -2)
            keeps = legal & (outcomes == outcomes.max(1, keepdims=True))
            for row in np.flatnonzero((keeps != legal).any(1) & ~np.asarray(states.terminal)):
                # Not one and the same opening over and over: each position counts once.
                stones, player = np.asarray(states.stones[row]), int(states.player[row])
                positions.setdefault(stones.tobytes(), (stones, player, keeps[row]))
            choose = np.where(generator.random(len(legal))[:, None] < 0.5, legal, keeps)
            draws = np.where(choose, generator.random(choose.shape), -1)
            states = step(states, draws.argmax(1).astype(np.int32))
            if bool(states.terminal.all()):
                break
    known = [positions[key] for key in sorted(positions)]
    chosen = [known[number] for number in generator.permutation(len(known))[:count]]
    return {
        "stones": np.stack([stones for stones, _, _ in chosen]),
        "player": np.array([player for _, player, _ in chosen], np.int8),
        "keeps": np.stack([keeps for _, _, keeps in chosen]),
    }


if __name__ == "__main__":
    made = solved_positions(2000, seed=0)
    np.savez_compressed(
        Path(__file__).with_name(_FILE),
        stones=made["stones"],
        player=made["player"],
        keeps=made["keeps"],
    )
