# %% [markdown]
# # FARL against no FARL
# Final Adaptation (FARL) adds two updates to the end of every training episode. Part 1: the players
# who did not make the last move learn their final rewards. Part 2: the final position itself is
# taught to be worth nothing. This notebook shows what they change, and why.
#
# It reads a finished run if the environment variable `JAXGBG_RUN` names its folder, such as
# ../runs/table1/nim3p-680c57bc (`python -m experiments.archive unpack table1`), and else trains
# TicTacToe itself: ten seeds of every variant, at the published parameters.
# `JAXGBG_NOTEBOOK_BUDGET` multiplies the episodes of all trainings; the tests of the project set it
# to 0.01 to see that every cell still runs, and such curves mean nothing.

# %%
import os
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Image

import jaxgbg

RUN = os.environ.get("JAXGBG_RUN")
BUDGET = float(os.environ.get("JAXGBG_NOTEBOOK_BUDGET", "1"))
OUT = Path(tempfile.mkdtemp(prefix="jaxgbg-"))
VARIANTS = ("farl", "part1", "none")

# %% [markdown]
# ## The run
# The variants are trained side by side in one compiled program: with FARL, with part 1 alone, and
# without. Whatever else there is to choose is the same, down to the random numbers of each seed.

# %%
if RUN:
    folder = jaxgbg.RunFolder.open(RUN)
    if not {"farl", "none"} <= set(folder.run.variants):
        raise ValueError(f"{RUN} has not been trained both with and without FARL")
else:
    episodes = max(30, round(30_000 * BUDGET))
    run = jaxgbg.preset(
        "tictactoe", variants=VARIANTS, episodes=episodes, eval_every=episodes // 30
    )
    folder = jaxgbg.train(run, OUT)
run, results = folder.run, folder.results()
print(f"{run.game.name}: {len(run.seeds)} seeds of {', '.join(run.variants)}")
print(f"{run.schedule.episodes:,} episodes each, {len(results):,} evaluations")

# %% [markdown]
# The curves are means over the seeds, the bands one standard error to either side, the dashed lines
# the paper's figures. In a game of two the score is the win rate, a draw counting half. Nobody
# beats a perfect opponent, so 50 % is the best there is.

# %%
from jaxgbg.results import draw_curves

draw_curves([(run, results)], OUT / "curves.png")
Image(OUT / "curves.png")

# %% [markdown]
# As a table, with the paper's figures. A seed counts with the mean of its evaluations over the last
# fifth of the training.

# %%
from rich.console import Console

from jaxgbg.results import print_table
from jaxgbg.results.rows import rows

table = rows(run, results, folder.summary()["training_seconds"])
print_table(table, Console(width=136))

# %% [markdown]
# ## The paired difference
# A seed has the same random numbers with and without FARL, and where n-tuples are drawn, the same
# n-tuples. So the two are compared seed by seed: on the left one line for each seed, on the right
# their differences, the mean and its 95 % interval. The interval leaves out 0 if the
# difference is more than the chance of so few seeds.

# %%
by_variant = {row.variant: row for row in table if row.opponent == table[0].opponent}
farl = by_variant["farl"]
with_farl, without = np.array(farl.per_seed), np.array(by_variant["none"].per_seed)
mean, low, high = farl.difference, farl.difference_low, farl.difference_high

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
left.plot([0, 1], [without, with_farl], color="#0072B2", alpha=0.4, marker="o", markersize=4)
left.set_xticks([0, 1], ["no FARL", "FARL"])
left.set_xlim(-0.3, 1.3)
left.set_ylabel(f"{farl.scale.label} against {farl.opponent}")
right.axhline(0, color="black", lw=0.8)
right.plot(
    np.linspace(-0.15, 0.15, len(without)), with_farl - without, "o", color="#0072B2", alpha=0.4
)
right.errorbar(0.4, mean, [[mean - low], [high - mean]], fmt="o", color="black", capsize=4)
right.set_xticks([0, 0.4], ["each seed", "mean, 95 %"])
right.set_xlim(-0.3, 0.6)
right.set_ylabel("FARL − no FARL")
plt.show()
print(f"FARL − no FARL: {mean:+.1f} % ({low:+.1f} to {high:+.1f})")

# %% [markdown]
# ## Why part 1: who learns from the end of a game
# In TD learning a player's last position learns from what comes after it, and it does so when that
# player moves again. The one who makes the last move of a game does; the others never move again.
# So we train for a single episode from empty tables, the same one with every variant, and count the
# weights that have changed.

# %%
from jaxgbg.runs import load_agent

single = jaxgbg.preset(
    "tictactoe", seeds=(0,), variants=VARIANTS, episodes=1, batch=1, opponents=()
)
one = jaxgbg.train(single, OUT)
for variant in VARIANTS:
    weights = load_agent(one.path / "agents" / f"seed0-{variant}.agent").weights.reshape(2, -1)
    for player, table_of_player in zip("XO", weights, strict=True):
        changed = table_of_player[table_of_player != 0]
        print(f"{variant:5} {player}: {len(changed)} weights changed", np.unique(changed))

