"""Do agents for three players do better than MCTS at equal time a move, in every seat?

    python -m experiments.n_players.equal_time [--labels "sim K6, 3 players" ...] [--out OUT]
    python -m experiments.n_players.equal_time --scale .001 --games 20 --ladder 1 4 --out OUT
    python -m experiments.n_players.equal_time --show    # kept figures

Agents of each game are trained with both parts of Final Adaptation. In each seat they, and MCTS in
their place, meet two MCTS players. A move takes the CPU time of this process for 256 games in step,
a game's share of it. The agents play greedily against MCTS with more and more iterations, until
they are no longer better in every seat; then with a tree search of their own values (PUCT) against
MCTS, both with the iterations for which a move takes the same time. Results are in
OUT/equal_time.json; what stands there is not made again.
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from experiments.farl_predictor.run import agents_of, opened
from experiments.n_players.run import SETTINGS, Setting
from experiments.search.speed import seconds
from experiments.shared import kept_results, make_rows_parser, measure_missing, welch_interval
from jaxgbg import Game, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import no_history, play
from jaxgbg.players import GreedyAgent, Player, search_player
from jaxgbg.results.statistics import mean_sem
from jaxgbg.search import SearchSpec

FILE = "equal_time.json"
LABELS = (
    "sim K6, 3 players",
    "nim, 3 players",
    "pig to 15, 3 players",
    "ewn 6x6, three stones, 3 players",
    "yavalath side 3, 3 players",
)
SEEDS = 2
IN_STEP, PLIES = 256, 5
"""Moves that are timed at once, and the random plies before them."""
LADDER = (1, 3, 10, 30, 100, 300, 1000)
"""Iterations of MCTS."""
FEW, MANY = 50, 200
"""Iterations by which the time of one is measured."""
# With a search of the agents, which takes long, so many times fewer games.
_FEWER = 5


def core_ms(player: Player, game: Game) -> float:
    """The median CPU time of a move with many games in step, a game's share of it."""
    states = opened(game, PLIES, IN_STEP, jax.random.key(7))
    live = int((~np.asarray(states.terminal)).sum())
    return 1000 * seconds(player, states)[1] / live


def searching(name: str, agent: GreedyAgent) -> Player:
    """The agent with a search of its values, or a search that has learned nothing."""
    spec = SearchSpec.parse(name)
    return search_player(spec, agent.game, agent if spec.with_agent else None)


def matched(kind: str, agent: GreedyAgent, ms: float) -> str:
    """The search of this kind with the iterations for which a move takes about `ms`."""
    few, many = (core_ms(searching(f"{kind}-{n}", agent), agent.game) for n in (FEW, MANY))
    iteration = (many - few) / (MANY - FEW)
    return f"{kind}-{max(1, round(FEW + (ms - few) / iteration))}"


