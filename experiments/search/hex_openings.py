"""What agents say of each first stone of Hex 6x6, by themselves and with a search.

    python -m experiments.search.hex_openings [--seeds 4] [--episodes 100000]

Who wins after each of the 36 first stones is proven (Queenbee; HexWiki, "Small boards"). After each
of them an agent, bare or searching, is asked what the best answer is worth: below 0 it takes the
first stone for a winning one. `ranked` is the share of pairs of a winning and a losing first stone
of which it holds the winning one for the better, wherever it sees 0. What stands in
the section "hex_openings" of results.json is not asked again.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.search.run import play_of
from experiments.shared import Section, make_parser
from jaxgbg import preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games import Hex
from jaxgbg.players import GreedyAgent, SearchAgent
from jaxgbg.runs.devices import prepare_jax

# W: whoever places the first stone there, and has top and bottom to join, wins.
PROVEN = (".....W", ".WWWWW", "WWWWWW", "WWWWWW", "WWWWW.", "W.....")
PLAYS = (
    "greedy",
    *(f"puct-{n}" for n in (50, 200, 1000)),
    *(f"puct-{n},temperature=0.1" for n in (50, 200, 1000)),
)


def winning_stones() -> np.ndarray:
    """bool[36]: whether the first player wins with that stone."""
    return np.array([mark == "W" for row in PROVEN for mark in row])


def worth(agent: GreedyAgent, play: str, states: Any) -> np.ndarray:
    """float[B]: what the best move in states[B] is worth to its player."""
    player = play_of(play).player(agent)
    if not isinstance(player, SearchAgent):
        return np.asarray(agent.action_values(states)).max(1)
    found = player.statistics(states, jax.random.key(0))
    tried = np.where(found.visits == found.visits.max(1, keepdims=True), found.values, -np.inf)
    return tried.max(1)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--plays", nargs="+", default=PLAYS, help="as puct-50 or greedy")
    options = parser.parse_args(arguments)
    prepare_jax()
    section = Section(options.results, "hex_openings")
    run = preset(
        "hex",
        seeds=range(options.seeds),
        variants=("farl",),
        episodes=options.episodes,
        eval_every=options.episodes,
        opponents=("random",),
    )
    folder, game = train(run, options.out), Hex()
    start = game.init(jax.random.key(0))
    states = jax.vmap(game.afterstate, (None, 0))(start, jnp.arange(game.num_actions))
    wins = winning_stones()
    rows = section.read()
    for play in options.plays:
        if any((row["play"], row["config"]) == (play, run.digest) for row in rows):
            continue
        # A search by several agents tells the first one's opinion.
        values = np.stack([worth(folder.agents((lane,)), play, states) for lane in run.lanes])
        right = (values < 0) == wins
        pairs = np.sign(values[:, None, ~wins] - values[:, wins, None])
        row = {
            "play": play,
            "right": right.sum(1).tolist(),
            "of": wins.size,
            "ranked": [round(float(each.mean()) / 2 + 0.5, 3) for each in pairs],
            "missed_wins": (~right & wins).sum(1).tolist(),
            "missed_losses": (~right & ~wins).sum(1).tolist(),
            "episodes": options.episodes,
            "config": folder.run.digest,
            "command": f"python -m experiments.search.hex_openings --seeds {options.seeds}"
            f" --episodes {options.episodes} --plays {play}",
        }
        rows.append(row)
        print(row["play"], row["right"], row["ranked"], flush=True)
        section.write(rows)


if __name__ == "__main__":
    end_in_a_line(main)
