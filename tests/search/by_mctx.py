"""DeepMind's mctx as a yardstick of PUCT: the tree is mctx's own, its model the true game.

What a position is worth and the prior of its moves come from the search under test. Where the two
differ otherwise, and what is done about it:

- mctx knows one value of a position, of which the opponent gets the negative; our players have each
  his own. `visits_of_both` sends both up its tree, as one complex number.
- mctx counts the making of a node among its visits: its exploration grows by sqrt(1 + sum of N),
  the paper's by sqrt(sum of N + 1e-8). `_score` adds the difference to Q, unless it is asked for
  mctx's own. A node's first move goes by the prior in either.
- mctx masks illegal moves at the root alone, and goes on below the end of a game, where nothing
  more is paid. `_score` masks them everywhere.
- mctx breaks ties by noise of up to 1e-7. All scores are multiplied by a power of two, next to
  which the noise is rounded away; the first of equal moves is taken, as in ours.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import numpy as np

from jaxgbg.search.puct import PUCT
from jaxgbg.search.tree import Iteration, Leaves

_SCALE = np.float32(2**20)
# So great that the logarithm in mctx's exploration is 0.
_BASE = 1e30
# The logit of an illegal action, as in `mctx`; whatever is legal has a greater one.
_LEAST, _TINY = np.finfo(np.float32).min, np.finfo(np.float32).tiny
Worth = Callable[[jax.Array, jax.Array], jax.Array]


def visits_of_both(
    search: PUCT, params: Any, states: Any, iterations: int, corrected: bool = True
) -> jax.Array:
    """Visits int32[B, A] by `mctx.search` from states[B] of two players, none of them over."""
    root = _root(search, params, states, _as_complex)
    choose = partial(mctx.muzero_action_selection, **_formula(search, corrected))
    tree = mctx.search(
        params,
        jax.random.key(0),
        root=root,
        recurrent_fn=partial(_step_of_both, search),
        root_action_selection_fn=partial(choose, depth=0),
        interior_action_selection_fn=choose,
        num_simulations=iterations,
        invalid_actions=root.prior_logits == _LEAST,
    )
    return tree.children_visits[:, mctx.Tree.ROOT_INDEX]


def visits_by_policy(
    search: PUCT, params: Any, states: Any, iterations: int, corrected: bool = True
) -> jax.Array:
    """The same by `mctx.muzero_policy`, which knows the value for whoever is to move alone."""
    root = _root(search, params, states, _of_mover)
    output = mctx.muzero_policy(
        params,
        jax.random.key(0),
        root,
        partial(_step_of_mover, search),
        iterations,
        invalid_actions=root.prior_logits == _LEAST,
        dirichlet_fraction=0.0,
        **_formula(search, corrected),
    )
    return output.search_tree.children_visits[:, mctx.Tree.ROOT_INDEX]


def _formula(search: PUCT, corrected: bool) -> dict[str, Any]:
    """How mctx scores the actions of a node."""
    return {
        "pb_c_init": _SCALE * np.float32(search.settings.exploration),
        "pb_c_base": _BASE,
        "qtransform": partial(_score, search, corrected),
    }


def _score(search: PUCT, corrected: bool, tree: Any, node: jax.Array) -> jax.Array:
    """float32[A]: Q of the actions of one node, and what is missing in mctx's exploration."""
    visits, prior = tree.children_visits[node], jax.nn.softmax(tree.children_prior_logits[node])
    q, total = tree.qvalues(node), visits.sum()
    if jnp.iscomplexobj(q):
        q = jnp.where(tree.embeddings.player[node] == 0, q.real, q.imag)
    q = jnp.where(visits > 0, q, search.settings.unvisited)
    if corrected:
        more = jnp.where(total > 0, jnp.sqrt(total) - jnp.sqrt(total + 1), 0.0)
        q += search.settings.exploration * prior * more / (1 + visits)
    legal = tree.children_prior_logits[node] > _LEAST
    return jnp.where(legal, _SCALE * q, -jnp.inf)


def _root(search: PUCT, params: Any, states: Any, worth: Worth) -> mctx.RootFnOutput:
    logits, values = _valued(search, params, states)
    return mctx.RootFnOutput(
        prior_logits=logits, value=worth(values, states.player), embedding=states
    )


def _step_of_both(
    search: PUCT, params: Any, key: jax.Array, action: jax.Array, states: Any
) -> tuple[mctx.RecurrentFnOutput, Any]:
    """The true game, with what both players get."""
    del key
    after = jax.vmap(search.game.afterstate)(states, action)
    logits, values = _valued(search, params, after)
    value = _as_complex(values, after.player)
    output = mctx.RecurrentFnOutput(
        reward=_as_complex(after.rewards - states.rewards, after.player),
        discount=jnp.ones_like(value),
        prior_logits=logits,
        value=value,
    )
    return output, after


def _step_of_mover(
    search: PUCT, params: Any, key: jax.Array, action: jax.Array, states: Any
) -> tuple[mctx.RecurrentFnOutput, Any]:
    """The true game, as whoever moves sees it: what the other gets counts as lost."""
    del key
    after = jax.vmap(search.game.afterstate)(states, action)
    logits, values = _valued(search, params, after)
    sign = jnp.where(after.player == states.player, 1.0, -1.0)
    output = mctx.RecurrentFnOutput(
        reward=_of_mover(after.rewards - states.rewards, states.player),
        discount=jnp.where(after.terminal, 0.0, sign),
        prior_logits=logits,
        value=_of_mover(values, after.player),
    )
    return output, after


def _valued(search: PUCT, params: Any, states: Any) -> tuple[jax.Array, jax.Array]:
    """(logits float32[B, A] of the prior, values float32[B, 2] from there on)."""
    nowhere = jnp.zeros((0, len(states.terminal)), jnp.int32)
    leaves = Leaves(states, *[nowhere] * 7)
    nothing = jnp.zeros((0,), jnp.uint32)
    gains, lines = search.evaluate(
        params, leaves, nothing, Iteration(jnp.int32(0), jnp.int32(0)), nothing
    )
    prior = lines[:, -1]
    logits = jnp.where(prior < 0, _LEAST, jnp.log(jnp.maximum(prior, _TINY)))
    return logits, gains - states.rewards


def _as_complex(values: jax.Array, player: jax.Array) -> jax.Array:
    del player
    return jax.lax.complex(values[:, 0], values[:, 1])


def _of_mover(values: jax.Array, player: jax.Array) -> jax.Array:
    return jnp.take_along_axis(values, player[:, None].astype(jnp.int32), 1)[:, 0]
