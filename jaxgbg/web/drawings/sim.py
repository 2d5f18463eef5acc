"""Sim: a complete graph whose edges take the colors of the players."""

import math

import numpy as np

from jaxgbg.games import Sim
from jaxgbg.web.drawings.core import Drawing, named_colour, text

# How much more a point apart from another point counts than one apart from an edge.
_CLEAR = 3


def drawing(game: Sim) -> Drawing:
    radius, margin = 175.0, 34.0
    middle = radius + margin
    nodes = []
    for node in range(game.nodes):
        angle = 2 * math.pi * node / game.nodes
        nodes.append((middle + radius * math.sin(angle), middle - radius * math.cos(angle)))
    edges = np.array(nodes)[game.ends]
    spots = [(x, y) for x, y in _places(edges).tolist()]
    ground = "".join(
        f'<path class="line" style="stroke-width:1" d="M{a:.1f} {b:.1f}L{x:.1f} {y:.1f}"/>'
        for (a, b), (x, y) in edges
    )
    for node, (x, y) in enumerate(nodes):
        out = 1 + 20 / radius
        ground += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="item"/>'
        ground += text(middle + out * (x - middle), middle + out * (y - middle), str(node + 1))
    names = [f"{first + 1}-{second + 1}" for first, second in game.ends.tolist()]

    def edge(number: int, side: str) -> str:
        (a, b), (x, y) = edges[number]
        at, down = spots[number]
        line = f"M{a - at:.1f} {b - down:.1f}L{x - at:.1f} {y - down:.1f}"
        colour = named_colour(side)
        return f'<path class="stroke" style="stroke:{colour};stroke-width:5" d="{line}"/>'

    def kinds(board: np.ndarray) -> list[int]:
        """0 for a free edge, else 1 + players * edge + player."""
        return [(board[at] > 0) * (game.players * at + board[at]) for at in range(game.num_cells)]

    return Drawing(
        width=2 * middle,
        height=2 * middle,
        ground=ground,
        spots=spots,
        pieces=("", *(edge(at, side) for at in range(game.num_cells) for side in game.sides)),
        halo='<circle r="12"/>',
        actions=names,
        kinds=kinds,
        spot_of=lambda board, action: action,
        spot_names=names,
        piece_names=("free", *game.sides * game.num_cells),
    )


def _places(edges: np.ndarray) -> np.ndarray:
    """float[E, 2]: a point on each edge [E, 2, 2], apart from other points and other edges.

    The short edges choose first. A point that is on several edges would not tell which is meant.
    """
    shares = np.linspace(0.2, 0.8, 25)[:, None]
    ways = edges[:, 1] - edges[:, 0]
    lengths = np.linalg.norm(ways, axis=1)
    places = np.full((len(edges), 2), np.inf)
    for number in np.argsort(lengths.round(3), kind="stable"):
        choices = edges[number, 0] + shares * ways[number]
        apart = np.linalg.norm(choices[:, None] - places, axis=2).min(1)
        to_node = choices[:, None] - edges[:, 0]
        across = np.abs(ways[:, 0] * to_node[..., 1] - ways[:, 1] * to_node[..., 0]) / lengths
        across[:, number] = np.inf
        score = np.minimum(apart, _CLEAR * across.min(1)) - np.abs(shares[:, 0] - 0.5)
        places[number] = choices[score.argmax()]
    return places
