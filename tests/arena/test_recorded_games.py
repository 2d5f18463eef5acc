"""Games kept with all their moves: the same results, replayed by the rules, and faults found."""

import json

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.arena import scheduler
from jaxgbg.arena.game_records import TournamentSettings, read_games
from jaxgbg.arena.participants import enter, named
from jaxgbg.evaluation import Protocol, compete, no_history
from jaxgbg.evaluation.played_games import moves_of
from jaxgbg.players import History
from jaxgbg.runs.storage.recorded_games import write_games

GAMES = [
    jaxgbg.make("tictactoe"),
    jaxgbg.make("nim3p"),
    jaxgbg.make("pig", target=12),
    jaxgbg.make("ewn", size=3),
]
OTHERS = [
    jaxgbg.make("connectfour"),
    jaxgbg.make("othello", size=4),
    jaxgbg.make("hex", size=3),
    jaxgbg.make("2048"),
    jaxgbg.make("lines_of_action", size=4, max_plies=60),
    jaxgbg.make("sim", players=3),
    jaxgbg.make("yavalath", size=3),
    jaxgbg.make("chinese_checkers", rows=1),
    jaxgbg.make("maedn", quarter=2, pieces=1),
    jaxgbg.make("backgammon", checkers=3),
]


def recorded(game, protocol, **options):
    """(rewards, games) of random play that is kept."""
    games = []
    random = jaxgbg.make_player("random", game)
    opponent = None if game.num_players == 1 else random

    def keep(played):
        for seats, moves, rewards in zip(
            played.seats, moves_of(game, played), played.rewards, strict=True
        ):
            names = tuple(f"player {seat}" for seat in seats)
            result = tuple(rewards.tolist())
            games.append(jaxgbg.RecordedGame(game, names, moves.moves, result, moves.opening))

    key = jax.random.key(1)
    rewards = compete(game, random, opponent, protocol, key, on_games=keep, **options)
    plain = compete(game, random, opponent, protocol, key, **options)
    np.testing.assert_array_equal(rewards, plain)
    return rewards, games


def check_replays(game):
    protocol = Protocol("random_plies", count=3, plies=2)
    rewards, games = recorded(game, protocol)
    assert len(games) == rewards.size
    for each in games:
        states = each.states()
        assert states.terminal.tolist() == [False] * (len(states.terminal) - 1) + [True]
        np.testing.assert_allclose(states.rewards[-1], each.result, atol=1e-6)
        # A game without chance is kept from its very beginning.
        assert each.opening == (0 if game.stochastic else 2)
        assert (";" in each.moves) == bool(game.stochastic)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_kept_games_have_the_same_results_and_replay_by_the_rules(game):
    check_replays(game)


@pytest.mark.slow
@pytest.mark.parametrize("game", OTHERS, ids=lambda game: game.name)
def test_kept_games_of_the_other_games_replay_by_the_rules(game):
    check_replays(game)


@pytest.fixture(scope="module")
def games():
    return recorded(GAMES[0], Protocol("random_plies", count=4, plies=1))[1]


@pytest.fixture
def lines(games, tmp_path):
    """(the file of the games, its lines)."""
    path = tmp_path / "games.jsonl"
    write_games(path, games)
    return path, path.read_text().splitlines()


def test_what_was_written_is_read_again(games, lines):
    path, texts = lines
    assert jaxgbg.recorded_games(path) == games
    assert json.loads(texts[0]).keys() == {
        "game", "players", "moves", "result", "opening", "seed", "number",
    }  # fmt: skip
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(texts).encode())
    assert jaxgbg.recorded_games(path) == games


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda game: "", "line 2: not valid JSON"),
        (lambda game: json.dumps(game)[:40], "line 2: not valid JSON"),
        (lambda game: "[]", "line 2: not a JSON object"),
        (lambda game: json.dumps({"moves": "1"}), "line 2: a game has game, and this line has non"),
        (lambda game: json.dumps(game | {"game": {"name": "chess"}}), "line 2: unknown game"),
        (lambda game: json.dumps(game | {"game": {"name": "nim3p"}}), "must be 3 names"),
        (lambda game: json.dumps(game | {"players": "X"}), "players must be 2 names, not 'X'"),
        (lambda game: json.dumps(game | {"moves": [1]}), "moves must be text such as 3,2,4"),
        (lambda game: json.dumps(game | {"result": [1]}), "result must be 2 numbers"),
        (lambda game: json.dumps(game | {"result": [1, True]}), "result must be 2 numbers"),
        (lambda game: json.dumps(game | {"result": [10**400, 0]}), "result must be 2 numbers"),
        (lambda game: json.dumps(game | {"result": [0, -(10**40)]}), "result must be 2 numbers"),
        (lambda game: json.dumps(game | {"seed": -1}), "seed must be a whole number from 0"),
    ],
)
def test_a_damaged_line_is_named(lines, change, line):
    path, texts = lines
    damaged = change(json.loads(texts[1]))
    path.write_text("\n".join([texts[0], damaged or "{", *texts[2:]]))
    with pytest.raises(ValueError, match=line) as error:
        jaxgbg.recorded_games(path)
    assert str(error.value).startswith(f"{path}, line 2: ")


