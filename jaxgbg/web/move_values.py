"""A player's value of every legal move in positions, as rows: the command `analyze`."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import jax
import numpy as np

from jaxgbg.games import Game, make
from jaxgbg.games.states import check_state, check_to_move
from jaxgbg.players import Player, is_player
from jaxgbg.players.analysis import Analysis
from jaxgbg.players.analysis import analyze as analyze_states
from jaxgbg.players.registry import check_plays, is_player_name
from jaxgbg.playing import load, position, position_text
from jaxgbg.runs import RunFolder
from jaxgbg.runs.opponents import file_of, make_opponent, names_agent
from jaxgbg.specs import Seed, checked, shown
from jaxgbg.types import JSON, State
from jaxgbg.web.drawings import drawing_of
from jaxgbg.web.positions import outcome_text, value_on, value_scale


@checked
def analyze(
    player: Player | RunFolder | str | Path,
    positions: str | State | Sequence[str | State],
    game: str | Game | None = None,
    seed: Seed = 0,
) -> list[dict[str, JSON]]:
    """A player's value of every legal move in positions, the best first: `jaxgbg analyze`.

    A record for each legal move, for `pandas.DataFrame(...)`: `line` (the number of the position,
    from 1), `position` as text, `to_move`, `move` and its `action`, `value` (the mover's further
    reward as pages show it; None where the player has none), `visits` in a tree search, and `best`
    for the move that the player plays. A finished game has one record, with its outcome.

    Args:
      player: A player, what `load` takes, an agent file that searches ("zoo:hex:search=puct-200"),
        or with `game` the name of a player.
      positions: A state, a text as `position` takes it, or a list of them.
      game: The game, or its name, that a named player plays; an agent has its own.
      seed: Seed of the player's random draws.

    Raises ValueError for a player or a state of another game, for a text that is no position, and
    for a position where chance is due.
    """
    rules, who = _player_of(player, game)
    # A state is a tuple too.
    single = isinstance(positions, str) or hasattr(positions, "terminal")
    if not single and not (isinstance(positions, list | tuple) and len(positions)):
        raise ValueError(
            f"positions must be a state, a text, or a list of them, not {shown(positions)}"
        )
    given = cast(Sequence[str | State], [positions] if single else positions)
    # Who made a player closes it.
    with contextlib.nullcontext() if who is player else contextlib.closing(who):
        states = [_state(rules, each) for each in given]
        together = jax.tree.map(lambda *leaves: np.stack(leaves), *states)
        found = analyze_states(rules, who, together, seed)
    texts = [each if isinstance(each, str) else position_text(rules, each) for each in given]
    return [
        record
        for row, (text, state) in enumerate(zip(texts, states, strict=True))
        for record in move_records(rules, row + 1, text, state, found, row)
    ]


def _state(game: Game, given: str | State) -> State:
    if isinstance(given, str):
        state = position(game, given)
    else:
        check_state(game, given, batch=False)
        state = given
    check_to_move(game, state)
    return state


def _player_of(
    player: Player | RunFolder | str | Path, game: str | Game | None
) -> tuple[Game, Player]:
    """(the game, the player); raises ValueError."""
    rules = None if game is None else make(game)
    if isinstance(player, str) and is_player_name(player):
        if rules is None:
            raise ValueError(f"game must name what {player} plays: only agents have a game")
        return rules, make_opponent(player, rules)
    who: Player
    if is_player(player):
        who = player
    elif isinstance(player, str) and names_agent(player) and file_of(player) != player:
        who = make_opponent(player, load(file_of(player)).game)
    elif isinstance(player, str | Path | RunFolder):
        who = load(player)
    else:
        raise ValueError(
            f"player must be a player, its name or what load(...) takes, not {shown(player)}"
        )
    if rules is None:
        rules = getattr(who, "game", None)
    if not isinstance(rules, Game):
        raise ValueError(f"game must name what {who.name} plays: it has no game of its own")
    check_plays(who, rules)
    return rules, who


def move_records(
    rules: Game, number: int, text: str, state: State, found: Analysis, row: int, top: int = 0
) -> Iterator[dict[str, JSON]]:
    """The rows of a position, the best move first; all of them or the first `top`.

    `found` is the analysis of several positions, of which this one has the index `row`.
    """
    drawing, scale = drawing_of(rules), value_scale(rules)
    first = {"line": number, "position": text}
    blank = {"visits": None} if found.visits is not None else {}
    if state.terminal:
        outcome = outcome_text(rules, rules.sides, np.asarray(state.rewards))
        yield (
            first
            | {"to_move": None, "move": outcome, "action": None, "value": None}
            | blank
            | {"best": None}
        )
        return
    board = np.asarray(rules.display_cells(state))
    values, best = found.values[row], int(found.best[row])
    visits = np.zeros(len(values), int) if found.visits is None else found.visits[row]
    order = sorted(
        np.flatnonzero(found.legal[row]).tolist(),
        key=lambda a: (a != best, -visits[a], -np.nan_to_num(values[a], nan=-np.inf), a),
    )
    for action in order[: top or None]:
        # 0 is added so that no table shows -0.
        value = None if np.isnan(values[action]) else value_on(scale, values[action] + 0.0)
        yield {
            **first,
            "to_move": rules.sides[int(state.player)],
            "move": drawing.name(board, action),
            "action": action,
            "value": value,
            **({} if found.visits is None else {"visits": int(visits[action])}),
            "best": action == best,
        }
