"""Random games of backgammon, ours and OpenSpiel's, compared roll by roll.

An action of OpenSpiel plays two dice, ours one, and OpenSpiel lists one of the orders that lead to
the same position. So the positions are compared that each can reach.
"""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgbg.games.backgammon import PASS, ROLLS, Backgammon


def assert_same_rolls(game: Backgammon, games: int, seed: int) -> int:
    """Play random games to their ends; returns the number of actions of OpenSpiel compared."""
    import pyspiel

    scoring = {"win": "winloss_scoring", "gammons": "full_scoring"}[game.reward]
    hyper = "true" if game.checkers == 3 else "false"
    rules = pyspiel.load_game(
        f"backgammon(hyper_backgammon={hyper},scoring_type={scoring},max_player_turns=10000)"
    )
    rng = np.random.default_rng(seed)
    words = rng.integers(2**32, size=(games, 2), dtype=np.uint32)
    expand, play = _compiled(game)
    ours = jax.jit(jax.vmap(game.init_from))(words)
    theirs = [rules.new_initial_state() for _ in range(games)]
    for state, roll in zip(theirs, first_rolls(ours), strict=True):
        state.apply_action(_outcome(roll))
    compared = 0
    for _ in range(game.max_plies):
        positions, valid = jax.device_get(expand(ours))
        seen = jax.device_get((ours.player, ours.terminal, ours.rewards, ours.checkers))
        player, terminal, rewards, checkers = seen
        pairs = np.full((games, 2), -1, np.int32)
        for i, state in enumerate(theirs):
            assert bool(terminal[i]) == state.is_terminal()
            np.testing.assert_array_equal(checkers[i], _checkers(state))
            if terminal[i]:
                paid = np.array(state.returns()) / (3 if game.reward == "gammons" else 1)
                # OpenSpiel 2.0.2 pays nobody in hypergammon: only 15 checkers borne off win.
                if paid.any() or game.checkers == 15:
                    np.testing.assert_allclose(rewards[i], paid, rtol=1e-6)
                continue
            compared += 1
            assert player[i] == state.current_player()
            reached = {}
            for first, second in np.argwhere(valid[i]).tolist():
                reached.setdefault(positions[i, first, second].tobytes(), []).append(
                    (first, second)
                )
            after = {}
            for action in state.legal_actions():
                following = state.clone()
                following.apply_action(action)
                after[_checkers(following).tobytes()] = following
            assert reached.keys() == after.keys()
            choice = sorted(after)[rng.integers(len(after))]
            pairs[i] = reached[choice][rng.integers(len(reached[choice]))]
            theirs[i] = after[choice]
        if terminal.all():
            return compared
        drawn = rng.choice(len(ROLLS), games)
        ours = play(ours, pairs, drawn)
        over = jax.device_get((ours.terminal, ours.dice, ours.repeat))
        for i in np.flatnonzero(~terminal & ~over[0]):
            _follow(theirs[i], int(drawn[i]), bool(over[2][i] == 1))
    raise AssertionError(f"games go on after {game.max_plies} plies")


def first_rolls(states: Any) -> list[int]:
    """The numbers of the rolls in states [B] that begin a turn; none of them a double."""
    return [ROLLS.index((low, high)) for high, low in np.asarray(states.dice).tolist()]


def _follow(state: Any, roll: int, halfway: bool) -> None:
    """Let chance roll, unless our player is halfway through a double that can be played on."""
    if halfway:
        return
    if not state.is_chance_node():
        # OpenSpiel asks for the second half of a double that cannot be played.
        (passing,) = state.legal_actions()
        state.apply_action(passing)
    state.apply_action(_outcome(roll))


def _outcome(roll: int) -> int:
    """OpenSpiel's number of a roll: each two different dice in both orders, then the doubles."""
    return 2 * roll if roll < 15 else 15 + roll


def _checkers(state: Any) -> np.ndarray:
    """int8[2, 26]: as `BackgammonState.checkers`, from OpenSpiel's units (Tesauro 1994)."""
    seen = np.array(state.observation_tensor(0))
    units = seen[: 2 * 24 * 4].reshape(2, 24, 4)
    points = units @ [1, 2, 3, 1] + 3 * (units[..., 3] > 0)
    bars, off = seen[[192, 195]], seen[[193, 196]]
    # Player 0 walks up, its last point is 24 away.
    walk = np.stack([points[0, ::-1], points[1]])
    return np.concatenate([off[:, None], walk, bars[:, None]], 1).astype(np.int8)


@cache
def _compiled(game: Backgammon) -> tuple[Any, Any]:
    actions = jnp.arange(PASS + 1, dtype=jnp.int32)

    def expand(state: Any) -> tuple[jax.Array, jax.Array]:
        """The checkers [A, A + 1, 2, 26] after two actions, or one that ends the turn."""
        legal = game.legal_actions(state)
        once = jax.vmap(game.afterstate, (None, 0))(state, actions)
        twice = jax.vmap(jax.vmap(game.afterstate, (None, 0)), (0, None))(once, actions)
        further = jax.vmap(game.legal_actions)(once)
        ends = once.dice[:, 0] == 0
        positions = jnp.concatenate([twice.checkers, once.checkers[:, None]], 1)
        return positions, jnp.append(further, ends[:, None], 1) & legal[:, None]

    def play(state: Any, pair: jax.Array, roll: jax.Array) -> Any:
        once = game.afterstate(state, pair[0])
        twice = game.afterstate(once, pair[1])
        return game.spawn_outcome(twice, roll)

    return jax.jit(jax.vmap(expand)), jax.jit(jax.vmap(play))
