"""The n-tuples of an agent that read a board, and their weights."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxgbg.players import GreedyAgent
from jaxgbg.types import JSON, State
from jaxgbg.values.core import ValueFunction, observe_all
from jaxgbg.values.ntuple import NTuple
from jaxgbg.values.one_table import OneTable

_MOST = 200
_ABSENT = {
    "none": "none: its weights were learned without temporal coherence",
    "kept": "not known: agent files have no counters, only checkpoints of unfinished runs do",
}


class Counters(NamedTuple):
    """N and A of every weight, float32[R, 2], and their source, as text."""

    values: np.ndarray
    origin: str


def has_tuples(value: ValueFunction) -> bool:
    """Whether a value is a sum of n-tuple weights of the board only."""
    return isinstance(value, NTuple | OneTable) and value.num_actions == 1


def tuples_through(
    agent: GreedyAgent, states: State, cell: int, player: int, counters: Counters | None = None
) -> dict[str, JSON]:
    """The n-tuples, on all images of the board, that read `cell` when states[1] is evaluated.

    The greatest weights come first, at most 200; `hits` is the number of look-ups of the position
    that read the same weight. `n`, `a` and `factor` are its TCL counters N and A and |N| / A, None
    if they are unknown, and `counters` says why, or gives their source. Raises ValueError for an
    agent without n-tuples of the board, and for one that has diverged.
    """
    value = agent.value
    tables = value.tables if isinstance(value, OneTable) else value
    if not isinstance(tables, NTuple) or tables.num_actions > 1:
        raise ValueError("this agent has no n-tuples that evaluate a position")
    params, _ = agent.first
    board = observe_all(agent.game, value, states)[0]
    features, seat = value.features(params, board), jnp.int32(player)
    of_value = float(value.value(params, features, seat))
    places = list(range(len(board)))
    if isinstance(value, OneTable):
        features, seat = value.own(features, seat), value.owner_of(seat)
        places = value.rotations.cells[player].tolist()
    rows = np.asarray(tables.rows(features, seat))
    weights = np.asarray(tables.terms(params, jnp.asarray(rows)))
    if not np.isfinite([*weights, of_value]).all():
        raise ValueError("this agent has diverged: its weights are not finite")
    known = None if counters is None else counters.values[rows].tolist()
    hits = dict(zip(*(part.tolist() for part in np.unique(rows, return_counts=True)), strict=True))
    layout = np.asarray(params.tuples).tolist() if tables.varied else tables.tuples
    found = []
    for feature, (row, weight) in enumerate(zip(rows.tolist(), weights.tolist(), strict=True)):
        number, image = divmod(feature, tables.num_images)
        cells = [places[tables.symmetries[image][each]] for each in layout[number]]
        if cell in cells:
            read = {"tuple": number, "image": image, "cells": cells, "weight": round(weight, 5)}
            read |= {"digits": [int(board[each]) for each in cells], "hits": hits[row]}
            read |= {"n": None, "a": None, "factor": None}
            if known is not None:
                n, a = known[feature]
                read |= {"n": n, "a": a, "factor": abs(n) / a}
            found.append(read)
    through = sum(each["weight"] for each in found)
    found.sort(key=lambda each: -abs(each["weight"]))
    return {
        "player": player,
        "lookups": len(rows),
        "total": round(float(weights.sum()), 4),
        "value": of_value,
        "through": round(through, 4),
        "count": len(found),
        "counters": _ABSENT["none" if getattr(tables, "tcl", "none") == "none" else "kept"]
        if counters is None
        else counters.origin,
        "tuples": found[:_MOST],
    }
