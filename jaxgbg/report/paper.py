"""The published figures that our rows stand beside, and the unit they are given in.

Source: Konen & Bagheri 2021, Table 1 (means and standard errors of 10 runs).
"""

from jaxgbg.games import make

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
}


def unit(game: str) -> str:
    """What a figure of `game` is: "win rate", a draw counting half, or the mean "reward"."""
    return "win rate" if make(game).num_players == 2 else "reward"


def to_unit(game: str, score: float) -> float:
    """A mean final reward in the unit of the tables: (score + 1) / 2 for win rates."""
    return (score + 1) / 2 if unit(game) == "win rate" else score
