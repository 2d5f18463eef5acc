"""The functions that a file needs of the rules, the drawing and the agents, of one position."""

from collections.abc import Iterable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxgbg.games import Game
from jaxgbg.games.game_replay import ply, words_of_chance
from jaxgbg.jaxprs import UnknownJaxpr
from jaxgbg.players import GreedyAgent
from jaxgbg.search.puct import PUCT
from jaxgbg.search.tree import Iteration
from jaxgbg.types import AnyArray, State
from jaxgbg.web.drawings import Drawing
from jaxgbg.web.export.compiler import Program, Unsupported
from jaxgbg.web.play.inference import values_of_all

_NO_SPOT = -1


def compile_game(game: Game, drawing: Drawing, agents: Mapping[str, GreedyAgent]) -> Program:
    """Compile the functions of a file, each of one position, and those of each agent.

    `start`, `look` and `ply` exist for every game, `unspawned` (the pieces before chance) and
    `chances` for games of chance. Every agent has `values`, those with values of states have
    `every` (one action's values for all players), and those that can search have `leaf`.

    Raises Unsupported if the game or an agent uses an operation without a translation.
    """
    program = Program()
    start_words = jax.ShapeDtypeStruct((game.init_words,), np.uint32)
    state = jax.eval_shape(game.init_from, start_words)
    action = jax.ShapeDtypeStruct((), np.int32)
    words = jax.ShapeDtypeStruct((words_of_chance(game),), np.uint32)
    if game.init_words:
        program.add("start", game.init_from, start_words)
    else:
        first = jax.device_get(game.init_from(jnp.zeros(0, jnp.uint32)))
        program.add("start", lambda none: first, start_words)
    program.add("look", lambda state: _facts(game, drawing, state), state)
    program.add(
        "ply", lambda state, action, words: ply(game, state, action, words), state, action, words
    )
    if game.stochastic:
        program.add(
            "unspawned", lambda *move: _kinds(game, drawing, game.afterstate(*move)), state, action
        )
    if game.stochastic and game.num_spawns:
        program.add(
            "chances",
            lambda state, action: game.spawn_probabilities(game.afterstate(state, action)),
            state,
            action,
        )
    for number, agent in enumerate(agents.values()):
        _add_agent(program, str(number), agent, state)
    return program


def weights_of(agent: GreedyAgent) -> list[np.ndarray]:
    """The leaves of an agent that are arguments of its functions; all others are constants."""
    leaves = jax.device_get(jax.tree.leaves(agent))
    return [leaf for leaf in leaves if leaf.dtype.kind == "f"]


def _add_agent(program: Program, suffix: str, agent: GreedyAgent, state: State) -> None:
    leaves, tree = jax.tree.flatten(agent)
    leaves = jax.device_get(leaves)

    def rebuilt(weights: list[AnyArray]) -> GreedyAgent:
        given = iter(weights)
        filled = [next(given) if leaf.dtype.kind == "f" else leaf for leaf in leaves]
        made: GreedyAgent = jax.tree.unflatten(tree, filled)
        return made

    weights = weights_of(agent)
    program.add(
        f"values{suffix}",
        lambda weights, state: rebuilt(weights).action_values(state),
        weights,
        state,
    )
    if agent.value.num_actions == 1:
        program.add(
            f"every{suffix}",
            lambda weights, state, action: values_of_all(rebuilt(weights), state, action[None]),
            weights,
            state,
            jax.ShapeDtypeStruct((), np.int32),
        )
    if not agent.game.stochastic:
        try:
            program.add(
                f"leaf{suffix}",
                lambda weights, state: _leaf(rebuilt(weights), state),
                weights,
                state,
            )
        except (Unsupported, UnknownJaxpr):
            # The agent plays without a search.
            return


def _leaf(agent: GreedyAgent, state: State) -> tuple[jax.Array, ...]:
    """What PUCT needs of a position without chance.

    (each player's reward so far plus V float32[N], priors float32[A] with -1 if illegal, player,
    rewards float32[N]).
    """
    params, bootstrap = agent.first
    search = PUCT(agent.game, agent.value, bootstrap=bootstrap)
    states = jax.tree.map(lambda leaf: leaf[None], state)
    no_keys, none = jnp.zeros((1, 2), jnp.uint32), jnp.int32(0)
    gains, lines = search.evaluate_positions(params, states, no_keys, Iteration(none, none))
    return gains[0], lines[0, -1], state.player, state.rewards


def _facts(game: Game, drawing: Drawing, state: State) -> tuple[jax.Array, ...]:
    """The facts of a state: int32[S], bool[A], int32[A], int32[A * T], int32[A] and more.

    (kinds of pieces, legal actions, of each action the spot, the spots to touch, the origin, and
    the words of its name int32[A * W], the state's player, terminal and rewards, who is still in).
    """
    board: AnyArray = game.display_cells(state)
    actions = range(game.num_actions)
    spots = [drawing.spot_of(board, action) for action in actions]
    touched = [
        list(drawing.touched_by(board, action)) if drawing.touched_by else [spots[action]]
        for action in actions
    ]
    most = max(map(len, touched))
    padded = [[*each, *[_NO_SPOT] * (most - len(each))] for each in touched]
    names = [drawing.name_of(board, action) for action in actions] if drawing.name_of else []
    return (
        _whole(drawing.kinds(board)),
        game.legal_actions(state),
        _whole(spots),
        _whole([spot for each in padded for spot in each]),
        _whole([drawing.origin_of(board, action) for action in actions]),
        _whole([index for each in names for index in each]),
        state.player,
        state.terminal,
        state.rewards,
        game.active(state),
    )


def _kinds(game: Game, drawing: Drawing, state: State) -> jax.Array:
    """int32[S]: the piece on each spot."""
    board: AnyArray = game.display_cells(state)
    return _whole(drawing.kinds(board))


def _whole(numbers: Iterable[ArrayLike]) -> jax.Array:
    """int32[...] of integers, some of them known only at run time."""
    each = [jnp.asarray(number).astype(jnp.int32) for number in numbers]
    return jnp.stack(each) if each else jnp.zeros(0, jnp.int32)
