"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

from experiments.connectfour.run import NETWORKS, late
from experiments.page_tables import kept_records
from experiments.page_text import Claim, cells_in

OUTSIDE = {
    "exploration that ends at 0.05 instead of 0": "a setting",
    "exploration that ends at .05": "a setting",
    ".9 of 100 samples": "a setting",
    "exploration that ends at 0.05 the last": "a setting",
    "where .4 would be ideal": "the rules of Nim3P",
}


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("averaging")
    kept = "mean minus last, value kept (points)"
    yield "the value of solved positions {} points more often", cells("all", kept)
    yield "Over all {} kept networks", cells("all", "n")
    yield "{} of {} means are higher", cells("all", "higher, lower"), cells("all", "n")
    network = "tictactoe-network (30,000 episodes, 10 seeds), maxn: win rate (%)"
    gains = [
        cells(f"{network} | {agent}", "minus the last (95 %)")
        for agent in ("tail mean", "exponential mean", "exploring, last", "exploring, tail mean")
    ]
    yield "TicTacToe's gain {} and {} points by the two means, {} by", *gains[:3]
    yield "that ends at .05, and {} by both", gains[3]
    networks = {
        (one["condition"], one["seed"]): one for one in kept_records(f"connectfour/{NETWORKS}")
    }
    (falling,) = (one for name, one in networks.items() if name[0] == "alpha to a tenth")
    base = networks["base", falling["seed"]]
    yield "its last weights keep {}%, those of the same seed with the", late(falling, "last")
    yield "published step size {}, its own mean {}", late(base, "last"), late(falling, "mean")
    less, difference = (
        "connectfour (100,000 episodes, 3 seeds), solver: share (%)",
        "minus the last (95 %)",
    )
    exploring = [
        cells(f"{less} | {agent}", difference)
        for agent in ("exploring, last", "exploring, tail mean")
    ]
    yield "the last weights ({}) and their mean ({}) are no different", *exploring
    yield (
        "ten pairs leave {} more",
        cells("nim3p (300,000 episodes, 10 seeds), maxn: reward | tail mean", difference),
    )
    game = "hex (300,000 episodes, 10 seeds), mcts-1000: win rate (%)"
    means = [cells(f"{game} | {agent}", difference) for agent in ("tail mean", "exponential mean")]
    yield "ten pairs put the means at {} (-1.0 to +.1) and {} (-.7", *means
    game = "connectfour-network (100,000 episodes, 5 seeds), solver: share (%)"
    yield (
        "those of ConnectFour by {} points (.4 to 7.0)",
        cells(f"{game} | exploring, tail mean", difference),
    )
