"""Serial TD learning of n-tuple tables with final adaptation (TD-FARL), one update at a time.

Source: Konen & Bagheri 2021, Algorithm 2, with the details of the GBG class TDNTuple3Agt; temporal
coherence learning (TCL) after Beal & Smith 1999, its exponential form after Bagheri et al. 2015.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from .board_rules import Game2048, Spawn, TileState
from .rules import Cells, Game, State, is_out, symmetries

Move = tuple[int, bool] | tuple[int, bool, Spawn]
"""An action, whether it was chosen at random, and in 2048 the tile that appeared after it."""

Opening = Sequence[int] | Sequence[Spawn]
"""The plies from the default start to the start state, any number; in 2048 the two start tiles."""

Transcript = tuple[Opening, list[Move]]
"""One episode: its opening, which is no part of the episode itself, and its moves."""


Watch = Callable[[dict[int, float], int], None]
"""Called with every move of a record that was not random: all values, and the action made."""


class Update(NamedTuple):
    """V(cells | player) moves towards `target`."""

    cells: Cells
    player: int
    target: float


class Stage(NamedTuple):
    """A move, or one final update after the last: the update it calls for, or None.

    `clears`: a random move that is not learned from empties all eligibility lists of the game.
    """

    update: Update | None = None
    clears: bool = False


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Settings of the learner; the defaults are plain TD(0) with tanh and both parts of FARL."""

    alpha_start: float
    alpha_end: float
    episodes: int
    """Budget over which alpha and epsilon (linearly) run from start to end."""
    alpha_decay: str = "geometric"
    """'geometric', or 'linear' as the paper's section 3 has it."""
    lambda_: float = 0.0
    horizon: int = 1
    """Most states an eligibility list holds, the current one included."""
    trace_mode: str = "et"
    """'et', or 'reset': an unlearned random move clears the eligibility lists of all players."""
    tcl: str = "none"
    """'none', 'id' (factor |N|/A) or 'exp' (factor exp(beta (|N|/A - 1)))."""
    beta: float = 2.7
    tc_init: float = 1e-4
    sigmoid: bool = True
    """Whether the value is the tanh of the sum of weights, or the sum itself."""
    gamma: float = 1.0
    loss_gamma: float | None = None
    """Discount of values below 0, if not gamma."""
    learn_start: bool = True
    """Whether the start state counts as the afterstate of the player before the first mover."""
    symmetries: bool = True
    """Whether the symmetric images of a board are looked up and learned too."""
    learn_from_random: bool = True
    random_test: str = "current"
    """What must not be random where random moves are not learned from: the 'current' move, the move
    that made the afterstate to be 'adapted', or the latter in final updates too ('letter')."""
    final_others: bool = True
    """FARL part 1: the players who did not move last learn their final reward."""
    final_zero: bool = True
    """FARL part 2: the terminal afterstate learns the value 0."""
    terminal_value_zero: bool = True
    """Whether move selection takes 0 for a terminal afterstate, or asks the tables."""
    off_policy: bool = False
    """Whether values are those of best play: the best move is counted on, and a player learns
    nothing of what follows another's random move."""

    def __post_init__(self) -> None:
        if self.trace_mode not in ("et", "reset"):
            raise ValueError(f"trace_mode must be 'et' or 'reset', not {self.trace_mode!r}")
        if self.tcl not in ("none", "id", "exp"):
            raise ValueError(f"tcl must be 'none', 'id' or 'exp', not {self.tcl!r}")
        if self.horizon < 1:
            raise ValueError(f"horizon must be at least 1, not {self.horizon}")


def step_size(start: float, end: float, progress: float, decay: str) -> float:
    """The step size after a share of the budget: by equal factors, or by equal amounts."""
    if decay == "linear":
        return (1.0 - progress) * start + progress * end
    return start * (end / start) ** progress


def horizon_from_cut(lambda_: float, cut: float) -> int:
    """Length of the eligibility list for a cut: 1 + floor(ln cut / ln lambda), 1 if lambda is 0."""
    if lambda_ == 0:
        return 1
    return 1 + math.floor(math.log(cut) / math.log(lambda_))


@lru_cache(maxsize=1 << 17)
def _afterstate(game: Game | Game2048, state: State | TileState, action: int) -> State | TileState:
    """Remembered: several learners go through the same games, and play what they have valued."""
    return (
        game.afterstate(state, action) if isinstance(game, Game2048) else game.play(state, action)
    )


def start_after(game: Game | Game2048, opening: Opening) -> State | TileState:
    """The start state after an opening."""
    state = game.initial()
    if isinstance(game, Game2048):
        first, second = opening
        return game.place(game.place(state, *first), *second)
    for action in opening:
        state = game.play(state, action)
    return state


