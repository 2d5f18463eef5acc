"""Nim: heaps of bars; a move is marked on the lowest bar that it takes."""

import numpy as np

from jaxgbg.games import Nim
from jaxgbg.web.drawings.core import Drawing, text


def drawing(game: Nim) -> Drawing:
    heaps, size, most = game.heaps, game.size, game.max_take or game.size
    side, step, margin = 74, 34, 10
    spots = [
        (margin + (heap + 0.5) * side, margin + (size - item - 0.5) * step)
        for heap in range(heaps)
        for item in range(size)
    ]
    floor = margin + size * step + 4
    ground = "".join(
        f'<path class="line" d="M{margin + heap * side + 6} {floor}h{side - 12}"/>'
        + text(margin + (heap + 0.5) * side, floor + 16, f"heap {heap + 1}")
        for heap in range(heaps)
    )

    def items(board: np.ndarray) -> list[int]:
        return [(item < left) * 1 for left in board for item in range(size)]

    def lowest_taken(board: np.ndarray, action: int) -> int:
        heap, taken = divmod(action, most)
        return board[heap].astype(np.int32) + size * heap - taken - 1

    bar = '<rect x="-29" y="-14" width="58" height="28" rx="8"'
    return Drawing(
        width=2 * margin + heaps * side,
        height=floor + 26,
        ground=ground,
        spots=spots,
        pieces=("", f'{bar} class="item"/>'),
        halo=f"{bar}/>",
        actions=[f"heap {a // most + 1}, take {a % most + 1}" for a in range(heaps * most)],
        kinds=items,
        spot_of=lowest_taken,
        spot_names=[f"heap {h + 1}, item {i + 1}" for h in range(heaps) for i in range(size)],
        piece_names=("empty", "item"),
        cells=[heap for heap in range(heaps) for _ in range(size)],
    )