def test_a_result_of_whole_numbers_is_compared_with_the_rules(lines):
    path, texts = lines
    path.write_text(json.dumps(json.loads(texts[0]) | {"result": [1, -(10**30)]}))
    (game,) = jaxgbg.recorded_games(path)
    with pytest.raises(ValueError, match=r"the result is 1, -1e\+30, and by the rules it is"):
        game.states()


def test_a_file_without_games_is_refused(tmp_path):
    for content, why in ((b"", "holds no games"), (b"\xff\n", "line 1: not valid UTF-8")):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(ValueError, match=why):
            jaxgbg.recorded_games(tmp_path / "x")
    with pytest.raises(ValueError, match="No such file"):
        jaxgbg.recorded_games(tmp_path / "y")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"moves": "4,4"}, "move 2 is not legal there"),
        ({"moves": "0,1"}, "the game is not over after its 2 moves"),
        ({"moves": ""}, "the game is not over after its 0 moves"),
        ({"moves": "0,3,1,4,2,5", "result": (1, -1)}, "the game is over after move 5"),
        (
            {"moves": "0,3,1,4,2", "result": (-1, 1)},
            "is -1, 1, and by the rules it is 1, -1",
        ),
        ({"moves": "0,3,1,4,2", "opening": 6}, "opening is 6, and the game has 5 moves"),
        ({"moves": "1.2"}, "a move needs 0 numbers of chance"),
        ({"moves": "XX./OO./... X;2", "result": (1, 1)}, "the result is 1, 1"),
        ({"moves": "XXX/XX./... X;2"}, "no position of tictactoe"),
        ({"game": jaxgbg.make("nim"), "moves": "0,3,1,4,2"}, "not legal|not over|the result"),
    ],
)
def test_a_game_that_the_rules_do_not_give_is_refused(games, changes, line):
    fields = {"game": GAMES[0], "players": ("a", "b"), "result": (1, -1)} | changes
    with pytest.raises(ValueError, match=line):
        jaxgbg.RecordedGame(**fields).states()


def test_games_may_start_from_a_position():
    game = GAMES[0]
    state = jaxgbg.position(game, "XX./OO./... X")
    start = jax.tree.map(lambda leaf: leaf[None], state)
    _, games = recorded(game, Protocol(count=1, repeats=6), position=(start, None))
    assert len(games) == 12
    assert {each.moves.partition(";")[0] for each in games} == {"XX./OO./... X"}
    assert all(each.opening == 0 for each in games)
    history = History(np.array([[0, 3, 1, 4]]), np.array([[0, 1, 0, 1]]))
    _, games = recorded(game, Protocol(count=2), position=(start, history))
    assert {each.moves[:8] for each in games} == {"0,3,1,4,"}
    assert {each.opening for each in games} == {4}
    assert no_history(1).actions.shape == (1, 0)


def test_a_tournament_keeps_its_games_also_those_played_before(tmp_path):
    what = (["random", "maxn"], jaxgbg.make("nim", heaps=2, size=3))
    options = {"games": 6, "plies": 1, "out": tmp_path / "out", "progress": False}
    without = jaxgbg.tournament(*what, **options)
    path = tmp_path / "games.jsonl"
    ladder = jaxgbg.tournament(*what, **options, record=path)
    assert ladder.records() == without.records()
    games = jaxgbg.recorded_games(path)
    assert [each.number for each in games] == [1, 2, 3, 4, 5, 6]
    assert {each.players for each in games} == {("random", "maxn"), ("maxn", "random")}
    for each in games:
        each.states()
    won = sum(each.result[each.players.index("maxn")] > 0 for each in games)
    (maxn,) = [each for each in ladder.records() if each["player"] == "maxn"]
    assert maxn["score"] == pytest.approx(100 * won / 6, abs=0.01)
    # The folder has them now.
    path.unlink()
    jaxgbg.tournament(*what, **options, record=path)
    assert jaxgbg.recorded_games(path) == games


def test_a_worker_of_a_cluster_keeps_the_moves_too():
    game = jaxgbg.make("nim", heaps=2, size=3)
    group = enter(named(["maxn", "random"]), game)
    protocol = Protocol("random_plies", count=2, plies=1)
    settings = TournamentSettings(game, protocol, 0, record=True)
    sent = scheduler.play_sent(scheduler._as_text(group, settings))
    assert len(sent.moves) == sent.rewards.size // 2 == 4
    plain = scheduler.play_sent(scheduler._as_text(group, settings._replace(record=False)))
    assert plain.moves == ()
    np.testing.assert_array_equal(sent.rewards, plain.rewards)


def test_damaged_moves_in_a_folder_are_named(tmp_path):
    line = {"players": ["a", "b"], "seatings": [[0, 1]], "openings": [0], "rewards": [[[1, -1]]]}
    texts = [json.dumps(line | {"moves": each}) for each in ([[0, "1"]], [[0, 1]], [], "1", [1, 2])]
    path, complaints = tmp_path / "games.jsonl", []
    for text in texts:
        path.write_text(text)
        read_games(path, complaints.append)
    assert [each.partition(": ")[2] for each in complaints] == [
        "moves are not those of all games; left out"
    ] * 3
