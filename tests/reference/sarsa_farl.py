"""Serial SARSA and Q-learning with final adaptation (FARL), one update at a time.

Source: Konen & Bagheri 2021, Algorithms 3 to 5, with the details of the GBG class SarsaAgt; the
tables, eligibility lists and temporal coherence learning (TCL) are those of `td_farl`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import Any, NamedTuple

import numpy as np

from .board_rules import Game2048, Hex, Othello, Spawn, TileState
from .rules import Cells, ConnectFour, Game, Nim, State, TicTacToe, require_legal, symmetries
from .td_farl import Opening, start_after, step_size

ActionMove = tuple[int, int, bool] | tuple[int, int, bool, Spawn]
"""The action in the SARSA target, the action executed, whether the latter was random, and in 2048
the tile that appeared after it."""

ActionTranscript = tuple[Opening, list[ActionMove]]
"""One episode: its opening, which is no part of the episode itself, and its moves."""


@dataclass(frozen=True, kw_only=True)
class ActionValueParameters:
    """Settings of the learner; the defaults are plain SARSA with tanh and FARL."""

    rule: str
    """'sarsa': targets hold the Q of the foreseen action, or 'q': the greatest Q of all legal."""
    alpha_start: float
    alpha_end: float
    episodes: int
    """Budget over which alpha and epsilon (linearly) run from start to end."""
    alpha_decay: str = "geometric"
    """'geometric', or 'linear' as the paper's section 3 has it."""
    lambda_: float = 0.0
    horizon: int = 1
    """Most pairs an eligibility list holds, the current one included."""
    trace_mode: str = "et"
    """'et', or 'reset': an unlearned random move clears the eligibility lists of all players."""
    tcl: str = "none"
    """'none', 'id' (factor |N|/A) or 'exp' (factor exp(beta (|N|/A - 1)))."""
    beta: float = 2.7
    tc_init: float = 1e-4
    sigmoid: bool = True
    """Whether the value is the tanh of the sum of weights, or the sum itself."""
    gamma: float = 1.0
    symmetries: bool = True
    """Whether the symmetric images of a board are looked up and learned too."""
    learn_from_random: bool = True
    random_test: str = "adapted"
    """What must not be random where random actions are not learned from: the 'current' action, the
    one to be 'adapted', or the latter in final updates too ('letter')."""
    final_others: bool = True
    """FARL: the players who are not to move in the terminal state learn their final reward."""

    def __post_init__(self) -> None:
        if self.rule not in ("sarsa", "q"):
            raise ValueError(f"rule must be 'sarsa' or 'q', not {self.rule!r}")
        if self.trace_mode not in ("et", "reset"):
            raise ValueError(f"trace_mode must be 'et' or 'reset', not {self.trace_mode!r}")
        if self.tcl not in ("none", "id", "exp"):
            raise ValueError(f"tcl must be 'none', 'id' or 'exp', not {self.tcl!r}")
        if self.horizon < 1:
            raise ValueError(f"horizon must be at least 1, not {self.horizon}")


def action_symmetries(game: Game | Game2048) -> np.ndarray:
    """Action images int [N_S, A]: action a on a board is `[j, a]` on image j of the board.

    Image j shows in place k what the board shows in place symmetries[j, k], so that a goes to the k
    with symmetries[j, k] = a; the places are cells, in Connect Four columns.
    """
    images = symmetries(game)
    if isinstance(game, Game2048):
        return _slide_images(game, images)
    if isinstance(game, ConnectFour):
        images = images[:, :: game.rows] // game.rows
    elif isinstance(game, Nim):
        images = np.arange(game.num_actions)[None]
    elif not isinstance(game, TicTacToe | Hex | Othello):
        raise TypeError(f"no action symmetries for {game}")
    return np.argsort(images, axis=1)


