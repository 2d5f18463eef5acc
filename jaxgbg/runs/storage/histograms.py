"""Histograms of the weights of a run's agents, and of the coherence of their updates."""

from collections.abc import Mapping

import numpy as np

from jaxgbg.runs.run import LaneName
from jaxgbg.types import JSON, Params
from jaxgbg.values import ValueFunction

BINS = 50


def histograms(value: ValueFunction, agents: Mapping[LaneName, Params]) -> dict[str, JSON]:
    """Histograms of the active weights, those that are not 0, and of their TC factors |N| / A.

    `agents` are the parameters of each lane, on the host. Returns what `histograms.json` holds:
    "weights" and, with temporal coherence learning, "tc_factors", each with "edges" of its bins,
    the same for all agents, and "agents", one record each with its "counts".
    """
    weights = {lane: value.weights_of(params) for lane, params in agents.items()}
    content = {"weights": weight_histograms(weights)}
    factors = {lane: value.tc_factors(params) for lane, params in agents.items()}
    kept = {
        lane: each[_active(weights[lane])] for lane, each in factors.items() if each is not None
    }
    if kept:
        # |N| <= A but for rounding, which must not push a factor of 1 out of the last bin.
        edges = np.linspace(0, 1, BINS + 1)
        content["tc_factors"] = _histogram(
            edges, {lane: np.minimum(f, 1) for lane, f in kept.items()}
        )
    return content


def active_weights(content: Mapping[str, JSON]) -> list[int]:
    """The number of active weights of each agent, in the order of `histograms`."""
    return [sum(agent["counts"]) for agent in content["weights"]["agents"]]


def weight_histograms(weights: Mapping[LaneName, np.ndarray]) -> dict[str, JSON]:
    """Histograms of the active ones of float32[R] weights a lane, over one range for all lanes."""
    active = {lane: each[_active(each)] for lane, each in weights.items()}
    reach = max((float(np.abs(each).max()) for each in active.values() if each.size), default=0.0)
    edges = np.linspace(-(reach or 1.0), reach or 1.0, BINS + 1)
    return _histogram(edges, active)


def _active(weights: np.ndarray) -> np.ndarray:
    """bool[R]: not 0, and finite: a network may have diverged."""
    return (weights != 0) & np.isfinite(weights)


def _histogram(edges: np.ndarray, figures: Mapping[LaneName, np.ndarray]) -> dict[str, JSON]:
    # The range as two numbers lets NumPy place values without a search among the edges.
    span = (edges[0], edges[-1])
    return {
        "edges": edges.tolist(),
        "agents": [
            {
                "seed": seed,
                "variant": variant,
                "counts": np.histogram(each, BINS, span)[0].tolist(),
            }
            for (seed, variant), each in figures.items()
        ],
    }
