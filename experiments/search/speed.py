"""How fast agents search: positions valued and moves made a second, a batch of searches in step.

    python -m experiments.search.speed [--only connectfour othello hex] [--devices 1] [--batch 128]

Agents of `experiments.search.run`, positions after ten random plies; the median of three searches
of every position, by the clock and by the CPU time of this process, which has a device for each
core. Writes the section "speed" of results.json.
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from experiments.search.run import run_of
from experiments.shared import Section, make_parser
from jaxgbg import search, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import Game
from jaxgbg.learners.selection import choose_uniformly
from jaxgbg.players import Player
from jaxgbg.runs.devices import prepare_jax

REPEATS = 3


def seconds(player: Player, states: Any) -> tuple[float, float]:
    """Of choosing a move in each of states[B], once compiled: by the clock, and CPU time.

    The median of `REPEATS`. CPU time is that of this process, whatever else keeps the cores busy.
    """
    jax.block_until_ready(player.act(states, jax.random.key(0)))
    wall, cpu = [], []
    for key in range(REPEATS):
        begun = time.perf_counter(), time.process_time()
        jax.block_until_ready(player.act(states, jax.random.key(key)))
        wall.append(time.perf_counter() - begun[0])
        cpu.append(time.process_time() - begun[1])
    return statistics.median(wall), statistics.median(cpu)


ITERATIONS = {"connectfour": 1000, "othello": 1000, "hex": 1000}


def random_positions(game: Game, batch: int, plies: int = 10) -> Any:
    """states[batch] after so many random plies."""
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), batch))
    for ply in range(plies):
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
    wall, cpu = seconds(player, states)
    return {
        "game": game_name,
        "iterations": iterations,
        "searches": live,
        "devices": len(jax.devices()),
        "moves_per_s": round(live / wall, 1),
        "positions_per_s": round(live * iterations / wall),
        "moves_per_core_s": round(live / cpu, 1),
        "positions_per_core_s": round(live * iterations / cpu),
        "config": folder.run.digest,
        "command": f"python -m experiments.search.speed --only {game_name} --batch {batch}"
        f" --iterations {iterations} --devices {len(jax.devices())}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--only", nargs="+", choices=list(ITERATIONS), default=list(ITERATIONS))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--iterations", type=int, help="those of the game if not given")
    parser.add_argument("--episodes", type=int, help="of every agent; those of the study")
    parser.add_argument("--devices", type=int, help="all if not given")
    options = parser.parse_args(arguments)
    prepare_jax(options.devices)
    section = Section(options.results, "speed")
    rows = section.read()
    for game in options.only:
        iterations = options.iterations or ITERATIONS[game]
        row = measured(game, options.batch, iterations, options.out, options.episodes)
        same = [row[name] for name in ("game", "devices")]
        others = (each for each in rows if [each[name] for name in ("game", "devices")] != same)
        rows = [*others, row]
        print(row, flush=True)
        section.write(rows)


if __name__ == "__main__":
    end_in_a_line(main)
