"""Choosing among actions by the value of their afterstates."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxgbg.games.core import Game, scrambled
from jaxgbg.types import Params, PyTree, State, StateT
from jaxgbg.values.core import (
    BatchedPlacements,
    IncrementalByCells,
    IncrementalByPattern,
    ValueFunction,
)
from jaxgbg.values.indices import look_up
from jaxgbg.xla import materialize

# With more actions than this, those that are not legal are left out of the evaluation.
_FEW_ACTIONS = 16
_PAIRS_A_GAME = 3
# Up to so many words of a mask XLA may repeat the search for a bit wherever its place is read.
_FEW_WORDS = 2
# The name of an axis of lanes, under which they are mapped together.
LANE = "lane"
# Of numbers near the end of float32 there would be nothing left to choose by.
_LEAST = 1e-9


class BootstrapRule(NamedTuple):
    """How V of an afterstate counts when a move is chosen: numbers, or arrays of several agents.

    `discount` (gamma) multiplies it, or `loss_discount` one below 0, if there is such; that of a
    terminal afterstate is 0 if `terminal_value_zero`. No values of actions are changed.
    """

    terminal_value_zero: ArrayLike = True
    discount: ArrayLike = 1.0
    loss_discount: ArrayLike | None = None

    def discounted(self, values: jax.Array) -> jax.Array:
        """`values` float32[...] as they count one move earlier."""
        gamma = self.discount
        if self.loss_discount is not None:
            gamma = jnp.where(values < 0, self.loss_discount, gamma)
        return cast(jax.Array, gamma * values)


# Nothing is discounted, and the end of a game is worth its rewards alone.
UNDISCOUNTED = BootstrapRule()


def uniform(word: jax.Array) -> jax.Array:
    """float32 in [0, 1) from the upper 24 bits of uint32 `word`."""
    return (word >> 8).astype(jnp.float32) * np.float32(2**-24)


def action_values(
    game: Game,
    value: ValueFunction,
    params: Params,
    states: State,
    features: jax.Array,
    valuation: BootstrapRule,
    asked: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """The value q of each action for the player to move, and V(afterstate | player).

    States [B] -> (q float32[B, A], V float32[B, A]). q = the player's reward in this move +
    gamma * V, as `valuation` says; V is not discounted. If `value` is one of actions, both are
    Q(state, action | player). What stands for illegal actions is of no use: mask them. `features`
    int32[B, F] are those of the states' boards. `asked` bool[B, A] are the legal actions that
    matter: where `leaves_out` says so only those are evaluated. V is 0 for a player who leaves by
    its move while others play on.
    """
    if value.num_actions > 1:
        q = value.action_values(params, features, states.player)
        return q, q
    if leaves_out(game, value):
        if asked is None:
            asked = jax.vmap(game.legal_actions)(states)
        evaluate = _of_active(game, states, _evaluating(game, value, params, states, features))
        reward, over, values = score_actions(game, states, asked, evaluate)
    else:
        reward, over = jax.vmap(game.outcomes)(states)
        values = _of_all_actions(game, value, params, states, features)
        if game.eliminates:
            values = jnp.where(jax.vmap(partial(_leaves, game))(states), 0.0, values)
    counted = jnp.where(over & valuation.terminal_value_zero, 0.0, values)
    return reward + valuation.discounted(counted), values


def _of_active(
    game: Game, states: State, evaluate: Callable[[jax.Array, jax.Array, State], jax.Array]
) -> Callable[[jax.Array, jax.Array, State], jax.Array]:
    """`evaluate`, and 0 for whoever has left by its move while others play on."""
    if not game.eliminates:
        return evaluate

    def look(row: jax.Array, action: jax.Array, after: State) -> jax.Array:
        left = jax.vmap(partial(_has_left, game))(after, states.player[row])
        return jnp.where(left, 0.0, evaluate(row, action, after))

    return look


def _has_left(game: Game, after: State, player: jax.Array) -> jax.Array:
    return ~after.terminal & ~game.active(after)[player]


def _leaves(game: Game, state: State) -> jax.Array:
    """bool[A]: by which actions the player to move leaves while others play on."""
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    after = jax.vmap(game.afterstate, (None, 0))(state, actions)
    return jax.vmap(partial(_has_left, game), (0, None))(after, state.player)


def _evaluating(
    game: Game, value: ValueFunction, params: Params, states: State, features: jax.Array
) -> Callable[[jax.Array, jax.Array, State], jax.Array]:
    """What `score_actions` asks: V of the afterstates for whoever moved."""
    if game.most_altered and isinstance(value, IncrementalByCells):
        accumulator = value.accumulator(params, features, states.player)

        def follow(row: jax.Array, action: jax.Array, after: State) -> jax.Array:
            state, before = jax.tree.map(lambda leaf: leaf[row], (states, accumulator))
            altered = jax.vmap(game.altered)(state, action)
            seen = jax.vmap(partial(value.observe, game))(after)
            return value.value_incremental(params, before, state.player, altered, seen)

        return follow

    def look(row: jax.Array, action: jax.Array, after: State) -> jax.Array:
        del action
        boards = value.features(params, jax.vmap(partial(value.observe, game))(after))
        return value.value(params, boards, states.player[row])

    return look


def leaves_out(game: Game, value: ValueFunction) -> bool:
    """Whether `action_values` takes less time the fewer actions matter."""
    all_at_once = value.num_actions > 1 or isinstance(
        value, BatchedPlacements | IncrementalByPattern
    )
    return not all_at_once and game.num_actions > _FEW_ACTIONS


def _of_all_actions(
    game: Game, value: ValueFunction, params: Params, states: State, features: jax.Array
) -> jax.Array:
    """V float32[B, A] of all afterstates."""
    if isinstance(value, BatchedPlacements):
        return value.values_with_stone(params, features, states.player)
    every_action = jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None))
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    if isinstance(value, IncrementalByPattern):
        changes = jax.vmap(jax.vmap(game.change, (None, 0)), (0, None))(states, actions)
        return jax.vmap(value.values_after, (None, 0, 0, 0))(
            params, features, changes, states.player
        )
    after = every_action(states, actions)
    boards = value.features(params, jax.vmap(jax.vmap(partial(value.observe, game)))(after))
    player = jnp.broadcast_to(states.player[:, None], boards.shape[:2])
    return value.value(params, boards, player)


def score_actions(
    game: Game[StateT],
    states: StateT,
    asked: jax.Array,
    evaluate: Callable[[jax.Array, jax.Array, StateT], jax.Array],
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(reward, over, score) [B, A] of the legal actions `asked` bool[B, A]; zeros elsewhere.

    `evaluate(rows int32[P], actions int32[P], afterstates[P])` gives float32[P]. Only what is asked
    is made: most squares of a board are illegal most of the time, and no two games have equally
    many moves. Of a state told as terminal, whatever its board, nothing is.
    """

    def visit(
        source: jax.Array, action: jax.Array, real: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        del real
        state = jax.tree.map(lambda leaf: leaf[source], states)
        after = jax.vmap(game.afterstate)(state, action)
        scores = evaluate(source, action, after)
        gain = jax.vmap(lambda new, old, player: (new - old)[player])(
            after.rewards, state.rewards, state.player
        )
        return gain, after.terminal, scores

    asked = asked & ~states.terminal[:, None]
    scored: tuple[jax.Array, jax.Array, jax.Array] = visit_pairs(
        asked, visit, _PAIRS_A_GAME * states.terminal.shape[0]
    )
    return scored


def visit_pairs(
    mask: jax.Array, visit: Callable[[jax.Array, jax.Array, jax.Array], PyTree], portion: int
) -> PyTree:
    """What `visit` gives for each True entry of bool[B, M]: leaves [B, M, ...], zeros elsewhere.

    `visit(row int32[P], column int32[P], real bool[P])` gives leaves [P, ...]. All entries are
    numbered through and visited in portions of P = `portion`, in a loop that ends with the last of
    them; what is not `real` lies beyond it and its results go nowhere.
    """
    # Traced once for its shapes and for the loop: visits within visits would double at each level.
    visit = jax.jit(visit, inline=True)
    batch, columns = mask.shape
    words = jax.vmap(pack)(mask)
    counts = jax.lax.population_count(words).sum(1).astype(jnp.int32)
    ends = jnp.cumsum(counts)
    last = most_of_lanes(ends[-1])

    def some(carry: tuple[jax.Array, PyTree]) -> tuple[jax.Array, PyTree]:
        first, results = carry
        number = first + jnp.arange(portion, dtype=jnp.int32)
        row = jnp.minimum(_passed(ends, number), batch - 1)
        rank = number - look_up(ends - counts, row)
        # Otherwise XLA computes the pair again for every array that uses it.
        row, column = materialize(row, jax.vmap(_nth_bit)(words[row], rank))
        real = number < ends[-1]
        visited = visit(row, column, real)
        place = jnp.where(real, row * columns + column, batch * columns)
        results = jax.tree.map(
            lambda all_, new: all_.at[place].set(new, mode="drop"), results, visited
        )
        return first + portion, results

    numbers = jax.ShapeDtypeStruct((portion,), jnp.int32)
    shapes = jax.eval_shape(visit, numbers, numbers, jax.ShapeDtypeStruct((portion,), bool))
    nothing = jax.tree.map(
        lambda shape: jnp.zeros((batch * columns, *shape.shape[1:]), shape.dtype), shapes
    )
    start = (jnp.int32(0), nothing)
    _, results = jax.lax.while_loop(lambda carry: carry[0] < last, some, start)
    return jax.tree.map(lambda leaf: leaf.reshape(batch, columns, *leaf.shape[1:]), results)


def _passed(ends: jax.Array, number: jax.Array) -> jax.Array:
    """int32[P]: how many of `ends` int32[B], in rising order, are at most each `number` int32[P].

    By halving, which is faster than to compare with all of them; `jnp.searchsorted` is as fast, but
    a loop to whoever compiles the trace.
    """
    steps = [1 << bit for bit in reversed(range(ends.size.bit_length()))]
    padded = jnp.pad(ends, (0, 2 * steps[0] - ends.size), constant_values=np.iinfo(np.int32).max)
    passed = jnp.zeros_like(number)
    for step in steps:
        passed += jnp.where(look_up(padded, passed + step - 1) <= number, step, 0)
    return passed


def most_of_lanes(count: jax.Array) -> jax.Array:
    """The greatest `count` int32[] of all lanes, the same number in each of them.

    What a loop ends by: were each lane to end its own, all it carries would be copied every round.
    """
    try:
        return jax.lax.pmax(count, LANE)
    except NameError:
        # Nothing is mapped under that name: there is one.
        return count


def choose_action(q: jax.Array, legal: jax.Array, draw: jax.Array) -> jax.Array:
    """A best legal action, int32[], ties broken uniformly by `draw` in [0, 1).

    `q` float32[A], `legal` bool[A]; 0 without a legal action. What is not a number is worst, so
    that a game goes on to its end with a network that has diverged.
    """
    q = jnp.where(legal & ~jnp.isnan(q), q, -jnp.inf)
    return nth_true((q == q.max()) & legal, draw)


def check_ranks(ranks: tuple[float, ...]) -> tuple[float, ...]:
    """`ranks` if they are probabilities of the best, the second best ... move, or none at all.

    They need not sum to 1. Raises ValueError for others.
    """
    if ranks and not (all(0 <= share < np.inf for share in ranks) and max(ranks) >= _LEAST):
        text = " ".join(f"{share:g}" for share in ranks)
        raise ValueError(
            f"ranks must be probabilities, the greatest of them at least {_LEAST:g}, not {text}"
        )
    return ranks


def choose_ranked(
    q: jax.Array, legal: jax.Array, words: jax.Array, ranks: tuple[float, ...]
) -> jax.Array:
    """The best, the second best ... legal action with probabilities `ranks`, int32[].

    `q` float32[A], `legal` bool[A], `words` uint32[2]. With fewer moves than ranks the first ranks
    share all of the probability, or the best move has it where they have none; equal values stand
    in random order. 0 without a legal action.
    """
    drawn = scrambled(words, len(ranks) + 1)
    there = np.arange(len(ranks)) < legal.sum()
    ends = jnp.cumsum(jnp.where(there, np.array(ranks, np.float32), 0.0))
    # Without any probability all ends are 0, and the first rank is as good as any.
    place = jnp.where(ends[-1] > 0, (ends <= uniform(drawn[0]) * ends[-1]).sum(), 0)
    chosen = jnp.int32(0)
    for rank in range(len(ranks)):
        action = choose_action(q, legal, uniform(drawn[rank + 1]))
        chosen = jnp.where(place == rank, action, chosen)
        legal = legal & (jnp.arange(legal.size) != action)
    return chosen


def choose_softly(
    q: jax.Array, legal: jax.Array, words: jax.Array, temperature: float
) -> jax.Array:
    """A legal action, int32[], with probabilities in proportion to exp(q / temperature).

    `q` float32[A], `legal` bool[A], `words` uint32[2], `temperature` above 0 in the units of `q`.
    Drawn as the greatest of the values with Gumbel noise. 0 without a legal action.
    """
    # Not 0, whose logarithm has no end.
    drawn = jnp.maximum(uniform(scrambled(words, q.size)), 2.0**-24)
    return choose_action(q - temperature * jnp.log(-jnp.log(drawn)), legal, uniform(words[1]))


@jax.jit
def choose_uniformly(mask: jax.Array, key: jax.Array) -> jax.Array:
    """One True entry of every row, each with the same probability; 0 where a row has none.

    mask bool[B, A] -> int32[B].
    """
    return jax.vmap(nth_true)(mask, jax.random.uniform(key, mask.shape[:1], jnp.float32))


def nth_true(mask: jax.Array, draw: jax.Array) -> jax.Array:
    """Index int32[] of the floor(draw * count)-th True entry of bool[A], draw in [0, 1).

    0 without a True entry: what every chooser falls back to. The mask is packed into words of 32
    bits and halved by counting bits: a cumulative sum over so short an axis costs XLA several times
    as much.
    """
    words = pack(mask)
    total = jax.lax.population_count(words).sum().astype(jnp.int32)
    # draw < 1, but its product with the count may round up to the count.
    rank = jnp.minimum((draw * total).astype(jnp.int32), total - 1)
    index = jnp.minimum(_nth_bit(words, rank), mask.shape[-1] - 1)
    if words.shape[0] <= _FEW_WORDS:
        return index
    # Otherwise XLA repeats the search through the words in every kernel that reads the index: a
    # move of Lines of Action has twenty of them, which took most of its compile time.
    return materialize(index)[0]


def pack(mask: jax.Array) -> jax.Array:
    """uint32[ceil(A / 32)]: the bits of bool[A], lowest first."""
    packed = []
    for first in range(0, mask.shape[-1], 32):
        part = mask[first : first + 32]
        packed.append((part.astype(jnp.uint32) << np.arange(part.size, dtype=np.uint32)).sum())
    return jnp.stack(packed)


def _nth_bit(words: jax.Array, rank: jax.Array) -> jax.Array:
    """Place int32[] of the set bit before which there are `rank` int32[] others."""
    counts = jax.lax.population_count(words).astype(jnp.int32)
    # Each step compares the untouched `rank` with a running sum. Were `rank` itself reduced step by
    # step, LLVM (jaxlib 0.11 and newer) would take time exponential in the number of words.
    word, place, before, end = words[0], jnp.int32(0), jnp.int32(0), counts[0]
    for number in range(1, words.shape[0]):
        beyond = rank >= end
        word = jnp.where(beyond, words[number], word)
        place = jnp.where(beyond, 32 * number, place)
        before = jnp.where(beyond, end, before)
        end = end + counts[number]
    rank = rank - before
    for width in (16, 8, 4, 2, 1):
        below = jax.lax.population_count(word & jnp.uint32((1 << width) - 1)).astype(jnp.int32)
        beyond = rank >= below
        rank = jnp.where(beyond, rank - below, rank)
        word = jnp.where(beyond, word >> width, word)
        place = place + jnp.where(beyond, width, 0)
    return place
