"""Tables to play at in tests: small games, and agents whose weights are drawn."""

import jax.numpy as jnp
import numpy as np

from jaxgbg.games import Game, make
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.presets import preset
from jaxgbg.web.play.table import Table


def drawn_agent(game: Game, seed: int = 0, **changes) -> GreedyAgent:
    """An n-tuple agent whose weights are random numbers."""
    run = preset(game, seeds=(0,), **changes)
    learner = run.make_learner()
    random = np.random.default_rng(seed)
    weights = random.normal(0, 0.1, learner.value.num_weights).astype(np.float32)
    params = learner.value.with_weights(jnp.asarray(weights), run.value.drawn(game, 0))
    return GreedyAgent(game, learner.value, params)


def table_of(name: str, agent: bool = True, **parameters) -> Table:
    """A table of one game, with an agent if asked for."""
    game = make(name, **parameters)
    return Table(game, {"drawn": drawn_agent(game)} if agent else {})
