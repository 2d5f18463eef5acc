"""A tournament and its folder: kept line by line, gone on with, and told as a ladder."""

import itertools
import json
import math
import re

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.arena import game_records as kept_games
from jaxgbg.arena import scheduler
from jaxgbg.arena.group_play import GroupGames
from jaxgbg.arena.match_results import MatchResult
from jaxgbg.games import EinStein, Nim
from jaxgbg.players import MaxN, RandomPlayer
from jaxgbg.results.ladder import Ladder
from jaxgbg.runs.storage.locks import only_here

SMALL = Nim(heaps=2, size=3)
SETTINGS = {"game": SMALL, "games": 12, "plies": 1, "progress": False}
PLAYERS = ["random", "mcts-2"]


def met(*groups, seats=2, openings=20):
    """Groups whose games all end with these rewards of the players, in the order of the group."""
    orders = np.array([[0, 1], [1, 0]]) if seats == 2 else np.array([[0, 1, 2], [2, 1, 0]])
    return [
        MatchResult(
            group,
            GroupGames(
                orders, np.tile(np.array(paid)[orders], (openings, 1, 1)), np.arange(openings)
            ),
        )
        for group, paid in groups
    ]


@pytest.fixture
def drawn(monkeypatch):
    """Games are not played but drawn, by the same keys, which is quick; how many groups met."""
    groups = []

    def draw(game, group, protocol, key, record=False):
        groups.append([player.name for player in group])
        random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        won = random.choice([-1.0, 0.0, 1.0], (protocol.count, 2))
        orders = np.array([[0, 1], [1, 0]])
        return GroupGames(orders, np.stack([won, -won], 2), np.arange(protocol.count))

    monkeypatch.setattr(scheduler, "play_group", draw)
    monkeypatch.setattr(kept_games, "fingerprint", str)
    return groups


@pytest.fixture
def lines(tmp_path, drawn):
    """A tournament of two that was played, and the lines of its games."""
    jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS)
    return (tmp_path / "t" / "games.jsonl").read_text().splitlines()


def test_the_same_call_goes_on_and_more_may_join(lines, drawn, tmp_path):
    first = jaxgbg.tournament(PLAYERS[::-1], out=tmp_path / "t", **SETTINGS)
    assert (len(lines), len(drawn)) == (1, 1)
    three = jaxgbg.tournament([*PLAYERS, "mcts-3"], out=tmp_path / "t", **SETTINGS)
    kept = (tmp_path / "t" / "games.jsonl").read_text().splitlines()
    assert kept[0] == lines[0]
    assert (len(kept), len(drawn)) == (3, 3)
    assert [row["games"] for row in three.records()] == [24] * 3
    again = jaxgbg.tournament(["mcts-3", *PLAYERS], out=tmp_path / "t", **SETTINGS)
    assert again.records() == three.records()
    again = jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS)
    assert again.records() == first.records()
    assert len(drawn) == 3


SIX = [*(f"mcts-{number}" for number in range(2, 7)), "random"]


def test_a_swiss_tournament_that_was_stopped_ends_as_one_that_was_not(drawn, tmp_path, monkeypatch):
    whole = jaxgbg.tournament(SIX, swiss=3, **SETTINGS)
    assert len(drawn) == 9
    assert [row["games"] for row in whole.records()] == [3 * 12] * 6
    draw = scheduler.play_group

    def stopped(*arguments):
        if len(drawn) == 9 + 4:
            raise KeyboardInterrupt
        return draw(*arguments)

    monkeypatch.setattr(scheduler, "play_group", stopped)
    with pytest.raises(KeyboardInterrupt):
        jaxgbg.tournament(SIX, swiss=3, out=tmp_path / "t", **SETTINGS)
    monkeypatch.setattr(scheduler, "play_group", draw)
    again = jaxgbg.tournament(SIX[::-1], swiss=3, out=tmp_path / "t", **SETTINGS)
    assert again.records() == whole.records()
    assert len(drawn) == 9 + 9
    # All others are met by who leaves the rounds out.
    assert len(jaxgbg.tournament(SIX, out=tmp_path / "t", **SETTINGS).standings) == 6
    assert len(drawn) == 9 + 15


def test_swiss_rounds_that_cannot_be_are_refused_in_a_line(drawn):
    with pytest.raises(ValueError, match=r"6 participants can be paired for 3 rounds .* not for 4"):
        jaxgbg.tournament(SIX, swiss=4, **SETTINGS)
    three = Nim(heaps=1, size=3, players=3, rule="nim3p")
    with pytest.raises(ValueError, match="nim3p is played by 3: leave out swiss"):
        jaxgbg.tournament(SIX, swiss=2, **SETTINGS | {"game": three})
    with pytest.raises(ValueError, match=r"not connect 6 participants, .* at least 2"):
        jaxgbg.tournament(SIX, swiss=1, **SETTINGS)
    assert drawn == []
    assert len(jaxgbg.tournament(SIX, swiss=2, **SETTINGS).standings) == 6


def test_who_is_not_connected_is_named():
    apart = met(((0, 1), (1.0, -1.0)), ((2, 3), (1.0, -1.0)))
    with pytest.raises(ValueError, match=r"compared: ann, bob \| cid, dan$"):
        Ladder(SMALL, ["ann", "bob", "cid", "dan"], apart, None)


def test_games_are_those_of_the_seed_with_and_without_a_folder(lines, tmp_path):
    kept = jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS)
    again = jaxgbg.tournament(PLAYERS[::-1], **SETTINGS)
    assert again.records() == kept.records()
    other = jaxgbg.tournament(PLAYERS, seed=1, **SETTINGS)
    assert other.records() != kept.records()


