"""The published figures that our rows stand beside, and the unit they are given in.

Source: Konen & Bagheri 2021, Table 1 (means and standard errors of 10 runs).
"""

from jaxgbg.games import make
from jaxgbg.games.game2048 import MAX_SCORE

# (game, opponent, FARL variant) -> (mean, standard error), win rates and rewards as fractions.
# ConnectFour: twice the paper's figure, which counts the lost second seat; ours moves first.
PAPER = {
    ("tictactoe", "maxn", "farl"): (0.49, 0.05),
    ("tictactoe", "maxn", "none"): (0.18, 0.06),
    ("nim", "maxn", "farl"): (0.50, 0.01),
    ("nim", "maxn", "none"): (0.12, 0.06),
    ("nim3p", "maxn", "farl"): (0.33, 0.03),
    ("nim3p", "maxn", "none"): (0.03, 0.01),
    ("connectfour", "ab", "farl"): (0.99, 0.01),
    ("connectfour", "ab", "none"): (0.07, 0.002),
    ("connectfour", "ab-dl", "farl"): (0.93, 0.01),
    ("connectfour", "ab-dl", "none"): (0.0, 0.0),
    ("hex", "mcts", "farl"): (0.81, 0.05),
    ("hex", "mcts", "none"): (0.0, 0.0),
    ("othello", "edax", "farl"): (0.55, 0.01),
    ("othello", "edax", "none"): (0.53, 0.01),
    ("othello", "bench", "farl"): (0.95, 0.003),
    ("othello", "bench", "none"): (0.96, 0.002),
    ("nim3p", "mcts-5000", "farl"): (0.78, 0.02),
    ("nim3p", "mcts-5000", "none"): (0.09, 0.02),
    ("2048", "score", "farl"): (142_000, 1_000),
    ("2048", "score", "none"): (122_000, 900),
}


def unit(game: str, opponent: str) -> str:
    """What a figure is: "win rate", a draw counting half, the mean "reward", the "points" of 2048,
    or the "share" of moves that keep the game value.
    """
    if opponent == "solver":
        return "share"
    if game == "2048":
        return "points"
    return "win rate" if make(game).num_players == 2 else "reward"


def to_unit(game: str, opponent: str, score: float) -> float:
    """A mean score in the unit of the tables: (score + 1) / 2 for win rates."""
    found = unit(game, opponent)
    if found == "points":
        return score * MAX_SCORE
    return (score + 1) / 2 if found == "win rate" else score


def in_words(kind: str, figure: float) -> str:
    """A figure as tables show it: shares in per cent, rewards with three digits, whole points."""
    if kind in ("win rate", "share"):
        return f"{100 * figure:.1f}"
    return f"{figure:,.0f}" if kind == "points" else f"{figure:.3f}"
