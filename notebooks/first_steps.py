# %% [markdown]
# # First steps
# From a game to an agent that plays it: look at a state, play a thousand random games at once,
# train, evaluate, save, load, and play a move. Everything here is a call that you can make in your
# own program; the command `jaxgbg` makes the same ones.
#
# The environment variable `JAXGBG_NOTEBOOK_BUDGET` multiplies the number of training episodes. The
# project's tests set it to 0.01, to see quickly that every cell still runs; what such an agent
# plays means nothing.

# %%
import os
import tempfile
from pathlib import Path

import jax
import numpy as np
from IPython.display import Image

import jaxgbg

BUDGET = float(os.environ.get("JAXGBG_NOTEBOOK_BUDGET", "1"))
# A fresh folder, so that every cell does its work; put "runs" here to keep what is trained.
OUT = Path(tempfile.mkdtemp(prefix="jaxgbg-"))

# %% [markdown]
# ## A game
# A game is a set of rules without memory. It knows how many players, actions and cells there are,
# and how a state becomes the next one.

# %%
game = jaxgbg.make("tictactoe")
print(f"{game.num_players} players, {game.num_actions} actions, {game.num_cells} cells")
print(f"{game.num_cell_values} digits a cell, at most {game.max_plies} plies a game")

# %% [markdown]
# A state holds what the rules need, here one bit a cell for each player's stones, and three fields
# that every game has: the player to move, whether the game is over, and the rewards so far. `init`
# takes a random key because some games begin at random.

# %%
state = game.init(jax.random.key(0))
state

# %% [markdown]
# Learners see the board as digits, the same for every game: in TicTacToe 0 is O, 1 is empty and 2
# is X. We print them as a person would draw them.


# %%
def show(state):
    for row in np.asarray(game.cells(state)).reshape(3, 3):
        print(*("O.X"[digit] for digit in row))


for action in (4, 0, 1):
    state = game.step(state, action, jax.random.key(0))
show(state)
print("to move: player", state.player)

# %% [markdown]
# An action is the number of a cell, row by row. Those that are legal are True; an illegal one is
# refused.

# %%
print(np.asarray(game.legal_actions(state)).reshape(3, 3))
try:
    game.step(state, 4, jax.random.key(0))
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# ## A thousand random games
# All rules are written for one state. `jax.vmap` makes them work on a batch, `jax.jit` compiles the
# result: here every call plays one ply of a thousand games. A game that is over stays as it is.

# %%
player = jaxgbg.make_player("random", game)


@jax.jit
def random_ply(states, key):
    choosing, moving = jax.random.split(key)
    actions = player.act(states, choosing)
    return jax.vmap(game.step)(states, actions, jax.random.split(moving, len(actions)))


states = jax.vmap(game.init)(jax.random.split(jax.random.key(1), 1000))
for ply in range(game.max_plies):
    states = random_ply(states, jax.random.fold_in(jax.random.key(2), ply))
print("all over:", bool(states.terminal.all()))

# %% [markdown]
# The rewards say who won: +1 for the winner, -1 for the loser, 0 for a draw. X, who begins, wins
# most of them.

# %%
first = np.asarray(states.rewards)[:, 0]
for outcome, share in (("X wins", first > 0), ("O wins", first < 0), ("draw", first == 0)):
    print(f"{outcome}: {share.mean():.1%}")

# %% [markdown]
# ## Training
# `preset` gives the published parameters of a game; any of them can be replaced. We train three
# agents side by side, with Final Adaptation, and evaluate each of them at thirty points of its
# training against Max-N, who plays perfectly.

# %%
episodes = max(30, round(30_000 * BUDGET))
run = jaxgbg.preset(
    "tictactoe", seeds=(0, 1, 2), variants=("farl",), episodes=episodes, eval_every=episodes // 30
)
schedule = run.schedule
print(f"n-tuples {run.value.layout}, {schedule.batch} games in lockstep")
print(f"{schedule.episodes:,} episodes, alpha {schedule.alpha} to {schedule.last_alpha}")
print(f"against {', '.join(run.evaluation.opponents)}")

# %% [markdown]
# `train` returns the folder of the run, with these files in it.

# %%
folder = jaxgbg.train(run, OUT)
print("\n".join(sorted(str(path.relative_to(folder.path)) for path in folder.path.rglob("*.*"))))

# %% [markdown]
# The learning curve, drawn by the function that `jaxgbg train` ends with: the mean of the three
# agents with a band of one standard error, and the paper's figure dashed. The score is the win
# rate, a draw counting half. A perfect opponent cannot be beaten, so 50 % is the best there is.

# %%
from jaxgbg.results import draw_curves

draw_curves([(run, folder.results())], OUT / "curve.png")
Image(OUT / "curve.png")

# %% [markdown]
# ## Evaluation
# `load` reads an agent, `evaluate` plays the published matches: against Max-N from the start
# position and from each of the nine positions one ply later, from both seats. What comes back is
# the agent's reward in every game.

# %%
agent = jaxgbg.load(folder.path / "agents" / "seed0-farl.agent")
rewards = jaxgbg.evaluate(agent, "maxn")
print("[seats, games] =", rewards.shape)
print(rewards)

# %% [markdown]
# Against a random player there is something to win.

# %%
rewards = jaxgbg.evaluate(agent, "random")
for seat, name in enumerate(("first", "second")):
    won, lost = (rewards[seat] > 0).mean(), (rewards[seat] < 0).mean()
    print(f"moving {name}: wins {won:.1%}, loses {lost:.1%} of {rewards.shape[1]} games")

# %% [markdown]
# ## An agent is one file
# A run keeps its agents. To keep one elsewhere, read it with everything that belongs to it and
# write it under another name.

# %%
from jaxgbg.runs import load_agent, save_agent

saved = load_agent(folder.path / "agents" / "seed0-farl.agent")
print(f"seed {saved.seed}, variant {saved.variant}, {len(saved.weights):,} weights")
save_agent(OUT / "mine.agent", saved)
again = jaxgbg.load(OUT / "mine.agent")
print("same values:", np.array_equal(again.action_values(state), agent.action_values(state)))

# %% [markdown]
# ## A move
# The agent gives every action a value, the reward of the move plus the value of the position after
# it, and minus infinity where the action is not legal. We are O, and X threatens to fill the middle
# column.

# %%
show(state)
with np.printoptions(precision=2, suppress=True):
    print(np.asarray(agent.action_values(state)).reshape(3, 3))

# %% [markdown]
# The agent plays the action of the greatest value. `play_move` and `action_values` take one state
# or a batch of them.

# %%
action = agent.play_move(state)
state = game.step(state, action, jax.random.key(0))
print("action", action)
show(state)

# %% [markdown]
# ## On a board
# `board` shows a game to play on, here in the position before that move: what the agent thinks of
# every move, the game so far, perfect play, hints. It takes an agent, a run (`folder`) or the name
# of a game, and *Players* says who plays. Where this notebook is only read, it is a picture.

# %%
jaxgbg.board(agent, moves=(4, 0, 1))

# %% [markdown]
# `inside_an_agent` shows where these values come from, `farl_ablation` what Final Adaptation does
# for them.
