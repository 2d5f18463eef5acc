"""How much does Final Adaptation bring as the number of players grows?

    python -m experiments.n_players.run [--labels "sim K6, 3 players" ...] [--out OUT]
    python -m experiments.n_players.run --share 0/4 --out OUT     # the first of four processes
    python -m experiments.n_players.run --scale .001 --seeds 2 --out OUT    # a trial
    python -m experiments.n_players.run --forecast                # from random play alone
    python -m experiments.n_players.run --show                    # the kept figures and the picture

Each setting is trained with both parts of Final Adaptation, with the first alone and with none, ten
seeds each. Agents of one seed then meet head to head in every mixture of seats, and each variant
meets random players in every seat. Results are in OUT/results.json; what stands there is not made
again. Several processes may share an OUT.

Source of the question: Konen & Bagheri 2021, section 5 (more games for three players).
"""

import argparse
import dataclasses
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from scipy.stats import spearmanr

from experiments.farl_predictor.endings import predictors
from experiments.farl_predictor.run import agents_of, head_to_head, opened, rounded, summary
from experiments.gpu.records import Records, machine
from experiments.shared import make_parser, new_figure
from jaxgbg import Game, GreedyAgent, Run, make, preset, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.evaluation import no_history, play
from jaxgbg.players import Player, RandomPlayer
from jaxgbg.results.figures import save
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json

FILE, KEY = "results.json", ("label",)
FORECAST = "forecast.json"
PAIRS = (("farl", "none"), ("farl", "part1"), ("part1", "none"))
GAMES = 200
"""Games against random players from each seat, for each seed."""
# Positions, and continuations of each; in long games fewer.
_RANDOM_PLAY, _LONG = (2000, 100), (2000, 4)
_LONG_PLIES = 1_000


VARIANTS = ("farl", "part1", "none")
SEEDS = 10


@dataclasses.dataclass(frozen=True)
class Setting:
    """One game for one number of players: its family, its parameters, and episodes a seed.

    Matches begin `opening` random plies after the start. `network`: whether a network takes the
    place of n-tuples. The `second` round was planned when the figures of the first were known.
    """

    family: str
    players: int
    parameters: Mapping[str, Any]
    episodes: int
    opening: int = 2
    network: bool = False
    second: bool = False

    @property
    def name(self) -> str:
        """The name by which `jaxgbg.make` knows the game."""
        return self.family.partition(" ")[0]

    @property
    def game_label(self) -> str:
        """The game and its number of players, by which a forecast is kept."""
        return f"{self.family}, {self.players} players"

    @property
    def label(self) -> str:
        return f"{self.game_label}, network" if self.network else self.game_label

    @property
    def game(self) -> Game:
        return make(self.name, players=self.players, **self.parameters)

    def run(self, scale: float = 1.0, seeds: int = SEEDS) -> Run:
        """FARL, its first part alone, and none, side by side; evaluated at the end alone."""
        episodes = max(1, round(scale * self.episodes))
        return preset(
            self.game,
            episodes=episodes,
            eval_every=episodes,
            seeds=range(seeds),
            variants=VARIANTS,
            opponents=("random",),
            **({"value": "mlp"} if self.network else {}),
        )


_FIRST = (
    *(Setting("nim", n, {}, 50_000) for n in (2, 3, 4, 5, 6)),
    *(Setting("sim K5", n, {"nodes": 5}, 100_000) for n in (2, 3)),
    *(Setting("sim K6", n, {"nodes": 6}, 100_000) for n in (2, 3)),
    *(Setting("yavalath side 3", n, {"size": 3}, 100_000) for n in (2, 3)),
    *(Setting("pig to 15", n, {"target": 15}, 50_000, 0) for n in (2, 3, 4)),
    *(Setting("ewn 4x4", n, {"size": 4}, 100_000, 0) for n in (2, 4)),
    *(Setting("ewn 6x6, three stones", n, {"size": 6, "stones": 3}, 50_000, 0) for n in (2, 3)),
)
_MORE = (
    # For five players a table of all boards takes 1.7 GB an agent; for six they have smaller ones.
    Setting("pig to 15", 6, {"target": 15}, 50_000, 0, second=True),
    Setting("ewn 6x6, three stones", 4, {"size": 6, "stones": 3}, 50_000, 0, second=True),
    *(Setting("maedn", n, {}, 5_000, second=True) for n in (2, 3, 4)),
    *(
        Setting("chinese_checkers two rows", n, {"rows": 2}, 10_000, second=True)
        for n in (2, 3, 4, 6)
    ),
)
# How many players networks are trained for at most: in the other games they are too slow here.
_NETWORK_PLAYERS = {
    "nim": 6,
    "sim K5": 3,
    "sim K6": 3,
    "yavalath side 3": 3,
    "ewn 4x4": 4,
    "pig to 15": 3,
}
_NETWORKS = tuple(
    dataclasses.replace(setting, network=True, second=True)
    for setting in _FIRST
    if setting.players <= _NETWORK_PLAYERS.get(setting.family, 0)
)
SETTINGS = _FIRST + _MORE + _NETWORKS


