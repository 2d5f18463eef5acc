"""A test that ends as soon as the matches played so far suffice."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

import numpy as np

from jaxgbg.arguments import Elo, Risk
from jaxgbg.specs import checked

Decision = Literal["accept", "reject", "continue"]


def expected_score(elo: float) -> float:
    """Points a game, 0 to 1, of a player who is `elo` stronger: 1 / (1 + 10^(-elo/400))."""
    return 1 / (1 + 10 ** (-elo / 400))


class SequentialTest:
    """Is a player above `elo0` against another ("accept"), or below `elo1` ("reject")?

    Wald's sequential probability ratio test (1945) of the mean score: it ends when the log
    likelihood ratio leaves (log(beta / (1 - alpha)), log((1 - beta) / alpha)). A player `elo0`
    stronger is accepted with probability `alpha`, one `elo1` stronger rejected with `beta`, both
    nearly: how often the scores are draws is not known, and taken as what fits each hypothesis best
    (the generalised test of chess engine testers). Scores are independent and lie in [0, 1]: of
    single games 0, 1/2 and 1, the trinomial model; better the mean of two games from one start with
    seats changed, the pentanomial one, since such games are not independent. Raises ValueError
    for bounds that leave nothing to decide.
    """

    @checked
    def __init__(
        self, elo0: Elo = -50.0, elo1: Elo = 0.0, alpha: Risk = 0.05, beta: Risk = 0.05
    ) -> None:
        if not elo0 < elo1:
            raise ValueError(f"elo0 must be less than elo1, not {elo0:g} and {elo1:g}")
        self.means = expected_score(elo0), expected_score(elo1)
        self.lower, self.upper = (
            float(np.log(beta / (1 - alpha))),
            float(np.log((1 - beta) / alpha)),
        )
        self.decision: Decision = "continue"
        self._counts: Counter[float] = Counter()

    def update(self, scores: Iterable[float]) -> Decision:
        """Add these scores and return the decision; a decision is final.

        Raises ValueError for a score outside [0, 1].
        """
        batch = [float(score) for score in scores]
        if not all(0 <= score <= 1 for score in batch):
            raise ValueError("a score must lie between 0, a loss, and 1, a win")
        if self.decision == "continue":
            self._counts.update(batch)
            ratio = self.log_likelihood_ratio
            if ratio >= self.upper:
                self.decision = "accept"
            elif ratio <= self.lower:
                self.decision = "reject"
        return self.decision

    @property
    def log_likelihood_ratio(self) -> float:
        """log of how much likelier the scores are under `elo1` than under `elo0`."""
        if not self._counts:
            return 0.0
        scores = np.array(list(self._counts))
        counts = np.array(list(self._counts.values()))
        zero, one = (_misfit(scores, counts, mean) for mean in self.means)
        return zero - one


def _misfit(scores: np.ndarray, counts: np.ndarray, mean: float) -> float:
    """Log likelihood of the scores at best less that at best with this mean, over all of [0, 1].

    Its dual: the greatest sum of counts * log(1 + t * (scores - mean)) over the t that leave no
    score of [0, 1] with a negative probability. Source: Owen 2001, "Empirical likelihood", ch. 2.
    """
    from scipy.optimize import minimize_scalar

    def negative(t: float) -> float:
        return -float(counts @ np.log1p(t * (scores - mean)))

    bounds = -1 / (1 - mean), 1 / mean
    optimum = minimize_scalar(negative, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return -float(optimum.fun)