@pytest.mark.slow
def test_what_is_played_is_kept_and_played_again_alike(tmp_path):
    """Not drawn but played, with a fingerprint of the rules, an agent and a perfect player."""
    run = jaxgbg.train(
        jaxgbg.preset(SMALL, seeds=[0], episodes=160, eval_every=160, opponents=["random"]),
        tmp_path / "runs",
        progress=False,
    )
    players = [run, "perfect=maxn", "random"]
    ladder = jaxgbg.tournament(players, out=tmp_path / "t", **SETTINGS | {"game": None})
    assert [row.games for row in ladder.standings] == [36] * 4
    assert ladder.standings[-1].player == "random"
    again = jaxgbg.tournament(players, **SETTINGS)
    assert again.records() == ladder.records()
    alone = jaxgbg.tournament(players, first=True, **SETTINGS)
    assert {row.player for row in alone.standings} == {"seed0-farl", "perfect", "random"}


@pytest.mark.parametrize("damage", ["half", "junk", "shape", "order"])
def test_a_damaged_line_is_named_and_its_group_plays_again(lines, tmp_path, capsys, damage):
    path = tmp_path / "t" / "games.jsonl"
    content = json.loads(lines[0])
    text = {
        "half": lines[0][:50],
        "junk": "\x00\n",
        "shape": json.dumps(content | {"openings": [0]}) + "\n",
        "order": json.dumps(content | {"seatings": [[0, 0], [1, 0]]}) + "\n",
    }[damage]
    path.write_text(text)
    jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS)
    assert "games.jsonl, line 1: " in capsys.readouterr().err
    assert path.read_text().splitlines()[-1] == lines[0]
    jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS)
    assert len(path.read_text().splitlines()) == 2


def test_a_folder_of_another_tournament_is_refused(lines, tmp_path):
    with pytest.raises(ValueError, match="holds a tournament with different openings"):
        jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS | {"games": 14})
    with pytest.raises(ValueError, match="holds a tournament with different game"):
        jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS | {"game": Nim(heaps=1)})
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "file").touch()
    with pytest.raises(ValueError, match="holds something else"):
        jaxgbg.tournament(PLAYERS, out=tmp_path / "else", **SETTINGS)


def test_two_processes_do_not_play_in_one_folder(drawn, tmp_path):
    class Same:
        path = tmp_path / "t"

    with only_here(Same()), pytest.raises(ValueError, match="another process is at work"):
        jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_tournament_that_cannot_begin_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="nearly all games of nim end within 6 random plies"):
        jaxgbg.tournament(PLAYERS, out=tmp_path / "t", **SETTINGS | {"plies": 6})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_players_of_python_take_part_under_names_of_their_own():
    ladder = jaxgbg.tournament({"A": MaxN(SMALL), "B": RandomPlayer(SMALL)}, **SETTINGS)
    assert {row.player for row in ladder.standings} == {"A", "B"}
    assert ladder.anchor == "B"
    frame = ladder.frame()
    assert list(frame["rank"]) == [1, 2]
    assert frame["score"].sum() == pytest.approx(100)


@pytest.mark.slow
def test_three_meet_in_all_orders():
    game = Nim(heaps=1, size=3, players=3, rule="nim3p")
    ladder = jaxgbg.tournament(
        {name: RandomPlayer(game) for name in "abc"}, games=13, plies=0, game=game, progress=False
    )
    # Three openings in six orders.
    assert [row.games for row in ladder.standings] == [18] * 3
    assert len(ladder.seats) == 3
    assert sum(row.score for row in ladder.standings) == pytest.approx(150)


def test_a_cycle_is_told_and_its_players_share_the_time():
    win = (1.0, -1.0)
    ladder = Ladder(SMALL, ["a", "b", "c"], met(((0, 1), win), ((1, 2), win), ((2, 0), win)), None)
    assert ladder.cycles == [("a", "b", "c")]
    assert any("a beats b beats c beats a" in note for note in ladder.notes())
    assert [row.alpha_rank for row in ladder.standings] == pytest.approx([1 / 3] * 3)
    assert [row.rating.elo for row in ladder.standings] == pytest.approx([0, 0, 0], abs=1e-6)
    few = met(((0, 1), win), ((1, 2), win), ((2, 0), win), openings=5)
    assert Ladder(SMALL, ["a", "b", "c"], few, None).cycles == []


def test_partners_have_one_advantage_which_the_games_bound():
    """Each team wins every second game: both are worth 0, without a sign."""
    orders = np.array(list(itertools.permutations(range(3))))
    paid = np.array([[1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    rewards = np.repeat(np.tile(paid, (20, 1))[:, None], len(orders), 1)
    played = MatchResult((0, 1, 2), GroupGames(orders, rewards, np.arange(40)))
    game = EinStein(size=4, players=3)
    note = Ladder(game, ["a", "b", "c"], [played], None).notes()[0]
    words = r"others: player 1 and player 2 0 ± (\d+), player 3 0 ± (\d+)\."
    assert all(int(error) < 200 for error in re.search(words, note).groups())


def test_who_never_lost_is_told_by_a_bound(tmp_path):
    ladder = Ladder(SMALL, ["random", "best"], met(((0, 1), (-1.0, 1.0))), 0)
    best, random = ladder.standings
    assert (best.player, best.rating.high) == ("best", math.inf)
    assert ladder.records()[0]["high"] is None
    assert ladder.columns()[2].cells[0] == f"> {best.rating.low:,.0f}"
    assert any("never lost" in note for note in ladder.notes())
    assert (random.rating.elo, ladder.scores[0, 1]) == (0, 100)
    text = ladder.plot(tmp_path / "ladder.svg").read_text()
    assert "Elo, random = 0" in text
