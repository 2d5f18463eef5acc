"""Solves the ConnectFour positions that the judge "solver" asks; needs bitbully.

`python -m experiments.solved_positions` writes them into the package.
"""

from pathlib import Path

import jax
import numpy as np

from jaxgbg.evaluation import solved_positions as solver
from jaxgbg.games import ConnectFour
from jaxgbg.players.alphabeta import ILLEGAL, AlphaBeta


def solved_positions(count: int, seed: int) -> dict[str, np.ndarray]:
    """`count` different positions of games that are half random, half perfect, and which legal
    moves keep their value: `stones` uint32[P, 2, 2], `player` int8[P], `keeps` bool[P, 7].
    """
    game, perfect = ConnectFour(), AlphaBeta()
    generator = np.random.default_rng(seed)
    step = jax.jit(jax.vmap(game.afterstate))
    positions: dict[bytes, tuple[np.ndarray, int, np.ndarray]] = {}
    while len(positions) < count:
        states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 256))
        for _ in range(game.max_plies):
            legal = np.asarray(jax.vmap(game.legal_actions)(states))
            scores = np.sign(np.where(legal, perfect.scores(states), ILLEGAL)).astype(int)
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
        Path(solver.__file__).with_name(solver.FILE),
        stones=made["stones"],
        player=made["player"],
        keeps=made["keeps"],
    )
