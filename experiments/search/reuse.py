"""What a tree that is kept between moves brings: strength, seconds, and how much of it is kept.

    python -m experiments.search.reuse [--games 400] [--alone 60] [--iterations 200]

A ConnectFour agent of little training searches, with trees that are kept and with new ones, from
positions after four random plies and from both seats: against the agent without a search, all games
in step and one after the other, and against its own search with new trees. Writes the section
"reuse" of results.json.
"""

import time
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.search.run import run_of
from experiments.shared import Section, interval, make_parser
from jaxgbg import Protocol, search, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation.matches import compete
from jaxgbg.players import Player, RandomPlayer, SearchAgent
from jaxgbg.search.reuse import reroot

_PLIES = 4


def match(player: SearchAgent, opponent: Player, games: int, in_step: int) -> dict[str, Any]:
    """Points and seconds of `games` games, so many of them in step."""
    rewards = []
    for key in range(-2, games // in_step):
        if key == 0:
            # From both seats all has been compiled by now.
            begun = time.perf_counter(), time.process_time()
        seats = (key % 2,) if in_step == 1 else ()
        starts = Protocol("random_plies", count=max(1, in_step // 2), plies=_PLIES, seats=seats)
        rewards.append(compete(player.game, player, opponent, starts, jax.random.key(abs(key))))
    seconds, core_seconds = time.perf_counter() - begun[0], time.process_time() - begun[1]
    scores = (np.concatenate(rewards[2:]).ravel() + 1) / 2
    low, high = interval(scores, (0.0, 1.0))
    return {
        "games": scores.size,
        "in_step": in_step,
        "points": round(100 * float(scores.mean()), 1),
        "interval": [round(100 * bound, 1) for bound in (low, high)],
        "seconds": round(seconds, 1),
        "core_seconds": round(core_seconds, 1),
    }


def share_kept(player: SearchAgent, opponent: Player, games: int) -> dict[str, Any]:
    """What share of its iterations a move finds done, over all moves but the first of each game."""
    game, key = player.game, jax.random.key(0)
    states = jax.vmap(game.init)(jax.random.split(key, games))
    memory, shares, random_player = player.first_memory(states), [], RandomPlayer(game)

    @jax.jit
    def done(trees: Any, states: Any) -> jax.Array:
        first = jax.tree.map(lambda leaf: leaf[0], trees)
        return reroot(player.search, first, jnp.arange(games), games, states)[1]

    for ply in range(game.max_plies):
        draw = jax.random.fold_in(key, ply)
        if ply >= _PLIES and ply % 2 == 0:
            if ply > _PLIES:
                live = ~np.asarray(states.terminal)
                shares.append(np.asarray(done(memory, states))[live] / int(player.iterations))
            moves, memory = player.act_on(memory, states, draw)
        else:
            moves = (opponent if ply >= _PLIES else random_player).act(states, draw)
        states = jax.vmap(game.afterstate)(states, moves)
    every = np.concatenate(shares)
    return {"moves": every.size, "kept": round(100 * float(every.mean()), 1)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--alone", type=int, default=60, help="games one after the other")
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--episodes", type=int, default=20_000)
    options = parser.parse_args(arguments)
    section = Section(options.results, "reuse")
    folder = train(run_of("connectfour", options.episodes), options.out)
    agent = folder.agents(folder.run.lanes[:1])
    anew, keeping = (search(agent, options.iterations, reuse=reuse) for reuse in (False, True))
    common = {
        "iterations": options.iterations,
        "config": folder.run.digest,
        "command": f"python -m experiments.search.reuse --games {options.games}"
        f" --alone {options.alone} --iterations {options.iterations}"
        f" --episodes {options.episodes}",
    }
    rows: list[dict[str, Any]] = []
    opponents: dict[str, Player] = {"agent": agent, "search": anew}
    for opponent, games, in_step in (
        ("agent", options.games, options.games),
        ("agent", options.alone, 1),
        ("search", options.alone, 1),
    ):
        for player in (anew, keeping):
            row = match(player, opponents[opponent], games, in_step)
            rows.append({"reuse": player is keeping, "opponent": opponent, **row, **common})
            print(rows[-1], flush=True)
            section.write(rows)
    for opponent, other in opponents.items():
        rows.append({"opponent": opponent, **share_kept(keeping, other, 100), **common})
        print(rows[-1], flush=True)
        section.write(rows)


if __name__ == "__main__":
    end_in_a_line(main)
