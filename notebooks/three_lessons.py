# %% [markdown]
# # Three lessons
# The cells for *Teach with it*: three lessons of 45 minutes on learning to play, for students who
# can read a little Python. Each lesson can be run alone after the first two cells. The page has the
# plan of the lessons, more exercises, and the answers.
#
# In Colab or on another machine without the package: upload its wheel (`pip wheel --no-deps .` in
# the project's folder makes it), and this cell installs it, in about a minute.

# %%
import glob
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("jaxgbg") is None:
    wheel = f"{glob.glob('jaxgbg-*.whl')[-1]}[notebooks]"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", wheel], check=True)

# %%
import os
import tempfile

import numpy as np

import jaxgbg

# The project's tests set this to 0.01; what agents then play means nothing.
BUDGET = float(os.environ.get("JAXGBG_NOTEBOOK_BUDGET", "1"))
OUT = tempfile.mkdtemp(prefix="jaxgbg-")


def after(game, *moves):
    """The state after some moves."""
    state = game.init(None)
    for move in moves:
        state = game.step(state, move, None)
    return state


def show(values, rows=3):
    """The values of the moves, as they lie on the board; -inf is not legal."""
    with np.printoptions(precision=2, suppress=True):
        print(np.asarray(values).reshape(rows, -1))


# %% [markdown]
# ## Lesson 1: temporal differences, by hand and by program
# X plays the same game again and again: from position *a* to position *b*, and then he wins. A
# position is worth what follows it: *a* is worth as much as *b*, and *b* as much as the win, 1. So
# after every move the value of the position before it goes a part ALPHA of the way to what came.
# Work out the first four games on paper, then run the cell.

# %%
ALPHA = 0.5
a = b = 0.0
for number in range(1, 5):
    a += ALPHA * (b - a)  # X has come from a to b
    b += ALPHA * (1 - b)  # X has come from b to the win
    print(f"after game {number}: a = {a:.4f}, b = {b:.4f}")

# %% [markdown]
# What is known of the end goes back by one move in each game. The program does the same with all
# positions of TicTacToe at once. `train` plays and learns; `evaluate` plays against Max-N, which
# never makes a mistake: with a draw counting half, 50 % is the best there is.

# %%
run = jaxgbg.preset(
    "tictactoe",
    seeds=(0, 1, 2),
    variants=("farl", "none"),
    episodes=max(10, round(10_000 * BUDGET)),
    eval_every=max(1, round(1_000 * BUDGET)),
)
folder = jaxgbg.train(run, OUT)
agent = jaxgbg.load(folder.path / "agents" / "seed0-farl.agent")
rewards = jaxgbg.evaluate(agent, "maxn")
print(f"against Max-N: {50 * (rewards.mean() + 1):.0f} %")

# %% [markdown]
# X has the centre and the middle of the top row, O the corner a1. O is to move. Which move must he
# make, and does the agent know?

# %%
state = after(agent.game, 4, 0, 1)
show(agent.action_values(state))
print("the agent plays cell", agent.play_move(state))

# %% [markdown]
# ## Lesson 2: why Final Adaptation
# Now the same game as O sees it: he moves to position *c*, then X wins. When is the value of *c*
# changed? TD changes it when O moves again, but O never moves again: the game is over. Final
# Adaptation is one more step for each player who did not make the last move: his last position goes
# towards what he was paid, here -1.

# %%
without = adapted = 0.0
for number in range(1, 5):
    # Without Final Adaptation nothing is done: O has no next move.
    adapted += ALPHA * (-1 - adapted)
    print(f"after game {number}: c = {without:.4f} without, {adapted:.4f} with Final Adaptation")

# %% [markdown]
# An agent that never learns of its losses does not fear them. Lesson 1 has trained three agents
# with Final Adaptation (FARL) and three without, from the same seeds.

# %%
for variant in ("farl", "none"):
    files = [folder.path / "agents" / f"seed{seed}-{variant}.agent" for seed in run.seeds]
    rates = [50 * (jaxgbg.evaluate(jaxgbg.load(file), "maxn").mean() + 1) for file in files]
    print(f"{variant}: {', '.join(f'{rate:.0f} %' for rate in rates)} against Max-N")

# %% [markdown]
# The position of lesson 1 again, as an agent without Final Adaptation values it: every move but the
# lower middle loses at once.

# %%
forgetful = jaxgbg.load(folder.path / "agents" / "seed0-none.agent")
show(forgetful.action_values(state))
print("the agent plays cell", forgetful.play_move(state))

# %% [markdown]
# ## Lesson 3: play and inspect ConnectFour
# A minute of training makes an agent that beats beginners. ConnectFour has about 4.5 trillion
# positions, so no table has a line for each: the agent adds the weights of 70 n-tuples, each of
# which looks at eight cells.

# %%
run = jaxgbg.preset(
    "connectfour",
    seeds=(0,),
    variants=("farl",),
    episodes=max(64, round(10_000 * BUDGET)),
    eval_every=max(64, round(5_000 * BUDGET)),
    opponents=("random",),
)
four = jaxgbg.load(jaxgbg.train(run, OUT).path / "agents" / "seed0-farl.agent")
rewards = jaxgbg.evaluate(four, "random")
print(f"wins {(rewards > 0).mean():.0%} of {rewards.size} games against random moves")

# %% [markdown]
# Play against it. The key `v` hides or shows its values, `h` gives a hint; open *Inside the agent*
# and click on a cell to see which n-tuples read it.

# %%
jaxgbg.board(four, seats=("person", "agent"))

# %% [markdown]
# Red has three discs in the fourth column, and blue is to move. The agent values the position after
# each move; one that looks three plies ahead values what follows from it.

# %%
from jaxgbg.players import LookAheadAgent
from jaxgbg.search import LookAheadSpec

threat = after(four.game, 3, 0, 3, 0, 3)
show(four.action_values(threat), rows=1)
print("it plays column", int(four.play_move(threat)) + 1)
deep = LookAheadAgent(four, LookAheadSpec(3))
show(deep.action_values(threat), rows=1)
print("three plies ahead, it plays column", int(deep.play_move(threat)) + 1)
