"""The play page's answers: positions by their moves, values, perfect play, n-tuples."""

import json
import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxgbg
from jaxgbg.games import Nim, game_replay, make
from jaxgbg.games.game_replay import CHUNK, GameReplay
from jaxgbg.games.lines import Line, read_line
from jaxgbg.players import GreedyAgent, MaxN
from jaxgbg.web.play import requests
from jaxgbg.web.play.inference import values_of_all
from jaxgbg.web.play.perfect import Perfect
from jaxgbg.web.play.seats import Seats
from jaxgbg.web.play.table import Table
from tests.web.tables import drawn_agent, table_of

_NUMBERS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def nim():
    """Two heaps of three, which perfect play and an agent know."""
    with_agent = table_of("nim", heaps=2, size=3)
    yield with_agent
    with_agent.close()


def walk(replay: GameReplay, seed: int, most: int) -> Line:
    """A random game of at most so many plies."""
    random, line = np.random.default_rng(seed), replay.start()
    for _ in range(most):
        state = jax.tree.map(lambda leaf: leaf[0], replay.end(line))
        legal = np.flatnonzero(replay.game.legal_actions(state))
        if not legal.size:
            break
        line = replay.played(line, int(random.choice(legal)))
    return line


@given(
    st.builds(
        Line,
        st.lists(_NUMBERS, max_size=3).map(tuple),
        st.lists(st.lists(_NUMBERS, min_size=1, max_size=3).map(tuple), max_size=9).map(tuple),
    )
)
def test_a_line_is_what_its_text_says(line):
    assert read_line(line.text) == line
    assert read_line(" ".join(line.text.replace(",", ", "))) == line


@pytest.mark.parametrize(
    "text", ["a", "1,,2", "1,", "-1", "1.", "/1/2", "1.2.3", "4294967296", "١,2", "1" * 5000]
)
def test_what_is_no_line_is_refused_in_a_line(text):
    with pytest.raises(ValueError, match=r"^[^\n]{1,200}$"):
        read_line(text)


@pytest.mark.slow
def test_replayed_positions_are_those_of_the_rules():
    game = make("nim", heaps=2, size=3)
    replay = GameReplay(game)
    line = walk(replay, 0, 9)
    state, states = game.init(jax.random.key(0)), [game.init(jax.random.key(0))]
    for (action,) in line.plies:
        state = game.step(state, action, jax.random.key(0))
        states.append(state)
    for replayed in (replay.end(line), GameReplay(game).end(line)):
        for leaf, expected in zip(replayed, state, strict=True):
            np.testing.assert_array_equal(leaf[0], expected)
    every = GameReplay(game).every(line)
    np.testing.assert_array_equal(every.heaps, [each.heaps for each in states])


class Dice(Nim):
    """Nim where chance may give an item back to the first heap: its outcomes are not listed."""

    name = "dice"
    spawn_words = 2

    def spawn(self, state, key):
        back = jax.random.bernoulli(key) & ~state.terminal & (state.heaps[0] < 1)
        return state._replace(heaps=state.heaps.at[0].add(back.astype(jnp.int8)))


def test_what_chance_did_stands_in_the_text():
    replay = GameReplay(Dice(heaps=2, size=3))
    line = walk(replay, 1, 12)
    assert {len(ply) for ply in line.plies} == {3}
    again = GameReplay(replay.game).end(read_line(line.text))
    for leaf, expected in zip(again, replay.end(line), strict=True):
        np.testing.assert_array_equal(leaf, expected)
    with pytest.raises(ValueError, match="2 numbers of chance after it, and move 1 has"):
        replay.end(Line((), ((0,),)))


