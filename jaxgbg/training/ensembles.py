"""Several n-tuple agents as one."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxgbg.training.agents import SavedAgent
from jaxgbg.values import NTupleSpec


def ensemble(agents: Sequence[SavedAgent]) -> SavedAgent:
    """One agent with the n-tuples of all `agents`, whose sum of weights is the mean of theirs.

    What one training alone has got wrong counts less the more there are. Settings, seed and
    variant are those of the first agent. Raises ValueError for fewer than two agents, and for such
    as have no n-tuples or differ in what their values mean.
    """
    if len(agents) < 2:
        raise ValueError("an ensemble is made of two agents or more")
    first = agents[0]
    specs = [_ntuples(agent) for agent in agents]
    for number, agent in enumerate(agents[1:], 2):
        if _meaning(agent) != _meaning(first):
            raise ValueError(
                f"agent 1 and agent {number} of an ensemble differ in game, learner, discount"
                " or sigmoid"
            )
    layout = tuple(
        cells
        for spec, agent in zip(specs, agents, strict=True)
        for cells in spec.layout_of(agent.run.game, agent.seed)
    )
    value = dataclasses.replace(specs[0], layout=layout, walks=(0, 0), from_lines=False)
    run = dataclasses.replace(first.run, value=value)
    return SavedAgent(run, first.variant, _joined(agents) / np.float32(len(agents)))


def _ntuples(agent: SavedAgent) -> NTupleSpec:
    if not isinstance(agent.run.value, NTupleSpec):
        raise ValueError(f"an ensemble is made of n-tuples, not of {agent.run.value.kind}")
    return agent.run.value


def _meaning(agent: SavedAgent) -> tuple[object, ...]:
    """What has to be the same if values of two agents are to be added up."""
    run, learner = agent.run, agent.run.learner
    return (run.game, learner.of_actions, learner.valuation, _ntuples(agent).sigmoid)


def _joined(agents: Sequence[SavedAgent]) -> np.ndarray:
    """float32[R]: the weights of all, for each player and action one agent's after the other's."""
    game = agents[0].run.game
    tables = game.num_players
    if agents[0].run.learner.of_actions:
        tables *= game.num_actions
    rows = [agent.weights.reshape(tables, -1) for agent in agents]
    return np.concatenate(rows, axis=1).reshape(-1)
