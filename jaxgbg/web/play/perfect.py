"""The value of each move in perfect play, for solved games: ConnectFour and small ones."""

from typing import NamedTuple, cast

import numpy as np

from jaxgbg.games import ConnectFour, Game
from jaxgbg.games.connectfour import ConnectFourState
from jaxgbg.players import AlphaBeta, MaxN, MissingExtra
from jaxgbg.players.alphabeta import ILLEGAL
from jaxgbg.players.analysis import final_rewards, legal_actions
from jaxgbg.types import State
from jaxgbg.web.positions import reward_text

# The winner's last stone is the n-th: 21 of each player fill the board.
_STONES = 21


class Verdict(NamedTuple):
    """The result of a move if all play perfectly afterwards, and whether no move is better.

    `sign` is 1 if the mover wins or is paid, -1 if it loses, otherwise 0.
    """

    action: int
    words: str
    best: bool
    sign: int


class Perfect:
    """Perfect play of one game; raises ValueError if no solver knows it."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.solver: AlphaBeta | MaxN
        try:
            if game == ConnectFour():
                self.solver = AlphaBeta(distant_losses=True)
            else:
                self.solver = MaxN(game)
        except MissingExtra as error:
            raise ValueError(str(error)) from error

    def verdicts(self, states: State) -> list[Verdict]:
        """A verdict for each legal move of states[1]."""
        if isinstance(self.solver, AlphaBeta):
            return _of_scores(cast(ConnectFourState, states), self.solver)
        legal = np.asarray(legal_actions(self.game, states))[0]
        paid = np.asarray(final_rewards(self.game, self.solver, states))[0]
        best = np.asarray(self.solver.best_actions(states))[0] & ~np.isnan(paid)
        return [
            Verdict(action, self._words(paid[action]), bool(best[action]), _sign(paid[action]))
            for action in np.flatnonzero(legal).tolist()
        ]

    def _words(self, reward: float) -> str:
        if np.isnan(reward):
            return "?"
        if self.game.num_players == 2 and self.game.reward_range == (-1.0, 1.0):
            certain = {1.0: "wins", -1.0: "loses"}
            if not self.game.stochastic:
                # With chance, 0 may be an expectation.
                certain[0.0] = "draws"
            return certain.get(float(reward)) or reward_text(self.game, reward)
        return reward_text(self.game, reward)


def _sign(reward: float) -> int:
    return 0 if np.isnan(reward) else int(np.sign(reward))


def _of_scores(states: ConnectFourState, solver: AlphaBeta) -> list[Verdict]:
    """ConnectFour: the number of moves until the winner places its last stone."""
    scores = solver.scores(states)[0]
    stones = np.asarray(states.stones)[0]
    placed = [sum(int(word).bit_count() for word in words) for words in stones]
    mover = int(states.player[0])
    verdicts = []
    for action in np.flatnonzero(scores != ILLEGAL).tolist():
        score = int(scores[action])
        winner = mover if score > 0 else 1 - mover
        moves = _STONES + 1 - abs(score) - placed[winner]
        words = f"{'wins' if score > 0 else 'loses'} in {moves}" if score else "draws"
        verdicts.append(Verdict(action, words, bool(score == scores.max()), _sign(score)))
    return verdicts