@pytest.mark.slow
def test_the_tiles_of_2048_stand_in_the_text(monkeypatch):
    replay = GameReplay(make("2048"))
    # Chance is the server's own: a game may end before.
    walks = (walk(replay, seed, CHUNK + 7) for seed in range(40))
    line = next(line for line in walks if len(line.plies) == CHUNK + 7)
    fresh = GameReplay(replay.game)
    # As games of more than 256 plies are, in portions.
    monkeypatch.setattr(game_replay, "FEW", 2)
    for plies in (CHUNK + 7, CHUNK + 6, CHUNK, 3, 0):
        part = Line(line.start, line.plies[:plies])
        for leaf, expected in zip(fresh.end(part), replay.end(part), strict=True):
            np.testing.assert_array_equal(leaf, expected)
    assert (replay.every(line).tiles[-1] == replay.end(line).tiles[0]).all()
    action, empty = line.plies[0]
    fresh.end(Line(line.start, ((action, empty),)))
    slid = fresh.game.afterstate(
        jax.tree.map(lambda leaf: leaf[0], fresh.end(Line(line.start))), jnp.int32(action)
    )
    full = int(np.argmax(slid.tiles))
    for wrong in ((action, full), (action, 32), (action,), (action, 1, 2), (4, empty % 16)):
        with pytest.raises(ValueError, match=r"not legal|outcome of chance|numbers of chance"):
            fresh.end(Line(line.start, (wrong,)))
    with pytest.raises(ValueError, match="starts from 2 random words"):
        fresh.end(Line((1,), ()))


def test_an_illegal_move_is_named(nim):
    for moves, number in (("9", 1), ("2,2", 2), ("4000000000", 1)):
        with pytest.raises(
            ValueError, match=rf"^nim: move {number} is not legal there: \d+; legal are"
        ):
            nim.position(requests.PositionRequest(moves))
    with pytest.raises(ValueError, match="numbers of chance after it"):
        nim.position(requests.PositionRequest("2.7"))


@pytest.mark.slow
def test_every_move_has_the_agents_value_and_everybodys(nim):
    agent = nim.seats.agents["agent"]
    answer = nim.position(requests.PositionRequest("1", values="all"))
    state = jax.tree.map(lambda leaf: leaf[0], nim.replay.end(read_line("1")))
    own = np.asarray(agent.action_values(state))
    assert answer["player"] == 1
    assert [move["action"] for move in answer["legal"]] == np.flatnonzero(own > -np.inf).tolist()
    for move in answer["legal"]:
        after = nim.game.afterstate(state, jnp.int32(move["action"]))
        first = float(agent.values(jax.tree.map(lambda leaf: leaf[None], after))[0, 0])
        assert move["value"] == pytest.approx(own[move["action"]], abs=1e-5)
        assert float(move["every"][0].replace("−", "-")) == pytest.approx(first, abs=0.006)
        assert move["every"][1] == move["words"]
    assert answer["expected"] == [None, pytest.approx(own.max(), abs=1e-5)]
    assert "every" not in nim.position(requests.PositionRequest("1", values="mover"))["legal"][0]
    assert nim.position(requests.PositionRequest("1"))["legal"][0]["value"] is None


def test_everybodys_values_of_more_moves_than_one_chunk_are_those_of_all_moves_at_once():
    table = table_of("hex", size=9)
    answer = table.position(requests.PositionRequest("40,41,12", values="all"))
    assert [move["action"] for move in answer["legal"]] == sorted({*range(81)} - {40, 41, 12})
    state = jax.tree.map(lambda leaf: leaf[0], table.replay.end(read_line("40,41,12")))
    (agent,) = table.seats.agents.values()
    every = np.asarray(values_of_all(agent, state, jnp.arange(81)))
    for move in answer["legal"]:
        values = [float(text.replace("−", "-")) for text in move["every"]]
        assert values == pytest.approx(every[move["action"]], abs=0.006)
    assert len({move["every"][0] for move in answer["legal"]}) > 20
    table.close()


