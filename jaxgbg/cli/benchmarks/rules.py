"""Speed of the rules alone: uniformly random play, ours and pgx's through the same loop.

And OpenSpiel's through a loop in Python.
"""

import random
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxgbg.games import Game, check_own, make
from jaxgbg.learners.selection import nth_true, uniform
from jaxgbg.types import PyTree

_PGX_NAMES = {
    "tictactoe": "tic_tac_toe",
    "connectfour": "connect_four",
    "othello": "othello",
    "2048": "2048",
}
_STEPS, _REPEATS = 64, 5
# A timing of OpenSpiel ends with the first game that is over after so long.
_OPENSPIEL_SECONDS = 0.5


class RulesRow(NamedTuple):
    """Random moves/s of one game; those of others are None without such a game or package.

    A move of OpenSpiel's backgammon counts as the moves of checkers that it makes.
    """

    game: str
    batch: int
    moves_per_s: int
    pgx_moves_per_s: int | None
    times_pgx: float | None
    openspiel_moves_per_s: int | None
    times_openspiel: float | None


class _Rules(NamedTuple):
    """What random play needs of a game."""

    begin: Callable[[jax.Array], PyTree]
    legal: Callable[[PyTree], jax.Array]
    step: Callable[[PyTree, jax.Array, jax.Array], PyTree]
    over: Callable[[PyTree], jax.Array]


def bench_rules(game: str | Game, batch: int = 1024) -> RulesRow:
    """Median moves/s of `batch` games of random play, ours and others' by turns in one process."""
    ours = make(game) if isinstance(game, str) else game
    check_own(ours)
    rules = _Rules(ours.init, ours.legal_actions, ours.step, lambda state: state.terminal)
    pgx_rules, openspiel = _pgx(ours), openspiel_name(ours)
    timers = {"ours": _timer(rules, batch)}
    if pgx_rules is not None:
        timers["pgx"] = _timer(pgx_rules, batch)
    if openspiel is not None:
        timers["openspiel"] = _openspiel_timer(openspiel)
    rates: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(_REPEATS):
        for name, timer in timers.items():
            rates[name].append(timer())
    medians = {name: statistics.median(measured) for name, measured in rates.items()}

    def compared(name: str) -> tuple[int | None, float | None]:
        if name not in medians:
            return None, None
        return round(medians[name]), round(medians["ours"] / medians[name], 2)

    return RulesRow(
        ours.name, batch, round(medians["ours"]), *compared("pgx"), *compared("openspiel")
    )


def openspiel_games() -> dict[Game, str]:
    """Games of ours that OpenSpiel has too, with its names for them."""
    stars = make("chinese_checkers", rows=4, backward=True, goal="own", turns=200)
    names = {
        "tictactoe": "tic_tac_toe",
        "connectfour": "connect_four",
        "nim": "nim(pile_sizes=5;5;5,is_misere=False)",
        "hex": "hex(board_size=6)",
        "othello": "othello",
        "2048": "2048",
        "pig": "pig",
        "ewn": "einstein_wurfelt_nicht",
        "maedn": "maedn(players=2,twoPlayersOpposite=true)",
        "backgammon": "backgammon",
    }
    return {
        **{make(game): name for game, name in names.items()},
        make("backgammon", checkers=3): "backgammon(hyper_backgammon=true)",
        stars: "chinese_checkers(players=2,max_moves=200)",
    }


def openspiel_name(game: Game) -> str | None:
    """What OpenSpiel calls a game; None if it has no such game or is not installed."""
    import importlib.util

    if importlib.util.find_spec("pyspiel") is None:
        return None
    return openspiel_games().get(game)


def _pgx(game: Game) -> _Rules | None:
    try:
        import pgx
    except ImportError:
        return None
    package, _, title = game.name.rpartition(":")
    if package != "pgx":
        title = _PGX_NAMES.get(game.name, "") if game == make(game.name) else ""
    if not title:
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


def _openspiel_timer(name: str) -> Callable[[], float]:
    """A function that plays whole random games of OpenSpiel for a while and returns moves/s."""
    import pyspiel

    game, rng = pyspiel.load_game(name), random.Random(0)

    def timed() -> float:
        moves, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < _OPENSPIEL_SECONDS:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes, shares = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(outcomes, shares)[0])
                    continue
                action = rng.choice(state.legal_actions())
                moves += _checkers_moved(action) if name.startswith("backgammon") else 1
                state.apply_action(action)
        return moves / spent

    return timed


def _checkers_moved(action: int) -> int:
    """The moves of checkers in an action of OpenSpiel's backgammon, two digits to base 26."""
    passes = 25
    return max(1, (action % 26 != passes) + (action // 26 % 26 != passes))
