"""How fast agents search: positions valued and moves made a second, a batch of searches in step.

    python -m experiments.search.speed [--only connectfour othello hex] [--batch 128]

Agents of `experiments.search.run`, positions after ten random plies; the median of three searches
of every position, by the clock and by the CPU time of this process. Writes speed.json.
"""

import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from experiments.search.run import run_of
from experiments.shared import make_parser
from jaxgbg import search, train
from jaxgbg.games import Game
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.training.files import write_json

ITERATIONS = {"connectfour": 1000, "othello": 1000, "hex": 1000}
_PLIES, _REPEATS = 10, 3


def random_positions(game: Game, batch: int) -> Any:
    """states[batch] after ten random plies."""
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), batch))
    for ply in range(_PLIES):
        legal = jax.vmap(game.legal_actions)(states)
        action = choose_uniformly(legal, jax.random.key(ply))
        states = jax.vmap(game.afterstate)(states, action)
    return states


def measured(
    game_name: str, batch: int, iterations: int, out: Path, episodes: int | None
) -> dict[str, Any]:
    """Figures of one game."""
    folder = train(run_of(game_name, episodes), out)
    game = folder.run.game
    player = search(folder.agents(folder.run.lanes[:1]), iterations, megabytes=4096)
    states = random_positions(game, batch)
    live = int((~states.terminal).sum())
    jax.block_until_ready(player.act(states, jax.random.key(0)))
    wall, cpu = [], []
    for key in range(_REPEATS):
        begun = time.perf_counter(), time.process_time()
        jax.block_until_ready(player.act(states, jax.random.key(key)))
        wall.append(time.perf_counter() - begun[0])
        cpu.append(time.process_time() - begun[1])
    seconds, core_seconds = statistics.median(wall), statistics.median(cpu)
    return {
        "game": game_name,
        "iterations": iterations,
        "searches": live,
        "moves_per_s": round(live / seconds, 1),
        "positions_per_s": round(live * iterations / seconds),
        "moves_per_core_s": round(live / core_seconds, 1),
        "positions_per_core_s": round(live * iterations / core_seconds),
        "config": folder.run.digest,
        "command": f"python -m experiments.search.speed --only {game_name} --batch {batch}"
        f" --iterations {iterations}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--only", nargs="+", choices=list(ITERATIONS), default=list(ITERATIONS))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--iterations", type=int, help="those of the game if not given")
    parser.add_argument("--episodes", type=int, help="of every agent; those of the study")
    options = parser.parse_args(arguments)
    path: Path = options.results / "speed.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    for game in options.only:
        iterations = options.iterations or ITERATIONS[game]
        row = measured(game, options.batch, iterations, options.out, options.episodes)
        rows = [*(each for each in rows if each["game"] != game), row]
        print(row, flush=True)
        write_json(path, rows)


if __name__ == "__main__":
    main()
