"""Speed of the rules alone: uniformly random play, ours and pgx's through the same loop."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxgbg.games import check_own, make
from jaxgbg.learners.selection import nth_true, uniform
from jaxgbg.types import PyTree

_PGX_NAMES = {
    "tictactoe": "tic_tac_toe",
    "connectfour": "connect_four",
    "othello": "othello",
    "2048": "2048",
}
_STEPS, _REPEATS = 64, 5


class RulesRow(NamedTuple):
    """Random moves/s of one game; those of pgx are None where it has no such game or is missing."""

    game: str
    batch: int
    moves_per_s: int
    pgx_moves_per_s: int | None
    times_pgx: float | None


class _Rules(NamedTuple):
    """What random play needs of a game."""

    begin: Callable[[jax.Array], PyTree]
    legal: Callable[[PyTree], jax.Array]
    step: Callable[[PyTree, jax.Array, jax.Array], PyTree]
    over: Callable[[PyTree], jax.Array]


def bench_rules(game: str, batch: int = 1024) -> RulesRow:
    """Median moves/s of `batch` games of random play, ours and pgx's by turns in one process."""
    ours = make(game)
    check_own(ours)
    contestants = [_Rules(ours.init, ours.legal_actions, ours.step, lambda state: state.terminal)]
    pgx_rules = _pgx(game)
    if pgx_rules is not None:
        contestants.append(pgx_rules)
    timers = [_timer(rules, batch) for rules in contestants]
    rates: list[list[float]] = [[] for _ in timers]
    for _ in range(_REPEATS):
        for timer, measured in zip(timers, rates, strict=True):
            measured.append(timer())
    medians = [statistics.median(measured) for measured in rates]
    theirs = medians[1] if len(medians) > 1 else None
    return RulesRow(
        game,
        batch,
        round(medians[0]),
        None if theirs is None else round(theirs),
        None if theirs is None else round(medians[0] / theirs, 2),
    )


def _pgx(game: str) -> _Rules | None:
    try:
        import pgx
    except ImportError:
        return None
    title = game.removeprefix("pgx:") if game.startswith("pgx:") else _PGX_NAMES.get(game)
    if title is None:
        return None
    environment = pgx.make(title)
    return _Rules(
        environment.init,
        lambda state: state.legal_action_mask,
        environment.step,
        lambda state: state.terminated | state.truncated,
    )


def _timer(rules: _Rules, batch: int) -> Callable[[], float]:
    """A function that plays on for a while and returns moves/s; a finished game starts again."""

    def one(state: PyTree, key: jax.Array) -> PyTree:
        choose, chance = jax.random.split(key)
        action = nth_true(rules.legal(state), uniform(jax.random.bits(choose, (), jnp.uint32)))
        after = rules.step(state, action, chance)
        fresh = rules.begin(chance)
        return jax.tree.map(lambda new, old: jnp.where(rules.over(after), new, old), fresh, after)

    def move(states: PyTree, key: jax.Array) -> tuple[PyTree, None]:
        return jax.vmap(one)(states, jax.random.split(key, batch)), None

    @jax.jit
    def play(states: PyTree, key: jax.Array) -> PyTree:
        return jax.lax.scan(move, states, jax.random.split(key, _STEPS))[0]

    states = jax.jit(jax.vmap(rules.begin))(jax.random.split(jax.random.key(0), batch))
    states = jax.block_until_ready(play(states, jax.random.key(1)))

    def timed() -> float:
        nonlocal states
        start = time.perf_counter()
        states = jax.block_until_ready(play(states, jax.random.key(2)))
        return batch * _STEPS / (time.perf_counter() - start)

    return timed
