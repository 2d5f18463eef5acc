"""What tests of searches share: agents with random weights, positions, the reference's own."""

import os
import subprocess
import sys
from typing import Any

import jax
import numpy as np

import jaxgbg
from jaxgbg.players import GreedyAgent, RandomPlayer
from jaxgbg.values import NTupleSpec
from tests.games.batches import each
from tests.games.knockout import Knockout
from tests.reference import board_rules, rules
from tests.reference.puct import PUCT, PUCTOfActions
from tests.reference.sarsa_farl import ActionValueParameters, SerialActionValues
from tests.reference.td_farl import Parameters, SerialTDFarl

REFERENCES = {
    "tictactoe": rules.TicTacToe,
    "connectfour": rules.ConnectFour,
    "hex": lambda: board_rules.Hex(4),
    "nim3p": rules.Nim3P,
    "othello": lambda: board_rules.Othello(4),
    "2048": board_rules.Game2048,
    "knockout": lambda: rules.Knockout(3, 3),
}
# As a share of a score: below it float32 and float64 may find another one the greater.
CLOSE = 5e-7


def make_small(name):
    if name == "knockout":
        return Knockout(3, 3)
    return jaxgbg.make(name, **({"size": 4} if name in ("hex", "othello") else {}))


def tuples(game):
    return tuple((cell, cell + 1) for cell in range(game.num_cells - 1))


def random_agent(game, seed=0, few_digits=False, of_actions=False, **settings):
    """A greedy agent with random weights, of actions or of boards.

    With `few_digits` sums of them are exact, so that mirrored boards tie in float32 as in float64.
    """
    value = NTupleSpec(layout=tuples(game)).build(game, of_actions, 1)
    weights = np.random.default_rng(seed).normal(0, 0.2, value.num_weights)
    if few_digits:
        weights = np.round(weights * 2**10) / 2**10
    return GreedyAgent(game, value, value.with_weights(np.float32(weights)), **settings)


def random_positions(game, batch, plies, seed=0):
    """(states[batch] after random plies, the actions int[plies, batch], -1 after the end)."""
    key = jax.random.key(seed)
    states, player, actions = (
        each(game.init, jax.random.split(key, batch)), RandomPlayer(game), []
    )  # fmt: skip
    for ply in range(plies):
        chosen = player.act(states, jax.random.fold_in(key, ply))
        actions.append(np.where(states.terminal, -1, chosen))
        after = each(game.afterstate, states, chosen)
        keys = jax.random.split(jax.random.fold_in(key, 1000 + ply), batch)
        states = each(game.spawn, after, keys)
    return states, np.array(actions).reshape(plies, batch)


def reference_states(name, states, actions):
    """The same positions by the reference's rules."""
    game = REFERENCES[name]()
    if name == "2048":
        boards = np.asarray(states.tiles).tolist()
        scores = np.asarray(states.score).astype(int).tolist()
        return [
            board_rules.TileState(tuple(tiles), score, bool(over))
            for tiles, score, over in zip(boards, scores, states.terminal, strict=True)
        ]
    positions = []
    for column in actions.T:
        state = game.initial()
        for action in column[column >= 0]:
            state = game.play(state, int(action))
        positions.append(state)
    return positions


def reference_value(name: str, agent: GreedyAgent) -> tuple[rules.Game, Any]:
    """The plain rules of a game, and the agent's V, or its Q of all actions, in float64."""
    game, places = REFERENCES[name](), tuples(agent.game)
    budget: dict[str, Any] = {"alpha_start": 1, "alpha_end": 1, "episodes": 1}
    weights = np.asarray(agent.params.weights[0], np.float64)
    if agent.value.num_actions > 1:
        of_actions = SerialActionValues(game, places, ActionValueParameters(rule="q", **budget))
        of_actions.weights[:] = weights.reshape(of_actions.weights.shape)
        return game, of_actions.q_values
    learner = SerialTDFarl(game, places, Parameters(**budget))
    learner.weights[:] = weights.reshape(learner.weights.shape)
    return game, lambda *board: float(learner.values(*board))


def reference_search(name: str, agent: GreedyAgent, iterations: int, **settings: Any) -> PUCT:
    """The plain search by what the agent has learned."""
    kind = PUCT if agent.value.num_actions == 1 else PUCTOfActions
    return kind(*reference_value(name, agent), iterations, **settings)


def compare_with_plain_search(
    name, states, actions, iterations, loss=-1.0, of_actions=False, **settings
):
    """How many searches of states[B] have the visits and means of the reference's.

    Fails where they differ; leaves out what is over and where rounding may decide.
    """
    game = make_small(name)
    agent = random_agent(game, few_digits=True, of_actions=of_actions)
    roots = jaxgbg.search(agent, iterations, **settings).statistics(states)
    visits, values = np.asarray(roots.visits), np.asarray(roots.values)
    compared = 0
    for row, state in enumerate(reference_states(name, states, actions)):
        plain = reference_search(name, agent, iterations, loss=loss, **settings)
        root = plain.search(state)
        if state.terminal:
            assert (visits[row] == 0).all()
        elif plain.closest > CLOSE:
            expected = np.zeros(game.num_actions)
            expected[list(root.visits)] = list(root.visits.values())
            assert visits[row].tolist() == expected.tolist()
            means = [root.totals[a] / max(root.visits[a], 1) for a in root.visits]
            np.testing.assert_allclose(values[row][list(root.visits)], means, atol=2e-5)
            compared += 1
    return compared


def counted(function, calls):
    """The function, with a note in `calls` of the room of the search that is its first argument."""

    def call(search, *arguments):
        calls.append(search.capacity)
        return function(search, *arguments)

    return call


def printed_with_devices(count, code):
    """What a program prints that has so many CPU devices."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={count}"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return run.stdout
