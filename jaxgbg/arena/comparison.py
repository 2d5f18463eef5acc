"""Two players meet until it is clear who is stronger."""

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jaxgbg.arena.sequential import Decision, SequentialTest
from jaxgbg.arguments import MaxGames, OpeningPlies, Pairs
from jaxgbg.evaluation.matches import compete
from jaxgbg.evaluation.protocol import Protocol
from jaxgbg.games import Game
from jaxgbg.players import Player
from jaxgbg.specs import Seed, checked


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The first player's games so far, and the test's answer to their pairs.

    `score` is points a game, 1 for a win of any size and 1/2 for a draw, `sem` its standard error
    over pairs.
    """

    wins: int
    draws: int
    losses: int
    score: float
    sem: float
    log_likelihood_ratio: float
    decision: Decision


@checked
def compare(
    game: Game,
    first: Player,
    second: Player,
    test: SequentialTest,
    opening_plies: OpeningPlies = 4,
    batch: Pairs = 50,
    max_games: MaxGames = 20_000,
    seed: Seed = 0,
    on_batch: Callable[[Comparison], None] = lambda _: None,
) -> Comparison:
    """Play batches of pairs of games until `test` decides, or for about `max_games`.

    A pair is one start, drawn by `opening_plies` uniformly random plies, and played twice with
    seats changed; without random openings greedy agents would always repeat one game. The answer
    holds for such starts. Raises ValueError for a game that is not for two players, whose rewards
    do not lie symmetrically about 0, or that is too short for such openings.
    """
    if game.num_players != 2:
        raise ValueError(f"compare needs a game for two players, not {game.name}")
    low, high = game.reward_range
    if low != -high:
        raise ValueError(
            f"compare counts wins, draws and losses, but rewards of {game.name} lie between {low:g}"
            f" and {high:g}"
        )
    if max_games < 2 * batch:
        raise ValueError(f"max_games must hold one batch of {batch} pairs, not {max_games}")
    protocol = Protocol("random_plies", count=batch, plies=opening_plies)
    pairs, rewards = np.zeros(0), np.zeros(0)
    key = jax.random.key(seed)
    while True:
        key, draw = jax.random.split(key)
        # Rewards float32[2, batch]: the same start from each seat.
        batch_rewards = compete(game, first, second, protocol, draw)[0]
        scores = ((np.sign(batch_rewards) + 1) / 2).mean(0)
        pairs = np.append(pairs, scores)
        rewards = np.append(rewards, batch_rewards)
        decision = test.update(scores)
        score = float(pairs.mean())
        sem = float(pairs.std(ddof=1) / np.sqrt(pairs.size)) if pairs.size > 1 else float("nan")
        wins, losses = int((rewards > 0).sum()), int((rewards < 0).sum())
        draws = len(rewards) - wins - losses
        ratio = test.log_likelihood_ratio
        so_far = Comparison(wins, draws, losses, score, sem, ratio, decision)
        on_batch(so_far)
        if decision != "continue" or len(rewards) + 2 * batch > max_games:
            return so_far