class SerialTDFarl:
    """Value tables of all players and the updates that train them.

    `weights`, `counters_n` and `counters_a` are float64 [players, tuples, P^n]; players share
    nothing. `tuples` are lists of cells; index = sum_i board[tuple[i]] * P^i. Shorter tuples use
    the front of their table. V(afterstate | player) belongs to the player who made the afterstate.
    """

    def __init__(
        self, game: Game | Game2048, tuples: Sequence[Sequence[int]], parameters: Parameters
    ) -> None:
        self.game = game
        self.parameters = parameters
        self.symmetries = symmetries(game)
        if not parameters.symmetries:
            self.symmetries = np.arange(self.symmetries.shape[1])[None]
        longest = max(len(cells) for cells in tuples)
        # Padding cells have place value 0 and so never change an index.
        self._tuple_cells = np.zeros((len(tuples), longest), dtype=int)
        self._place_values = np.zeros((len(tuples), longest), dtype=int)
        for i, cells in enumerate(tuples):
            self._tuple_cells[i, : len(cells)] = cells
            self._place_values[i, : len(cells)] = game.num_cell_values ** np.arange(len(cells))
        shape = (game.num_players, len(tuples), game.num_cell_values**longest)
        self.weights = np.zeros(shape)
        self.counters_n = np.full(shape, parameters.tc_init)
        self.counters_a = np.full(shape, parameters.tc_init)
        # Newest first; never cleared between episodes.
        self.eligibility: list[deque[tuple[np.ndarray, float]]] = [
            deque(maxlen=parameters.horizon) for _ in range(game.num_players)
        ]
        self.episodes_done = 0
        self.updates_done = 0

    @property
    def alpha(self) -> float:
        """Step size of episode k: alpha_start * (alpha_end / alpha_start)^(k / budget)."""
        p = self.parameters
        return step_size(p.alpha_start, p.alpha_end, self.episodes_done / p.episodes, p.alpha_decay)

    def indices(self, cells: Cells | np.ndarray) -> np.ndarray:
        """Table indices int [..., N_S, tuples] of boards [..., C], repeated images included."""
        images = np.asarray(cells)[..., self.symmetries]
        return (images[..., self._tuple_cells] * self._place_values).sum(axis=-1)

    def values(self, cells: Cells | np.ndarray, player: int) -> np.ndarray:
        """Values float64 [...] of boards [..., C] for `player`: the sum over tuples and images.

        Nothing is divided by the number of terms; only the step of an update is.
        """
        tuple_numbers = np.arange(len(self._tuple_cells))
        sums = self.weights[player, tuple_numbers, self.indices(cells)].sum(axis=(-2, -1))
        return np.tanh(sums) if self.parameters.sigmoid else sums

    def action_values(self, state: State | TileState) -> dict[int, float]:
        """Reward of each legal action plus gamma times the value of its afterstate."""
        player = state.player
        result = {}
        afterstates = {a: self._afterstate(state, a) for a in self.game.legal(state)}
        # One call for all boards: NumPy takes as long to begin with one.
        boards = np.array([after.cells for after in afterstates.values()])
        values = self.values(boards, player).tolist() if afterstates else []
        for (action, after), value in zip(afterstates.items(), values, strict=True):
            nothing = after.terminal and self.parameters.terminal_value_zero
            nothing = nothing or self._out(after, player)
            reward = after.rewards[player] - state.rewards[player]
            result[action] = reward + (0.0 if nothing else self._discounted(value))
        return result

    def _out(self, state: State | TileState, player: int) -> bool:
        return isinstance(state, State) and is_out(self.game, state, player)

    def _discounted(self, value: float) -> float:
        p = self.parameters
        return (p.gamma if value >= 0 or p.loss_gamma is None else p.loss_gamma) * value

    def tc_factor(self, player: int, tuple_number: int, index: int) -> float:
        """TCL factor of one weight from its counters as they stand; 1 without TCL."""
        if self.parameters.tcl == "none":
            return 1.0
        place = player, tuple_number, index
        coherence = abs(self.counters_n[place]) / self.counters_a[place]
        if self.parameters.tcl == "id":
            return float(coherence)
        return math.exp(self.parameters.beta * (coherence - 1.0))

    def update(self, cells: Cells, player: int, target: float) -> None:
        """Move V(cells | player), and the eligible states before it, towards `target`.

        w += alpha / (m N_S) * delta * (gamma lambda)^k * e_k * factor, newest state k = 0 first,
        where e_k is the slope of tanh when state k joined the list. The counters gather delta *
        (gamma lambda)^k * e_k, without step size and factor, after the weight has moved with the
        factor from before.
        """
        p = self.parameters
        value = float(self.values(cells, player))
        delta = target - value
        slope = 1.0 - value**2 if p.sigmoid else 1.0
        self.eligibility[player].appendleft((self.indices(cells), slope))
        step = self.alpha / (len(self._tuple_cells) * len(self.symmetries))
        for age, (indices, slope_then) in enumerate(self.eligibility[player]):
            change = delta * (p.gamma * p.lambda_) ** age * slope_then
            for tuple_number, image_indices in enumerate(indices.T):
                self._move_weights(player, tuple_number, image_indices, step, change)
        self.updates_done += 1

    def _move_weights(
        self, player: int, tuple_number: int, image_indices: np.ndarray, step: float, change: float
    ) -> None:
        """Move each weight that the images of one tuple hit; the counters count every hit.

        A weight hit by several images moves once, with the factor it had at the first hit.
        """
        visited: set[int] = set()
        for index in image_indices.tolist():
            place = player, tuple_number, index
            if index not in visited:
                visited.add(index)
                self.weights[place] += step * change * self.tc_factor(player, tuple_number, index)
            if self.parameters.tcl != "none":
                self.counters_n[place] += change
                self.counters_a[place] += abs(change)

    def episode(self, opening: Opening, moves: Sequence[Move], watch: Watch | None = None) -> None:
        """Learn from one recorded episode.

        `opening`: the plies from the default start to the start state, which are no part of the
        episode. `moves`: (action, was_random) until the game is over; a player may have several in
        a row. In 2048 `opening` is two (cell, exponent) and each move (action, was_random, (cell,
        exponent)), with the new tile of each move, the last one included; it needs
        `Parameters(sigmoid=False)`.

        ValueError if the moves stop short, go on after the end or are illegal. Nothing is learned
        from a record that raises.
        """
        start = state = self._start(opening)
        for move in moves:
            _, state = self._play(state, move)
        if not state.terminal:
            raise ValueError(f"the moves end in a state that is not terminal: {state}")
        self._learn(start, self._recorded(moves, watch))

    def _recorded(
        self, moves: Sequence[Move], watch: Watch | None
    ) -> Callable[[State | TileState], Move]:
        """What plays `moves`, and shows `watch` the tables' opinion before each."""
        recorded = iter(moves)

        def choose(state: State | TileState) -> Move:
            move = next(recorded)
            if watch is not None and not move[1]:
                watch(self.action_values(state), move[0])
            return move

        return choose

    def self_play(
        self,
        episodes: int,
        rng: np.random.Generator,
        epsilon_start: float,
        epsilon_end: float,
        choose_start_01: bool,
    ) -> list[Transcript]:
        """Play and learn epsilon-greedy episodes; returns them as arguments for `episode`.

        Epsilon runs linearly over the budget of the parameters, so several calls continue one run.
        `choose_start_01`: half of the episodes start after one uniformly random ply; 2048 always
        starts with two random tiles.
        """
        transcripts = []
        for _ in range(episodes):
            progress = self.episodes_done / self.parameters.episodes
            epsilon = epsilon_start - progress * (epsilon_start - epsilon_end)
            opening = self._draw_opening(rng, choose_start_01)
            choose = partial(self._choose, rng=rng, epsilon=epsilon)
            transcripts.append((opening, self._learn(self._start(opening), choose)))
        return transcripts

    def _draw_opening(self, rng: np.random.Generator, choose_start_01: bool) -> Opening:
        if isinstance(self.game, Game2048):
            first = self.game.draw_spawn(self.game.initial(), rng)
            return [first, self.game.draw_spawn(self.game.place(self.game.initial(), *first), rng)]
        if choose_start_01 and rng.random() < 0.5:
            return [int(rng.choice(self.game.legal(self.game.initial())))]
        return []

    def _start(self, opening: Opening) -> State | TileState:
        return start_after(self.game, opening)

    def _afterstate(self, state: State | TileState, action: int) -> State | TileState:
        """What the mover makes of `state`, before chance has its turn."""
        return _afterstate(self.game, state, action)

    def _play(
        self, state: State | TileState, move: Move
    ) -> tuple[State | TileState, State | TileState]:
        """The afterstate of a move and the next state, which differ in a game of chance only."""
        after = self._afterstate(state, move[0])
        if isinstance(self.game, Game2048):
            _, _, spawn = move
            return after, self.game.place(after, *spawn)
        return after, after

    def _choose(self, state: State | TileState, rng: np.random.Generator, epsilon: float) -> Move:
        was_random = bool(rng.random() < epsilon)
        candidates = self.game.legal(state)
        if not was_random:
            q = self.action_values(state)
            best = max(q.values())
            candidates = [action for action in q if q[action] == best]
        action = int(rng.choice(candidates))
        if isinstance(self.game, Game2048):
            spawn = self.game.draw_spawn(self.game.afterstate(state, action), rng)
            return action, was_random, spawn
        return action, was_random

    def _learn(
        self, start: State | TileState, choose: Callable[[State | TileState], Move]
    ) -> list[Move]:
        """Run one episode from `start`; `choose` sees the tables as they are before each move."""
        moves: list[Move] = []

        def noted(state: State | TileState) -> Move:
            moves.append(choose(state))
            return moves[-1]

        for stage in self._stages(start, noted):
            if stage.clears:
                for traces in self.eligibility:
                    traces.clear()
            if stage.update is not None:
                self.update(*stage.update)
        self.episodes_done += 1
        return moves

    def _stages(
        self, start: State | TileState, choose: Callable[[State | TileState], Move]
    ) -> Iterator[Stage]:
        """The moves and the final updates of one episode, each as the tables then stand.

        Whoever asks for the next one has made the update before, or has put it off.
        """
        p = self.parameters
        players = range(self.game.num_players)
        last_cells: list[Cells | None] = [None for _ in players]
        last_reward = list(start.rewards)
        # In 2048 chance made the start state, so that nobody learns its value.
        if p.learn_start and not isinstance(self.game, Game2048):
            last_cells[start.player - 1] = start.cells
        made_randomly = [False for _ in players]
        state = start
        while not state.terminal:
            mover = state.player
            move = choose(state)
            before, (after, state) = state, self._play(state, move)
            previous = last_cells[mover]
            if previous is None:
                yield Stage()
            elif not p.learn_from_random and (
                move[1] if p.random_test == "current" else made_randomly[mover]
            ):
                yield Stage(clears=p.trace_mode == "reset")
            else:
                counted_on = self._best(before, after, state) if p.off_policy else (after, state)
                target = self._target(*counted_on, mover, last_reward[mover])
                yield Stage(Update(previous, mover, target))
            last_cells[mover] = after.cells
            last_reward[mover] = state.rewards[mover]
            made_randomly[mover] = move[1]
            if p.off_policy and move[1]:
                # What would have followed the best move is not known.
                last_cells = [cells if i == mover else None for i, cells in enumerate(last_cells)]
        if state is not start:
            skips = [p.random_test == "letter" and made for made in made_randomly]
            yield from self._final_adaptation(
                after.cells, mover, state.rewards, last_cells, last_reward, skips
            )

    def _target(
        self, after: State | TileState, state: State | TileState, mover: int, last_reward: float
    ) -> float:
        """What a move to `after`, and with chance to `state`, is worth to the mover."""
        nothing = state.terminal or self._out(state, mover)
        next_value = 0.0 if nothing else float(self.values(after.cells, mover))
        return state.rewards[mover] - last_reward + self._discounted(next_value)

    def _best(
        self, before: State | TileState, after: State | TileState, state: State | TileState
    ) -> tuple[State | TileState, State | TileState]:
        """The afterstate of the best move, and its outcome: if it was made, all is known."""
        values = self.action_values(before)
        best = self._afterstate(before, max(values, key=lambda action: values[action]))
        return (after, state) if best == after else (best, best)

    def _final_adaptation(
        self,
        final_cells: Cells,
        last_mover: int,
        rewards: tuple[float, ...],
        last_cells: list[Cells | None],
        last_reward: list[float],
        skips: Sequence[bool],
    ) -> Iterator[Stage]:
        """FARL: the others in order of their numbers, then the mover.

        `final_cells`: the afterstate of the last move, whose value is 0. `skips`: the players whose
        last afterstate a random move made, and for whom that counts even here.
        """
        p = self.parameters
        skipped = Stage(clears=p.trace_mode == "reset")
        if p.final_others:
            for player, cells in enumerate(last_cells):
                if player == last_mover:
                    continue
                if cells is None:
                    yield Stage()
                elif skips[player] and not p.learn_from_random:
                    yield skipped
                else:
                    gain = rewards[player] - last_reward[player]
                    yield Stage(Update(cells, player, gain))
        if p.final_zero:
            skip = skips[last_mover] and not p.learn_from_random
            yield skipped if skip else Stage(Update(final_cells, last_mover, 0.0))
