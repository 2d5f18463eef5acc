"""A game with its agents as one HTML file that plays offline."""

from collections.abc import Mapping

import jax
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.game_replay import words_of_chance
from jaxgbg.jaxprs import UnknownJaxpr
from jaxgbg.players import GreedyAgent
from jaxgbg.search import PUCTSpec
from jaxgbg.types import JSON
from jaxgbg.web.drawings import drawing_of
from jaxgbg.web.drawings.core import Drawing
from jaxgbg.web.export.bundle import page
from jaxgbg.web.export.compiler import Program, Unsupported
from jaxgbg.web.export.functions import compile_game, weights_of
from jaxgbg.web.export.packing import pack
from jaxgbg.web.play.describe import describe_game
from jaxgbg.web.play.seats import MOST_SEARCHED, agent_names
from jaxgbg.web.positions import value_scale

MOST_BYTES = 25_000_000
# Python's own settings of the search that the file has.
_SEARCH = PUCTSpec()


def game_file(game: Game, agents: Mapping[str, GreedyAgent]) -> str:
    """The text of the file: the game, its page and `agents` by their labels.

    Raises ValueError for operations without a translation to JavaScript, and for a file of more
    than 25 MB.
    """
    drawing = drawing_of(game)
    try:
        program = compile_game(game, drawing, agents)
    except (Unsupported, UnknownJaxpr) as error:
        raise ValueError(f"{game.name} cannot be played without Python: {error}") from error
    except jax.errors.JAXTypeError as error:
        raise ValueError(
            f"{game.name} cannot be played without Python: its drawing or its rules need numbers"
            " that are known only at run time"
        ) from error
    arrays, places = list(program.arrays), []
    for agent in agents.values():
        weights = weights_of(agent)
        places.append([len(arrays), len(arrays) + len(weights)])
        arrays += weights
    entries, data = pack(arrays)
    content = {
        "about": _about(game, drawing, agents, program),
        "search": {"exploration": _SEARCH.exploration, "unvisited": _SEARCH.unvisited},
        "names": list(drawing.actions),
        "words": list(drawing.words),
        "places": [f"{x:.1f} {y:.1f}" for x, y in drawing.spots],
        "scale": value_scale(game)._asdict(),
        "rewardScale": game.scale._asdict(),
        "rewardRange": list(game.reward_range),
        "mostPlies": game.max_plies,
        "startWords": game.init_words,
        "chanceWords": words_of_chance(game),
        "listed": bool(game.stochastic and game.num_spawns),
        "agents": places,
        "arrays": entries,
    }
    text = page(program.source, content, data)
    size = len(text.encode())
    if size > MOST_BYTES:
        active = sum(int(np.count_nonzero(array)) for array in arrays[len(program.arrays) :])
        raise ValueError(
            f"{active:,} active weights of {game.name} make a file of {size / 1e6:.1f} MB, and"
            f" the limit is {MOST_BYTES / 1e6:.0f}: export an agent that was trained for less time,"
            " or has fewer or shorter n-tuples"
        )
    return text


def _about(
    game: Game, drawing: Drawing, agents: Mapping[str, GreedyAgent], program: Program
) -> dict[str, JSON]:
    """The game and the players of a file, as the server describes them."""
    names = agent_names(len(agents))
    labels = dict(zip(names, agents, strict=True))
    plain = [agent.value.num_actions == 1 for agent in agents.values()]
    strength: dict[str, JSON] = {"unit": _SEARCH.strength, "join": "-", "value": _SEARCH.number}
    strength |= {"low": 1, "high": MOST_SEARCHED}
    searches = {
        f"{name}:search={_SEARCH.kind}": label
        for number, (name, label) in enumerate(labels.items())
        if program.has(f"leaf{number}")
    }
    players: list[tuple[str, str, JSON]] = [(name, label, None) for name, label in labels.items()]
    players += [(name, f"{label}, {_SEARCH.label}", strength) for name, label in searches.items()]
    levels = ["random", *names[:1], *(f"{name}-{_SEARCH.number}" for name in [*searches][:1])]
    words = ("easy", "medium", "strong") if len(levels) == 3 else ("easy", "strong")
    return describe_game(game, drawing) | {
        "seats": [
            {"name": name, "label": label, "strength": strength}
            for name, label, strength in [*players, ("random", "random", None)]
        ],
        "levels": [
            {"label": word, "player": player} for word, player in zip(words, levels, strict=False)
        ],
        "agents": names,
        "every": [name for name, one in zip(names, plain, strict=True) if one],
        "tuples": [],
        "perfect": False,
        "page": False,
        # A file reads moves alone.
        "setUp": None,
    }
