"""Several n-tuple agents as one."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from jaxgbg.runs.storage.agents import SavedAgent
from jaxgbg.types import SettingValue
from jaxgbg.values import NTupleSpec
from jaxgbg.values.layouts import MOST_TUPLES, Layout


def ensemble(agents: Mapping[str, SavedAgent]) -> SavedAgent:
    """One agent with the n-tuples of all `agents`, whose sum of weights is the mean of theirs.

    What one training alone has got wrong counts less the more there are. `agents` go by the names
    that errors give them; settings, seed and variant are those of the first one, `members` tells of
    all. Raises ValueError for fewer than two agents, and for such as have no n-tuples, differ in
    what their values mean, or have too many n-tuples together.
    """
    if len(agents) < 2:
        raise ValueError("an ensemble is made of two agents or more")
    (first, meant), *others = [(name, _meaning(name, agent)) for name, agent in agents.items()]
    for name, meaning in others:
        for what, mine in meaning.items():
            if mine != meant[what]:
                raise ValueError(f"{name} and {first} do not go together: {what} differs")
    tables: dict[tuple[int, ...], np.ndarray] = {}
    for agent in agents.values():
        for cells, table in _tables(agent).items():
            # n-tuples that several have are looked up once.
            tables[cells] = tables.get(cells, 0) + table / np.float32(len(agents))
    if len(tables) > MOST_TUPLES:
        raise ValueError(f"{len(tables):,} n-tuples together; an agent has at most {MOST_TUPLES:,}")
    if len({len(cells) for cells in tables}) > 1 and meant["game"].stone_digits:
        raise ValueError(f"agents of {meant['game'].name} must have n-tuples of one length")
    one, spec = agents[first], agents[first].run.value
    assert isinstance(spec, NTupleSpec)
    value = dataclasses.replace(spec, layout=tuple(tables), walks=(0, 0), from_lines=False)
    return SavedAgent(
        dataclasses.replace(one.run, value=value),
        one.variant,
        np.concatenate([*tables.values()], axis=1).reshape(-1),
        tuple(f"{agent.run.digest} {agent.variant}" for agent in agents.values()),
    )


def _meaning(name: str, agent: SavedAgent) -> dict[str, SettingValue]:
    """The settings that must be equal if the values of two agents are summed."""
    run, value = agent.run, agent.run.value
    if not isinstance(value, NTupleSpec):
        raise ValueError(f"{name} has the value function {value.kind}, but ensembles need n-tuples")
    if agent.members:
        raise ValueError(f"{name} is an ensemble of {len(agent.members)}: name its members instead")
    return {
        "game": run.game,
        "what is valued, afterstates or actions": run.learner.of_actions,
        "discount": run.learner.discount,
        "loss_discount": run.learner.bootstrap.loss_discount,
        "terminal_value_zero": run.learner.terminal_value_zero,
        "symmetries": value.symmetries,
        "images": value.images,
        "sigmoid": value.sigmoid,
        "one_table": value.one_table,
        "stages": value.stages,
    }


def _tables(agent: SavedAgent) -> dict[tuple[int, ...], np.ndarray]:
    """The weights of each n-tuple, float32[players with tables * stages * actions, rows]."""
    game, value = agent.run.game, agent.run.value
    assert isinstance(value, NTupleSpec)
    layout: Layout = value.layout_of(game, agent.seed)
    actions = game.num_actions if agent.run.learner.of_actions else 1
    parts = len(value.owners(game)) * (len(value.stages) + 1) * actions
    weights = agent.weights.reshape(parts, -1)
    ends = np.cumsum([game.num_cell_values ** len(cells) for cells in layout])
    tables: dict[tuple[int, ...], np.ndarray] = {}
    for cells, table in zip(layout, np.split(weights, ends[:-1], axis=1), strict=True):
        tables[cells] = tables.get(cells, 0) + table
    return tables
