"""The command `games`: list the games."""

import sys

from jaxgbg.cli.common import Json, TableFormat, print_records
from jaxgbg.games import broken_games, game_names, make
from jaxgbg.games.registry import PACKAGES


def games(form: TableFormat = "table", json_file: Json = None) -> None:
    """List the games and their sizes."""
    built = [make(name) for name in game_names()]
    records = [
        {
            "game": game.name,
            "players": game.num_players,
            "actions": game.num_actions,
            "cells": game.num_cells,
            "cell_values": game.num_cell_values,
            "symmetries": len(game.symmetries),
            "max_plies": game.max_plies,
        }
        for game in built
    ]
    print_records(records, json_file, form)
    if form == "table":
        for name, package in PACKAGES.items():
            print(f"{name}:TITLE, if {name} is installed: {', '.join(package.titles)}")
    for line in broken_games().values():
        print(f"jaxgbg: {line}", file=sys.stderr)