def test_a_player_who_is_out_is_promised_nothing():
    table = table_of("sim", nodes=5, players=3)
    look = requests.PositionRequest("9,1,5,2,0,7,3", values="all")
    position = table.position(look)
    assert position["rewards"][0] == "−1"
    # The page marks who is out while the others play on.
    assert position["out"] == [0]
    assert table.position(requests.PositionRequest("9,1,5,2"))["out"] == []
    every = np.array([move["every"] for move in position["legal"]])
    assert set(every[:, 0]) == {"0.00"}
    assert set(every[:, 1]) != {"0.00"}
    table.close()


def test_a_game_goes_on_to_its_end_and_no_further(nim):
    answer = nim.move(requests.MoveRequest("2", action=5))
    assert (answer["moves"], answer["ply"]) == ("2,5", 2)
    assert answer["last"]["name"] == "heap 2, take 3"
    assert answer["last"]["player"] == 1
    assert answer["player"] is None
    assert answer["legal"] == []
    assert answer["outcome"] == "player 2 wins"
    assert answer["rewards"] == ["0 %", "100 %"]
    assert answer["expected"] == [-1, 1]
    with pytest.raises(ValueError, match="the game is over after move 2"):
        nim.move(requests.MoveRequest("2,5", action=0))
    with pytest.raises(ValueError, match="the game is over"):
        nim.move(requests.MoveRequest("2,5", player="random"))


@pytest.mark.slow
def test_players_move_by_name_and_the_same_seed_gives_the_same_move(nim):
    for name in ("agent", "agent:look-ahead=2", "random", "maxn", "mcts-50"):
        moves = {nim.choose(requests.Choose("0", name, 7))["action"] for _ in range(3)}
        assert len(moves) == 1
        assert moves <= {
            each["action"] for each in nim.position(requests.PositionRequest("0"))["legal"]
        }
    # One item was taken: to leave heaps alike wins.
    assert nim.move(requests.MoveRequest("0", player="maxn"))["moves"] == "0,3"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "unknown player"),
        ("", "give an action or a player"),
        ("mcts-1000000", "mcts takes 1 to 100,000 iterations here, not 1,000,000"),
        ("mcts-" + "9" * 4000, r"iterations must lie in \[1, 16,777,215\]"),
        ("mcts-9,exploration=2", "here mcts-N takes N alone, no other settings"),
        ("mcts-0", "iterations must lie in"),
        ("agent:look-ahead=7", "1 to 6 plies here, not 7"),
        ("agent:look-ahead=0", "look_ahead must lie in"),
        ("agent:look-ahead=999999999", "look_ahead must lie in"),
        ("agent:search=puct-0", "iterations must lie in"),
        ("agent:search=puct-99999", "puct takes 1 to 10,000 iterations here, not 99,999"),
        ("agent:search=puct-9,width=3", "here puct-N takes N and solver=1 alone"),
        ("agent:search=mcts-5", "search mcts uses no agent"),
        ("agent-2:search=puct-5", "unknown player"),
        ("agent-2", "unknown player"),
        ("ab", "connectfour only"),
        # No file is opened for who asks by a page.
        ("/etc/passwd", "unknown player"),
        ("seed0-farl.agent", "unknown player"),
    ],
)
def test_a_player_who_cannot_sit_there_is_refused_in_a_line(nim, name, words):
    with pytest.raises(ValueError, match=words) as refused:
        nim.choose(requests.Choose("0", name))
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.slow
def test_who_is_offered_can_play(nim):
    names = [choice["name"] for choice in nim.seats.choices()]
    assert names == ["agent", "agent:search=puct", "random", "maxn", "expectimax", "mcts"]
    for choice in nim.seats.choices():
        strength = choice["strength"]
        bounds = (strength["low"], strength["value"]) if strength else (None,)
        for number in bounds:
            name = choice["name"] + (f"{strength['join']}{number}" if strength else "")
            assert nim.choose(requests.Choose("", name))["action"] >= 0


class Closing:
    """A player that knows whether it is closed."""

    def __init__(self):
        self.closed = False

    def close(self):
        self.closed = True


