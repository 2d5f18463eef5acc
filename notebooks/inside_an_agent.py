# %% [markdown]
# # Inside an agent
# An n-tuple agent is a few tables of numbers. This notebook trains one for TicTacToe and follows a
# position through it: from cells to indices, from indices to weights, from weights to a value, from
# values to a move.
#
# `JAXGBG_NOTEBOOK_BUDGET` multiplies the number of training episodes. The tests of the project set
# it to 0.01 to see that every cell still runs; what such an agent thinks means nothing.

# %%
import os

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import jaxgbg

BUDGET = float(os.environ.get("JAXGBG_NOTEBOOK_BUDGET", "1"))
game = jaxgbg.make("tictactoe")

# %% [markdown]
# ## n-tuples
# An n-tuple is a list of cells. Random walks over neighbouring cells draw four of six cells each;
# larger games are played with n-tuples of this kind, of which each sees a part of the board.

# %%
from jaxgbg.values import random_walk

tuples = random_walk(game, 4, 6, seed=1)
figure, axes = plt.subplots(1, 4, figsize=(8, 2), layout="constrained")
for number, (axis, cells) in enumerate(zip(axes, tuples, strict=True)):
    inside = np.isin(np.arange(9), cells).reshape(3, 3)
    axis.imshow(inside, cmap="Blues", vmin=0, vmax=2)
    for cell in range(9):
        axis.text(cell % 3, cell // 3, cell, ha="center", va="center")
    axis.set(xticks=[], yticks=[], title=f"tuple {number}")
plt.show()

# %% [markdown]
# ## An agent
# `Training` is the loop inside `jaxgbg.train`. We run it ourselves, because we want to see the
# counters of the step sizes: they are needed for learning only, and agent files do not keep them.

# %%
from jaxgbg.runs import Training

episodes = max(30, round(30_000 * BUDGET))
run = jaxgbg.preset(
    "tictactoe",
    layout=tuples,
    tcl="id",
    seeds=(0,),
    variants=("farl",),
    episodes=episodes,
    eval_every=max(1, episodes // 5),
)
training = Training(run)
for result in training.evaluations():
    print(f"{result.episodes:6,} episodes: mean reward {result.score:+.2f} against Max-N")

value = training.learner.value
params = training.agents()[0, "farl"]
agent = jaxgbg.GreedyAgent(game, value, params, run.learner.bootstrap)

# %% [markdown]
# Every player has a table for each tuple, with a weight for each pattern of digits: three digits on
# six cells.

# %%
print(f"{value.num_cell_values}**6 = {value.num_cell_values**6} patterns of a tuple")
print(f"{game.num_players} players x {len(tuples)} tuples: {len(params.weights):,} weights")

# %% [markdown]
# ## From cells to indices
# The position to look at, after four moves. X is to move; it was O who made the position, so its
# value is O's.


# %%
def draw_board(axis, state, numbers=None, size=22):
    """The stones, and where cells are empty the `numbers` in colours from -1 (red) to 1 (blue)."""
    cells = np.asarray(game.cells(state))
    shade = np.where(cells == 1, np.zeros(9) if numbers is None else numbers, 0)
    shade = np.where(np.isfinite(shade), shade, 0)
    axis.imshow(shade.reshape(3, 3), cmap="RdBu", vmin=-1.5, vmax=1.5)
    for cell, digit in enumerate(cells):
        if digit != 1:
            axis.text(cell % 3, cell // 3, "O.X"[digit], ha="center", va="center", fontsize=size)
        elif numbers is not None:
            axis.text(cell % 3, cell // 3, f"{numbers[cell]:+.2f}", ha="center", va="center")
    for line in (0.5, 1.5):
        axis.axhline(line, color="black", lw=0.8)
        axis.axvline(line, color="black", lw=0.8)
    axis.set(xticks=[], yticks=[])


state = game.init(jax.random.key(0))
for action in (4, 0, 8, 2):
    state = game.step(state, action, jax.random.key(0))
figure, axis = plt.subplots(figsize=(2, 2), layout="constrained")
draw_board(axis, state)
plt.show()
print("digits:", game.cells(state))

# %% [markdown]
# The digits on a tuple's cells are a number in base three, the first cell counting least. That is
# the index of the tuple. The tables stand one after the other, so each begins where the last one
# ended. `features` gives the rows right away, for the tuple and all its images.

# %%
features = value.features(params, game.cells(state)).reshape(len(tuples), value.num_images)
for number, cells in enumerate(tuples):
    digits = np.asarray(game.cells(state))[list(cells)]
    index = sum(int(digit) * 3**place for place, digit in enumerate(digits))
    start = number * 3**6
    print(
        f"tuple {number}: digits {digits}, index {index:3}, row {start} + {index} = {start + index}"
    )
print("features, first image:", features[:, 0])

# %% [markdown]
# ## Symmetries
# A square has eight symmetries, and what is learned on one image of a board holds for all. So each
# tuple is read eight times, once on every image, all from the same table.

# %%
print("rows of tuple 0:", features[0])
print(f"{features.size} look-ups in all, {len(np.unique(features))} different rows")

# %% [markdown]
# ## Active weights
# The weights behind these rows are the active ones. For player O they are the rows in O's half of
# the tables. Their sum, pressed into -1 to 1 by tanh, is the value of the position for O.

# %%
rows = np.asarray(value.rows(features.ravel(), jnp.int32(1)))
weights = params.weights[rows]
by_hand = np.tanh(weights.sum())
by_agent = agent.values(jax.tree.map(lambda leaf: leaf[None], state))[0, 1]
print(f"sum {weights.sum():+.4f}, its tanh {by_hand:+.4f}; the agent says {by_agent:+.4f}")

# %% [markdown]
# Weight by weight: which tuples, on which images, speak for O and which against.

# %%
figure, axis = plt.subplots(figsize=(8, 2.6), layout="constrained")
axis.bar(np.arange(len(weights)), weights, color=np.where(weights < 0, "#D55E00", "#0072B2"))
axis.axhline(0, color="black", lw=0.8)
for number in range(1, len(tuples)):
    axis.axvline(number * value.num_images - 0.5, color="grey", lw=0.8, ls=":")
axis.set_xticks(
    (np.arange(len(tuples)) + 0.5) * value.num_images - 0.5,
    [f"tuple {number}" for number in range(len(tuples))],
)
axis.set_ylabel("weight")
plt.show()

# %% [markdown]
# ## Step sizes
# Temporal coherence learning gives every weight a step size of its own. It adds up the changes that
# a weight is recommended (N) and their sizes (A). The factor |N| / A is 1 where all changes point
# the same way, and falls towards
# 0 where they cancel: such a weight has arrived, or wavers, and takes small steps.

# %%
counters = value.tc_counters(params)
factors = np.asarray(value.step_scale(counters, run.value.beta))
touched = counters[:, 1] > value.tc_counters(value.init())[:, 1]
print(f"{touched.mean():.0%} of the weights have been updated")
print(f"median factor of those updated: {np.median(factors[touched]):.2f}")
print(f"median factor of the active ones: {np.median(factors[rows]):.2f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
left.hist(factors[touched], np.linspace(0, 1, 26), color="#0072B2")
left.set(xlabel="factor |N| / A", ylabel="weights updated")
right.loglog(counters[touched, 1], factors[touched], ".", color="#0072B2", alpha=0.2)
right.set(xlabel="A, sum of the sizes of all changes", ylabel="factor |N| / A")
plt.show()

# %% [markdown]
# On the whole, the more a weight has been moved about, the smaller are its steps.
#
# ## From values to a move
# Back to the position. The agent values each move: its reward, plus the value for X of the position
# after it. On the left the agent's values; on the right what each player ends with after that move
# if all play perfectly, as Max-N knows it.

# %%
from jaxgbg.players import MaxN

perfect = MaxN(game)
after = jax.vmap(game.afterstate, (None, 0))(state, jnp.arange(game.num_actions))
legal = np.asarray(game.legal_actions(state))
truth = np.where(legal, np.asarray(perfect.values(after))[:, int(state.player)], -np.inf)

figure, axes = plt.subplots(1, 2, figsize=(6, 3.2), layout="constrained")
draw_board(axes[0], state, np.asarray(agent.action_values(state)))
axes[0].set_title("the agent, for X", fontsize=10)
draw_board(axes[1], state, truth)
axes[1].set_title("perfect play, for X", fontsize=10)
plt.show()

# %% [markdown]
# On a board the same is seen of any position: play on, and open *Inside the agent*, where a click
# on a cell lists the n-tuples that read it, with digits and weights. Where this notebook is only
# read, the board is a picture.

# %%
jaxgbg.board(agent, moves=(4, 0, 8, 2), seats=("person", "person"))

# %% [markdown]
# ## Along a game
# The agent plays X against a player who moves at random. After each ply we ask for the value of the
# new position to the one who has made it, because that is what the agent has learned. The stars are
# the rewards at the end, the grey steps the truth for X.

# %%
players = (agent, jaxgbg.make_player("random", game))
position, line = game.init(jax.random.key(0)), []
while not position.terminal:
    key = jax.random.fold_in(jax.random.key(3), len(line))
    batch = jax.tree.map(lambda leaf: leaf[None], position)
    action = int(players[int(position.player)].act(batch, key)[0])
    position = game.step(position, action, key)
    line.append(position)
states = jax.tree.map(lambda *leaves: jnp.stack(leaves), *line)
print("rewards at the end (X, O):", position.rewards)

# %%
plies = np.arange(1, len(line) + 1)
values, truth = np.asarray(agent.values(states)), np.asarray(perfect.values(states))
figure = plt.figure(figsize=(8, 3.8), layout="constrained")
boards, (axis) = figure.subplots(2, 1, height_ratios=(1, 2.2))
boards.set_axis_off()
axis.step(
    np.append(0.5, plies + 0.5),
    np.append(truth[:1, 0], truth[:, 0]),
    color="grey",
    alpha=0.6,
    label="perfect play, X",
)
for player, (name, colour) in enumerate((("X", "#0072B2"), ("O", "#D55E00"))):
    own = np.arange(player, len(line), 2)
    label = f"the agent's value for {name}"
    axis.plot(plies[own], values[own, player], "o-", color=colour, label=label)
    axis.plot(len(line) + 0.3, position.rewards[player], "*", color=colour, markersize=12)
axis.axhline(0, color="black", lw=0.8)
axis.set(xlabel="ply", ylabel="value", xticks=plies, xlim=(0.5, len(line) + 0.5), ylim=(-1.2, 1.2))
axis.legend(fontsize=8, loc="upper left")
for number, one in enumerate(line):
    width = 1 / len(line)
    draw_board(boards.inset_axes([number * width, 0, width * 0.95, 1]), one, size=10)
plt.show()

# %% [markdown]
# The value of the final position itself is near 0, whatever it was before: the reward has been
# paid, and nothing follows. That is the work of part 2 of Final Adaptation, which `farl_ablation`
# takes apart.
