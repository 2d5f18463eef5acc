"""Who takes a win in one move, and who sees that a move lets the other win in one.

    python -m experiments.discount.threats runs/discount/*/*-*/      # adds to results.json

Positions are those of random play, each once. *Wins taken*: where one move wins at once, how often
the agent makes such a move. *Losses seen*: where none does, some moves let the other one win at
once, and others do not, how often it makes one of those. *By chance*: a random player.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.shared import Section, make_parser, opened
from jaxgbg import Game, RunFolder
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.games.rollout import play_ply, select_states
from jaxgbg.players import Player, RandomPlayer
from jaxgbg.results.statistics import mean_sem
from jaxgbg.runs.devices import prepare_jax

GAMES, MOST = 2000, 5000
THREATS = "threats"
"""The section of results.json."""
MEASURES = ("wins taken", "losses seen")


class Positions(NamedTuple):
    """P `states` of a game, and what each of A actions leads to: bool[P, A] each.

    `wins` at once; `allows` the other player to win at once.
    """

    states: Any
    legal: np.ndarray
    wins: np.ndarray
    allows: np.ndarray

    def good(self, measure: str) -> np.ndarray:
        """bool[P, A]: the actions that a measure counts, nowhere all legal ones or none."""
        allowed = self.legal & ~self.allows & ~self.wins.any(1, keepdims=True)
        good = self.wins if measure == "wins taken" else allowed
        return good & (good != self.legal).any(1, keepdims=True)


@functools.cache
def positions_of(game: Game) -> Positions:
    """Different positions of random play, as many of every ply; two players, no chance."""
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), GAMES))
    player = RandomPlayer(game)
    found: dict[bytes, Any] = {}
    for ply in range(game.max_plies):
        most = len(found) + MOST // game.max_plies
        here = jax.device_get(states)
        for row in np.flatnonzero(~here.terminal):
            if len(found) < most:
                one = select_states(here, row)
                found.setdefault(b"".join(leaf.tobytes() for leaf in one), one)
        acting, chance = jax.random.split(jax.random.fold_in(jax.random.key(1), ply))
        states = play_ply(game, states, player.act(states, acting), chance)
    every = jax.tree.map(lambda *leaves: np.stack(leaves), *found.values())
    return Positions(every, *map(np.asarray, _outcomes(game, every)))


@functools.partial(jax.jit, static_argnums=0)
def _outcomes(game: Game, states: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    def winning(state: Any) -> tuple[jax.Array, jax.Array, Any]:
        legal = game.legal_actions(state) & ~state.terminal
        after = jax.vmap(game.afterstate, (None, 0))(state, jnp.arange(game.num_actions))
        won = after.rewards[:, state.player] == max(game.reward_range)
        return legal, legal & after.terminal & won, after

    def one(state: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        legal, wins, after = winning(state)
        replies = jax.vmap(lambda then: winning(then)[1].any())(after)
        return legal, wins, legal & replies

    return jax.vmap(one)(states)


def shares(game: Game, players: Player, several: int = 1) -> dict[str, list[float]]:
    """Per cent of each of `several` players that act as one, in both measures."""
    positions, each = positions_of(game), {}
    for measure in MEASURES:
        good = positions.good(measure)
        rows = np.flatnonzero(good.any(1))
        states = select_states(positions.states, np.tile(rows, several))
        actions = np.asarray(players.act(states, jax.random.key(2))).reshape(several, -1)
        hits = good[rows[None], actions].mean(1)
        each[measure] = [round(100 * float(hit), 2) for hit in hits]
    return each


def by_chance(game: Game) -> dict[str, float]:
    """What a random player has in both, per cent."""
    positions = positions_of(game)
    each = {}
    for measure in MEASURES:
        good = positions.good(measure)
        rows = good.any(1)
        each[measure] = float(100 * (good[rows].sum(1) / positions.legal[rows].sum(1)).mean())
    return each


def record_of(folder: RunFolder, variant: str) -> dict[str, Any]:
    """A row of threats.json."""
    run = folder.run
    lanes = [lane for lane in run.lanes if lane.variant == variant]
    return {
        "game": run.game.name,
        "value": run.value.kind,
        "discount": run.learner.discount,
        "variant": variant,
        "config": run.digest,
        "by chance": {name: round(value, 2) for name, value in by_chance(run.game).items()},
        **shares(run.game, folder.agents(lanes), len(lanes)),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of finished runs")
    options = parser.parse_args(arguments)
    section = Section(options.results, THREATS)
    rows = {(row["config"], row["variant"]): row for row in section.read()}
    prepare_jax()
    for folder in opened(parser, options.runs):
        for variant in folder.run.variants:
            rows[folder.run.digest, variant] = row = record_of(folder, variant)
            told = ", ".join("{} {:.1f} ± {:.1f}".format(m, *mean_sem(row[m])) for m in MEASURES)
            print(row["game"], row["value"], row["discount"], variant, told, flush=True)
    section.write(list(rows.values()))


if __name__ == "__main__":
    end_in_a_line(main)