def _slide_images(game: Game2048, images: np.ndarray) -> np.ndarray:
    """The action that slides on each image what an action slides on the board.

    A slide is known by its lines, each from the side towards which its tiles move.
    """
    slides = [sorted(map(tuple, lines)) for lines in game.lines]
    found = np.zeros((len(images), game.num_actions), int)
    for j, image in enumerate(images):
        for there, lines in enumerate(game.lines):
            here = slides.index(sorted(tuple(image[line].tolist()) for line in lines))
            found[j, here] = there
    return found


class Pair(NamedTuple):
    """What a player did last: in which state, what, whether at random, and his reward there."""

    cells: Cells
    action: int
    was_random: bool
    reward: float


class ActionValueLearner:
    """Episodes of SARSA and Q-learning for N players (Algorithm 5 and its FinalAdaptAgents).

    A subclass has `q_values(cells, player)`, `update(cells, action, player, target)` and
    `forget()`, which clears what makes an update reach earlier pairs.
    """

    def __init__(self, game: Game | Game2048, parameters: Any) -> None:
        self.game = game
        self.parameters = parameters
        self.episodes_done = 0
        self.updates_done = 0

    @property
    def alpha(self) -> float:
        """Step size of episode k: alpha_start * (alpha_end / alpha_start)^(k / budget)."""
        p = self.parameters
        return step_size(p.alpha_start, p.alpha_end, self.episodes_done / p.episodes, p.alpha_decay)

    def action_values(self, state: State) -> dict[int, float]:
        """Q of each legal action for the player to move; rewards are not looked at."""
        q = self.q_values(state.cells, state.player)
        return {action: float(q[action]) for action in self.game.legal(state)}

    def episode(self, opening: Sequence[int], moves: Sequence[ActionMove]) -> None:
        """Learn from one recorded episode.

        `opening`: the plies from the default start to the start state, which are no part of the
        episode. `moves`: (foreseen, executed, was_random) until the game is over.

        ValueError if the moves stop short, go on after the end or are illegal, a foreseen action
        included. Nothing is learned from a record that raises.
        """
        self._replay(opening, moves, range(self.game.num_players))

    def self_play(
        self,
        episodes: int,
        rng: np.random.Generator,
        epsilon_start: float,
        epsilon_end: float,
        choose_start_01: bool,
        replan: bool = False,
    ) -> list[ActionTranscript]:
        """Play and learn epsilon-greedy episodes; returns them as arguments for `episode`.

        Epsilon runs linearly over the budget of the parameters, so several calls continue one run.
        `choose_start_01`: half of the episodes start after one uniformly random ply. `replan`: the
        executed action is chosen again after the update, as in Algorithm 5; GBG executes the
        foreseen one.
        """
        transcripts = []
        for _ in range(episodes):
            progress = self.episodes_done / self.parameters.episodes
            epsilon = epsilon_start - progress * (epsilon_start - epsilon_end)
            opening = []
            if choose_start_01 and rng.random() < 0.5:
                opening = [int(rng.choice(self.game.legal(self.game.initial())))]
            pick = partial(self._pick, rng=rng, epsilon=epsilon)
            transcripts.append((opening, self._play_and_learn(opening, pick, replan)))
        return transcripts

    def _pick(self, state: State, rng: np.random.Generator, epsilon: float) -> tuple[int, bool]:
        """An epsilon-greedy action, and whether it is random; ties are broken at random."""
        was_random = bool(rng.random() < epsilon)
        candidates = self.game.legal(state)
        if not was_random:
            q = self.action_values(state)
            best = max(q.values())
            candidates = [action for action in q if q[action] == best]
        return int(rng.choice(candidates)), was_random

    def _play_and_learn(
        self, opening: Sequence[int], pick: Callable[[State], tuple[int, bool]], replan: bool
    ) -> list[ActionMove]:
        def choose(state: State) -> ActionMove:
            action, was_random = pick(state)
            return action, action, was_random

        def choose_again(state: State, move: ActionMove) -> ActionMove:
            return (move[0], *pick(state)) if replan else move

        everybody = range(self.game.num_players)
        return self._learn(self._start(opening), choose, choose_again, everybody)

    def _replay(
        self, opening: Sequence[int], moves: Sequence[ActionMove], subjects: Collection[int]
    ) -> None:
        start = state = self._start(opening)
        for move in moves:
            require_legal(self.game, state, move[0])
            state = self._next(state, move)
        if not state.terminal:
            raise ValueError(f"the moves end in a state that is not terminal: {state}")
        recorded = iter(moves)
        self._learn(start, lambda _: next(recorded), lambda _, move: move, subjects)

    def _start(self, opening: Opening) -> State | TileState:
        return start_after(self.game, opening)

    def _next(self, state: State | TileState, move: ActionMove) -> State | TileState:
        """The state in which the next action is chosen, in 2048 with the tile that appeared."""
        _, executed, _, *spawn = move
        if isinstance(self.game, Game2048):
            ((cell, exponent),) = spawn
            return self.game.place(self.game.afterstate(state, executed), cell, exponent)
        return self.game.play(state, executed)

    def _learn(
        self,
        start: State,
        choose: Callable[[State], ActionMove],
        choose_again: Callable[[State, ActionMove], ActionMove],
        subjects: Collection[int],
    ) -> list[ActionMove]:
        """Run one episode from `start`, in which only the players in `subjects` learn.

        `choose` sees the values before the update at its state, `choose_again` those after it.
        """
        p = self.parameters
        last: dict[int, Pair] = {}
        state = start
        moves: list[ActionMove] = []
        while not state.terminal:
            player = state.player
            move = choose(state)
            if player in last:
                was_random = move[2] if p.random_test == "current" else last[player].was_random
                if was_random and not p.learn_from_random:
                    if p.trace_mode == "reset":
                        self.forget()
                else:
                    q = self.action_values(state)
                    next_value = max(q.values()) if p.rule == "q" else q[move[0]]
                    self._learn_pair(last[player], state, p.gamma * next_value, player)
            move = choose_again(state, move)
            moves.append(move)
            _, executed, was_random = move[:3]
            if player in subjects:
                last[player] = Pair(state.cells, executed, was_random, state.rewards[player])
            state = self._next(state, move)
        self._final_adaptation(state, last)
        self.episodes_done += 1
        return moves

    def _learn_pair(self, pair: Pair, state: State, next_value: float, player: int) -> None:
        reward = state.rewards[player] - pair.reward
        self.update(pair.cells, pair.action, player, reward + next_value)

    def _final_adaptation(self, end: State, last: dict[int, Pair]) -> None:
        """The player to move in the terminal state learns, and by FARL all others in order.

        Random actions are learned from here whatever `learn_from_random` says, but by the letter.
        """
        p = self.parameters
        learners = [end.player]
        if p.final_others:
            learners += [n for n in range(self.game.num_players) if n != end.player]
        for player in learners:
            if player not in last:
                continue
            if last[player].was_random and p.random_test == "letter" and not p.learn_from_random:
                if p.trace_mode == "reset":
                    self.forget()
            else:
                self._learn_pair(last[player], end, 0.0, player)


