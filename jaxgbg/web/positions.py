"""A position as pages show it: pieces, marks of moves, and the outcome."""

import dataclasses
from collections.abc import Sequence
from html import escape

import numpy as np

from jaxgbg.games import Game, Scale
from jaxgbg.web.curve_charts import short_text
from jaxgbg.web.drawings import Drawing

_LABEL_DIGITS = 2


@dataclasses.dataclass(frozen=True)
class Position:
    """`pieces` names the kind on each spot; `moves` are (action, value, spot, value as text).

    `played` is the action that follows, `came` the spot of the previous one; -1 for none. `names`
    are the names of the moves if they depend on the board. `ways` are the paths from spot to spot,
    as SVG, of the previous move and of the one that follows; "" if a move has no path.
    """

    pieces: list[int]
    moves: list[tuple[int, float | None, int, str]]
    played: int
    came: int
    halos: list[float]
    caption: str
    names: list[str]
    ways: list[str]


def board_markup(drawing: Drawing, shapes: str, position: Position) -> str:
    """A position in SVG; `shapes` is the prefix of the ids that `shape_markup` defines."""
    marks = {
        spot: (action, value, words, halo)
        for (action, value, spot, words), halo in zip(position.moves, position.halos, strict=True)
    }
    best = max((v for _, v, _, _ in position.moves if v is not None), default=None)
    spots = []
    for number, (x, y) in enumerate(drawing.spots):
        action, value, words, halo = marks.get(number, (None, None, "", 0))
        look = "spot" + " came" * (number == position.came)
        look += " best" * (value is not None and value == best)
        look += " played" * (action is not None and action == position.played)
        spots.append(
            f'<g class="{look}" transform="translate({x:.1f} {y:.1f})">'
            f'<use href="#{shapes}-{position.pieces[number]}"/>'
            f'<use href="#{shapes}-halo" class="halo" style="fill-opacity:{halo}"/>'
            f'<text class="value">{words}</text></g>'
        )
    ways = "".join(
        f'<path class="way {which}" d="{way}"/>'
        for which, way in zip(("came", "played"), position.ways, strict=False)
    )
    return (
        f'<svg class="board" viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}" role="img"'
        f' aria-label="{escape(position.caption)}">'
        f'<use href="#{shapes}-ground"/>{ways}{"".join(spots)}</svg>'
    )


def shape_markup(drawing: Drawing, shapes: str) -> str:
    """The definitions that all positions of one drawing share."""
    kinds = "".join(
        f'<g id="{shapes}-{kind}">{piece}</g>' for kind, piece in enumerate(drawing.pieces)
    )
    return (
        f'<g id="{shapes}-ground" class="board">{drawing.ground}</g>{kinds}'
        f'<g id="{shapes}-halo">{drawing.halo}</g>'
    )


def way(drawing: Drawing, board: np.ndarray, action: int) -> str:
    """The path of a move from spot to spot, "" if it has none."""
    ends = drawing.origin_of(board, action), drawing.spot_of(board, action)
    if -1 in ends:
        return ""
    (x, y), (to_x, to_y) = (drawing.spots[end] for end in ends)
    return f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"


def halos(values: Sequence[float | None]) -> list[float]:
    """The opacity of each mark, from the worst to the best move of the position."""
    finite = [value for value in values if value is not None]
    if not finite:
        return [0.0] * len(values)
    low, reach = min(finite), max(finite) - min(finite)
    return [
        0.0 if value is None else round(0.05 + 0.45 * ((value - low) / reach if reach else 1), 2)
        for value in values
    ]


def value_scale(game: Game) -> Scale:
    """The scale of values of moves, which are estimates: one may lie outside the game's rewards.

    Two players learn rewards from loss to win, which a share of wins would hide.
    """
    scale = Scale("") if game.num_players == 2 else game.scale
    return scale._replace(unit="estimate", digits=min(scale.digits, _LABEL_DIGITS))


def value_on(scale: Scale, value: float) -> float | None:
    """A value on a scale; None if a network has diverged."""
    return float(f"{scale.figure(float(value)):.6g}") if np.isfinite(value) else None


def value_text(scale: Scale, figure: float | None) -> str:
    return "?" if figure is None else figure_text(scale, figure)


def figure_text(scale: Scale, figure: float, short: bool = False) -> str:
    """Format a figure as in tables, with `short` without trailing zeros."""
    text = short_text(scale, figure) if short else scale.text(figure)
    if not text.strip("-0."):
        text = text.removeprefix("-")
    return text.replace("-", "−") + " %" * scale.percent


def reward_text(game: Game, reward: float) -> str:
    """The reward of a player, on the scale of the game."""
    return figure_text(game.scale, game.scale.figure(float(reward)), short=True)


def outcome_text(game: Game, seats: Sequence[str], rewards: np.ndarray) -> str:
    """The outcome of a game by the final rewards float32[N]; `seats` names the players.

    Of three and more players some win if they have the greatest possible reward and all others are
    paid alike. Other rewards are listed.
    """
    if game.num_players == 1:
        return f"{reward_text(game, rewards[0])} {game.scale.unit}"
    if game.num_players == 2:
        return "a draw" if rewards[0] == rewards[1] else f"{seats[int(np.argmax(rewards))]} wins"
    low, high = (np.float32(end) for end in game.reward_range)
    first = rewards == rewards.max()
    if first.all() and low < rewards[0] < high:
        return "a draw"
    if rewards.max() == high and len(set(rewards[~first].tolist())) == 1:
        winners = [seat for seat, won in zip(seats, first, strict=True) if won]
        return f"{' and '.join(winners)} {'win' if len(winners) > 1 else 'wins'}"
    paid = zip(rewards, game.sides, strict=True)
    figures = [f"{reward_text(game, reward)} for {side}" for reward, side in paid]
    return f"{game.scale.unit} {', '.join(figures)}"
