"""D'Ambra, "Reinforcement learning techniques in board games".

200 test games; who begins is not said.
"""

from jaxgbg.arena import Protocol

PROTOCOLS = {
    ("tictactoe", "random"): Protocol("default", repeats=100),
    ("connectfour", "blocker"): Protocol("default", repeats=100),
}
"""How agents are judged, by game and opponent."""