class SerialActionValues(ActionValueLearner):
    """Action value tables of all players and the updates that train them.

    `weights`, `counters_n` and `counters_a` are float64 [players, actions, tuples, P^n]; players
    share nothing. `tuples` are lists of cells; index = sum_i board[tuple[i]] * P^i. Shorter tuples
    use the front of their table. Q(cells, a | player) belongs to the state in which `player` is to
    move, not to the afterstate.
    """

    def __init__(
        self, game: Game, tuples: Sequence[Sequence[int]], parameters: ActionValueParameters
    ) -> None:
        super().__init__(game, parameters)
        self.symmetries = symmetries(game)
        self.action_symmetries = action_symmetries(game)
        if not parameters.symmetries:
            self.symmetries = np.arange(self.symmetries.shape[1])[None]
            self.action_symmetries = np.arange(self.action_symmetries.shape[1])[None]
        self.tuples = tuples
        longest = max(len(cells) for cells in tuples)
        size = game.num_cell_values**longest
        shape = (game.num_players, game.num_actions, len(tuples), size)
        self.weights = np.zeros(shape)
        self.counters_n = np.full(shape, parameters.tc_init)
        self.counters_a = np.full(shape, parameters.tc_init)
        # Newest first; never cleared between episodes.
        self.eligibility: list[deque[tuple[np.ndarray, np.ndarray, float]]] = [
            deque(maxlen=parameters.horizon) for _ in range(game.num_players)
        ]

    def indices(self, cells: Cells) -> np.ndarray:
        """Table indices int [N_S, tuples] of a board, repeated images included."""
        images = np.asarray(cells)[self.symmetries]
        base = self.game.num_cell_values
        return np.stack([images[:, t] @ base ** np.arange(len(t)) for t in self.tuples], axis=1)

    def q_values(self, cells: Cells, player: int) -> np.ndarray:
        """Values float64 [A] of all actions, legal or not: the sum over tuples and images.

        The term of action a, tuple i and image j is w[player, image_j(a), i, idx_i(image_j)].
        """
        terms = self.weights[
            player,
            self.action_symmetries[:, :, None],
            np.arange(len(self.tuples)),
            self.indices(cells)[:, None, :],
        ]
        sums = terms.sum(axis=(0, 2))
        return np.tanh(sums) if self.parameters.sigmoid else sums

    def tc_factor(self, place: tuple[int, int, int, int]) -> float:
        """TCL factor of one weight from its counters as they stand; 1 without TCL."""
        if self.parameters.tcl == "none":
            return 1.0
        coherence = float(abs(self.counters_n[place]) / self.counters_a[place])
        if self.parameters.tcl == "id":
            return coherence
        return exp(self.parameters.beta * (coherence - 1.0))

    def update(self, cells: Cells, action: int, player: int, target: float) -> None:
        """Move Q(cells, action | player), and the eligible pairs before it, towards `target`.

        w += alpha / (m N_S) * delta * lambda^k * e_k * factor, newest pair k = 0 first, where e_k
        is the slope of tanh when pair k joined the list. The counters gather delta * lambda^k *
        e_k, without step size and factor, after the weight has moved with the factor from before.
        """
        p = self.parameters
        value = float(self.q_values(cells, player)[action])
        delta = target - value
        slope = 1.0 - value**2 if p.sigmoid else 1.0
        images = self.action_symmetries[:, action]
        self.eligibility[player].appendleft((self.indices(cells), images, slope))
        step = self.alpha / (len(self.tuples) * len(self.symmetries))
        for age, (indices, actions, slope_then) in enumerate(self.eligibility[player]):
            change = delta * p.lambda_**age * slope_then
            for i in range(len(self.tuples)):
                hits = zip(actions.tolist(), indices[:, i].tolist(), strict=True)
                self._move_weights([(player, a, i, index) for a, index in hits], step, change)
        self.updates_done += 1

    def _move_weights(
        self, places: Sequence[tuple[int, int, int, int]], step: float, change: float
    ) -> None:
        """Move each weight that the images of one tuple hit; the counters count every hit.

        A weight hit by several images moves once, with the factor it had at the first hit.
        """
        visited: set[tuple[int, int, int, int]] = set()
        for place in places:
            if place not in visited:
                visited.add(place)
                self.weights[place] += step * change * self.tc_factor(place)
            if self.parameters.tcl != "none":
                self.counters_n[place] += change
                self.counters_a[place] += abs(change)

    def forget(self) -> None:
        """Clear the eligibility lists of all players."""
        for pairs in self.eligibility:
            pairs.clear()
