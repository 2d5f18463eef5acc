"""Serial TD(lambda), SARSA and Q-learning with one multi-layer perceptron, without autodiff.

Sources: van der Ree & Wiering 2013, section III (the network, its inputs, training partners); TD
with traces over the parameters: Algorithm 1 of paper 004; final adaptation (FARL): Konen &
Bagheri 2021, Algorithms 2 and 5. All players share the network.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .board_rules import Othello
from .rules import Cells, ConnectFour, Game, State, TicTacToe
from .sarsa_farl import ActionMove, ActionValueLearner

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sigmoid": lambda x: 0.5 * (1.0 + np.tanh(0.5 * x)),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
    "identity": lambda x: x,
}

SLOPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sigmoid": lambda y: y * (1.0 - y),
    "tanh": lambda y: 1.0 - y**2,
    "relu": lambda y: (y > 0.0).astype(float),
    "identity": np.ones_like,
}
"""The derivative of each function, as a function of its value y."""

STONES = {TicTacToe: TicTacToe.stones, ConnectFour: (1, 2), Othello: (0, 1)}
"""The digits of the stones of player 0 and player 1."""


class Network:
    """A multi-layer perceptron: hidden layers with one function, an output layer with another.

    `weights`: one float64 [in, out] for each layer, `biases`: one [out]; both are copied. Output
    "sigmoid" is stretched over the reward range: low + (high - low) sigmoid(x). With `matching`
    errors go to the sums that enter the outputs, past slope and stretch.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        hidden: str = "sigmoid",
        output: str = "tanh",
        *,
        weights: Sequence[np.ndarray],
        biases: Sequence[np.ndarray],
        reward_range: tuple[float, float] = (-1.0, 1.0),
        matching: bool = False,
    ) -> None:
        if hidden not in ("sigmoid", "tanh", "relu"):
            raise ValueError(f"hidden must be 'sigmoid', 'tanh' or 'relu', not {hidden!r}")
        if output not in ("tanh", "sigmoid", "identity"):
            raise ValueError(f"output must be 'tanh', 'sigmoid' or 'identity', not {output!r}")
        self.hidden = hidden
        self.output = output
        self.matching = matching
        self.low, self.high = reward_range if output == "sigmoid" else (0.0, 1.0)
        self.weights = [np.array(w, dtype=np.float64) for w in weights]
        self.biases = [np.array(b, dtype=np.float64) for b in biases]
        expected = list(pairwise(sizes))
        shapes = [w.shape for w in self.weights], [b.shape for b in self.biases]
        if shapes != (expected, [(size,) for size in sizes[1:]]):
            raise ValueError(f"weights and biases {shapes} do not fit the sizes {list(sizes)}")

    @property
    def parameters(self) -> list[np.ndarray]:
        """The arrays themselves: the weights of all layers, then the biases of all layers."""
        return [*self.weights, *self.biases]

    def values(self, inputs: np.ndarray) -> np.ndarray:
        """Outputs [..., out] of inputs [..., in]."""
        return self.low + (self.high - self.low) * self._activations(inputs)[-1]

    def gradient(self, inputs: np.ndarray, output_index: int) -> list[np.ndarray]:
        """Derivative of one output, or of what enters it, for inputs [in]; as `parameters`."""
        activations = self._activations(inputs)
        chosen = np.zeros_like(activations[-1])
        chosen[output_index] = 1.0
        if not self.matching:
            chosen *= (self.high - self.low) * SLOPES[self.output](activations[-1])
        # Derivatives by the sums that enter each layer, from the last to the first.
        signals = [chosen]
        for layer in reversed(range(1, len(self.weights))):
            slope = SLOPES[self.hidden](activations[layer])
            signals.insert(0, (self.weights[layer] @ signals[0]) * slope)
        by_weights = [np.outer(a, s) for a, s in zip(activations[:-1], signals, strict=True)]
        return [*by_weights, *signals]

    def _activations(self, inputs: np.ndarray) -> list[np.ndarray]:
        """The inputs and what each layer makes of them; the last one is not yet stretched."""
        activations = [np.asarray(inputs, dtype=np.float64)]
        for layer, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            function = self.output if layer == len(self.weights) - 1 else self.hidden
            activations.append(FUNCTIONS[function](activations[-1] @ weights + biases))
        return activations


