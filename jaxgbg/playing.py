"""Agents and positions in Python: load agents, join them, let them search, evaluate them."""

import contextlib
import dataclasses
from pathlib import Path
from typing import Any, get_args

import jax
import numpy as np

from jaxgbg.arena.comparison import Comparison
from jaxgbg.arena.comparison import compare as play_until_clear
from jaxgbg.arena.sequential import SequentialTest
from jaxgbg.arguments import Elo, MaxGames, OpeningPlies, Pairs, Risk
from jaxgbg.evaluation import judges_alone
from jaxgbg.games import Game, make
from jaxgbg.games.game_replay import read_position
from jaxgbg.games.notations import write_position
from jaxgbg.games.precision import in_32_bits
from jaxgbg.games.states import check_state
from jaxgbg.players import (
    GreedyAgent,
    LookAheadAgent,
    Player,
    SearchAgent,
    SearchPlayer,
    is_player,
    search_player,
)
from jaxgbg.players.registry import is_player_name
from jaxgbg.runs import RunFolder
from jaxgbg.runs.opponents import agents_of, judge_by, make_opponent
from jaxgbg.runs.presets import protocol_for
from jaxgbg.runs.storage.agents import LoadedAgent, SavedAgent, load_agent, save_agent
from jaxgbg.runs.storage.ensembles import ensemble as join
from jaxgbg.runs.storage.files import check_writable
from jaxgbg.runs.storage.quantized import Bits
from jaxgbg.runs.storage.zoo import is_zoo_name
from jaxgbg.search import LookAheadSpec, parse_for_agent
from jaxgbg.search.lookahead import Reply
from jaxgbg.specs import Seed, checked, shown
from jaxgbg.types import SettingValue, State

Evaluated = GreedyAgent | LookAheadAgent | SearchAgent | SearchPlayer
"""What `evaluate` evaluates."""

Source = str | Path | RunFolder | LoadedAgent
"""An agent, its file, `zoo:NAME`, or a run with one agent or its folder: what `load` takes."""

_MOST_NAMED = 8


def load(path: Source) -> LoadedAgent:
    """The agent in a file that a run has left, or of the zoo ("zoo:connectfour"), as a player.

    `path` may also be the folder of a run with one agent, or what `train` returned; an agent itself
    is returned as it is. `run`, `seed` and `variant` of the agent say how it was trained. Raises
    ValueError if the file is missing, damaged, no agent, or of a game with other rules now, and
    with their names for a run of several agents.
    """
    return path if isinstance(path, LoadedAgent) else _saved(path, "path").player()


def _saved(agent: Source, argument: str) -> SavedAgent:
    """An agent and its training; raises ValueError as `load`."""
    if isinstance(agent, LoadedAgent):
        return agent.saved()
    if not isinstance(agent, str | Path | RunFolder):
        raise ValueError(
            f"{argument} must be an agent of load(...), its file, zoo:NAME or its run, not"
            f" {shown(agent)}"
        )
    return load_agent(_file(agent))


def _file(agent: str | Path | RunFolder) -> str | Path:
    """The only agent of a run; any other path is itself. Raises ValueError for several agents."""
    place = agent.path if isinstance(agent, RunFolder) else Path(agent)
    if not isinstance(agent, RunFolder) and not place.is_dir():
        return agent
    files = agents_of(place)
    if len(files) > 1:
        names = ", ".join(file.name for file in files[:_MOST_NAMED])
        more = " ..." if len(files) > _MOST_NAMED else ""
        raise ValueError(
            f"{place} has {len(files)} agents: name the file of one, such as {files[0]}; they are"
            f" {names}{more}"
        )
    return files[0]


