"""Can one tell from a game whether FARL will matter? Predictions, trainings, matches, figure.

    python -m experiments.farl_predictor.run [--scale 1] [--seeds N] [--games "nim misere" ...]
                                               [--finished FOLDER ...] [--out runs/farl_predictor]

Stages, in this order, or alone with --stages:
  random   predictions from random play, which need no training
  trained  predictions from the play of agents trained with FARL
  gains    agents without FARL, and matches between the two
  ceiling  what perfect play gains over agents without FARL, where Max-N can solve the game
  figure   correlations and farl_predictor.png
Results gather in results.json next to this file; what stands there is not made again, nor is a run
that is finished in the output folder or one of the --finished ones. With --scale or --seeds the
results go to a folder of their own in the output folder.

Source of the question: Konen & Bagheri 2021, section 4.
"""

import argparse
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments.farl_predictor.endings import EPSILON, predictors
from experiments.farl_predictor.figure import correlations, draw, table
from experiments.farl_predictor.settings import SETTINGS, Setting, folder_of
from experiments.shared import make_parser
from jaxgbg import Game, GreedyAgent, RunFolder, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import no_history, play
from jaxgbg.players import MaxN, Player, RandomPlayer
from jaxgbg.results.rows import rows
from jaxgbg.runs import LaneName
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json

STAGES = ("random", "trained", "gains", "ceiling", "figure")
# Positions and continuations of each: random play costs next to nothing.
RANDOM_PLAY, TRAINED_PLAY = (2000, 100), (400, 32)
MATCHES = 200
VARIED = [setting.label for setting in SETTINGS if not setting.published]


def complete(results: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The games of which both kinds of play and the gains are known."""
    needed = {"random", "trained", "gains"}
    return {label: known for label, known in results.items() if known.keys() >= needed}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    labels = [setting.label for setting in SETTINGS]
    parser.add_argument("--games", nargs="+", choices=labels, default=labels, metavar="LABEL")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--scale", type=float, default=1.0, help="times the episodes")
    parser.add_argument("--seeds", type=int, help="agents of each variant")
    parser.add_argument("--finished", type=Path, nargs="+", default=[], metavar="FOLDER")
    options = parser.parse_args(arguments)
    if options.scale <= 0 or (options.seeds is not None and options.seeds < 1):
        parser.error("--scale and --seeds must be positive")
    prepare_jax()
    place = options.results
    if options.scale != 1 or options.seeds is not None:
        place = options.out / f"scale-{options.scale}-seeds-{options.seeds}"
    place.mkdir(parents=True, exist_ok=True)
    results = measured(options, place / "results.json")
    if "figure" not in options.stages:
        return
    known = complete(results)
    if len(known) < 4:
        parser.exit(1, "run.py: a figure needs the gains of four games or more\n")
    records = correlations(known, VARIED)
    draw(known, records, VARIED, place / "farl_predictor.png")
    print(table(results, records))


def measured(options: argparse.Namespace, file: Path) -> dict[str, dict[str, Any]]:
    """What every stage says of every game, as far as it is known or asked for; kept in `file`."""
    results: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    makers = {
        "random": from_random_play,
        "trained": from_trained_play,
        "gains": gains,
        "ceiling": ceiling,
    }
    for stage in (stage for stage in options.stages if stage in makers):
        for setting in SETTINGS:
            known = results.setdefault(setting.label, {})
            if stage in known or setting.label not in options.games:
                continue
            if setting.afterthought and stage in ("random", "trained"):
                continue
            known[stage] = makers[stage](setting, options)
            write_json(file, results)
            print(stage, setting.label, json.dumps(known[stage])[:150], flush=True)
    return results


def rounded(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: np.round(value, 4).tolist() for name, value in figures.items()}


def from_random_play(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    del options
    game = setting.game
    return rounded(predictors(game, RandomPlayer(game), 0.0, *RANDOM_PLAY, seed=0))


def trained(setting: Setting, variant: str, options: argparse.Namespace) -> RunFolder:
    """The finished run of a variant, trained now if need be."""
    run = setting.runs(options.scale, options.seeds)[variant]
    folder = folder_of(run, options.out, options.finished)
    return folder if folder.finished else train(run, options.out)


def agents_of(folder: RunFolder, variant: str) -> GreedyAgent:
    """All seeds of a run as one player of several."""
    return folder.agents([LaneName(seed, variant) for seed in folder.run.seeds])


def from_trained_play(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    if setting.game.num_players == 1:
        return from_random_play(setting, options)
    agents = agents_of(trained(setting, "farl", options), "farl")
    # Every agent plays equally many of the games.
    positions = agents.copies * (TRAINED_PLAY[0] // agents.copies)
    return rounded(predictors(setting.game, agents, EPSILON, positions, TRAINED_PLAY[1], seed=0))


def gains(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """What FARL brings, as a share of what it could: per seed, mean and standard error."""
    folders = {variant: trained(setting, variant, options) for variant in ("farl", "none")}
    if setting.game.num_players == 1:
        per_seed = alone(folders["farl"])
    else:
        farl, none = (agents_of(folder, variant) for variant, folder in folders.items())
        per_seed = head_to_head(setting.game, farl, none, setting.opening)
    return {
        **summary(per_seed),
        "episodes": folders["farl"].run.schedule.episodes,
        "runs": sorted({folder.path.name for folder in folders.values()}),
    }


def summary(per_seed: np.ndarray) -> dict[str, Any]:
    # Of one seed there is no error; JSON has no number for that.
    error = per_seed.std(ddof=1) / np.sqrt(len(per_seed)) if len(per_seed) > 1 else 0.0
    return rounded({"gain": per_seed.mean(), "sem": error, "per_seed": per_seed})


def ceiling(setting: Setting, options: argparse.Namespace) -> dict[str, Any] | None:
    """The same for Max-N in the place of the agents with FARL; None where it cannot play."""
    try:
        perfect = MaxN(setting.game)
    except ValueError:
        return None
    none = agents_of(trained(setting, "none", options), "none")
    return summary(head_to_head(setting.game, perfect, none, setting.opening))


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
        after = jax.vmap(game.afterstate)(states, player.act(states, key))
        if game.stochastic:
            after = jax.vmap(game.spawn)(after, jax.random.split(jax.random.fold_in(key, 1), count))
        return after, None

    start = jax.vmap(game.init)(jax.random.split(key, count))
    return jax.lax.scan(ply, start, jax.random.split(key, plies))[0]


def alone(folder: RunFolder) -> np.ndarray:
    """float64[seeds]: the points that FARL adds, over those by which it beats random play.

    Points are means of the evaluations over the last fifth of the training, as in Table 1.
    """
    run = folder.run
    points = {row.variant: np.array(row.per_seed) for row in rows(run, folder.results(), np.nan)}
    states = jax.vmap(run.game.init)(jax.random.split(jax.random.key(3), 200))
    seats, moves = np.zeros((200, 1), int), jax.random.key(4)
    players = [RandomPlayer(run.game)]
    rewards = play(run.game, seats, players, states, no_history(200), moves)
    by_chance = run.game.scale.figure(float(rewards.mean()))
    return (points["farl"] - points["none"]) / (points["farl"] - by_chance)


if __name__ == "__main__":
    end_in_a_line(main)