# %% [markdown]
# X has won and learns it in all variants: eight weights, one for each symmetric image of the
# position. O has lost. It learns that only with part 1; without FARL its table stays empty.
#
# ## What trained agents think of the end
# Now a whole training. We choose four 6-tuples instead of the one 9-tuple above, so that positions
# share weights, as they do in all larger games.

# %%
from jaxgbg.values import random_walk

game = jaxgbg.make("tictactoe")
episodes = max(30, round(30_000 * BUDGET))
lesson = jaxgbg.train(
    jaxgbg.preset(
        "tictactoe",
        layout=random_walk(game, 4, 6, seed=1),
        tcl="id",
        variants=VARIANTS,
        seeds=range(5),
        episodes=episodes,
        eval_every=max(1, episodes // 30),
    ),
    OUT,
)
agents = {
    variant: [
        jaxgbg.load(lesson.path / "agents" / f"seed{seed}-{variant}.agent") for seed in range(5)
    ]
    for variant in VARIANTS
}

# %% [markdown]
# To question them we need ends of games. A thousand random games give them: the final position, and
# the one before it. We keep the games that somebody won.


# %%
def random_end(key):
    """The position before the last move of a random game, and the one after it."""

    def ply(state, key):
        action = jax.random.categorical(key, jnp.where(game.legal_actions(state), 0.0, -jnp.inf))
        return game.afterstate(state, action), state

    end, before = jax.lax.scan(ply, game.init(key), jax.random.split(key, game.max_plies))
    last = jnp.sum(~before.terminal) - 1
    return jax.tree.map(lambda leaf: leaf[last], before), end


before, ends = jax.jit(jax.vmap(random_end))(jax.random.split(jax.random.key(1), 1000))
won = np.asarray(ends.rewards).any(1)
before, ends = (jax.tree.map(lambda leaf: leaf[won], states) for states in (before, ends))
winner = np.asarray(before.player)
print(f"{won.sum()} games with a winner")

# %% [markdown]
# Left: what the loser thinks of the last position that it made, after which the other one won.
# Right: what the winner thinks of the final position. Nothing follows it, so the truth there is 0.

# %%
NAMES = {
    "farl": ("FARL", "#0072B2"),
    "part1": ("part 1 only", "#009E73"),
    "none": ("no FARL", "#D55E00"),
}
games = np.arange(len(winner))
loser_before = {
    name: np.stack([agent.values(before) for agent in group])[:, games, 1 - winner]
    for name, group in agents.items()
}
winner_at_end = {
    name: np.stack([agent.values(ends) for agent in group])[:, games, winner]
    for name, group in agents.items()
}

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharex=True)
for axis, title, values in (
    (axes[0], "the loser, one ply before the end", loser_before),
    (axes[1], "the winner, at the end", winner_at_end),
):
    for variant, (label, colour) in NAMES.items():
        axis.hist(
            values[variant].ravel(),
            np.linspace(-1, 1, 41),
            color=colour,
            histtype="step",
            lw=1.8,
            label=label,
        )
    axis.axvline(0, color="black", lw=0.8)
    axis.set_title(title, fontsize=10)
    axis.set_xlabel("value")
    axis.set_xticks([-1, -0.5, 0, 0.5, 1])
axes[0].set_ylabel("positions, all seeds")
axes[0].legend(frameon=False)
plt.show()
for variant, (label, _) in NAMES.items():
    print(
        f"{label:12} loser: mean {loser_before[variant].mean():+.2f}"
        f"   winner at the end: mean size {abs(winner_at_end[variant]).mean():.2f}"
    )

# %% [markdown]
# **Part 1** is what makes lost positions look bad. Without it no loss is ever learned, and to the
# loser the position before the end looks rather better than an even one.
#
# **Part 2** is seen on the right. Part 1 alone leaves a final position the value that its weights
# happen to have from other positions; with part 2 it is pulled towards 0.
#
# ## What it does to play
# A move is chosen by its reward plus the value of the position that it leads to. If a final
# position has a value of its own, a winning move can look worse than it is. In all of these games
# the last mover could win; this is how often each variant does.

# %%
wins = np.asarray(jax.vmap(game.outcomes)(before)[0]) > 0
for variant, (label, _) in NAMES.items():
    actions = np.stack([agent.act(before, jax.random.key(0)) for agent in agents[variant]])
    shares = wins[games, actions].mean(1)
    print(f"{label:12} takes {shares.mean():.1%} of the wins, the worst seed {shares.min():.1%}")

# %% [markdown]
# And this is the result against Max-N: part 1 alone, both parts, and none.

# %%
from jaxgbg.results.statistics import paired_difference

scores = {
    row.variant: dict(enumerate(row.per_seed)) for row in rows(lesson.run, lesson.results(), 0.0)
}
for name, first, second in (("part 1 − none", "part1", "none"), ("both − part 1", "farl", "part1")):
    mean, low, high = paired_difference(scores[first], scores[second])
    print(f"{name}: {mean:+.1f} % ({low:+.1f} to {high:+.1f})")

# %% [markdown]
# The first interval lies above 0: part 1 alone makes a difference. The second one holds 0: what
# part 2 adds to the score is too little for five seeds of so small a game to settle, although the
# wins above show what it is good for.
