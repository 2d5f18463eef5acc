"""Gumbel AlphaZero (Danihelka et al. 2022) by DeepMind's mctx, on a game of jaxgbg for two players.

The search is mctx's, the network flax's, and jaxgbg has the game: `python gumbel_alphazero.py`.
"""

import dataclasses
import sys
import time
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import mctx
import optax

import jaxgbg
from jaxgbg.players import PlayerBase


class Network(nn.Module):
    """Logits of the actions and the value for the player to move, from the digits of a board."""

    digits: int
    actions: int

    @nn.compact
    def __call__(self, observation):
        planes = jax.nn.one_hot(observation, self.digits)
        x = planes.reshape(*observation.shape[:-1], -1)
        for width in (128, 128):
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.actions)(x), jnp.tanh(nn.Dense(1)(x)[..., 0])


def network_of(game):
    return Network(max(game.num_cell_values, game.num_players), game.num_actions)


def judge(network, params, states):
    """(logits without illegal actions [B, A], value [B], 0 at the end) of states of the env."""
    logits, value = network.apply(params, states.observation)
    logits = jnp.where(states.legal_action_mask, logits, jnp.finfo(logits.dtype).min)
    return logits, jnp.where(states.terminated, 0.0, value)


def search(env, network, params, key, states, simulations):
    """mctx's policy for states[B]: the chosen action and the improved weights of all actions."""

    def model(params, key, action, states):
        mover = states.current_player
        states = jax.vmap(env.step)(states, action)
        logits, value = judge(network, params, states)
        # The value is that of the player to move: usually the opponent of who moved here.
        sign = jnp.where(states.current_player == mover, 1.0, -1.0)
        reward = jnp.take_along_axis(states.rewards, mover[:, None], 1)[:, 0]
        discount = jnp.where(states.terminated, 0.0, sign)
        step = mctx.RecurrentFnOutput(
            reward=reward, discount=discount, prior_logits=logits, value=value
        )
        return step, states

    logits, value = judge(network, params, states)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=states)
    invalid = ~states.legal_action_mask
    return mctx.gumbel_muzero_policy(params, key, root, model, simulations, invalid)


def play(env, network, params, key, games, plies, simulations):
    """Self-play of whole games: observations, weights, returns of the movers, and which count.

    A game begins with random moves, at most half as many as it may have: the policy alone would
    soon always play the same game. Positions count from there on.
    """
    start_key, opening_key, key = jax.random.split(key, 3)
    opening = jax.random.randint(opening_key, (games,), 0, plies // 2 + 1)

    def ply(states, number):
        search_key, random_key = jax.random.split(jax.random.fold_in(key, number))
        found = search(env, network, params, search_key, states, simulations)
        legal = states.legal_action_mask
        drawn = jax.random.categorical(random_key, jnp.where(legal, 0.0, -jnp.inf))
        action = jnp.where(number < opening, drawn, found.action)
        after = jax.vmap(env.step)(states, action)
        counts = ~states.terminated & (number >= opening)
        seen = (states.observation, legal, states.current_player, counts)
        return after, (*seen, found.action_weights, after.rewards)

    start = jax.vmap(env.init)(jax.random.split(start_key, games))
    _, (boards, legal, mover, counts, weights, rewards) = jax.lax.scan(
        ply, start, jnp.arange(plies)
    )
    returns = jnp.take_along_axis(rewards.sum(0)[None], mover[..., None], 2)[..., 0]
    return boards, legal, weights, returns, counts


@partial(jax.jit, static_argnums=(0, 1, 2, 6, 7))
def iterate(env, network, optimizer, params, memory, key, games, simulations):
    """Games of self-play, and a step of the optimizer for each of their plies, in random order."""
    plies = env.game.max_plies
    boards, legal, weights, returns, counts = play(
        env, network, params, key, games, plies, simulations
    )

    def loss(params, batch):
        boards, legal, weights, returns, counts = batch
        logits, value = network.apply(params, boards)
        logits = jnp.where(legal, logits, jnp.finfo(logits.dtype).min)
        errors = optax.softmax_cross_entropy(logits, weights) + (value - returns) ** 2
        return (errors * counts).sum() / jnp.maximum(counts.sum(), 1)

    def step(carry, batch):
        params, memory = carry
        changes, memory = optimizer.update(jax.grad(loss)(params, batch), memory, params)
        return (optax.apply_updates(params, changes), memory), None

    order = jax.random.permutation(key, plies * games).reshape(plies, games)
    flat = [x.reshape(-1, *x.shape[2:]) for x in (boards, legal, weights, returns, counts)]
    return jax.lax.scan(step, (params, memory), tuple(x[order] for x in flat))[0]


@dataclasses.dataclass(frozen=True)
class Gumbel(PlayerBase):
    """What was trained, as a player of jaxgbg: it searches with `simulations`, or not if 0."""

    game: jaxgbg.Game
    params: dict
    simulations: int = 0

    name = "gumbel"

    def act(self, states, key, history=None):
        """int32[B]: its action in each of states[B]."""
        return choices(self.game, self.simulations, self.params, states, key)


@partial(jax.jit, static_argnums=(0, 1))
def choices(game, simulations, params, states, key):
    env, network = jaxgbg.to_pgx(game), network_of(game)
    shown = jax.vmap(lambda s: env._shown(s, jnp.zeros_like(s.rewards), jnp.int32(0)))(states)
    if simulations:
        return search(env, network, params, key, shown, simulations).action
    return judge(network, params, shown)[0].argmax(1).astype(jnp.int32)


def train(game, iterations, games=64, simulations=16, seed=0):
    """The player after `iterations` of `games` games each."""
    env, network, optimizer = jaxgbg.to_pgx(game), network_of(game), optax.adam(2e-3)
    key = jax.random.key(seed)
    params = network.init(key, env.init(key).observation)
    memory = optimizer.init(params)
    for number in range(iterations):
        key_now = jax.random.fold_in(key, number)
        params, memory = iterate(
            env, network, optimizer, params, memory, key_now, games, simulations
        )
    return Gumbel(game, params)


def compare(player, simulations, games=200):
    """The points of the network, without its search and with it, against others, by name."""
    game = player.game
    players = {
        "network": player,
        "search": dataclasses.replace(player, simulations=simulations),
        "random": "random",
        "zoo": f"zoo:{game.name}",
    }
    ladder = jaxgbg.tournament(players, game, games=games, progress=False)
    return {
        row["player"]: [round(row[f"against {name}"], 1) for name in ("random", "zoo")]
        for row in ladder.records()
        if row["player"] in ("network", "search")
    }


def main(name="tictactoe", iterations="200", simulations="16", seed="0"):
    """Train, and print the points in per cent against the random player and the zoo's agent."""
    start = time.perf_counter()
    player = train(jaxgbg.make(name), int(iterations), 64, int(simulations), int(seed))
    print(f"{iterations} iterations in {time.perf_counter() - start:.0f} s")
    for who, (random, zoo) in compare(player, int(simulations)).items():
        print(f"{who}: {random} against random, {zoo} against zoo:{name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