@pytest.fixture
def seats(monkeypatch):
    seats, made = Seats(Nim(heaps=1, size=3), {}, lambda: 1), []
    monkeypatch.setattr(seats, "_make", lambda name: made.append(Closing()) or made[-1])
    return seats, made


def test_of_two_requests_that_make_a_player_one_is_closed(seats, monkeypatch):
    seats, made = seats
    make_one = seats._make

    def slowly(name):
        own, first = make_one(name), len(made) == 1
        if first:
            seats.player(name)
        return own

    monkeypatch.setattr(seats, "_make", slowly)
    player, _ = seats.player("own")
    assert len(made) == 2
    assert [each.closed for each in made] == [each is not player for each in made]


def test_a_player_that_was_closed_before_it_thinks_is_made_again(seats, monkeypatch):
    seats, made = seats
    fetch = seats.player

    def evicted(name):
        found = fetch(name)
        if len(made) == 1:
            for number in range(16):
                fetch(f"other-{number}")
        return found

    monkeypatch.setattr(seats, "player", evicted)
    with seats.seated("own") as player:
        assert made[0].closed
        assert not player.closed


@pytest.mark.slow
def test_an_agent_searches_as_often_as_its_seat_says(nim):
    player, _ = nim.seats.player("agent:search=puct-50")
    assert (player.iterations, player.agent) == (50, nim.seats.agents["agent"])
    (offered,) = (each for each in nim.seats.choices() if each["name"] == "agent:search=puct")
    assert offered["label"] == "drawn, tree search"
    assert nim.choose(requests.Choose("", "agent:search=puct", 1))["action"] in range(6)


@pytest.mark.slow
def test_a_search_proves_where_its_seat_says_so(nim):
    (offered,) = (each for each in nim.seats.choices() if each["name"] == "agent:search=puct")
    assert offered["switch"]["name"] == ",solver=1"
    plain, _ = nim.seats.player("agent:search=puct-50")
    proving, _ = nim.seats.player("agent:search=puct-50,solver=1")
    assert not plain.search.settings.solver
    assert (proving.iterations, proving.search.settings.solver) == (50, True)
    # Two heaps of three: whoever moves first loses against proofs. After a stone the rest is won.
    best = {each["action"] for each in nim.perfect(requests.Verdicts("0"))["moves"] if each["best"]}
    for seed in range(3):
        chosen = nim.choose(requests.Choose("0", "agent:search=puct-200,solver=1", seed))
        assert chosen["action"] in best


@pytest.mark.parametrize(
    ("name", "parameters"),
    [pytest.param("2048", {}, marks=pytest.mark.slow), ("nim3p", {"heaps": 1, "size": 3})],
)
def test_no_proofs_are_offered_where_there_can_be_none(name, parameters):
    table = table_of(name, **parameters)
    (offered,) = (each for each in table.seats.choices() if "search" in each["name"])
    assert "switch" not in offered
    with pytest.raises(ValueError, match="needs two players, no chance"):
        table.seats.player("agent:search=puct-5,solver=1")
    table.close()


@pytest.mark.slow
def test_agents_of_actions_are_offered_as_searching():
    game = make("nim", heaps=2, size=3)
    seats = Seats(game, {"drawn": drawn_agent(game, learner="q")}, lambda: 6)
    (offered,) = (each for each in seats.choices() if "search" in each["name"])
    player, lock = seats.player(offered["name"])
    state = jax.tree.map(lambda leaf: leaf[None], game.init(jax.random.key(0)))
    with lock:
        assert game.legal_actions(game.init(None))[player.act(state, jax.random.key(0))[0]]


