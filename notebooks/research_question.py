# %% [markdown]
# # Does lambda matter for Nim3P?
# From a question to a figure in ten cells: five values of lambda (`trace_decay`), ten seeds each, a
# tenth of the published budget. `docs/question.md` does the same by three commands.
# `JAXGBG_NOTEBOOK_BUDGET` multiplies the episodes; the tests of the project set it to 0.01 to see
# that every cell still runs, and such figures mean nothing.

# %%
import os
import tempfile
from pathlib import Path

import jaxgbg

BUDGET = float(os.environ.get("JAXGBG_NOTEBOOK_BUDGET", "1"))
# A fresh folder, so that every cell does its work; put "runs" here to keep what is trained.
OUT = Path(tempfile.mkdtemp(prefix="jaxgbg-"))

# %% [markdown]
# ## The question
# It is a table: what all runs have, and the axes, of which every combination is a run. A file with
# the same in TOML is what `jaxgbg sweep` takes.

# %%
episodes = max(100, round(30_000 * BUDGET))
question = {
    "game": "nim3p",
    "seeds": "0:10",
    "settings": {"episodes": episodes, "eval_every": max(10, episodes // 15), "variants": "farl"},
    "axes": {"trace_decay": [0.0, 0.25, 0.5, 0.75, 0.9]},
}

# %% [markdown]
# ## The work
# A bar shows all of it with the time left. Given again, the call would find everything done.

# %%
sweep = jaxgbg.sweep(question, OUT)
print(f"{len(sweep.runs)} runs, {sum(run.finished for run in sweep.runs)} of them finished")

# %% [markdown]
# ## The answer as a table
# A row for each lambda, with its mean reward over ten seeds, in the last fifth of the training, and
# the 95 % interval of that mean. The differences are from lambda 0, seed by seed.

# %%
frame = sweep.frame(baseline="trace_decay=0")
columns = ["trace_decay", "mean", "low", "high", "n", "difference", "difference_low"]
frame[[*columns, "difference_high"]].round(3)

# %% [markdown]
# ## The answer as a figure
# Bars are 95 % intervals.

# %%
sweep.plot("trace_decay")

# %% [markdown]
# The learning curves say whether the budget was long enough: where they still rise, the means
# compare how fast agents learn, not how well they end.

# %%
sweep.plot()

# %% [markdown]
# For the paper, as a PDF (or SVG, or PNG).

# %%
print(sweep.plot("trace_decay").save(OUT / "lambda.pdf").name)

# %% [markdown]
# ## Going on until it is good enough
# A callback hears of every evaluation, and may end a training: it keeps a checkpoint, and the same
# call without the callback goes on from there. Here a single agent stops as soon as it has reached
# half of what perfect players earn among equals, 0.4.


# %%
def good_enough(result):
    if result.score >= 0.2:
        raise jaxgbg.StopTraining(f"a reward of {result.score:.2f}")


settings = question["settings"] | {"trace_decay": 0.25}
run = jaxgbg.train(
    jaxgbg.preset("nim3p", seeds=[0], **settings | {"variants": ("farl",)}), OUT, [good_enough]
)
print(f"stopped early: {run.stopped_early}, after {run.results()[-1].episodes:,} episodes")

# %%
run.curve()

# %% [markdown]
# ## What an agent makes of a position
# `action_values` and `play_move` take one state or a batch of them.

# %%
agent = jaxgbg.load(sweep.runs[0].path / "agents" / "seed0-farl.agent")
state = agent.game.init(None)
print("values", *(f"{value:.2f}" for value in agent.action_values(state)))
print("move", agent.play_move(state))
