"""The discount in FARL's place: kept figures are of today's settings, measures those of a count."""

from pathlib import Path

import numpy as np
import pytest

from experiments.discount import tables, threats
from experiments.shared import Section
from jaxgbg import make
from jaxgbg.players import RandomPlayer
from jaxgbg.sweeps import read_spec
from tests.experiments.pages import pages_of

HERE = Path(threats.__file__).parent


def test_kept_threats_are_of_the_files() -> None:
    rows = Section(HERE, threats.THREATS).read()
    asked = {
        (run.digest, variant): len(run.seeds)
        for file in HERE.glob("*.toml")
        for unit in read_spec(file).units
        for run in unit.runs
        for variant in run.variants
    }
    kept = {(row["config"], row["variant"]): len(row["wins taken"]) for row in rows}
    assert kept == asked


@pytest.mark.figures
def test_tables_are_those_of_the_kept_figures(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main([])
    printed = capsys.readouterr().out
    assert [printed.count(f"**{game}**") for game in tables.GAMES] == [1] * 4
    # Ten settings of TicTacToe, five of Nim and Hex, three of ConnectFour, and heads.
    assert sum(line.startswith("|") for line in printed.splitlines()) == 23 + 4 * 2
    assert printed in pages_of("discount")


def test_wins_and_threats_are_those_of_a_count_by_hand() -> None:
    game = make("tictactoe")
    lines = [set(line) for line in game.lines.tolist()]
    found = threats.positions_of(game)

    def winning(own: set[int], free: set[int]) -> set[int]:
        return {cell for cell in free if any(line <= own | {cell} for line in lines)}

    assert len(found.legal) > 1000
    stones, movers = np.asarray(found.states.stones), np.asarray(found.states.player)
    for row in range(0, len(movers), 7):
        mover = movers[row]
        own, other = (
            {cell for cell in range(9) if stones[row, player] >> cell & 1}
            for player in (mover, 1 - mover)
        )
        free = set(range(9)) - own - other
        wins = winning(own, free)
        allows = {cell for cell in free - wins if winning(other, free - {cell})}
        assert set(np.flatnonzero(found.legal[row])) == free
        assert set(np.flatnonzero(found.wins[row])) == wins
        assert set(np.flatnonzero(found.allows[row])) == allows
        seen = set() if wins or len(allows) in (0, len(free)) else free - allows
        assert set(np.flatnonzero(found.good("losses seen")[row])) == seen
        assert set(np.flatnonzero(found.good("wins taken")[row])) == (
            wins if wins != free else set()
        )


@pytest.mark.parametrize("name", ["tictactoe", "nim"])
def test_a_random_player_has_what_chance_has(name: str) -> None:
    game = make(name)
    chance = threats.by_chance(game)
    ((wins,), (losses,)) = threats.shares(game, RandomPlayer(game)).values()
    assert wins == pytest.approx(chance["wins taken"], abs=4)
    assert losses == pytest.approx(chance["losses seen"], abs=4)
