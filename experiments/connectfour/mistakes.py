"""Where agents of `matches` give away a won game against AB-DL: the ply of the first such move.

    python -m experiments.connectfour.mistakes --condition "140 from lines" --seeds 0

A thousand games from the empty board, moving first by the mean weights, each of the agent's moves
held against exact play. Trains what is missing, as `matches` does, and adds to results.json next to
this file.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.connectfour.matches import asked, trained
from experiments.connectfour.run import add, knows, run_of
from experiments.shared import Section, make_parser
from jaxgbg import RunFolder, make
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.players import Player
from jaxgbg.players.alphabeta import ILLEGAL, AlphaBeta
from jaxgbg.runs.devices import prepare_jax

GAMES = 1000


def games(first: Player, second: Player) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """The states before every ply [T][B], the moves int[T, B], and player 0's rewards int[B]."""
    game = make("connectfour")
    step = jax.jit(jax.vmap(game.afterstate))
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), GAMES))
    before: list[Any] = []
    moves: list[np.ndarray] = []
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


def given_away(agent: Player) -> dict[str, Any]:
    """How the games of an agent end, and where those that are not won were given away."""
    before, moves, rewards = games(agent, AlphaBeta(distant_losses=True))
    plies = first_mistakes(before, moves)
    numbers, counts = np.unique(plies[plies >= 0], return_counts=True)
    return {
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


def record_of(folder: RunFolder, condition: str) -> dict[str, Any]:
    """What is given away by the mean weights of one network."""
    run = folder.run
    (lane,) = run.lanes
    about = {"condition": condition, "seed": lane.seed, "episodes": run.schedule.episodes}
    return {**about, "config": run.digest, **given_away(folder.agents((lane.mean,)))}


def told(row: dict[str, Any]) -> str:
    """First mistakes by ply, in words."""
    by_ply = row["first mistakes by ply"].items()
    return ", ".join(f"{count} at {ply}" for ply, count in by_ply) or "none"


def table_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """An agent a line of Markdown."""
    head = ["condition", "episodes", "seed", "won-drawn-lost", "different games"]
    head += ["positions of first mistakes", "games that they cost, by ply"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        cells = [row["condition"], f"{row['episodes']:,}", str(row["seed"])]
        cells += ["{wins}-{draws}-{losses}".format(**row), str(row["different games"])]
        cells += [str(row["different positions of them"])]
        cells += [told(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    options = asked(make_parser(__file__, __doc__), arguments)
    prepare_jax()
    section = Section(options.results, "mistakes")
    for seed in options.seeds:
        run = run_of(options.condition, seed, options.episodes)
        if not knows(section, run.digest):
            row = record_of(trained(run, options), options.condition)
            add(section, row)
            print(table_of([row])[-1], flush=True)
    print("\n".join(table_of(section.read())))


if __name__ == "__main__":
    end_in_a_line(main)
