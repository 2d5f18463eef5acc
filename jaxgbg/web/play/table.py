"""The table for people and players: it answers the page's requests."""

import secrets
import time
from collections.abc import Mapping
from operator import itemgetter

import jax
import numpy as np

from jaxgbg.games import Game
from jaxgbg.games.game_replay import CHUNK, GameReplay
from jaxgbg.games.lines import Line
from jaxgbg.games.notations import position_line
from jaxgbg.games.rollout import chunked
from jaxgbg.players import GreedyAgent, LookAheadAgent
from jaxgbg.players.core import history_of
from jaxgbg.types import JSON, State
from jaxgbg.web.drawings import drawing_of
from jaxgbg.web.game_page import game_page
from jaxgbg.web.play import requests
from jaxgbg.web.play.chance import changes_by_chance
from jaxgbg.web.play.describe import describe_game
from jaxgbg.web.play.inference import facts, in_chunks, values_of_all
from jaxgbg.web.play.perfect import Perfect
from jaxgbg.web.play.seats import Seats, seats_of
from jaxgbg.web.play.tuples import Counters, has_tuples, tuples_through
from jaxgbg.web.positions import (
    halos,
    outcome_text,
    reward_text,
    value_on,
    value_scale,
    value_text,
    way,
)
from jaxgbg.web.records import GameRecord

_MOST_SEEN = 40