def test_the_curve_is_made_of_what_each_position_told(nim):
    text, told = "", []
    for action in (0, 3, 1):
        told.append(nim.position(requests.PositionRequest(text, values="mover")))
        text = nim.move(requests.MoveRequest(text, action=action))["moves"]
    told.append(nim.position(requests.PositionRequest(text, values="mover")))
    history = nim.history(requests.HistoryRequest(text))
    assert history["players"] == [0, 1, 0]
    assert history["names"][:2] == ["heap 1, take 1", "heap 2, take 1"]
    for before, position in zip(history["expected"], told, strict=True):
        assert before == [x if x is None else pytest.approx(x) for x in position["expected"]]


def test_a_game_is_saved_as_a_page_with_the_agents_values(nim):
    question = requests.Page("0,3,1,4", seats="person,agent:look-ahead=2")
    page = nim.page(question)["page"]
    assert not re.search(r"https?://(?!www\.w3\.org)|url\(|@import", page)
    assert "player 1 (person) – player 2 (agent:look-ahead=2): " in page
    record = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page)[1])
    assert len(record["positions"]) == 5
    moves = nim.position(requests.PositionRequest("0,3", values="mover"))["legal"]
    told = {move[0]: move[3] for move in record["positions"][2][1]}
    assert told == {move["action"]: move["words"] for move in moves}
    # What a request calls its players is text, not markup.
    assert "<script>alert" not in nim.page(requests.Page("0", seats="<script>alert()"))["page"]


def test_each_level_is_a_player_that_can_play(nim):
    levels = {each["label"]: each["player"] for each in nim.about()["levels"]}
    assert list(levels) == ["easy", "medium", "strong"]
    assert levels["medium"] == "agent"
    for player in levels.values():
        assert nim.move(requests.MoveRequest("", player=player))["ply"] == 1
    alone = table_of("2048", agent=False).about()["levels"]
    assert [each["player"] for each in alone] == ["mcts-20", "mcts-200", "mcts-1000"]


def test_what_chance_did_is_told_by_the_pieces_that_it_changed():
    table = table_of("2048", agent=False)
    # Each game begins with tiles drawn at random.
    text = table.position(requests.PositionRequest(""))["moves"]
    for _ in range(3):
        legal = table.position(requests.PositionRequest(text))["legal"]
        answer = table.move(requests.MoveRequest(text, action=legal[0]["action"]))
        (change,) = answer["last"]["chance"]
        spot, kind = change
        assert answer["pieces"][spot] == kind in (1, 2)
        text = answer["moves"]
    assert table.history(requests.HistoryRequest(text))["chance"][-1] == [change]


def test_a_game_without_chance_has_no_changes(nim):
    assert nim.history(requests.HistoryRequest("0,3"))["chance"] == [[], []]
    assert nim.position(requests.PositionRequest("0"))["last"]["chance"] == []


def test_a_game_goes_on_from_a_position_that_was_set_up(nim):
    answer = nim.position(requests.PositionRequest(" 1+3  2 ", values="mover"))
    assert (answer["moves"], answer["ply"], answer["player"]) == ("1+3 2;", 0, 1)
    state = jaxgbg.position(nim.game, "1+3 2")
    assert [each["action"] for each in answer["legal"]] == np.flatnonzero(
        nim.game.legal_actions(state)
    ).tolist()
    verdicts = nim.perfect(requests.Verdicts("1+3 2"))["moves"]
    assert [each["action"] for each in verdicts if each["best"]] == [4]
    moved = nim.move(requests.MoveRequest("1+3 2;", action=4))
    assert (moved["moves"], moved["ply"], moved["last"]["player"]) == ("1+3 2;4", 1, 1)
    history = nim.history(requests.HistoryRequest("1+3 2;4,0"))
    assert (history["moves"], history["players"]) == ("1+3 2;4,0", [1, 0])
    assert "<svg" in nim.page(requests.Page("1+3 2;4,0"))["page"]
    refused = {"1+4 2": "heap 2", "1+3 2;1": "move 1 is not legal", "1+3 2;/0": "not a list"}
    for text, why in refused.items():
        with pytest.raises(ValueError, match=why):
            nim.position(requests.PositionRequest(text))