def ensemble(*agents: Source) -> LoadedAgent:
    """Several n-tuple agents as one player, its sum of weights the mean of theirs.

    Each of them is an agent or what `load` takes; one list of them will do. Raises ValueError for
    fewer than two, for agents whose values do not go together, and as `load`.
    """
    if len(agents) == 1 and isinstance(agents[0], list | tuple):
        agents = tuple(agents[0])
    names = (
        str(each) if isinstance(each, str | Path) else f"agent {number}"
        for number, each in enumerate(agents, 1)
    )
    return join(
        {name: _saved(each, name) for name, each in zip(names, agents, strict=True)}
    ).player()


def shrink(agent: Source, file: str | Path, bits: Bits = 8, replace: bool = False) -> Path:
    """Write an agent with `bits`, 8 or 16, for a weight, and one bit for a weight of 0.

    `agent` is as in `load`; returns the path of the file. Its moves may change where two values are
    nearly equal. Raises ValueError for a file that exists, unless `replace`, or cannot be written,
    and as `load`.
    """
    if bits not in get_args(Bits):
        raise ValueError(f"bits must be 8 or 16, not {shown(bits)}")
    path = Path(file)
    if is_zoo_name(str(path)):
        raise ValueError(f"{path} is the name of an agent of the zoo: choose another file")
    check_writable(path)
    if path.exists() and not replace:
        raise ValueError(f"{path} exists already: replace=True overwrites it")
    save_agent(path, _saved(agent, "agent"), bits)
    return path


def look_ahead(
    agent: GreedyAgent | Source,
    plies: int = 3,
    width: int | tuple[int, ...] | None = None,
    reply: Reply = "own",
    ranks: tuple[float, ...] = (),
    **limits: int,
) -> LookAheadAgent:
    """The agent looking `plies` plies ahead, on all moves or the best `width` of each ply.

    `reply` says what the others aim at, `ranks` how likely the best, second best ... move is
    played; `limits` are `samples`, `max_spawns` and `megabytes`, see `search.LookAheadSpec`. An
    agent may be anything that `load` takes. Raises ValueError for settings out of range.
    """
    widths = () if width is None else (width,) if isinstance(width, int) else width
    spec = LookAheadSpec(plies, widths, reply, ranks, **limits)
    return LookAheadAgent(_with_values(agent, "looks ahead"), spec)


def search(agent: GreedyAgent | Source, how: str | int = "puct", **settings: SettingValue) -> Any:
    """The agent choosing its moves by a search, as "puct-200,exploration=2"; a number is puct's N.

    `settings` come on top of what the text says, such as `exploration`, `solver` and `reuse` of
    puct, a tree search that the agent's own values lead, see `search.PUCTSpec`. An agent may be
    anything that `load` takes. Raises ValueError for settings out of range and where the search
    cannot be done.
    """
    agent = _with_values(agent, "searches")
    spec = parse_for_agent(how if isinstance(how, str) else f"puct-{how}")
    for name in settings:
        spec.part(name)
    return search_player(dataclasses.replace(spec, **settings), agent.game, agent)


def _with_values(agent: GreedyAgent | Source, does: str) -> GreedyAgent:
    """The agent itself, or the one that `load` makes of it; raises ValueError for others."""
    known = _loaded(agent)
    if not isinstance(known, GreedyAgent):
        raise ValueError(f"what {does} is an agent of load(...), not a {type(agent).__name__}")
    return known


def _loaded(agent: Evaluated | Source) -> Evaluated:
    """The agent that `load` makes of a file or run; all else itself."""
    return load(agent) if isinstance(agent, str | Path | RunFolder) else agent


@in_32_bits
@checked
def scores(
    agent: Evaluated | Source,
    opponent: str | Path | RunFolder | Player,
    seed: Seed = 0,
) -> dict[str, np.ndarray]:
    """The scores of an agent by their names: all of an evaluator, the rewards against a player.

    `agent` and `opponent` are as in `evaluate`, or `opponent` is the name of an evaluator, such as
    "solver". The arrays have a score for every game or question. Raises ValueError for what does
    not fit this game.
    """
    known = _opponent(opponent)
    agent = _evaluated(agent)
    name = known if isinstance(known, str) else known.name
    judge = judge_by(known, agent.game, protocol_for(agent.game, name))
    with contextlib.closing(judge):
        found = judge.scores(agent, jax.random.key(seed))
    return {name: each[0] for name, each in found.items()}


