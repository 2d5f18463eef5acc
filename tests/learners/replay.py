"""What the replays share: games with plain rules, lanes that differ in switches, transcripts."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxgbg
from jaxgbg.games import Game
from jaxgbg.learners import Hyperparameters, Learner, Schedule
from jaxgbg.values import Layout, NTuple, NTupleSpec
from tests.games.knockout import Knockout
from tests.reference import rules
from tests.reference.td_farl import SerialTDFarl

# Game, its plain rules, layout, step size. The layouts are small: the reference is slow.
CASES = {
    "tictactoe": (rules.TicTacToe(), ((0, 1, 2, 3, 4, 5, 6, 7, 8), (0, 4, 8)), 0.5),
    "nim": (rules.Nim(), ((0, 1, 2),), 0.5),
    "nim3p": (rules.Nim3P(), ((0, 1, 2), (0, 1, 2)), 0.2),
    "connectfour": (rules.ConnectFour(), ((0, 6, 12, 18), (7, 8, 9, 14), (20, 21, 27)), 0.5),
}
# Of games that are not shipped.
OTHERS = {
    "knockout": (rules.Knockout(2, 4), ((0, 1, 2), (1, 2)), 0.2),
    "shove": (rules.Knockout(2, 4, shoves=True), ((0, 1, 2), (1, 2)), 0.2),
}
# What the lanes of one program differ in: traced, so all of them are compiled once.
NAMES = ("final_others", "final_zero", "learn_from_random", "reset")


def case(name: str) -> tuple[Game, Any, Layout, float]:
    """A game with its entry in CASES or OTHERS."""
    if name in OTHERS:
        return Knockout(2, 4, shoves=name == "shove"), *OTHERS[name]
    return jaxgbg.make(name), *CASES[name]


def named(*switches: bool) -> dict[str, bool]:
    return dict(zip(NAMES, switches, strict=True))


def ntuple(game: Game, layout: Layout, of_actions: bool = False, **settings: Any) -> NTuple:
    """An n-tuple value function that joins updates by its rule, even those of one game."""
    return NTupleSpec(layout=layout, **settings).build(game, of_actions, batch=2)


def stack_hyperparameters(
    switches: list[dict[str, bool]], alpha: float, trace_decay: float, episodes: int
) -> Hyperparameters:
    def each(name: str) -> jax.Array:
        return jnp.array([lane[name] for lane in switches])

    lanes = len(switches)
    full = lambda number: jnp.full(lanes, number, jnp.float32)  # noqa: E731
    schedule = Schedule(episodes=episodes, alpha=alpha, alpha_end=alpha / 2)
    return Hyperparameters(
        episodes=jnp.full(lanes, episodes, jnp.uint32),
        alpha=full(alpha),
        alpha_factors=jnp.tile(schedule.alpha_factors, (lanes, 1)),
        epsilon=full(0.3),
        epsilon_end=full(0.1),
        epsilon_share=full(1.0),
        trace_decay=full(trace_decay),
        value={"beta": full(2.7)},
        discount=full(1.0),
        learn_from_random=each("learn_from_random"),
        final_others=each("final_others"),
        final_zero=each("final_zero"),
        terminal_value_zero=each("learn_from_random"),
        reset_traces=each("reset"),
        learn_from_partner=jnp.zeros(lanes, bool),
        rule={},
    )


def played(
    learner: Learner,
    hyper: Hyperparameters,
    lanes: int,
    episodes: int,
    partner: Any = None,
    weights: np.ndarray | None = None,
) -> tuple[Any, Any, Any]:
    """The lanes before and after so many episodes of training, and the record of it.

    The tables begin with `weights` float32[R], where given.
    """
    limit = jnp.full(lanes, episodes, jnp.uint32)
    keys = jax.random.split(jax.random.key(1), lanes)
    start = jax.vmap(lambda key: learner.init(key, None, partner))(keys)
    if weights is not None:
        shared = jnp.broadcast_to(weights, start.params.weights.shape)
        start = start._replace(params=start.params._replace(weights=shared))
    # A game is free, and begins the next episode, as long as there are any: the last to begin does
    # so when no game has been busy for longer than all others together.
    in_turn = episodes if learner.batch == 1 else -(-episodes // learner.batch) + 1
    ticks = in_turn * (learner.game.max_plies + learner.game.num_players) + 1
    advance = jax.jit(jax.vmap(lambda *arguments: learner.advance(*arguments, ticks=ticks)))
    after, record = advance(start, hyper, limit)
    assert (after.finished == episodes).all()
    return start, after, record


Transcript = tuple[list[int], list[tuple[int, int, bool]]]


def transcripts(record: Any, lane: int, game: int = 0) -> list[Transcript]:
    """The episodes of one game as (opening plies, [(foreseen, executed, was random)])."""
    seen = jax.tree.map(lambda leaf: np.asarray(leaf)[lane, :, game], record)
    episodes: list[Transcript] = []
    for tick in range(len(seen.moved)):
        if seen.moved[tick]:
            move = int(seen.foreseen[tick]), int(seen.action[tick]), bool(seen.random[tick])
            episodes[-1][1].append(move)
        if seen.started[tick]:
            episodes.append(([int(ply) for ply in seen.opening[tick] if ply >= 0], []))
    return episodes


def made(moves: list[tuple[int, int, bool]]) -> list[tuple[int, bool]]:
    """The moves without what was foreseen: all that a learner of afterstates needs."""
    return [move[1:] for move in moves]


class Choices:
    """The moves of a record that were not random, in the eyes of the reference.

    `lost`: by how much the move made is worse than the best one. `margins`: by how much the best
    one is better than the second best, infinite where there is one alone.
    """

    def __init__(self) -> None:
        self.lost: list[float] = []
        self.margins: list[float] = []

    def __call__(self, values: dict[int, float], made: int) -> None:
        best, second = sorted([*values.values(), -np.inf], reverse=True)[:2]
        self.lost.append(best - values[made])
        self.margins.append(best - second)

    def assert_best(self, rounding: float) -> None:
        """Every move made is a best one, and often enough there is no other."""
        assert max(self.lost) < rounding
        margins = np.array(self.margins)
        assert np.mean((margins > 100 * rounding) & np.isfinite(margins)) > 0.2


def set_tables(reference: SerialTDFarl, layout: Layout, weights: np.ndarray) -> None:
    """Put `weights`, in the order of NTupleParams, into the reference's tables."""
    sizes = [reference.game.num_cell_values ** len(cells) for cells in layout]
    rows = weights.reshape(len(reference.weights), sum(sizes))
    for tables, row in zip(reference.weights, rows, strict=True):
        for table, part in zip(tables, np.split(row, np.cumsum(sizes)[:-1]), strict=True):
            table[: len(part)] = part


def reference_tables(reference: SerialTDFarl, value: NTuple) -> tuple[np.ndarray, ...]:
    """The reference's tables in the order of NTupleParams."""
    digits = value.num_cell_values
    sizes = [digits ** len(cells) for cells in value.tuples]

    def flat(table: np.ndarray) -> np.ndarray:
        return np.concatenate([row[i, :n] for row in table for i, n in enumerate(sizes)])

    return flat(reference.weights), flat(reference.counters_n), flat(reference.counters_a)
