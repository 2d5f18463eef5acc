"""Cycles of three players who beat each other, and alpha-rank, which cycles do not confuse."""

import numpy as np

_POPULATION, _INTENSITY = 50, 100.0


def cycles(beats: np.ndarray) -> list[tuple[int, int, int]]:
    """All (i, j, k) where i beats j, j beats k and k beats i, by `beats` bool[P, P]; i least."""
    found = np.argwhere(beats[:, :, None] & beats[None, :, :] & beats.T[:, None, :])
    return [(int(i), int(j), int(k)) for i, j, k in found if i < j and i < k]


def alpha_rank(
    scores: np.ndarray, population: int = _POPULATION, intensity: float = _INTENSITY
) -> np.ndarray:
    """The share of time float64[P] that a population under selection spends playing as each.

    `scores` float64[P, P] is what the player of a row gains from that of a column. Mutants of one
    kind at a time enter a population of another and replace it, or die out, by the Fermi rule; an
    unbeaten player keeps nearly all of the time, the players of a cycle share it. Source:
    Omidshafiei et al. 2019, "alpha-Rank: multi-agent evaluation by evolution", one population,
    local selection.
    """
    number = len(scores)
    if number == 1:
        return np.ones(1)
    gain = intensity * (scores - scores.T)
    size = np.abs(gain)
    with np.errstate(divide="ignore", invalid="ignore"):
        won = np.expm1(-size) / np.expm1(-population * size)
    lost = won * np.exp(-(population - 1) * size)
    # replaced[i, j]: how likely one mutant i takes over a population of j.
    replaced = np.where(size < 1e-12, 1 / population, np.where(gain > 0, won, lost))
    chain = replaced.T / (number - 1)
    np.fill_diagonal(chain, 0)
    np.fill_diagonal(chain, 1 - chain.sum(1))
    # The stationary distribution: its flows balance, and its shares sum to 1.
    equations = np.vstack([chain.T - np.eye(number), np.ones(number)])
    shares = np.linalg.lstsq(equations, np.append(np.zeros(number), 1.0), rcond=None)[0]
    shares = np.clip(shares, 0, None)
    return shares / shares.sum()