# What is drawn: the name, which gain, whether of networks, and the colour.
SERIES = (
    ("both parts over none", "farl over none", False, "#1f77b4"),
    ("both parts over the first", "farl over part1", False, "#ff7f0e"),
    ("networks: both parts over none", "farl over none", True, "#2ca02c"),
    ("networks: both parts over the first", "farl over part1", True, "#d62728"),
)
_COLUMNS = 3


def draw(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the picture: each gain with the 95 % interval of its mean over seeds."""
    families = list(dict.fromkeys(one["family"] for one in results))
    rows = -(-len(families) // _COLUMNS)
    figure = new_figure(10, 2.9 * rows + 0.4)
    axes = figure.subplots(rows, _COLUMNS, sharey=True, squeeze=False).ravel()
    for axis, family in zip(axes, families, strict=False):
        of_family = [one for one in results if one["family"] == family]
        for name, gain, network, colour in SERIES:
            own = [one for one in of_family if one.get("network", False) == network]
            own.sort(key=lambda one: one["players"])
            means = [one["gains"][gain]["gain"] for one in own]
            ends = [confidence_interval(one["gains"][gain]["per_seed"]) for one in own]
            below = [mean - low for mean, (low, _) in zip(means, ends, strict=True)]
            above = [high - mean for mean, (_, high) in zip(means, ends, strict=True)]
            axis.errorbar(
                [one["players"] + 0.1 * network for one in own],
                means,
                (below, above),
                fmt="s--" if network else "o-",
                color=colour,
                markersize=4,
                capsize=2,
                label=name,
            )
        axis.axhline(0, color="0.7", lw=0.8, zorder=0)
        ticks = sorted({one["players"] for one in of_family})
        axis.set(title=family, xlabel="players", xticks=ticks)
        axis.set_xlim(1.7, 6.3)
    for axis in axes[len(families) :]:
        axis.set_axis_off()
    for row in range(rows):
        axes[row * _COLUMNS].set_ylabel("gain, share of the most")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    labels = [setting.label for setting in SETTINGS]
    parser.add_argument("--labels", nargs="+", choices=labels, default=labels, metavar="LABEL")
    parser.add_argument(
        "--share", default="0/1", metavar="K/N", help="every N-th setting from K on"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="times the episodes")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="agents of each variant")
    parser.add_argument("--forecast", action="store_true", help="predict from random play")
    parser.add_argument("--show", action="store_true", help="print the table, draw the picture")
    options = parser.parse_args(arguments)
    if options.show:
        show(options.results)
        return
    if options.scale <= 0 or options.seeds < 1:
        parser.error("--scale and --seeds must be positive")
    first, _, of = options.share.partition("/")
    if not (first.isdecimal() and of.isdecimal() and int(first) < int(of)):
        parser.error(f"--share must be K/N with 0 <= K < N, not {options.share!r}")
    prepare_jax()
    chosen = [setting for setting in SETTINGS if setting.label in options.labels]
    if options.forecast:
        games = [setting for setting in chosen if not setting.network]
        write_json(options.results / FORECAST, [forecast(setting) for setting in games])
        return
    options.out.mkdir(parents=True, exist_ok=True)
    records = Records(options.out / FILE, machine(), KEY)
    for setting in chosen[int(first) :: int(of)]:
        if {"label": setting.label} not in records:
            records.add(measured(setting, options))


def forecast(setting: Setting) -> dict[str, Any]:
    """Predict a setting from random play by the measures of `experiments.farl_predictor`."""
    game = setting.game
    positions = _LONG if game.max_plies > _LONG_PLIES else _RANDOM_PLAY
    found = predictors(game, RandomPlayer(game), 0.0, *positions, seed=0)
    return {"label": setting.game_label, **rounded(found)}


def measured(setting: Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Train a setting and let its variants meet: gains, and rewards against random players."""
    run = setting.run(options.scale, options.seeds)
    begun = time.perf_counter()
    folder = train(run, options.out / "runs")
    trained = time.perf_counter() - begun
    agents = {variant: agents_of(folder, variant) for variant in VARIANTS}
    pairs = {
        f"{one} over {other}": summary(
            head_to_head(run.game, agents[one], agents[other], setting.opening)
        )
        for one, other in PAIRS
    }
    return {
        "label": setting.label,
        "family": setting.family,
        "players": setting.players,
        "network": setting.network,
        "episodes": run.schedule.episodes,
        "config": run.digest,
        "gains": pairs,
        "against_random": {
            variant: rounded_rewards(against_random(agent, setting.opening))
            for variant, agent in agents.items()
        },
        "random_play": rounded_rewards(random_play(setting)),
        "training_s": round(trained, 1),
        "matches_s": round(time.perf_counter() - begun - trained, 1),
    }


def against_random(agent: GreedyAgent, opening: int) -> np.ndarray:
    """float64[seeds, seats]: the mean reward of each seed in each seat, all others random."""
    game, players = agent.game, agent.game.num_players
    seats = np.tile(np.repeat(1 - np.eye(players, dtype=int), GAMES, 0), (agent.copies, 1))
    start, moves = jax.random.split(jax.random.key(5))
    states = opened(game, opening, len(seats), start)
    players_met: list[Player] = [agent, RandomPlayer(game)]
    rewards = play(game, seats, players_met, states, no_history(len(seats)), moves)
    own = np.asarray(rewards, np.float64)[seats == 0]
    return own.reshape(agent.copies, players, GAMES).mean(2)


def rounded_rewards(rewards: np.ndarray) -> list[Any]:
    return np.round(rewards, 4).tolist()


def random_play(setting: Setting) -> np.ndarray:
    """float64[seats]: the mean reward of random players in each seat."""
    states = opened(setting.game, setting.game.max_plies, 10_000, jax.random.key(6))
    return np.asarray(states.rewards, np.float64).mean(0)


def show(folder: Path) -> None:
    """Print a line for each setting of either round, and draw the gains by the number of players.

    The forecast by random play was for the first round.
    """
    results = json.loads((folder / FILE).read_text())["results"]
    first, second = rounds(results)
    print("\n".join(table(first)))
    forecasts = {one["label"]: one for one in json.loads((folder / FORECAST).read_text())}
    gains = [one["gains"]["farl over none"]["gain"] for one in first]
    for name in ("losses_missed", "blindness"):
        predicted = [forecasts[one["label"]][name] for one in first]
        correlation = spearmanr(predicted, gains).statistic
        print(f"rank correlation of the gain with {name}: {correlation:.2f}")
    print("\n".join(table(second)))
    draw(first + second, folder / "n_players.png")


def rounds(results: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The results of the first and of the second round, in the order of the settings."""
    by_label = {one["label"]: one for one in results}
    first, second = (
        [by_label[s.label] for s in SETTINGS if s.second == later and s.label in by_label]
        for later in (False, True)
    )
    return first, second


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The gains of each setting with their 95 % intervals, and the mean reward against random."""
    names = [f"{one} over {other}" for one, other in PAIRS]
    heads = ["game", "episodes", *names, *(f"{each} against random" for each in VARIANTS), "chance"]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for one in results:
        cells = [one["label"], f"{one['episodes']:,}"]
        for name in names:
            low, high = confidence_interval(one["gains"][name]["per_seed"])
            count = len(one["gains"][name]["per_seed"])
            spread = f"all {count} seeds equal" if math.isnan(low) else f"{low:+.2f} to {high:+.2f}"
            cells.append(f"{one['gains'][name]['gain']:+.2f} ({spread})")
        for variant in VARIANTS:
            cells.append(f"{np.mean(one['against_random'][variant]):+.2f}")
        cells.append(f"{np.mean(one['random_play']):+.2f}")
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    end_in_a_line(main)
