"""Files to share, opened from the disk with the network off: the same moves as Python's."""

import functools
from functools import partial
from importlib import resources

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.games import Game, Scale, make
from jaxgbg.games.game_replay import ply, words_of_chance
from jaxgbg.games.lines import Line
from jaxgbg.players import GreedyAgent, SearchAgent
from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.zoo import is_zoo_name
from jaxgbg.search import PUCTSpec
from jaxgbg.types import State
from jaxgbg.web.drawings import drawing_of
from jaxgbg.web.export.compiler import Program
from jaxgbg.web.export.file import MOST_BYTES, game_file
from jaxgbg.web.export.packing import pack
from jaxgbg.web.play import requests
from jaxgbg.web.play.table import Table
from jaxgbg.web.positions import figure_text, halos, value_on, value_text
from tests.web.tables import drawn_agent
from tests.web.test_play_browser import DESKTOP, PHONE, Visit, by_mouse, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]

POSITIONS = {
    "tictactoe": 1200,
    "nim": 1200,
    "nim3p": 1200,
    "connectfour": 2400,
    "hex": 2000,
    "hex, one table": 400,
    "othello": 800,
    "2048": 1200,
    "zoo:lines_of_action": 60,
    "zoo:ewn": 400,
    "zoo:backgammon": 400,
}
"""More than 10,000 in all."""
# Many positions of Chinese checkers have mirror images of moves, whose values differ in last bits.
SEARCHED = [name for name in POSITIONS if name not in ("2048", "zoo:ewn", "zoo:backgammon")]
SEARCHED += ["zoo:chinese_checkers"]
_SMALL = {"sim for three": make("sim", nodes=5, players=3)}
ACTIVE = 0.08
"""Of a large agent's weights: what training leaves of ConnectFour's."""


