"""Trains, rounds and measures the agents of the zoo, and writes them with their cards.

    python -m experiments.zoo.run                     # all: hours
    python -m experiments.zoo.run tictactoe nim       # these alone

A training that was stopped resumes. The files go to jaxgbg/zoo: NAME.agent and NAME.json.
"""

import contextlib
import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

from experiments.shared import Record, make_parser
from experiments.zoo.recipes import RECIPES, Recipe
from jaxgbg import GreedyAgent, Protocol, train
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.contents import read_json
from jaxgbg.evaluation import DEFAULT_PROTOCOL, judges_alone
from jaxgbg.games import Game
from jaxgbg.games.rollout import play_ply, select_states
from jaxgbg.results.statistics import confidence_interval
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.presets import protocol_for
from jaxgbg.runs.run import plain_game
from jaxgbg.runs.storage.agents import load_agent, save_agent
from jaxgbg.runs.storage.ensembles import ensemble
from jaxgbg.runs.storage.files import write_json
from jaxgbg.runs.storage.zoo import FOLDER, Card
from jaxgbg.types import State

# Positions in which the rounded weights are compared with those of the training.
POSITIONS, GAMES, PLIES, RANDOM_MOVES = 4_096, 128, 300, 0.1
EQUAL = 1e-6


def positions_of_play(agent: GreedyAgent) -> State:
    """Positions of the agent's own games, a tenth of whose moves are random; at most 4,096."""
    game, key = agent.game, jax.random.key(0)
    states = jax.vmap(game.init)(jax.random.split(key, GAMES))
    random, visited = np.random.default_rng(0), []
    for ply in range(min(game.max_plies, PLIES)):
        draw, chance = jax.random.split(jax.random.fold_in(key, ply))
        running = np.flatnonzero(~np.asarray(states.terminal))
        if not len(running):
            break
        visited.append(jax.device_get(select_states(states, running)))
        greedy = np.asarray(agent.act(states, draw))
        legal = np.asarray(jax.vmap(game.legal_actions)(states))
        drawn = (random.random(legal.shape) + legal).argmax(1)
        actions = np.where(random.random(GAMES) < RANDOM_MOVES, drawn, greedy).astype(np.int32)
        states = play_ply(game, states, actions, chance)
    positions = jax.tree.map(lambda *leaves: np.concatenate(leaves), *visited)
    chosen = random.permutation(len(positions.terminal))[:POSITIONS]
    return select_states(positions, np.sort(chosen))


def changed_moves(before: GreedyAgent, after: GreedyAgent) -> Record:
    """In how many positions `after` may choose a move that `before` does not, and what that loses.

    `greatest_loss` is the greatest difference of the two moves by the values of `before`. Moves are
    the same if these differ by at most 1e-6.
    """
    positions = positions_of_play(before)
    old, new = (np.asarray(agent.action_values(positions)) for agent in (before, after))
    chosen = new == new.max(axis=1, keepdims=True)
    loss = old.max(axis=1) - np.where(chosen, old, np.inf).min(axis=1)
    return {
        "positions": len(loss),
        "changed": int((loss > EQUAL).sum()),
        "greatest_loss": float(f"{loss.max():.2g}"),
    }


def scored(
    name: str, protocol: Protocol | None, game: Game, before: GreedyAgent, after: GreedyAgent
) -> Record:
    """The mean of `after` with its 95% interval, and that of `before` unless games take long."""
    protocol = protocol or protocol_for(game, name)
    with contextlib.closing(judge_by(name, game, protocol)) as judge:
        (scale,) = judge.scales.values()
        (scores,) = judge.scores(after, jax.random.key(0)).values()
        record: Record = {"opponent": name, "games": scores.size, "unit": scale.label}
        if not judges_alone(name):
            record["starts"] = (protocol or DEFAULT_PROTOCOL).describe()
        figures = [scale.figure(float(score)) for score in scores.ravel()]
        low, high = confidence_interval(figures, span=scale.span, games=1)
        for field, figure in (("mean", np.mean(figures)), ("low", low), ("high", high)):
            record[field] = round(float(figure), max(scale.digits, 1))
        if not name.startswith("mcts"):
            (scores,) = judge.scores(before, jax.random.key(0)).values()
            record["before_rounding"] = round(scale.figure(float(scores.mean())), scale.digits)
    return record


def make(name: str, recipe: Recipe, out: Path, zoo: Path) -> Card:
    """Train, round and measure an agent; its file and card are in `zoo` afterwards."""
    folders = [train(run, out) for run in recipe.runs()]
    networks = {str(each.path): load_agent(each.agent(each.run.agents[-1])) for each in folders}
    trained = ensemble(networks) if len(networks) > 1 else next(iter(networks.values()))
    run, about = trained.run, read_json(folders[0].path / "provenance.json")
    file = out / f"{name}.agent"
    save_agent(file, trained, recipe.bits)
    rounded = load_agent(file)
    agents = (trained.player(), rounded.player())
    card = Card(
        game=plain_game(run.game),
        command=f"python -m experiments.zoo.run {name}",
        settings=dict(recipe.settings),
        seeds=recipe.seeds,
        episodes=run.schedule.episodes,
        seconds=round(sum(each.summary()["training_seconds"] for each in folders), 1),
        machine=f"{about['machine']}, {', '.join(about['devices'])}",
        versions={"python": about["python"]} | about["versions"],
        revision=about["revision"],
        bits=recipe.bits,
        weights=rounded.weights.size,
        active=int(np.count_nonzero(rounded.weights)),
        bytes=file.stat().st_size,
        sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
        rounding=changed_moves(*agents),
        scores=tuple(
            scored(opponent, protocol, run.game, *agents)
            for opponent, protocol in recipe.meets.items()
        ),
        notes=recipe.notes,
    )
    # An agent without its card would be an error of `jaxgbg zoo`.
    shutil.copyfile(file, zoo / file.name)
    write_json(zoo / f"{name}.json", card.plain())
    return card


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__file__, __doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(RECIPES)}; or all")
    parser.add_argument("--zoo", type=Path, default=FOLDER, help="folder for agents and cards")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in RECIPES:
            parser.error(f"no agent {name!r} in the zoo: choose from {', '.join(RECIPES)}")
    prepare_jax()
    for name in options.names or RECIPES:
        card = make(name, RECIPES[name], options.out, options.zoo)
        print(
            f"{name}: {card.bytes:,} bytes, {card.rounding}", *card.scores, sep="\n  ", flush=True
        )


if __name__ == "__main__":
    end_in_a_line(main)
