"""The description of a game for the page, before the first position."""

import dataclasses

import jax
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.notations import notation_of
from jaxgbg.specs import plain
from jaxgbg.types import JSON
from jaxgbg.web.drawings import Drawing
from jaxgbg.web.drawings.core import seat_colours
from jaxgbg.web.positions import Position, board_markup, shape_markup, value_scale

SHAPES = "shape"


def describe_game(game: Game, drawing: Drawing) -> dict[str, JSON]:
    """The game and its drawing."""
    board = jax.eval_shape(lambda key: game.display_cells(game.init(key)), jax.random.key(0))
    kinds = [int(k) for k in drawing.kinds(np.zeros(board.shape, np.int8))]
    nothing = Position(kinds, [], -1, -1, [], "", [], ["", ""] if drawing.name_of else [])
    fields = {field.name: field for field in dataclasses.fields(game)}
    scale = value_scale(game)
    return {
        "game": game.name,
        "title": game.title,
        "parameters": {name: plain(getattr(game, name)) for name in fields},
        "changed": [name for name in fields if getattr(game, name) != fields[name].default],
        "sides": list(game.sides),
        "shapes": SHAPES,
        "definitions": shape_markup(drawing, SHAPES),
        "board": board_markup(drawing, SHAPES, nothing),
        "spots": list(drawing.spot_names),
        "pieces": list(drawing.piece_names),
        "cells": list(drawing.cells) or list(range(game.num_cells)),
        "keys": dict(drawing.keys),
        "turns": drawing.turns,
        "colours": seat_colours(drawing, game.sides),
        "chance": game.stochastic,
        "setUp": _set_up(game, drawing, board.shape),
        "unit": scale.label,
        # The minimum and maximum possible values, on the shown scale.
        "span": [scale.figure(reward) for reward in game.reward_range],
    }


def _set_up(game: Game, drawing: Drawing, shape: tuple[int, ...]) -> JSON:
    """How the page writes a position that is set up by clicks, None for games without that.

    `contents` are the (words, kind of piece) of a cell in the order of clicks, `rows` the spots of
    the text.
    """
    form = notation_of(game).board
    if form is None:
        return None
    cells = list(drawing.cells) or list(range(game.num_cells))
    spots = [[cells.index(cell) for cell in row] for row in form.rows]
    contents = [
        [words, int(drawing.kinds(np.full(shape, digit, np.int8))[spots[0][0]])]
        for digit, words in form.contents.items()
    ]
    sides = [[words, game.sides[player]] for player, words in enumerate(form.sides)]
    return {"contents": contents, "rows": spots, "between": form.between, "sides": sides}
