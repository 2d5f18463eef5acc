"""Can one tell from a game whether FARL will matter? Predictions, trainings, matches, figure.

    python experiments/farl_predictor/run.py [--scale 1] [--seeds N] [--games "nim misere" ...]
                                             [--finished FOLDER ...] [--out runs/farl_predictor]

Stages, in this order, or alone with --stages:
  random   predictions from random play, which need no training
  trained  predictions from the play of agents trained with FARL
  gains    agents without FARL, and matches between the two
  ceiling  what perfect play gains over agents without FARL, where Max-N can solve the game
  figure   correlations and farl_predictor.png
Results gather in results.json beside this file; what stands there is not made again, nor is a run
that is finished in the output folder or one of the --finished ones. With --scale or --seeds the
results go to a folder of their own in the output folder.

Source of the question: Konen & Bagheri 2021, section 4.
"""

import argparse
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hearing import EPSILON, predictors
from settings import SETTINGS, Setting, folder_of

from jaxgbg.arena import no_history, play
from jaxgbg.cli import _prepare_jax
from jaxgbg.games import Game, make
from jaxgbg.games.game2048 import MAX_SCORE
from jaxgbg.players import GreedyAgent, MaxN, Player, RandomPlayer
from jaxgbg.training import RunFolder, load_agent, run
from jaxgbg.training.files import write_json

STAGES = ("random", "trained", "gains", "ceiling", "figure")
HERE = Path(__file__).parent
# Positions and continuations of each: random play costs next to nothing.
RANDOM_PLAY, TRAINED_PLAY = (2000, 100), (400, 32)
MATCHES = 200


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    labels = [setting.label for setting in SETTINGS]
    parser.add_argument("--games", nargs="+", choices=labels, default=labels, metavar="LABEL")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--scale", type=float, default=1.0, help="times the episodes")
    parser.add_argument("--seeds", type=int, help="agents of each variant")
    parser.add_argument("--finished", type=Path, nargs="+", default=[], metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=Path("runs/farl_predictor"))
    options = parser.parse_args()
    if options.scale <= 0 or (options.seeds is not None and options.seeds < 1):
        parser.error("--scale and --seeds must be positive")
    _prepare_jax()
    tried = options.scale != 1 or options.seeds is not None
    place = options.out / f"scale-{options.scale}-seeds-{options.seeds}" if tried else HERE
    place.mkdir(parents=True, exist_ok=True)
    file = place / "results.json"
    results: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    makers = {
        "random": from_random_play,
        "trained": from_trained_play,
        "gains": gains,
        "ceiling": ceiling,
    }
    for stage in options.stages:
        for setting in SETTINGS:
            known = results.setdefault(setting.label, {})
            if stage == "figure" or stage in known or setting.label not in options.games:
                continue
            if setting.afterthought and stage in ("random", "trained"):
                continue
            known[stage] = makers[stage](setting, options)
            write_json(file, results)
            print(stage, setting.label, json.dumps(known[stage])[:150], flush=True)
    if "figure" in options.stages:
        from figure import correlations, draw, table

        complete = {
            label: found
            for label, found in results.items()
            if found.keys() >= {"random", "trained", "gains"}
        }
        if len(complete) < 4:
            sys.exit("run.py: a figure needs the gains of four games or more")
        varied = [setting.label for setting in SETTINGS if not setting.published]
        found = correlations(complete, varied)
        write_json(place / "correlations.json", found)
        draw(complete, found, varied, place / "farl_predictor.png")
        print(table(results, found))


def rounded(found: dict[str, Any]) -> dict[str, Any]:
    return {name: np.round(value, 4).tolist() for name, value in found.items()}


def game_of(setting: Setting) -> Game:
    return make(setting.preset, **dict(setting.parameters))


def from_random_play(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    del options
    game = game_of(setting)
    return rounded(predictors(game, RandomPlayer(game), 0.0, *RANDOM_PLAY, seed=0))


def trained(setting: Setting, variant: str, options: argparse.Namespace) -> RunFolder:
    """The finished run of a variant, trained now if need be."""
    config = setting.configs(options.scale, options.seeds)[variant]
    folder = folder_of(config, options.out, options.finished)
    return folder if folder.finished else run(config, options.out)


def agents_of(folder: RunFolder, variant: str) -> GreedyAgent:
    """All seeds of a run as one player of several."""
    config = folder.config
    learner = config.make_learner()
    value = learner.value
    params = []
    for seed in config.seeds:
        saved = load_agent(folder.path / "agents" / f"seed{seed}-{variant}.agent", config.game)
        own = value.with_weights(saved.weights)
        if value.varied:
            own = own._replace(tuples=jnp.asarray(config.layout(seed), jnp.int32))
        params.append(own)
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *params)
    return GreedyAgent(learner.game, value, together, config.zero_terminal, several=True)


