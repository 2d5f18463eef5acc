"""The requests to the page's server: specs that validate themselves, described as OpenAPI."""

import dataclasses
import typing
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

import jaxgbg
from jaxgbg.specs import LAST_SEED, Spec, kind_of, limits_of, setting
from jaxgbg.types import JSON

ROOT = "/api/v1"
MOST_BYTES = 2**21
"""The maximum length of a request: enough moves for the longest game."""
_TYPES = {int: "integer", str: "string", bool: "boolean"}


def _field(kind: str | list[str], words: str) -> dict[str, JSON]:
    return {"type": kind, "description": words}


def _object(properties: Mapping[str, JSON]) -> dict[str, JSON]:
    """JSON Schema of an object with all of these properties."""
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


_WAITING = {"error": {"type": "string"}, "waiting": _field("number", "Seconds so far")}
_INTEGERS = {"items": {"type": "integer"}}
_LOOKUP = {
    "tuple": _field("integer", "Number of the n-tuple"),
    "image": _field("integer", "Number of the board's image"),
    "cells": _field("array", "Cells of the board that it reads") | _INTEGERS,
    "digits": _field("array", "The digits in them") | _INTEGERS,
    "weight": _field("number", "Its contribution to the sum"),
    "hits": _field("integer", "Number of look-ups of the position that read the same weight"),
    "n": _field(["number", "null"], "TC counter N: the sum of the recommended changes"),
    "a": _field(["number", "null"], "TC counter A: the sum of their absolute values"),
    "factor": _field(["number", "null"], "TC factor |N| / A"),
}


@dataclasses.dataclass(frozen=True)
class Question(Spec):
    """A position by its moves.

    Attributes:
      moves: The game so far, as in 3,2,4, or a position in the game's notation, after which moves
        may follow a semicolon; empty for a new game.
    """

    summary: ClassVar[str] = ""
    told: ClassVar[Mapping[str, JSON]] = {}
    """The properties of each answer as JSON Schema, if they are specified."""

    moves: str = ""


@dataclasses.dataclass(frozen=True)
class PositionRequest(Question):
    """A position with an agent's values.

    Attributes:
      values: For whom to return the values of the legal moves.
      judge: The agent that values moves, agent or agent:look-ahead=3; the first one if empty.
    """

    summary: ClassVar[str] = "A position: pieces, legal moves, values"

    values: Literal["none", "mover", "all"] = "none"
    judge: str = ""


@dataclasses.dataclass(frozen=True)
class MoveRequest(PositionRequest):
    """A move by its number, or the move of a player.

    Attributes:
      action: The number of the move; if it is -1, the player moves.
      player: The player, as agent:look-ahead=2, agent:search=puct-200,
        agent:search=puct-200,solver=1, mcts-1000, random.
      seed: Seed for ties between equal moves; a new one each time if it is -1.
    """

    summary: ClassVar[str] = "Make a move, with chance, and return the next position"

    action: int = setting(-1, low=-1, high=2**31 - 1)
    player: str = ""
    seed: int = setting(-1, low=-1, high=LAST_SEED)


@dataclasses.dataclass(frozen=True)
class Choose(Question):
    """The move that a player would make.

    Attributes:
      player: As in move.
      seed: As in move.
    """

    summary: ClassVar[str] = "The move that a player would make: a hint"

    player: str = ""
    seed: int = setting(-1, low=-1, high=LAST_SEED)


@dataclasses.dataclass(frozen=True)
class HistoryRequest(Question):
    """Every move of a game.

    Attributes:
      judge: The agent whose values make the curve, as in position.
    """

    summary: ClassVar[str] = "All moves by name, and each player's value estimate before them"

    judge: str = ""


@dataclasses.dataclass(frozen=True)
class Verdicts(Question):
    """The value of each move in perfect play."""

    summary: ClassVar[str] = "The value of each legal move in perfect play; 400 if it is unknown"


@dataclasses.dataclass(frozen=True)
class Tuples(Question):
    """The n-tuples that read a cell.

    Attributes:
      cell: Number of the cell.
      player: The player for whom to evaluate the position, from 0; -1 for the last mover.
      judge: The agent whose n-tuples they are.
    """

    summary: ClassVar[str] = "The n-tuples through a cell: weights, hits, TC counters and factors"
    told: ClassVar[Mapping[str, JSON]] = {
        "player": _field("integer", "The player for whom the position is evaluated"),
        "lookups": _field("integer", "Number of weights read for it, once for each image"),
        "total": _field("number", "Their sum"),
        "value": _field("number", "The value of the position, from that sum"),
        "count": _field("integer", "Number of look-ups that read the cell"),
        "through": _field("number", "The sum of their weights"),
        "counters": _field("string", "The source of the TC counters, or why there are none"),
        "tuples": _field("array", "These look-ups, the greatest weights first, at most 200")
        | {"items": _object(_LOOKUP)},
    }

    cell: int = setting(0, low=0, high=2**31 - 1)
    player: int = setting(-1, low=-1, high=2**31 - 1)
    judge: str = ""


@dataclasses.dataclass(frozen=True)
class Page(HistoryRequest):
    """The game as a file to share.

    Attributes:
      seats: The players, as in the page's address: person,agent:look-ahead=2.
    """

    summary: ClassVar[str] = "The game as one HTML file, as sample games stand in the report"

    seats: str = ""


QUESTIONS: Mapping[str, type[Question]] = {
    "position": PositionRequest,
    "move": MoveRequest,
    "choose": Choose,
    "history": HistoryRequest,
    "perfect": Verdicts,
    "tuples": Tuples,
    "page": Page,
}
"""The requests by name; a table has a method for each name."""


def description() -> dict[str, JSON]:
    """The OpenAPI document of the requests by name."""
    paths: dict[str, JSON] = {
        f"{ROOT}/game": {
            "get": {
                "summary": "The game, its drawing, and the available players",
                "operationId": "game",
                "responses": {
                    "200": _answer("The game"),
                    "503": _answer("Rules and agents are still being compiled", _WAITING),
                },
            }
        }
    }
    for name, question in QUESTIONS.items():
        body = {"required": True, "content": {"application/json": {"schema": _schema(question)}}}
        refused = {"400": "What is wrong with the request", "413": "Too long", "415": "No JSON"}
        paths[f"{ROOT}/{name}"] = {
            "post": {
                "summary": question.summary,
                "operationId": name,
                "requestBody": body,
                "responses": {"200": _answer(question.summary, question.told)}
                | {
                    code: _answer(words, {"error": {"type": "string"}})
                    for code, words in refused.items()
                },
            }
        }
    about = {"title": "jaxgbg play", "version": jaxgbg.__version__}
    return {"openapi": "3.1.0", "info": about, "paths": paths}


def _schema(question: type[Question]) -> dict[str, JSON]:
    """JSON Schema of a request, from its fields."""
    properties: dict[str, JSON] = {}
    for field in dataclasses.fields(question):
        limits = limits_of(question, field.name)
        hint = kind_of(typing.get_type_hints(question)[field.name])
        entry: dict[str, JSON] = {"type": _TYPES[hint], "default": field.default}
        entry["description"] = question.help().get(field.name, "")
        if limits.choices:
            entry["enum"] = list(limits.choices)
        if hint is int:
            entry |= {"minimum": limits.low, "maximum": limits.high}
        properties[field.name] = entry
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _answer(words: str, properties: Mapping[str, JSON] | None = None) -> dict[str, JSON]:
    schema = _object(properties) if properties else {"type": "object"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}


Answer = Callable[..., dict[str, JSON]]
"""A handler of a request; raises ValueError with one line."""