class Table:
    """Answers requests about positions of one game; stateless except for caches.

    `agents` and their TCL `counters` by their labels. Raises ValueError for an agent of another
    game.
    """

    def __init__(
        self,
        game: Game,
        agents: Mapping[str, GreedyAgent] | None = None,
        counters: Mapping[str, Counters] | None = None,
    ) -> None:
        for label, agent in (agents or {}).items():
            if agent.game != game:
                raise ValueError(f"{label} plays {agent.game.name}, or with other parameters")
        self.game = game
        self.drawing = drawing_of(game)
        self.replay = GameReplay(game)
        self.seats = Seats(game, agents or {}, self._branching)
        self._counters = {
            name: (counters or {}).get(label)
            for name, label in zip(self.seats.agents, agents or {}, strict=True)
        }
        self.scale = value_scale(game)
        self._perfect = Perfect(game) if self.seats.perfect else None
        self.answers: dict[str, tuple[type[requests.Question], requests.Answer]] = {
            name: (kind, getattr(self, name)) for name, kind in requests.QUESTIONS.items()
        }

    def about(self) -> dict[str, JSON]:
        """The game, its drawing, and the available players."""
        agents = self.seats.agents
        return describe_game(self.game, self.drawing) | {
            "seats": self.seats.choices(),
            "levels": self.seats.levels(),
            "agents": list(agents),
            # Values of actions exist for the mover only.
            "every": [name for name, agent in agents.items() if agent.value.num_actions == 1],
            "tuples": [name for name, agent in agents.items() if has_tuples(agent.value)],
            "perfect": self._perfect is not None,
            "page": True,
        }

    def position(self, question: requests.PositionRequest) -> dict[str, JSON]:
        """A position with its legal moves."""
        return self._position(self._line(question.moves), question)

    def move(self, question: requests.MoveRequest) -> dict[str, JSON]:
        """The position after a move."""
        line = self._line(question.moves)
        action = question.action
        if action < 0:
            action = self._choice(line, question.player, question.seed)
        return self._position(self.replay.played(line, action), question)

    def choose(self, question: requests.Choose) -> dict[str, JSON]:
        """The move of a player, and how long it thought."""
        line = self._line(question.moves)
        start = time.perf_counter()
        action = self._choice(line, question.player, question.seed)
        seconds = time.perf_counter() - start
        board = self._facts(self.replay.end(line))[0][0]
        return {
            "action": action,
            "name": self.drawing.name(board, action),
            "milliseconds": round(1000 * seconds, 1),
        }

    def history(self, question: requests.HistoryRequest) -> dict[str, JSON]:
        """Names of all moves, and before each the mover's expected final reward."""
        line = self._line(question.moves)
        states = self.replay.every(line)
        agent = self.seats.agent(question.judge) if self.seats.agents else None
        count = len(line.plies) + 1
        boards, _, players, terminal, rewards, _ = self._looked(states, count)
        best = self._values_along(states, count, agent).max(1) if agent else [None] * count
        expected = [
            self._expected(*fields)
            for fields in zip(players.tolist(), terminal, rewards, best, strict=True)
        ]
        return {
            "moves": line.text,
            "names": [self.drawing.name(boards[at], ply[0]) for at, ply in enumerate(line.plies)],
            "chance": self._chance(
                jax.tree.map(lambda leaf: leaf[:-1], states),
                [ply[0] for ply in line.plies],
                boards[1:],
            ),
            "players": [int(player) for player in players[: count - 1]],
            "expected": expected,
        }

    def perfect(self, question: requests.Verdicts) -> dict[str, JSON]:
        """The verdict of perfect play on each legal move."""
        if self._perfect is None:
            raise ValueError(f"perfect play of {self.game.name} is not known")
        states = self.replay.end(self._line(question.moves))
        return {"moves": [each._asdict() for each in self._perfect.verdicts(states)]}

    def tuples(self, question: requests.Tuples) -> dict[str, JSON]:
        """The n-tuples through a cell."""
        if question.cell >= self.game.num_cells:
            raise ValueError(f"{self.game.name} has cells 0 to {self.game.num_cells - 1}")
        if question.player >= self.game.num_players:
            raise ValueError(f"{self.game.name} has players 0 to {self.game.num_players - 1}")
        line = self._line(question.moves)
        states, player = self.replay.end(line), question.player
        if player < 0:
            before = Line(line.start, line.plies[:-1])
            player = int(self.replay.end(before).player[0])
        agent = self.seats.agent(question.judge)
        greedy = agent.agent if isinstance(agent, LookAheadAgent) else agent
        name = next(name for name, each in self.seats.agents.items() if each is greedy)
        return tuples_through(greedy, states, question.cell, player, self._counters[name])

    def page(self, question: requests.Page) -> dict[str, JSON]:
        """The game as an HTML file, with an agent's values of all its moves."""
        line = self._line(question.moves)
        states, count = self.replay.every(line), len(line.plies) + 1
        boards, _, players, _, rewards, _ = self._looked(states, count)
        values = self._values_along(states, count, self.seats.agent(question.judge))[:-1]
        names = [name.strip() or "person" for name in seats_of(question.seats)]
        seats = self.game.num_players
        record = GameRecord(
            game=self.game,
            names=tuple((names + ["person"] * seats)[:seats]),
            boards=boards,
            players=players,
            rewards=rewards,
            actions=np.array([ply[0] for ply in line.plies], np.int32),
            values=values,
        )
        return {"page": game_page(record)}

    def warm_up(self) -> None:
        """Compile what the first requests need."""
        line = self.replay.start()
        look = requests.PositionRequest(line.text, "mover" if self.seats.agents else "none")
        action = self.position(look)["legal"][0]["action"]
        text = self.move(requests.MoveRequest(**look.plain(), action=action))["moves"]
        self.history(requests.HistoryRequest(text))
        for name in self.seats.agents:
            self.choose(requests.Choose(line.text, name, 0))
        if self._perfect is not None:
            self.perfect(requests.Verdicts(text))

    def close(self) -> None:
        """Free what the players hold."""
        self.seats.close()

    def _line(self, text: str) -> Line:
        if not text.strip():
            return self.replay.start()
        line = position_line(self.game, text)
        if isinstance(line.start, str) and self.game.stochastic:
            _, legal, _, terminal, *_ = self._facts(self.replay.end(Line(line.start)))
            if not (legal.any() or terminal.any()):
                raise ValueError(
                    f"chance is due in this position of {self.game.name}: nobody can move here;"
                    " write the position after it"
                )
        return line

    def _choice(self, line: Line, name: str, seed: int) -> int:
        """The move of the player of that name; raises ValueError."""
        states = self.replay.end(line)
        if states.terminal[0]:
            raise ValueError("the game is over")
        if not name:
            raise ValueError("give an action or a player")
        words = seed if seed >= 0 else secrets.randbits(32)
        with self.seats.seated(name) as player:
            history = None
            if player.needs_history:
                if isinstance(line.start, str):
                    raise ValueError(
                        f"{name} needs the moves from the start of the game, and this position was"
                        " set up: choose another player"
                    )
                history = history_of(self.replay, line)
            return int(player.act(states, jax.random.key(np.uint32(words)), history)[0])

    def _facts(self, states: State) -> tuple[np.ndarray, ...]:
        """(boards, legal, player, terminal, rewards, active) of states[B]."""
        found: tuple[np.ndarray, ...] = jax.device_get(facts(self.game, states))
        return found

    def _branching(self) -> int:
        """The maximum number of positions that followed one in a random game, chance included."""
        line, most, random = self.replay.start(), 1, np.random.default_rng(0)
        for _ in range(_MOST_SEEN):
            legal = np.flatnonzero(self._facts(self.replay.end(line))[1][0])
            if not legal.size:
                break
            most = max(most, len(legal))
            line = self.replay.played(line, int(random.choice(legal)))
        return most * max(self.game.num_spawns if self.game.stochastic else 1, 1)

    def _looked(self, states: State, count: int) -> list[np.ndarray]:
        """`_facts` of many states, in chunks of one size."""
        parts = [self._facts(part) for part in in_chunks(states, count)]
        return [np.concatenate(field)[:count] for field in zip(*parts, strict=True)]

    def _values_along(
        self, states: State, count: int, agent: GreedyAgent | LookAheadAgent
    ) -> np.ndarray:
        """float32[T, A]: the mover's value of each action in states[T]; -inf where illegal."""
        parts = [np.asarray(agent.action_values(part)) for part in in_chunks(states, count)]
        return np.concatenate(parts)[:count]

    def _expected(
        self, mover: int, over: bool, rewards: np.ndarray, best: float | None
    ) -> list[float | None]:
        """The expected total reward of each player, None where it is not known."""
        if over:
            return [value_on(self.scale, reward) for reward in rewards]
        known = None if best is None else value_on(self.scale, rewards[mover] + best)
        return [known if seat == mover else None for seat in range(self.game.num_players)]

    def _position(self, line: Line, look: requests.PositionRequest) -> dict[str, JSON]:
        drawing = self.drawing
        states = self.replay.end(line)
        boards, legal, players, terminal, rewards, active = self._facts(states)
        board, over, mover = boards[0], bool(terminal[0]), int(players[0])
        actions = np.flatnonzero(legal[0]).tolist()
        values, every = self._values(states, actions, look)
        figures = [None if values is None else value_on(self.scale, values[a]) for a in actions]
        moves = []
        for action, figure, shade in zip(actions, figures, halos(figures), strict=True):
            spot = int(drawing.spot_of(board, action))
            told = {
                "action": action,
                "name": drawing.name(board, action),
                "spot": spot,
                "origin": int(drawing.origin_of(board, action)),
                "touched": [int(each) for each in drawing.touched_by(board, action)]
                if drawing.touched_by
                else [spot],
                "value": figure,
                "words": "" if values is None else value_text(self.scale, figure),
                "shade": shade,
            }
            if action in every:
                told["every"] = [
                    value_text(self.scale, value_on(self.scale, v)) for v in every[action]
                ]
            moves.append(told)
        best = None if values is None else float(values.max(initial=-np.inf))
        score = ""
        if self.game.num_players == 1:
            score = outcome_text(self.game, (), rewards[0])
        return {
            "moves": line.text,
            "ply": len(line.plies),
            "player": None if over else mover,
            "pieces": [int(kind) for kind in drawing.kinds(board)],
            "legal": moves,
            "last": self._last(line, board),
            "score": score,
            "expected": self._expected(mover, over, rewards[0], best),
            "rewards": [reward_text(self.game, reward) for reward in rewards[0]],
            "out": [] if over else np.flatnonzero(~active[0]).tolist(),
            "outcome": outcome_text(self.game, self.game.sides, rewards[0]) if over else "",
        }

    def _chance(
        self, states: State, actions: list[int], boards: np.ndarray
    ) -> list[list[tuple[int, int]]]:
        return changes_by_chance(
            self.game, self.drawing, states, np.array(actions, np.int32), boards
        )

    def _last(self, line: Line, after: np.ndarray) -> dict[str, JSON] | None:
        """The move that led to a position, whose board is `after`."""
        if not line.plies:
            return None
        before = self.replay.end(Line(line.start, line.plies[:-1]))
        board, action = self._facts(before)[0][0], line.plies[-1][0]
        return {
            "action": action,
            "name": self.drawing.name(board, action),
            "chance": self._chance(before, [action], after[None])[0],
            "player": int(before.player[0]),
            "spot": int(self.drawing.spot_of(board, action)),
            "way": way(self.drawing, board, action),
        }

    def _values(
        self, states: State, legal: list[int], look: requests.PositionRequest
    ) -> tuple[np.ndarray | None, dict[int, np.ndarray]]:
        """(the mover's values of all actions, those of `legal` for all players), as requested."""
        if look.values == "none":
            return None, {}
        agent = self.seats.agent(look.judge)
        values = np.asarray(agent.action_values(states))[0]
        if look.values == "mover":
            return values, {}
        own = agent.agent if isinstance(agent, LookAheadAgent) else agent
        if own.value.num_actions > 1:
            raise ValueError(
                "this agent has learned values of actions, which exist for the mover only"
            )
        state = jax.tree.map(itemgetter(0), states)
        every: dict[int, np.ndarray] = {}
        # All actions of a large game at once would take gigabytes.
        size = min(self.game.num_actions, CHUNK)
        for chunk, real in chunked(np.asarray(legal), len(legal), size):
            found = np.array(values_of_all(own, state, chunk))
            found[:, int(state.player)] = values[chunk]
            every |= dict(zip(chunk[:real].tolist(), found, strict=False))
        return values, every
