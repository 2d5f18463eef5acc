"""How soon the play page's server answers a move: over HTTP on this machine, greedy and warm."""

import http.client
import json
import threading
import time
from typing import NamedTuple

import numpy as np

from jaxgbg.games import make
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.presets import preset
from jaxgbg.types import JSON
from jaxgbg.web.play.requests import ROOT
from jaxgbg.web.play.serving import LOOPBACK, check_extra, listen, server_for
from jaxgbg.web.play.table import Table

_MOST_PLIES = 500


class Answers(NamedTuple):
    """Milliseconds from question to answer over the `plies` of a game, and seconds of the start."""

    game: str
    plies: int
    start_s: float
    median_ms: float
    p95_ms: float
    worst_ms: float


def bench_answers(name: str, seed: int = 0) -> Answers:
    """A game of the published n-tuples against themselves, each move with all that the page shows.

    Weights are drawn at random, which alters no time. 500 plies at most.
    """
    check_extra()
    from jaxgbg.web.play.server import application

    start = time.perf_counter()
    table = Table(make(name), {"drawn": _agent(name, seed)})
    table.warm_up()
    seconds = time.perf_counter() - start
    listener = listen(LOOPBACK, 0)
    server = server_for(application(table))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        times = _played(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
        table.close()
    figures = [float(np.quantile(times, share)) for share in (0.5, 0.95, 1)]
    return Answers(name, len(times), round(seconds, 1), *(round(1000 * t, 1) for t in figures))


def _agent(name: str, seed: int) -> GreedyAgent:
    run = preset(name, seeds=(seed,))
    learner = run.make_learner()
    random = np.random.default_rng(seed)
    weights = random.normal(0, 0.01, learner.value.num_weights).astype(np.float32)
    params = learner.value.with_weights(weights, run.value.drawn(learner.game, seed))
    return GreedyAgent(learner.game, learner.value, params)


def _played(port: int) -> list[float]:
    """Seconds of each move of one game."""
    connection = http.client.HTTPConnection(LOOPBACK, port)
    times: list[float] = []

    def ask(name: str, **question: str) -> dict[str, JSON]:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"{ROOT}/{name}", json.dumps(question), headers)
        answer: dict[str, JSON] = json.loads(connection.getresponse().read())
        return answer

    # As the page does when it is opened.
    answer = ask("position", values="mover")
    while answer["player"] is not None and len(times) < _MOST_PLIES:
        start = time.perf_counter()
        answer = ask("move", moves=answer["moves"], player="agent", values="mover")
        times.append(time.perf_counter() - start)
    connection.close()
    return times
