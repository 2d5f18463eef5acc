"""What an n-tuple agent reads on a board, and what stands there."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.players import GreedyAgent
from jaxgbg.values.core import ValueFunction
from jaxgbg.values.indices import Indices

_MOST = 200


def has_tuples(value: ValueFunction) -> bool:
    """Whether a value is a sum of weights of n-tuples on the board alone."""
    return isinstance(value, Indices) and value.num_actions == 1


def tuples_through(agent: GreedyAgent, states: Any, cell: int, player: int) -> dict[str, Any]:
    """The n-tuples, on all images of the board, that read `cell` when states[1] is valued.

    The greatest weights stand first, 200 at most; `hits` says how many look-ups of the position
    read the same weight. Raises ValueError for an agent without n-tuples of the board.
    """
    value = agent.value
    if not isinstance(value, Indices) or value.num_actions > 1:
        raise ValueError("this agent has no n-tuples that value a position")
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    board = jax.vmap(lambda state: value.observe(agent.game, state))(states)[0]
    rows = np.asarray(value.rows(value.features(params, board), jnp.int32(player)))
    weights = np.asarray(params.weights)[rows]
    factors = value.tc_factors(params)
    hits = dict(zip(*(part.tolist() for part in np.unique(rows, return_counts=True)), strict=True))
    layout = np.asarray(params.tuples).tolist() if value.varied else value.tuples
    found = []
    for feature, (row, weight) in enumerate(zip(rows.tolist(), weights.tolist(), strict=True)):
        number, image = divmod(feature, value.num_images)
        cells = [value.symmetries[image][each] for each in layout[number]]
        if cell in cells:
            told = {"tuple": number, "image": image, "cells": cells, "weight": round(weight, 5)}
            told |= {"digits": [int(board[each]) for each in cells], "hits": hits[row]}
            told["factor"] = None if factors is None else round(float(factors[row]), 4)
            found.append(told)
    through = sum(each["weight"] for each in found)
    found.sort(key=lambda each: -abs(each["weight"]))
    return {
        "player": player,
        "lookups": len(rows),
        "total": round(float(weights.sum()), 4),
        "value": float(value.value(params, value.features(params, board), jnp.int32(player))),
        "through": round(through, 4),
        "count": len(found),
        "tuples": found[:_MOST],
    }
