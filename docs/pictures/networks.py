"""Draws networks.png from experiments/networks/networks.json."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
GAMES = ("tictactoe", "nim", "nim3p", "connectfour", "hex", "othello")
VARIANTS = {"farl": "FARL", "part1": "part 1 alone", "none": "no FARL"}


def main() -> None:
    file = HERE.parents[1] / "experiments" / "networks" / "networks.json"
    rows = {(row["game"], row["farl"]): row for row in json.loads(file.read_text("utf-8"))}
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for number, (variant, label) in enumerate(VARIANTS.items()):
        shown = [rows[game, variant] for game in GAMES]
        axes.bar(
            np.arange(len(GAMES)) + 0.27 * (number - 1),
            [row["mean"] for row in shown],
            0.25,
            yerr=[row["sem"] for row in shown],
            label=label,
            color=("C0", "C9", "C1")[number],
        )
    opponents = [rows[game, "farl"]["opponent"] for game in GAMES]
    names = [f"{game}\n{opponent}" for game, opponent in zip(GAMES, opponents, strict=True)]
    axes.set_xticks(range(len(GAMES)), names)
    axes.set_ylabel("win rate (nim3p: reward)")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "networks.png", dpi=110)


if __name__ == "__main__":
    main()