@pytest.mark.parametrize("name", ["2048", "pig"])
def test_a_position_before_chance_is_refused(name):
    table = table_of(name, agent=False)
    line = walk(table.replay, 0, 3)
    state = jax.tree.map(lambda leaf: leaf[0], table.replay.end(line))
    action = np.argmax(table.game.legal_actions(state))
    text = jaxgbg.position_text(table.game, table.game.afterstate(state, action))
    for moves in (text, f"{text};{action}"):
        with pytest.raises(ValueError, match=f"^chance is due in this position of {name}: "):
            table.position(requests.PositionRequest(moves))
    table.close()


def test_who_needs_all_moves_is_not_asked_about_a_position_that_was_set_up(monkeypatch):
    table = table_of("nim", heaps=2, size=3, agent=False)
    player, _ = table.seats.player("random")
    monkeypatch.setattr(type(player), "needs_history", True, raising=False)
    with pytest.raises(ValueError, match="random needs the moves from the start of the game"):
        table.choose(requests.Choose("1+3 2", "random"))
    table.close()


def test_perfect_play_says_which_moves_keep_the_game(nim):
    for text in ("", "0", "1,3"):
        verdicts = nim.perfect(requests.Verdicts(text))["moves"]
        best = np.asarray(MaxN(nim.game).best_actions(nim.replay.end(read_line(text))))[0]
        assert {each["action"] for each in verdicts if each["best"]} == {*np.flatnonzero(best)}
        signs = {"wins": 1, "draws": 0, "loses": -1}
        assert all(each["sign"] == signs[each["words"]] for each in verdicts)
        wins = {each["words"] for each in verdicts if each["best"]}
        assert wins == ({"wins"} if text != "" else {"loses"})


def test_only_certain_results_are_called_wins_draws_and_losses(monkeypatch):
    """In games of chance the results of perfect play are expectations."""
    game = Nim(heaps=1, size=6)
    paid = np.array([[1, 0.9, 0, -0.26, -1, np.nan]], np.float32)
    monkeypatch.setattr("jaxgbg.web.play.perfect.final_rewards", lambda *_: paid)
    verdicts = Perfect(game).verdicts(jax.tree.map(lambda x: x[None], game.init(jax.random.key(0))))
    assert [each.words for each in verdicts] == ["wins", "95 %", "draws", "37 %", "loses", "?"]
    assert [each.sign for each in verdicts] == [1, 1, 0, -1, -1, 0]


@pytest.mark.slow
def test_perfect_connectfour_counts_the_winners_moves():
    table = table_of("connectfour", agent=False)
    found = {
        each["action"]: each for each in table.perfect(requests.Verdicts("3,0,3,0,3,1"))["moves"]
    }
    assert found[3] == {"action": 3, "words": "wins in 1", "best": True, "sign": 1}
    assert [action for action, each in found.items() if each["best"]] == [3]
    lost = table.perfect(requests.Verdicts("3,0,3,0,3"))["moves"]
    assert {each["words"] for each in lost if not each["best"]} >= {"loses in 1"}


def test_where_nobody_knows_perfect_play_that_is_said():
    table = table_of("hex", agent=False, size=5)
    assert not table.about()["perfect"]
    with pytest.raises(ValueError, match="perfect play of hex is not known"):
        table.perfect(requests.Verdicts())


@pytest.mark.slow
def test_the_weights_of_n_tuples_with_stages_add_up_to_the_value():
    game = make("tictactoe")
    table = Table(game, {"drawn": drawn_agent(game, layout=((0, 1, 2), (4, 5)), stages=(2, 4))})
    for moves in ("4", "4,0,8", "4,0,8,2"):
        answer = table.tuples(requests.Tuples(moves, cell=4))
        assert math.tanh(answer["total"]) == pytest.approx(answer["value"], abs=1e-3)


