"""PUCT with chance: what a new position is worth to a player who has to wait for its turn."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgbg
from jaxgbg.games.rollout import select_states
from tests.games.pig import HOLD, ROLL, Pig, positions
from tests.search.agents import random_agent

GAME = Pig(6, faces=3)
LANES = 2_000


class _Plain:
    """Pig by plain recursion over `table` [score 0, score 1, turn, player], V of all boards."""

    def __init__(self, table):
        self.table = table

    def action_values(self, scores, turn, mover):
        held = tuple(score + turn * (seat == mover) for seat, score in enumerate(scores))
        enough, values = held[mover] >= GAME.goal, {}
        if not enough:
            values[ROLL] = self.table[*scores, turn, mover]
        if turn:
            values[HOLD] = 1.0 if enough else self.table[*held, 0, mover]
        return values

    def promised(self, scores, turn, mover, player):
        """What `player` gets in its next turn, on average, if all play by their values."""
        values = self.action_values(scores, turn, mover)
        best = max(values, key=lambda action: (values[action], -action))
        if mover == player:
            return values[best]
        if best == ROLL:
            return self.rolled(scores, turn, mover, player)
        held = tuple(score + turn * (seat == mover) for seat, score in enumerate(scores))
        return -1.0 if held[mover] >= GAME.goal else self.promised(held, 0, 1 - mover, player)

    def rolled(self, scores, turn, mover, player):
        """As `promised`, after the mover has chosen to roll."""
        outcomes = [self.promised(scores, 0, 1 - mover, player)]
        for face in range(2, GAME.faces + 1):
            outcomes.append(self.promised(scores, turn + face, mover, player))
        return np.mean(outcomes)


def _table(agent):
    """V of all boards, for each player."""
    shape = (GAME.num_cell_values,) * GAME.num_cells
    boards = jnp.asarray(np.stack(np.indices(shape), -1).reshape(-1, 3), jnp.int32)
    params = jax.tree.map(lambda leaf: leaf[0], agent.params)
    features = jnp.repeat(agent.value.features(params, boards)[:, None], 2, 1)
    values = agent.value.value(params, features, jnp.broadcast_to(jnp.arange(2), (len(boards), 2)))
    return np.asarray(values, np.float64).reshape(*shape, 2)


def _roots(player, table, action):
    """Positions with two moves of which `action` is the better one, as rows."""
    states, _ = positions(GAME, player)
    rows = zip(np.asarray(states.scores).tolist(), np.asarray(states.turn).tolist(), strict=True)
    for row, (scores, turn) in enumerate(rows):
        values = _Plain(table).action_values(scores, turn, player)
        if len(values) == 2 and max(values, key=values.get) == action and values[action] < 1:
            yield select_states(states, np.full(LANES, row)), scores, turn


@pytest.mark.parametrize("player", [0, 1])
def test_a_player_who_waits_expects_its_own_next_turn_not_a_board_of_another(player):
    """V(s | player) is learned on boards that this player has made, before chance."""
    agent = random_agent(GAME)
    table = _table(agent)
    plain = _Plain(table)
    # With such settings only the better move is tried.
    for action in (ROLL, HOLD):
        chosen = list(itertools.islice(_roots(player, table, action), 2))
        assert len(chosen) == 2
        for states, scores, turn in chosen:
            # Only the first iteration rolls, or the second one lets the other roll.
            iterations = 1 if action == ROLL else 2
            search = jaxgbg.search(agent, iterations, temperature=0.01, unvisited=-10, width=1)
            roots = search.statistics(states, jax.random.key(1))
            assert (np.asarray(roots.visits)[:, action] == iterations).all()
            values = np.asarray(roots.values, np.float64)[:, action]
            if action == ROLL:
                expected = plain.rolled(scores, turn, player, player)
            else:
                held = tuple(s + turn * (seat == player) for seat, s in enumerate(scores))
                later = plain.rolled(held, 0, 1 - player, player)
                expected = (table[*held, 0, player] + later) / 2
            assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(LANES)
