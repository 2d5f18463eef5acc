"""The paper's Table 1: what to train, and whom the finished agents still have to meet."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp

from jaxgbg.players import GRHINO, GreedyAgent, GTPEngine, Player, make_player
from jaxgbg.training.agents import load_agent
from jaxgbg.training.config import Config, preset
from jaxgbg.training.store import RunFolder
from jaxgbg.training.train import Evaluation, evaluate

GAMES = ("2048", "tictactoe", "connectfour", "hex", "othello", "nim", "nim3p")
"""The games of the table, in its order."""

# Opponents too slow, or too far from every machine, to be met again and again while training.
FINAL_OPPONENTS = {"hex": ("mcts",), "othello": ("engine",), "nim3p": ("mcts-5000",)}


def table1_config(game: str, seeds: int, scale: float) -> Config:
    """The published run of `game` with `scale` times its episodes.

    It is evaluated as often as the published run, but a shortened one ten times at most.

    Raises ValueError for a game that is not in the table.
    """
    if game not in GAMES:
        raise ValueError(f"table1 has no row of {game!r}: choose among {', '.join(GAMES)}")
    if not scale > 0:
        raise ValueError(f"scale must be positive, not {scale}")
    published = preset(game)
    episodes = max(1, round(scale * published.episodes))
    eval_every = max(1, round(scale * published.eval_every))
    if scale < 1:
        eval_every = max(eval_every, -(-episodes // 10))
    return preset(game, seeds=tuple(range(seeds)), episodes=episodes, eval_every=eval_every)


def othello_engine(command: str | None) -> tuple[str, str] | None:
    """(name, command) of the engine that the Othello row is played against, None if there is none.

    `command` is the user's, e.g. Edax's; without it GRhino, where it is installed.
    """
    if command:
        name = Path(command.split()[0]).name.lower()
        return ("edax" if "edax" in name else name), command
    return ("grhino", GRHINO) if shutil.which(GRHINO.split()[0]) else None


def meet(
    folder: RunFolder,
    name: str,
    make: Callable[[], Player],
    on_evaluation: Callable[[Evaluation], None] = lambda _: None,
) -> None:
    """Let all agents of a finished run meet the player that `make` builds, unless they have.

    The evaluations join those of the run.
    """
    config = folder.config
    met = {(one.seed, one.farl) for one in folder.evaluations() if one.opponent == name}
    lanes = tuple(lane for lane in config.lanes if lane not in met)
    if not lanes:
        return
    saved = [
        load_agent(folder.path / "agents" / f"seed{seed}-{farl}.agent", config.game)
        for seed, farl in lanes
    ]
    learner = config.make_learner()
    value = learner.value
    params = [value.with_weights(agent.weights) for agent in saved]
    if value.varied:
        layouts = [jnp.asarray(config.layout(seed), jnp.int32) for seed, _ in lanes]
        params = [one._replace(tuples=own) for one, own in zip(params, layouts, strict=True)]
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *params)
    agents = GreedyAgent(learner.game, value, together, config.zero_terminal, several=True)
    player = make()
    try:
        key = jax.random.key(config.episodes)
        for found in evaluate(agents, name, player, config.episodes, lanes, key):
            folder.append(found)
            on_evaluation(found)
    finally:
        if isinstance(player, GTPEngine):
            player.close()


def meet_final_opponents(
    folder: RunFolder,
    engine: str | None,
    on_opponent: Callable[[str], None] = lambda _: None,
) -> None:
    """All of Table 1's opponents of a game that the finished run has not met yet."""
    game = folder.config.make_game()
    for opponent in FINAL_OPPONENTS.get(folder.config.game, ()):
        if opponent != "engine":
            on_opponent(opponent)
            meet(folder, opponent, partial(make_player, opponent, game))
            continue
        found = othello_engine(engine)
        if found is None:
            on_opponent("no engine for othello: install grhino, or name one with --engine")
            continue
        name, command = found
        on_opponent(name)
        meet(folder, name, partial(GTPEngine, game, command, name))
