"""Where agents of `matches` give away a won game against AB-DL: the ply of the first such move.

    python -m experiments.connectfour.mistakes --condition "140 from lines" --seeds 0

A thousand games from the empty board, moving first by the mean weights, each of the agent's moves
held against exact play. Adds to mistakes.json beside this file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.connectfour.matches import EPISODES
from experiments.connectfour.run import CONDITIONS, add, read, run_of
from experiments.shared import make_parser
from jaxgbg import make, train
from jaxgbg.players import Player
from jaxgbg.players.alphabeta import ILLEGAL, AlphaBeta
from jaxgbg.training.devices import prepare_jax
from jaxgbg.training.play import Play

GAMES = 1000


def games(first: Player, second: Player) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """The states before every ply [T][B], the moves int[T, B], and player 0's rewards int[B]."""
    game = make("connectfour")
    step = jax.jit(jax.vmap(game.afterstate))
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), GAMES))
    before, moves = [], []
    while not bool(states.terminal.all()):
        key = jax.random.fold_in(jax.random.key(1), len(moves))
        actions = (first, second)[len(moves) % 2].act(states, key)
        before.append(jax.device_get(states))
        moves.append(np.where(before[-1].terminal, -1, actions))
        states = step(states, actions)
    return before, np.array(moves), np.asarray(states.rewards)[:, 0].astype(int)


def first_mistakes(before: Sequence[Any], moves: np.ndarray) -> np.ndarray:
    """int[B]: the ply at which the first player gave away a won position, -1 where never."""
    perfect, found = AlphaBeta(), np.full(moves.shape[1], -1)
    for ply in range(0, len(moves), 2):
        open_ = np.flatnonzero((found < 0) & (moves[ply] >= 0))
        asked = jax.tree.map(lambda leaf, rows=open_: jnp.asarray(leaf[rows]), before[ply])
        scores = perfect.scores(asked)
        outcomes = np.where(scores == ILLEGAL, -2, np.sign(scores))
        made = outcomes[np.arange(len(open_)), moves[ply, open_]]
        found[open_[made < outcomes.max(1)]] = ply
    return found


def record_of(run: Any, condition: str, folder: Any) -> dict[str, Any]:
    """How the games of one agent end, and where those that are not won were given away."""
    (lane,) = run.lanes
    agent = Play().player(folder.agents((lane.mean,)))
    before, moves, rewards = games(agent, AlphaBeta(distant_losses=True))
    plies = first_mistakes(before, moves)
    given = plies[plies >= 0]
    numbers, counts = np.unique(given, return_counts=True)
    return {
        "condition": condition,
        "seed": lane.seed,
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "wins": int((rewards > 0).sum()),
        "draws": int((rewards == 0).sum()),
        "losses": int((rewards < 0).sum()),
        "different games": len(np.unique(moves.T, axis=0)),
        "mean plies": round(float((moves >= 0).sum(0).mean()), 1),
        "first mistakes by ply": dict(zip(map(str, numbers), counts.tolist(), strict=True)),
        "different positions of them": len(
            {before[ply].stones[game].tobytes() for game, ply in enumerate(plies) if ply >= 0}
        ),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--condition", choices=CONDITIONS, default="140 from lines")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--episodes", type=int, default=EPISODES)
    options = parser.parse_args(arguments)
    prepare_jax()
    path: Path = options.results / "mistakes.json"
    for seed in options.seeds:
        run = run_of(options.condition, seed, options.episodes)
        if not any(row["config"] == run.digest for row in read(path)):
            row = record_of(run, options.condition, train(run, options.out))
            add(path, options.out, row)
            print(row, flush=True)


if __name__ == "__main__":
    main()