def inputs(game: Game, cells: Cells, player: int) -> np.ndarray:
    """What the network sees of a board from the side of `player`.

    TicTacToe, Connect Four and Othello, [C]: +1 for the player's own stone, -1 for another
    player's, 0 for an empty cell, reachable or not (van der Ree & Wiering 2013, section IV). Other
    games, [C * cell values + N]: one-hot digits, cell after cell, and then one-hot `player`.
    """
    for kind, stones in STONES.items():
        if isinstance(game, kind):
            sign = {stone: 1.0 if owner == player else -1.0 for owner, stone in enumerate(stones)}
            return np.array([sign.get(digit, 0.0) for digit in cells])
    one_hot = np.eye(game.num_cell_values)[list(cells)].ravel()
    return np.concatenate([one_hot, np.eye(game.num_players)[player]])


@dataclass(frozen=True, kw_only=True)
class NetworkParameters:
    """Settings of the learner; the defaults are plain SGD without traces and with FARL."""

    rule: str
    """'td' (values of afterstates), 'sarsa' or 'q' (values of actions in states)."""
    alpha_start: float
    alpha_end: float
    episodes: int
    """Budget over which alpha and epsilon (linearly) run from start to end."""
    alpha_decay: str = "geometric"
    """'geometric' or 'linear'."""
    gamma: float = 1.0
    lambda_: float = 0.0
    traces: str = "horizon"
    """'horizon': each player's last `horizon` inputs, kept from episode to episode; 'parameters':
    a decaying sum of gradients for each player, zero at the start of an episode; 'shared': one such
    sum for all players."""
    horizon: int = 1
    trace_mode: str = "et"
    """'et', or 'reset': an unlearned random move clears the traces of all players."""
    learn_from_random: bool = True
    random_test: str = "adapted"
    """As in `ActionValueParameters`; 'td' tests the current move."""
    final_others: bool = True
    """FARL part 1: all players learn their final reward."""
    final_zero: bool = True
    """FARL part 2, for 'td' only: the terminal afterstate learns the value 0."""

    def __post_init__(self) -> None:
        if self.rule not in ("td", "sarsa", "q"):
            raise ValueError(f"rule must be 'td', 'sarsa' or 'q', not {self.rule!r}")
        if self.traces not in ("horizon", "parameters", "shared"):
            raise ValueError(
                f"traces must be 'horizon', 'parameters' or 'shared', not {self.traces!r}"
            )
        if self.trace_mode not in ("et", "reset"):
            raise ValueError(f"trace_mode must be 'et' or 'reset', not {self.trace_mode!r}")
        if self.horizon < 1:
            raise ValueError(f"horizon must be at least 1, not {self.horizon}")