def from_trained_play(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    game = game_of(setting)
    if game.num_players == 1:
        return from_random_play(setting, options)
    agents = agents_of(trained(setting, "farl", options), "farl")
    # Every agent plays equally many of the games.
    positions = agents.copies * (TRAINED_PLAY[0] // agents.copies)
    return rounded(predictors(game, agents, EPSILON, positions, TRAINED_PLAY[1], seed=0))


def gains(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """What FARL brings, as a share of what it could: per seed, mean and standard error."""
    game = game_of(setting)
    folders = {variant: trained(setting, variant, options) for variant in ("farl", "none")}
    if game.num_players == 1:
        per_seed = alone(folders["farl"], game)
    else:
        pair = [agents_of(folder, variant) for variant, folder in folders.items()]
        per_seed = head_to_head(game, *pair, setting.opening)
    return {
        **summary(per_seed),
        "episodes": folders["farl"].config.episodes,
        "runs": sorted({folder.path.name for folder in folders.values()}),
    }


def summary(per_seed: np.ndarray) -> dict[str, Any]:
    # Of one seed there is no error; JSON has no number for that.
    error = per_seed.std(ddof=1) / np.sqrt(len(per_seed)) if len(per_seed) > 1 else 0.0
    return rounded({"gain": per_seed.mean(), "sem": error, "per_seed": per_seed})


def ceiling(setting: Setting, options: argparse.Namespace) -> dict[str, Any] | None:
    """The same for Max-N in the place of the agents with FARL; None where it cannot play."""
    game = game_of(setting)
    try:
        perfect = MaxN(game)
    except ValueError:
        return None
    none = agents_of(trained(setting, "none", options), "none")
    return summary(head_to_head(game, perfect, none, setting.opening))


def head_to_head(game: Game, farl: Player, none: GreedyAgent, opening: int) -> np.ndarray:
    """float64[seeds]: reward with FARL less reward without, over the most it could be.

    Agents of one seed meet in every mixture of seats that holds both kinds; every match begins
    `opening` random plies after the start. The most it could be is what the ending of a random game
    would give if those with FARL sat in its best seats.
    """
    mixtures = np.array(list(itertools.product((0, 1), repeat=game.num_players)))
    mixtures = mixtures[np.ptp(mixtures, 1) > 0]
    seats = np.tile(np.repeat(mixtures, MATCHES, 0), (none.copies, 1))
    opening_key, moves = jax.random.split(jax.random.key(1))
    states = opened(game, opening, len(seats), opening_key)
    rewards = play(game, seats, [farl, none], states, no_history(len(seats)), moves)
    shape = (none.copies, -1)
    difference = _with_less_without(rewards, seats).reshape(shape).mean(1)
    return difference / most(game, mixtures)


def _with_less_without(rewards: np.ndarray, seats: np.ndarray) -> np.ndarray:
    without = seats == 1
    mean_without = (rewards * without).sum(1) / without.sum(1)
    return (rewards * ~without).sum(1) / (~without).sum(1) - mean_without


def most(game: Game, mixtures: np.ndarray) -> float:
    """The greatest mean difference that any ending of random play allows in these mixtures."""
    states = opened(game, game.max_plies, 1000, jax.random.key(2))
    endings = np.unique(np.sort(np.asarray(states.rewards), 1)[:, ::-1], axis=0)
    best = [
        max(_with_less_without(ending[None], np.sort(mixture)[None])[0] for ending in endings)
        for mixture in mixtures
    ]
    return float(np.mean(best))


def opened(game: Game, plies: int, count: int, key: jax.Array) -> Any:
    """`count` states, `plies` random plies after the start or at the end if that comes before."""
    player = RandomPlayer(game)

    def ply(states: Any, key: jax.Array) -> tuple[Any, None]:
        return jax.vmap(game.afterstate)(states, player.act(states, key)), None

    start = jax.vmap(game.init)(jax.random.split(key, count))
    return jax.lax.scan(ply, start, jax.random.split(key, plies))[0]


def alone(folder: RunFolder, game: Game) -> np.ndarray:
    """float64[seeds]: the points that FARL adds, over those by which it beats random play.

    Points are means of the evaluations over the last fifth of the training, as in Table 1.
    """
    points: dict[str, dict[int, list[float]]] = {"farl": {}, "none": {}}
    for one in folder.evaluations():
        if one.episodes > 0.8 * folder.config.episodes:
            points[one.farl].setdefault(one.seed, []).append(MAX_SCORE * one.score)
    late = {variant: {s: np.mean(p) for s, p in own.items()} for variant, own in points.items()}
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(3), 200))
    moves = jax.random.key(4)
    seats = np.zeros((200, 1), int)
    chance = play(game, seats, [RandomPlayer(game)], states, no_history(200), moves).mean()
    by_chance = MAX_SCORE * float(chance)
    return np.array(
        [(late["farl"][s] - late["none"][s]) / (late["farl"][s] - by_chance) for s in late["farl"]]
    )


if __name__ == "__main__":
    main()