def rewards(
    game: Game, player: Player, others: Player | None, games: int, opening: int = 0
) -> np.ndarray:
    """float64[seats, games]: of `player` in each seat, `others` in all others.

    Without `others` the player plays in all seats of the same games. Copies of it share the games,
    one after the other. Games begin `opening` random plies after the start.
    """
    count = game.num_players
    rows = np.zeros((1, count), int) if others is None else 1 - np.eye(count, dtype=int)
    seats = np.tile(np.repeat(rows, games // player.copies, 0), (player.copies, 1))
    start, moves = jax.random.split(jax.random.key(9))
    states = opened(game, opening, len(seats), start)
    players = [player] if others is None else [player, others]
    found = play(game, seats, players, states, no_history(len(seats)), moves)
    own = np.asarray(found, np.float64)[seats == 0]
    if others is None:
        return own.reshape(-1, count).T
    return own.reshape(player.copies, count, -1).swapaxes(0, 1).reshape(count, -1)


def welch(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Mean and 95% interval of the difference of the means of independent values."""
    own, other = mean_sem(first), mean_sem(second)
    interval = welch_interval(own, other, (len(first), len(second)))
    return [own[0] - other[0], *interval]


def more(own: np.ndarray, others: np.ndarray) -> list[float]:
    """The difference of the means of rewards [games], with its 95% interval.

    The difference alone if the games of each player are all equal: they bound nothing.
    """
    if np.ptp(own) == np.ptp(others) == 0:
        return [float(own[0] - others[0])]
    return welch([*own], [*others])


def match(agent: Player, mcts: Player, setting: Setting, games: int) -> dict[str, Any]:
    """The times of both, their mean rewards by seat, and the differences."""
    game = setting.game
    own = rewards(game, agent, mcts, games, setting.opening)
    others = rewards(game, mcts, None, games, setting.opening)
    return {
        "games": own.shape[1],
        "agent_core_ms": round(core_ms(agent, game), 5),
        "mcts_core_ms": round(core_ms(mcts, game), 5),
        "agent": own.mean(1).round(4).tolist(),
        "mcts": others.mean(1).round(4).tolist(),
        "more": [np.round(more(*pair), 4).tolist() for pair in zip(own, others, strict=True)],
    }


def is_better(found: dict[str, Any]) -> bool:
    """Whether the agents do better than MCTS in every seat, by the 95% intervals."""
    return all(ends and ends[0] > 0 for _, *ends in found["more"])


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Let agents and MCTS play: greedily up the ladder, and with a search at equal time."""
    run = dataclasses.replace(setting.run(options.scale, SEEDS), variants=("farl",))
    begun, used = time.perf_counter(), time.process_time()
    agent = agents_of(train(run, options.out / "runs"), "farl")
    trained_cpu, matches = time.process_time() - used, []

    def meet(play: str, player: Player, opponent: str, games: int) -> bool:
        found = match(player, searching(opponent, agent), setting, games)
        matches.append({"play": play, "opponent": opponent, **found})
        print(setting.label, matches[-1], flush=True)
        return is_better(matches[-1])

    for iterations in options.ladder:
        if not meet("greedy", agent, f"mcts-{iterations}", options.games):
            break
    search, opponent = (matched(kind, agent, options.ms) for kind in ("puct", "mcts"))
    meet(search, searching(search, agent), opponent, options.games // _FEWER)
    return {
        "label": setting.label,
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "matches": matches,
        "training_cpu_s": round(trained_cpu, 1),
        "cpu_s": round(time.process_time() - used, 1),
        "wall_s": round(time.perf_counter() - begun, 1),
    }


def shown(matches: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The greedy agents at equal time, the last step where they are better, the next; PUCT."""
    *ladder, searched = matches
    slower = [one["mcts_core_ms"] >= one["agent_core_ms"] for one in ladder]
    last = max((at for at, one in enumerate(ladder) if is_better(one)), default=0)
    steps = {slower.index(True) if True in slower else 0, last, last + 1}
    yield from (ladder[at] for at in sorted(steps) if at < len(ladder))
    yield searched


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """By seat: how much more the agents win than MCTS in their place, with the 95% interval."""
    yield "| game | agents play | against | ms: agent | ms: MCTS | seat 0 | seat 1 | seat 2 |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in sorted(results, key=lambda one: LABELS.index(one["label"])):
        for number, each in enumerate(shown(one["matches"])):
            names = one["label"] if number == 0 else "", each["play"], each["opponent"]
            times = (f"{each[who]:.3g}" for who in ("agent_core_ms", "mcts_core_ms"))
            seats = (
                f"{mean:+.2f}" + (" ({:+.2f} to {:+.2f})".format(*ends) if ends else "")
                for mean, *ends in each["more"]
            )
            yield f"| {' | '.join([*names, *times, *seats])} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_rows_parser(__file__, __doc__, LABELS)
    parser.add_argument("--scale", type=float, default=1.0, help="times the episodes")
    parser.add_argument("--games", type=int, default=1000, help="games from each seat")
    parser.add_argument("--ladder", type=int, nargs="+", default=LADDER, help="MCTS iterations")
    parser.add_argument("--ms", type=float, default=2.0, help="of a move by either search")
    options = parser.parse_args(arguments)
    if options.show:
        print("\n".join(table(kept_results(options.results / FILE))))
        return
    least = 2 * SEEDS * _FEWER
    if min(options.scale, options.ms, *options.ladder) <= 0 or options.games < least:
        parser.error(f"all numbers must be positive, and --games {least} or more")
    settings = {setting.label: setting for setting in SETTINGS}
    measure_missing(
        options.out / FILE,
        "label",
        {label: partial(measured, settings[label], options) for label in options.labels},
    )


if __name__ == "__main__":
    end_in_a_line(main)