class SerialNetworkLearner(ActionValueLearner):
    """A network, which is trained in place, and the updates that train it.

    Output 0 is V(afterstate | player) for 'td'; output a is Q(state, a | player) for the others.
    """

    def __init__(self, game: Game, network: Network, parameters: NetworkParameters) -> None:
        super().__init__(game, parameters)
        self.network = network
        # Newest first; never cleared between episodes.
        self.eligibility: list[deque[tuple[np.ndarray, int]]] = [
            deque(maxlen=parameters.horizon) for _ in range(game.num_players)
        ]
        self.traces = [self._zeros() for _ in range(game.num_players)]

    def q_values(self, cells: Cells, player: int) -> np.ndarray:
        """All outputs of the network for `player`: float64 [A], or [1] for 'td'."""
        return self.network.values(inputs(self.game, cells, player))

    def action_values(self, state: State) -> dict[int, float]:
        """What the rule maximises over legal actions: Q, or reward plus gamma V(afterstate)."""
        if self.parameters.rule != "td":
            return super().action_values(state)
        player = state.player
        result = {}
        for action in self.game.legal(state):
            after = self.game.play(state, action)
            reward = after.rewards[player] - state.rewards[player]
            result[action] = reward + self._discounted_value(after, player)
        return result

    def update(self, cells: Cells, output: int, player: int, target: float) -> None:
        """Move one output for `player` towards `target` by theta += alpha * delta * trace.

        The trace is sum_k (gamma lambda)^k * gradient k over the player's list, newest first, all
        at the present theta; or e, after e <- gamma * lambda * e + gradient.
        """
        p = self.parameters
        seen = inputs(self.game, cells, player)
        delta = target - float(self.network.values(seen)[output])
        if p.traces != "horizon":
            gradient = self.network.gradient(seen, output)
            total = self.traces[0 if p.traces == "shared" else player]
            for trace, part in zip(total, gradient, strict=True):
                trace *= p.gamma * p.lambda_
                trace += part
        else:
            self.eligibility[player].appendleft((seen, output))
            total = self._zeros()
            for age, pair in enumerate(self.eligibility[player]):
                for sum_so_far, part in zip(total, self.network.gradient(*pair), strict=True):
                    sum_so_far += (p.gamma * p.lambda_) ** age * part
        for parameter, trace in zip(self.network.parameters, total, strict=True):
            parameter += self.alpha * delta * trace
        self.updates_done += 1

    def forget(self) -> None:
        """Clear the lists and zero the traces of all players."""
        for pairs in self.eligibility:
            pairs.clear()
        self.traces = [self._zeros() for _ in self.traces]

    def episode(
        self,
        opening: Sequence[int],
        moves: Sequence[Any],
        seat: int | None = None,
        learn_from_partner: bool = False,
    ) -> None:
        """Learn from one recorded episode.

        `moves`: (action, was_random) for 'td', else (foreseen, executed, was_random), until the
        game is over. With a `seat`, all other seats were a partner's, whose moves are learned from
        only if `learn_from_partner` (van der Ree & Wiering 2013, section III-E).

        ValueError as in `ActionValueLearner.episode`, or if there is no such seat.
        """
        everybody = range(self.game.num_players)
        if seat is not None and seat not in everybody:
            raise ValueError(f"there is no seat {seat} among {self.game.num_players}")
        if self.parameters.rule == "td":
            moves = [(action, action, was_random) for action, was_random in moves]
        self._replay(opening, moves, everybody if seat is None or learn_from_partner else [seat])

    def self_play(self, *arguments: Any, **options: Any) -> list[Any]:
        """As in `ActionValueLearner`; moves of 'td' are (action, was_random), without `replan`."""
        transcripts = super().self_play(*arguments, **options)
        if self.parameters.rule != "td":
            return transcripts
        return [(opening, [move[1:] for move in moves]) for opening, moves in transcripts]

    def _zeros(self) -> list[np.ndarray]:
        return [np.zeros_like(parameter) for parameter in self.network.parameters]

    def _discounted_value(self, after: State, player: int) -> float:
        """Gamma times V(afterstate | player), which is 0 when the game is over."""
        if after.terminal:
            return 0.0
        return self.parameters.gamma * float(self.q_values(after.cells, player)[0])

    def _learn(
        self,
        start: State,
        choose: Callable[[State], ActionMove],
        choose_again: Callable[[State, ActionMove], ActionMove],
        subjects: Collection[int],
    ) -> list[ActionMove]:
        """Run one episode by the rule, in which only the players in `subjects` learn."""
        self.traces = [self._zeros() for _ in self.traces]
        if self.parameters.rule == "td":
            return self._learn_afterstates(start, choose, subjects)
        return super()._learn(start, choose, choose_again, subjects)

    def _learn_afterstates(
        self, start: State, choose: Callable[[State], ActionMove], subjects: Collection[int]
    ) -> list[ActionMove]:
        """The episode of `td_farl`: Algorithm 2 of Konen & Bagheri 2021, for the subjects alone."""
        p = self.parameters
        # The start state counts as the afterstate of the player before the first mover.
        before_first = (start.player - 1) % self.game.num_players
        last_cells = {before_first: start.cells} if before_first in subjects else {}
        last_reward = [0.0] * self.game.num_players
        state = start
        moves: list[ActionMove] = []
        while not state.terminal:
            mover = state.player
            move = choose(state)
            moves.append(move)
            _, action, was_random = move
            state = self.game.play(state, action)
            if mover in last_cells:
                if was_random and not p.learn_from_random:
                    if p.trace_mode == "reset":
                        self.forget()
                else:
                    reward = state.rewards[mover] - last_reward[mover]
                    target = reward + self._discounted_value(state, mover)
                    self.update(last_cells[mover], 0, mover, target)
            if mover in subjects:
                last_cells[mover] = state.cells
            last_reward[mover] = state.rewards[mover]
        if moves and p.final_others:
            for player in range(self.game.num_players):
                if player != mover and player in last_cells:
                    reward = state.rewards[player] - last_reward[player]
                    self.update(last_cells[player], 0, player, reward)
        if moves and p.final_zero and mover in subjects:
            self.update(state.cells, 0, mover, 0.0)
        self.episodes_done += 1
        return moves