def test_the_tuples_of_an_agent_that_has_diverged_are_refused():
    game = Nim(heaps=2, size=2)
    agent = drawn_agent(game)
    weights = np.full_like(agent.params.weights[0], np.nan)
    params = agent.value.with_weights(weights, agent.params.tuples[0])
    table = Table(game, {"diverged": GreedyAgent(game, agent.value, params)})
    with pytest.raises(ValueError, match="agent has diverged: its weights are not finite"):
        table.tuples(requests.Tuples(cell=0))
    table.close()


@pytest.mark.slow
def test_the_tuples_through_a_cell_are_those_that_read_it():
    game = make("tictactoe")
    agent = drawn_agent(game, layout=((0, 1, 2), (4, 5), (3, 6, 7, 8)))
    table = Table(game, {"drawn": agent})
    answer = table.tuples(requests.Tuples("4,0,8", cell=4))
    state = jax.tree.map(lambda leaf: leaf[0], table.replay.end(read_line("4,0,8")))
    board = np.asarray(game.cells(state))
    assert answer["player"] == 0
    assert answer["lookups"] == 3 * 8
    value = agent.values(jax.tree.map(lambda leaf: leaf[None], state))[0, 0]
    assert answer["value"] == pytest.approx(float(value))
    assert math.tanh(answer["total"]) == pytest.approx(answer["value"], abs=1e-3)
    # The pair (4, 5) reads the middle on all eight images, a row through it never.
    assert answer["count"] == len(answer["tuples"]) == 8
    sizes = (3, 2, 4)
    start = np.cumsum([0, *(3**size for size in sizes)])
    weights = np.asarray(agent.params.weights)[0]
    for each in answer["tuples"]:
        assert each["tuple"] == 1
        assert 4 in each["cells"]
        assert each["digits"] == board[each["cells"]].tolist()
        index = sum(digit * 3**place for place, digit in enumerate(each["digits"]))
        assert each["weight"] == pytest.approx(weights[start[1] + index], abs=1e-5)
        alike = sum(other["digits"] == each["digits"] for other in answer["tuples"])
        assert each["hits"] == alike
    assert answer["through"] == pytest.approx(sum(t["weight"] for t in answer["tuples"]), abs=1e-3)
    other = table.tuples(requests.Tuples("4,0,8", cell=4, player=1))
    assert other["player"] == 1
    assert other["total"] != answer["total"]
    for question, words in (
        (requests.Tuples(cell=9), "cells 0 to 8"),
        (requests.Tuples(player=2), "players 0 to 1"),
    ):
        with pytest.raises(ValueError, match=words):
            table.tuples(question)


@pytest.mark.slow
def test_a_game_from_outside_is_played_without_a_drawing_of_its_own():
    class Claim(Nim):
        name = "claim"

    table = Table(Claim(heaps=2, size=2))
    about = table.about()
    assert about["parameters"]["heaps"] == 2
    assert set(about["changed"]) == {"heaps", "size"}
    from jaxgbg.web.drawings import plain

    table.drawing = plain.drawing(table.game)
    answer = table.position(requests.PositionRequest())
    assert {move["spot"] for move in answer["legal"]} == {-1}
    assert [move["name"] for move in answer["legal"]] == [f"action {a}" for a in range(4)]
    assert table.move(requests.MoveRequest(action=3))["last"]["spot"] == -1


def test_the_more_moves_there_are_the_less_far_agents_look():
    # 25 moves each, four plies deep, are 390,625 positions; five plies are nearly ten million.
    table = table_of("hex", size=5)
    assert table.seats.most_plies == 4
    with pytest.raises(ValueError, match="look-ahead takes 1 to 4 plies here, not 5"):
        table.seats.agent("agent:look-ahead=5")


def test_an_agent_of_another_game_is_refused():
    agent = drawn_agent(make("nim", heaps=2, size=3))
    for game in (make("tictactoe"), make("nim", heaps=3, size=3)):
        with pytest.raises(ValueError, match="mine plays nim, or with other parameters"):
            Table(game, {"mine": agent})
