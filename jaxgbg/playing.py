"""Agents and positions in Python: load agents, join them, let them search, evaluate them."""

import contextlib
import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.game_replay import read_position
from jaxgbg.games.notations import write_position
from jaxgbg.games.precision import in_32_bits
from jaxgbg.players import (
    GreedyAgent,
    LookAheadAgent,
    Player,
    SearchAgent,
    SearchPlayer,
    is_player,
    search_player,
)
from jaxgbg.runs.opponents import judge_by
from jaxgbg.runs.presets import protocol_for
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.ensembles import ensemble as join
from jaxgbg.search import LookAheadSpec, parse_for_agent
from jaxgbg.search.lookahead import Reply
from jaxgbg.specs import Seed, checked, shown
from jaxgbg.types import SettingValue, State

Evaluated = GreedyAgent | LookAheadAgent | SearchAgent | SearchPlayer
"""What `evaluate` evaluates."""


def load(path: str | Path) -> GreedyAgent:
    """The agent in a file that a run has left, or of the zoo ("zoo:connectfour"), as a player.

    Raises ValueError if the file is missing, damaged, no agent, or of a game with other rules now.
    """
    return load_agent(path).player()


def ensemble(*paths: str | Path) -> GreedyAgent:
    """The n-tuple agents in several files as one player, its sum of weights the mean of theirs.

    Raises ValueError for fewer than two, for agents whose values do not go together, and as `load`.
    """
    return join({str(path): load_agent(path) for path in paths}).player()


def look_ahead(
    agent: GreedyAgent | str | Path,
    plies: int = 3,
    width: int | tuple[int, ...] | None = None,
    reply: Reply = "own",
    ranks: tuple[float, ...] = (),
    **limits: int,
) -> LookAheadAgent:
    """The agent looking `plies` plies ahead, on all moves or the best `width` of each ply.

    `reply` says what the others aim at, `ranks` how likely the best, second best ... move is
    played; `limits` are `samples`, `max_spawns` and `megabytes`, see `search.LookAheadSpec`. An
    agent may be named as for `load`. Raises ValueError for settings out of range.
    """
    widths = () if width is None else (width,) if isinstance(width, int) else width
    spec = LookAheadSpec(plies, widths, reply, ranks, **limits)
    return LookAheadAgent(_with_values(agent, "looks ahead"), spec)


def search(
    agent: GreedyAgent | str | Path, how: str | int = "puct", **settings: SettingValue
) -> Any:
    """The agent choosing its moves by a search, as "puct-200,exploration=2"; a number is puct's N.

    `settings` come on top of what the text says, such as `exploration`, `solver` and `reuse` of
    puct, a tree search that the agent's own values lead, see `search.PUCTSpec`. An agent may be
    named as for `load`. Raises ValueError for settings out of range and where the search cannot be
    done.
    """
    agent = _with_values(agent, "searches")
    spec = parse_for_agent(how if isinstance(how, str) else f"puct-{how}")
    for name in settings:
        spec.part(name)
    return search_player(dataclasses.replace(spec, **settings), agent.game, agent)


def _with_values(agent: object, does: str) -> GreedyAgent:
    """The agent itself, or the one in the file of that name; raises ValueError for others."""
    if isinstance(agent, str | Path):
        return load(agent)
    if not isinstance(agent, GreedyAgent):
        raise ValueError(f"what {does} is an agent of load(...), not a {type(agent).__name__}")
    return agent


@in_32_bits
@checked
def scores(
    agent: Evaluated | str | Path,
    opponent: str | Path | Player,
    seed: Seed = 0,
) -> dict[str, np.ndarray]:
    """The scores of an agent by their names: all of an evaluator, the rewards against a player.

    `agent` and `opponent` are as in `evaluate`, or `opponent` is the name of an evaluator, such as
    "solver". The arrays have a score for every game or question. Raises ValueError for what does
    not fit this game.
    """
    if not isinstance(opponent, str | Path) and not is_player(opponent):
        raise ValueError(f"an opponent is a player or its name, not {shown(opponent)}")
    if isinstance(agent, str | Path):
        agent = load(agent)
    elif not isinstance(agent, Evaluated):
        raise ValueError(
            f"an agent is evaluated, as load(...) returns it, not a {type(agent).__name__}: players"
            " of other kinds meet in jaxgbg.tournament"
        )
    known = str(opponent) if isinstance(opponent, Path) else opponent
    name = known if isinstance(known, str) else known.name
    judge = judge_by(known, agent.game, protocol_for(agent.game, name))
    with contextlib.closing(judge):
        found = judge.scores(agent, jax.random.key(seed))
    return {name: each[0] for name, each in found.items()}


def evaluate(
    agent: Evaluated | str | Path,
    opponent: str | Path | Player,
    seed: Seed = 0,
) -> np.ndarray:
    """The agent's final reward in every game against `opponent`, float32[seats, games].

    `agent` is what `load`, `look_ahead` or `search` give, or a name as `load` takes it.
    `opponent` is a player, such as another agent or one of a class of your own, a player's name, or
    an agent file, which may look ahead ("FILE:look-ahead=3") or search ("zoo:hex:search=puct-200").
    Starts and seats are those of the published evaluation. In a game of one player the opponent is
    "score"; against ConnectFour's "solver" float32[P] is 1 for each solved position where the
    agent's move keeps the game value. Raises ValueError for an opponent that does not play this
    game and for an evaluator with several scores (see `scores`), MissingExtra if it is not
    installed.
    """
    found = scores(agent, opponent, seed)
    if len(found) > 1:
        raise ValueError(f"{opponent} has several scores: use jaxgbg.scores")
    return next(iter(found.values()))


def position(game: Game, text: str) -> State:
    """The state that a text describes: in the game's own notation, as moves, or both.

    `XO./.X./... O` is set up, `4,0` are the numbers of moves from the start, and moves may follow a
    position after a semicolon, `XO./.X./... O;2`. The page on positions has the notation of every
    game. Raises ValueError, in one line, for what is no position, with what is wrong and where.
    """
    return read_position(game, text)[1]


def position_text(game: Game, state: State) -> str:
    """One line that `position` reads as the same state, in every field."""
    return write_position(game, state)
