"""Random games of borrowed rules and of the package that they are borrowed from, ply by ply.

    python -m tests.games.borrowed_lockstep [GAME ...] [--games 200]

Prints for each game how many positions were compared and how many of them differed in the legal
actions, the player to move, the end of the game or what everyone has been paid.
"""

import argparse
import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from jaxgbg.games import Game, make
from jaxgbg.games.registry import PACKAGES
from jaxgbg.learners.selection import choose_uniformly

GAMES = [f"{package}:{title}" for package in PACKAGES for title in PACKAGES[package].titles]


def compared(game: Game, games: int, seed: int) -> dict[str, int]:
    """Whole numbers: `plies` compared, `different` ones, the `longest` game, and those `stuck`.

    Stuck is a game that goes on by the other package's rules without a legal action.
    """
    return {name: int(count) for name, count in _play(game, games, jax.random.key(seed)).items()}


@partial(jax.jit, static_argnums=(0, 1))
def _play(game: Any, games: int, key: jax.Array) -> dict[str, jax.Array]:
    key, begin = jax.random.split(key)
    keys = jax.random.split(begin, games)
    ours, theirs = jax.vmap(game.init)(keys), jax.vmap(game.environment.init)(keys)
    # Whoever moves first there is our player 0.
    first = theirs.current_player.astype(jnp.int32)
    start = jnp.zeros(games, bool)
    counts = {name: jnp.int32(0) for name in ("plies", "different", "longest")}

    def ply(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        ours, theirs, paid, stuck, counts, key, _ = carry
        key, choosing, chance = jax.random.split(key, 3)
        ended = theirs.terminated | theirs.truncated
        live = ~ours.terminal
        legal = jax.vmap(game.legal_actions)(ours)
        mask = theirs.legal_action_mask
        stuck = stuck | (~ended & ~mask.any(1))
        player = (theirs.current_player + first) % game.num_players
        same = (
            (ours.terminal == (ended | stuck))
            & (ours.terminal | ((legal == mask).all(1) & (ours.player == player)))
            & (ours.rewards == paid).all(1)
        )
        counts = {
            "plies": counts["plies"] + live.sum(),
            "different": counts["different"] + (~same).sum(),
            "longest": counts["longest"] + live.any(),
        }
        actions = choose_uniformly(legal, choosing)
        keys = jax.random.split(chance, games)
        moved = jax.vmap(game.spawn)(jax.vmap(game.afterstate)(ours, actions), keys)
        after = jax.vmap(game.environment.step)(theirs, actions, keys)
        after = jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), after, theirs)
        after = jax.tree.map(
            lambda new, old: jnp.where(live.reshape(-1, *[1] * (new.ndim - 1)), new, old),
            after,
            theirs,
        )
        # Their player p is our player (p + first) % players: with two, a swap is its own inverse.
        seats = (jnp.arange(game.num_players) + first[:, None]) % game.num_players
        gained = jnp.take_along_axis(after.rewards, seats, 1) * live[:, None]
        return moved, after, paid + gained, stuck, counts, key, live.any()

    def running(carry: tuple[Any, ...]) -> jax.Array:
        return carry[6] & (carry[4]["longest"] <= game.max_plies)

    paid = jnp.zeros((games, game.num_players), jnp.float32)
    # The last round compares the last positions, where nobody moves any more.
    carry = (ours, theirs, paid, start, counts, key, jnp.bool_(True))
    *_, stuck, counts, _, _ = jax.lax.while_loop(running, ply, carry)
    return {**counts, "stuck": stuck.sum()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=GAMES, metavar="GAME")
    parser.add_argument("--games", type=int, default=200)
    options = parser.parse_args()
    for name in options.names:
        began = time.perf_counter()
        counts = compared(make(name), options.games, seed=0)
        print(f"{name}: {counts}, {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