def sparse_agent(name: str) -> GreedyAgent:
    """An agent of the published shape, whose weights are drawn, few of them where it is large.

    They are small enough for sums to stay where tanh tells them apart.
    """
    game, _, one_table = name.partition(", ")
    agent = drawn_agent(_SMALL.get(game) or make(game), one_table=bool(one_table))
    weights = np.array(agent.params.weights[0]) / 4
    if weights.size > 10**6:
        share = ACTIVE * min(1, 10**7 / weights.size)
        weights[np.random.default_rng(1).random(weights.size) > share] = 0
    return GreedyAgent(
        agent.game, agent.value, agent.value.with_weights(weights, agent.params.tuples[0])
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """By a game's name its agent and the address of its file, made once."""
    folder = tmp_path_factory.mktemp("files")

    @functools.lru_cache
    def made(name: str) -> tuple[GreedyAgent, str]:
        agent = load_agent(name).player() if is_zoo_name(name) else sparse_agent(name)
        path = folder / f"{name}.html"
        path.write_text(game_file(agent.game, {"drawn": agent}), encoding="utf-8")
        assert path.stat().st_size < MOST_BYTES / 2
        return agent, path.as_uri()

    return made


def offline(browser, address: str, viewport: dict = DESKTOP, **options) -> Visit:
    return Visit(browser, address, viewport, offline=True, **options)


class Walks:
    """Random games in lockstep, until they hold so many positions in which somebody is to move."""

    def __init__(self, agent: GreedyAgent, positions: int) -> None:
        game, random = agent.game, np.random.default_rng(0)
        count = min(32, -(-positions // 4))
        starts = random.integers(2**32 - 1, size=(count, game.init_words)).astype(np.uint32)
        self.lines = [Line(tuple(map(int, words))) for words in starts]
        self.looks: list[dict[int, tuple[np.ndarray, ...]]] = [{} for _ in range(count)]
        look = jax.jit(
            jax.vmap(lambda state: (game.legal_actions(state), game.display_cells(state)))
        )
        chances = jax.jit(jax.vmap(lambda s, a: game.spawn_probabilities(game.afterstate(s, a))))
        play = jax.jit(jax.vmap(partial(ply, game)))
        begin = jax.jit(jax.vmap(game.init_from))
        states, left = begin(starts), positions
        self.done: list[tuple[Line, dict[int, tuple[np.ndarray, ...]]]] = []
        while left > 0:
            legal, boards = jax.device_get(look(states))
            values = np.asarray(agent.action_values(states))
            actions = np.zeros(count, np.int32)
            for at in range(count):
                self.looks[at][len(self.lines[at].plies)] = legal[at], boards[at], values[at]
                if legal[at].any():
                    actions[at] = random.choice(np.flatnonzero(legal[at]))
                    left -= 1
            words = np.zeros((count, words_of_chance(game)), np.uint32)
            if game.stochastic:
                shares = np.asarray(chances(states, actions), float)
                for at in np.flatnonzero(shares.sum(1)):
                    words[at, 0] = random.choice(shares.shape[1], p=shares[at] / shares[at].sum())
            _, after = play(states, actions, words)
            for at in range(count):
                if legal[at].any():
                    move = (int(actions[at]), *map(int, words[at]))
                    self.lines[at] = self.lines[at]._replace(plies=(*self.lines[at].plies, move))
            over = ~legal.any(1)
            for at in np.flatnonzero(over):
                self.keep(at)
                self.lines[at] = Line(tuple(map(int, starts[at])))
            fresh = begin(starts)
            states = jax.tree.map(
                lambda new, old, over=over: jnp.where(
                    over.reshape(-1, *[1] * (new.ndim - 1)), new, old
                ),
                fresh,
                after,
            )
        for at in range(count):
            self.keep(at)

    def keep(self, at: int) -> None:
        if self.looks[at]:
            self.done.append((self.lines[at], self.looks[at]))
        self.looks[at] = {}


_SEEN = """async (lines) => {
    const seen = [];
    for (const [start, plies] of lines) {
        for (let count = 0; count <= plies.length; count++) {
            const moves = start + plies.slice(0, count).join(",");
            const look = await jaxgbg.ask("position", { moves, values: "mover" });
            const found = look.legal.map(({ action, value }) => [action, value]);
            const hint = found.length && await jaxgbg.ask("choose", { moves, player: "agent" });
            seen.push([found, look.pieces, hint.action]);
        }
    }
    return seen;
}"""


@pytest.mark.parametrize("name", POSITIONS)
def test_the_file_chooses_the_moves_that_python_chooses(browser, files, name):
    agent, address = files(name)
    visit, kinds = offline(browser, address), drawing_of(agent.game).kinds
    walks = Walks(agent, POSITIONS[name]).done
    sent = []
    for line, looks in walks:
        start, slash, plies = line.text.rpartition("/")
        sent.append([start + slash, plies.split(",")[: max(looks)] if max(looks) else []])
    seen = iter(visit.page.evaluate(_SEEN, sent))
    positions = others = 0
    for _, looks in walks:
        for count in sorted(looks):
            legal, board, values = looks[count]
            found, pieces, chosen = next(seen)
            assert [action for action, _ in found] == np.flatnonzero(legal).tolist()
            assert pieces == [int(kind) for kind in kinds(board)]
            if not legal.any():
                continue
            positions += 1
            figures = np.array([value for _, value in found])
            scale = agent.game.scale.factor if agent.game.num_players != 2 else 1.0
            np.testing.assert_allclose(figures, scale * values[legal], rtol=2e-5, atol=2e-6 * scale)
            # Of moves whose values differ in their last bits alone either may be chosen.
            assert values[chosen] >= values.max() - 1e-6 * max(1, abs(values.max()))
            others += values[chosen] != values.max()
    assert positions >= POSITIONS[name]
    assert others <= positions / 100
    visit.done()


@pytest.mark.parametrize(("name", "viewports"), [
    ("tictactoe", (DESKTOP, PHONE)), ("connectfour", (DESKTOP, PHONE)), ("nim", (PHONE,)),
    ("nim3p", (DESKTOP,)), ("hex", (PHONE,)), ("othello", (DESKTOP,)), ("2048", (PHONE,)),
    ("zoo:lines_of_action", (DESKTOP,)), ("zoo:ewn", (PHONE,)), ("zoo:backgammon", (DESKTOP,)),
])  # fmt: skip
def test_whole_games_are_played_by_mouse(browser, files, name, viewports):
    agent, address = files(name)
    for viewport in viewports:
        visit, random = offline(browser, address, viewport), np.random.default_rng(1)
        visit.hurry()
        while not visit.over:
            by_mouse(visit, random)
        assert visit.plies >= agent.game.num_players
        # The address is the whole game.
        plies, caption = visit.plies, visit.caption
        visit.kept()
        visit.page.reload()
        visit.settle(plies)
        assert (visit.plies, visit.caption) == (plies, caption)
        visit.done()


_SEARCHED = """async ([lines, player]) => {
    const chosen = [];
    for (const moves of lines) chosen.push((await jaxgbg.ask("choose", { moves, player })).action);
    return chosen;
}"""


@pytest.mark.parametrize("name", SEARCHED)
def test_the_file_searches_as_python_does(browser, files, name):
    agent, address = files(name)
    visit, search = offline(browser, address), SearchAgent(agent, PUCTSpec(iterations=200))
    states, lines = positions_of_random_games(agent.game, 8 if is_zoo_name(name) else 24)
    chosen = visit.page.evaluate(_SEARCHED, [lines, "agent:search=puct-200"])
    others = 0
    for state, action in zip(states, chosen, strict=True):
        visits = np.asarray(search.statistics(state).visits)
        # Values that differ in their last bits can change single visits.
        assert visits[action] >= visits.max() - 3
        others += visits[action] != visits.max()
    assert others <= 2
    visit.done()


def positions_of_random_games(game: Game, count: int) -> tuple[list[State], list[str]]:
    """Positions in which somebody is to move, with the text of the moves there."""
    random, states, lines = np.random.default_rng(0), [], []
    step, legal = jax.jit(game.afterstate), jax.jit(game.legal_actions)
    while len(states) < count:
        state, moves = game.init(jax.random.key(0)), []
        while not state.terminal and len(states) < count:
            states.append(state)
            lines.append(",".join(map(str, moves)))
            moves.append(int(random.choice(np.flatnonzero(legal(state)))))
            state = step(state, moves[-1])
    return states, lines


def test_a_search_of_a_strength_that_there_is_not_is_refused(browser, files):
    visit = offline(browser, files("tictactoe")[1])
    ask = "(player) => jaxgbg.ask('choose', { moves: '', player }).catch((error) => error.message)"
    for iterations in (0, 10_001):
        words = visit.page.evaluate(ask, f"agent:search=puct-{iterations}")
        assert words == f"puct takes 1 to 10000 iterations here, not {iterations}"
    visit.done()


def test_who_is_not_there_does_not_play(browser, files):
    visit = offline(browser, files("tictactoe")[1])
    ask = "([name, question]) => jaxgbg.ask(name, question).catch((error) => error.message)"
    players = "players are agent, agent:search=puct-N, random"
    for name, question, words in (
        ("choose", {"player": "mcts-1000"}, f"there is no player mcts-1000 here; {players}"),
        (
            "choose",
            {"player": "a:search=puct-9"},
            f"there is no player a:search=puct-9 here; {players}",
        ),
        ("choose", {}, "give an action or a player"),
        ("move", {"action": -1}, "give an action or a player"),
        ("move", {"player": "agnt"}, f"there is no player agnt here; {players}"),
        (
            "position",
            {"values": "mover", "judge": "b"},
            "there is no agent b here; agents are agent",
        ),
    ):
        assert visit.page.evaluate(ask, [name, question]) == words
    answer = visit.page.evaluate(ask, ["move", {"action": -1, "player": "random"}])
    assert answer["ply"] == 1
    visit.done()


def test_the_strong_opponent_searches(browser, files):
    visit = offline(browser, files("tictactoe")[1])
    page = visit.page
    page.locator("#start").get_by_text("strong").click()
    page.locator("#start button").click()
    seats = page.locator("#seats select")
    assert [seats.nth(seat).input_value() for seat in (0, 1)] == ["person", "agent:search=puct"]
    strength = page.locator("#seats input[type=number]")
    assert strength.input_value() == "200"
    strength.fill("50")
    strength.press("Enter")
    visit.until(lambda: "agent:search=puct-50" in page.url)
    visit.hurry()
    random = np.random.default_rng(0)
    while not visit.over:
        by_mouse(visit, random)
    visit.done()


def alike(one, other) -> bool:
    """Whether two answers say the same, numbers up to the sixth digit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return one == pytest.approx(other, rel=1e-5, abs=1e-6)
    return one == other


@pytest.mark.parametrize(("name", "moves"), [
    ("tictactoe", ["", "4,0,8", "0,1,3,4,6"]),
    ("nim3p", ["", "0,6", "4,9,14"]),
    ("2048", ["77-1234567/"]),
    ("zoo:ewn", ["1-2/"]),
    ("zoo:chinese_checkers", [""]),
    # Nobody is out, red is out, blue and red have lost, a draw, a draw of two.
    ("sim for three", ["", "9,1,5,2,0,7,3", "9,5,6,8,3,4,7,0,1,2", "4,5,8,9,0,1,7,6,2,3",
                       "8,3,1,7,9,2,4,0,6,5"]),
])  # fmt: skip
def test_the_file_answers_as_the_server_does(browser, files, name, moves):
    agent, address = files(name)
    table, visit = Table(agent.game, {"drawn": agent}), offline(browser, address)
    start, later = moves[0], moves[0]
    for _ in range(3):
        legal = table.position(requests.PositionRequest(moves=later))["legal"]
        later = table.move(requests.MoveRequest(moves=later, action=legal[-1]["action"]))["moves"]
    assert later != start
    for text in (*moves, later):
        for values in ("none", "mover", "all"):
            question = {"moves": text, "values": values}
            told = visit.page.evaluate("(question) => jaxgbg.ask('position', question)", question)
            expected = table.position(requests.PositionRequest(**question))
            assert alike(told, expected), (told, expected)
        told = visit.page.evaluate("(moves) => jaxgbg.ask('history', { moves })", text)
        assert alike(told, table.history(requests.HistoryRequest(text)))
    visit.done()
    table.close()


def test_what_is_beside_the_board_works_without_a_server(browser, files):
    visit = offline(browser, files("tictactoe")[1] + "#seats=person,person&moves=4,0")
    visit.settle(2)
    page = visit.page
    assert visit.caption == "O: a1. X to move."
    press(visit, "hint")
    page.wait_for_selector("svg.board .spot.hinted", state="attached")
    page.locator("#values").select_option("all")
    visit.until(lambda: page.locator("#moves th").count() == 3)
    press(visit, "back")
    visit.until(lambda: visit.plies == 1)
    page.locator("body").press("Home")
    visit.until(lambda: visit.caption == "X to move.")
    page.locator("#text summary").click()
    page.locator("#text textarea").fill("4,4")
    press(visit, "load")
    page.wait_for_selector("#fault:has-text('tictactoe: move 2 is not legal there')")
    page.locator("#fault button").click()
    for seat in (0, 1):
        page.locator("#seats select").nth(seat).select_option("agent")
    page.locator("#speed").fill("4")
    press(visit, "restart")
    press(visit, "auto")
    visit.until(lambda: visit.over)
    for name in ("#perfect-choice", "#inside", "[data-do=page]"):
        assert not page.locator(name).is_visible()
    visit.done()


_RUN = """async ([source, entries, text, given]) => {
    const arrays = await unpack(entries, text);
    const [result] = (0, eval)(source)(arrays).f(...given.map((each) => each));
    return [...(typeof result === "number" ? [result] : result)];
}"""


@pytest.fixture(scope="module")
def run(browser):
    """What a function comes to in the browser, for arrays of int32 or float32."""
    pages = resources.files("jaxgbg.web.export") / "page"
    page = browser.new_page()
    texts = [(pages / name).read_text() for name in ("runtime.js", "data.js")]
    page.add_script_tag(content="\n".join(texts).replace("export ", ""))

    def result(function, *arguments: np.ndarray) -> np.ndarray:
        program = Program()
        program.add("f", function, *arguments)
        given = [np.asarray(each).ravel().tolist() for each in arguments]
        given = [each if np.ndim(a) else each[0] for each, a in zip(given, arguments, strict=True)]
        found = page.evaluate(_RUN, [program.source, *pack(program.arrays), given])
        expected = jax.jit(function)(*arguments)
        rounded = 3e-7 if expected.dtype.kind == "f" else 0
        np.testing.assert_allclose(np.asarray(found), np.ravel(expected), rtol=rounded)

    yield result
    page.close()


NUMBERS = np.array([[-7, 3, 2**31 - 1], [5, 0, -(2**31)]], np.int32)
FLOATS = np.array([[0.5, -1.25, 3], [2.75, 0.1, -9]], np.float32)


@pytest.mark.parametrize("function", [
    lambda x: x + x, lambda x: x * x, lambda x: x // 3, lambda x: x % 5, lambda x: x >> 3,
    lambda x: x << 30, lambda x: -x, lambda x: ~x & 12 | 5, lambda x: x.astype(jnp.int8) + 100,
    lambda x: x.astype(jnp.uint32) >> 7, lambda x: jnp.sign(x), lambda x: jnp.cumsum(x, 1),
    lambda x: jax.lax.population_count(x), lambda x: x.T, lambda x: x[:, ::-1].sum(0),
    lambda x: jnp.pad(x, ((1, 0), (2, 1))), lambda x: jnp.split(x, 3, 1)[2], lambda x: x.argmax(1),
    lambda x: x.at[x[:, 1] % 2, 1].set(4), lambda x: x.at[jnp.array([0, 5]), x[1, 1]].add(1),
    lambda x: x[jnp.clip(x[:, 0], 0, 1)], lambda x: x.at[x[0, 0]].get(mode="fill", fill_value=8),
    lambda x: jax.lax.dynamic_slice(x, (x[1, 1], x[0, 1]), (1, 2)), lambda x: jnp.tile(x, 2),
    lambda x: jax.lax.dynamic_update_slice(x, x[:1, :1], (1, x[0, 1])),
    lambda x: jax.lax.reshape(x, (3, 2), (1, 0)),
    lambda x: jax.lax.while_loop(
        lambda c: c[0] < 9, lambda c: (c[1], c[0] + c[1]), (x[1, 1], 1))[1],
    lambda x: jax.lax.while_loop(
        lambda c: c[0][1, 0] < 50, lambda c: (c[1], c[0] + c[1]), (x % 9, x % 7))[0],
    lambda x: jax.lax.fori_loop(0, 5, lambda i, c: (c[1] + i, c[0]), (x, 2 * x))[1],
    lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y.at[i % 2].add(
        jax.lax.fori_loop(0, 2, lambda j, z: z + j, x[0])), x),
    lambda x: jax.lax.switch(x[0, 1], [lambda y: y, lambda y: y + 1, lambda y: y * 2], x),
    lambda x: jax.lax.cond(x[0, 0] > 0, lambda: x.max(), lambda: x.min()),
    lambda x: x @ x.T, lambda x: jnp.prod(x, 1), lambda x: jnp.cumprod(x.astype(jnp.uint32), 1),
    lambda x: (x > 0) @ (x > 0).T, lambda x: x.astype(jnp.uint32) @ x.T.astype(jnp.uint32),
])  # fmt: skip
def test_whole_numbers_come_out_as_jax_has_them(run, function):
    run(function, NUMBERS)


@pytest.mark.parametrize("function", [
    lambda x: x / 3, lambda x: x / x[:, ::-1], jnp.tanh, jax.nn.sigmoid, jnp.exp, lambda x: x**3,
    lambda x: x @ x.T, lambda x: x.astype(jnp.int32), lambda x: x.astype(bool),
    lambda x: jnp.where(x > 0, x, -jnp.inf).max(1), lambda x: jnp.einsum("ij,kj->ik", x, 2 * x),
    lambda x: jnp.stack([x, x], -1).sum(-1), lambda x: jnp.floor(x), lambda x: x.argmin(),
    lambda x: jax.lax.fori_loop(0, x.argmax(), lambda i, y: y * 2 + i, x.sum()),
])  # fmt: skip
def test_floats_come_out_as_jax_has_them(run, function):
    run(function, FLOATS)


_WORDS = """async ([source, scales, values]) => {
    const words = await import(`data:text/javascript,${encodeURIComponent(source)}`);
    const rows = scales.flatMap((scale) => values.map((value) => {
        const figure = words.valueOn(scale, value);
        return [figure, words.valueText(scale, figure), words.rewardText(scale, value)];
    }));
    return [rows, words.halos(values.slice(3, 90))];
}"""


def test_figures_are_rounded_as_python_rounds_them(browser):
    """Halves to even: 12344.5 without digits, 0.125 with two."""
    random = np.random.default_rng(0)
    scales = [Scale("", digits=digits, zero=zero) for digits in (0, 1, 2, 3) for zero in (0.0, 1.0)]
    halves = random.integers(-400, 400, 150) / 2.0 ** random.integers(0, 5, 150)
    large = 12344.5 + random.integers(-90_000, 90_000, 150) / 8
    values = [0.125, 12344.5, 12345.25, *halves, *large, *random.normal(0, 9, 100), 1e-9, 3e20]
    values = [float(np.float32(value)) for value in values]
    expected: list[list] = []
    for scale in scales:
        figures = [value_on(scale, value) for value in values]
        texts = [value_text(scale, figure) for figure in figures]
        short = [figure_text(scale, scale.figure(value), short=True) for value in values]
        expected += [list(row) for row in zip(figures, texts, short, strict=True)]
    source = (resources.files("jaxgbg.web.export") / "page" / "words.js").read_text()
    page = browser.new_page()
    rows, shades = page.evaluate(_WORDS, [source, [scale._asdict() for scale in scales], values])
    page.close()
    for row, own in zip(rows, expected, strict=True):
        assert row == own
    assert shades == halos(values[3:90])