def _evaluated(agent: Evaluated | Source) -> Evaluated:
    """The agent itself, or the one that `load` makes of it; raises ValueError for others."""
    known = _loaded(agent)
    if not isinstance(known, Evaluated):
        raise ValueError(
            f"an agent is evaluated, as load(...) returns it, not a {type(agent).__name__}: players"
            " of other kinds meet in jaxgbg.tournament"
        )
    return known


def _opponent(opponent: str | Path | RunFolder | Player) -> str | Player:
    """A player, or the name of one as `make_opponent` takes it; raises ValueError for others."""
    if isinstance(opponent, str) and (is_player_name(opponent) or judges_alone(opponent)):
        return opponent
    if isinstance(opponent, str | Path | RunFolder):
        return str(_file(opponent))
    if not is_player(opponent):
        raise ValueError(f"an opponent is a player or its name, not {shown(opponent)}")
    return opponent


@in_32_bits
@checked
def compare(
    agent: Evaluated | Source,
    opponent: str | Path | RunFolder | Player,
    elo0: Elo = -50,
    elo1: Elo = 0,
    alpha: Risk = 0.05,
    beta: Risk = 0.05,
    opening_plies: OpeningPlies = 4,
    batch: Pairs = 50,
    max_games: MaxGames = 20_000,
    seed: Seed = 0,
) -> Comparison:
    """Test whether an agent is at least about as strong as an opponent, as `jaxgbg compare` does.

    A sequential probability ratio test: `decision` is "accept" if the agent is better than `elo0`,
    "reject" if it is worse than `elo1`, and "continue" if about `max_games` do not decide; `alpha`
    and `beta` are the probabilities of a wrong accept and reject. Each start, `opening_plies`
    random plies, is played from both seats, `batch` starts at once. `agent` and `opponent` are as
    in `evaluate`. Raises ValueError for players of different games and a game that is not for two
    players.
    """
    test = SequentialTest(elo0, elo1, alpha, beta)
    known = _opponent(opponent)
    first = _evaluated(agent)
    owned = isinstance(known, str)
    second = make_opponent(known, first.game) if isinstance(known, str) else known
    with contextlib.closing(second) if owned else contextlib.nullcontext():
        return play_until_clear(
            first.game, first, second, test, opening_plies, batch, max_games, seed
        )


def evaluate(
    agent: Evaluated | Source,
    opponent: str | Path | RunFolder | Player,
    seed: Seed = 0,
) -> np.ndarray:
    """The agent's final reward in every game against `opponent`, float32[seats, games].

    `agent` is what `load`, `look_ahead` or `search` give, or what `load` takes. `opponent` is a
    player, such as another agent or one of a class of your own, a player's name, a run with one
    agent, or an agent file, which may look ahead ("FILE:look-ahead=3") or search
    ("zoo:hex:search=puct-200").
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


@in_32_bits
def position(game: str | Game, text: str) -> State:
    """The state that a text describes: in the game's own notation, as moves, or both.

    `game` is a game or its name. The state has arrays of JAX, as `Game.init` has.
    `XO./.X./... O` is set up, `4,0` are the numbers of moves from the start, and moves may follow a
    position after a semicolon, `XO./.X./... O;2`. The page on positions has the notation of every
    game. Raises ValueError, in one line, for what is no position, with what is wrong and where.
    """
    return jax.tree.map(jax.numpy.asarray, read_position(make(game), text)[1])


def position_text(game: str | Game, state: State) -> str:
    """One line that `position` reads as the same state, in every field.

    `game` is a game or its name. Raises ValueError for a state of another game.
    """
    game = make(game)
    check_state(game, state, batch=False)
    return write_position(game, state)
