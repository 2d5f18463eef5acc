"""A tournament on a cluster: the same games as here, whatever happens to the workers."""

import json
import threading
import time

import jax
import numpy as np
import pytest

import jaxgbg
from jaxgbg.arena import scheduler
from jaxgbg.arena.group_play import GroupGames
from jaxgbg.games import Nim
from jaxgbg.players import RandomPlayer
from tests.ray_cluster import two_machines

SMALL = Nim(heaps=2, size=3)
SETTINGS = {"game": SMALL, "games": 12, "plies": 1, "progress": False}
FOUR = ["random", "mcts-2", "mcts-3", "best=maxn"]


@pytest.fixture
def cluster(monkeypatch):
    """In the place of Ray: tasks are done in this process, the last first; their texts."""
    texts = []

    def on_ray(work, tasks, address):
        for number in reversed(range(len(tasks))):
            (text,) = tasks[number]
            texts.append(text)
            try:
                result = work(text)
            except Exception as error:
                result = error
            yield number, result

    monkeypatch.setattr(scheduler, "on_ray", on_ray)
    return texts


@pytest.fixture
def drawn(monkeypatch):
    """Games are not played but drawn, by the key, the openings and the players."""

    def draw(game, group, protocol, key, record=False):
        words = np.asarray(jax.random.key_data(key)).tolist()
        random = np.random.default_rng([*words, protocol.count, protocol.plies])
        won = random.choice([-1.0, 0.0, 1.0], (protocol.count, 2))
        if {player.name for player in group} == refused:
            raise ValueError("no such\ngame")
        return GroupGames(np.array([[0, 1], [1, 0]]), np.stack([won, -won], 2), np.arange(len(won)))

    refused: set[str] = set()
    monkeypatch.setattr(scheduler, "play_group", draw)
    return refused


def lines(folder):
    return (folder / "games.jsonl").read_text().splitlines()


@pytest.mark.parametrize("swiss", [0, 2])
def test_a_cluster_plays_the_same_games_and_the_ladder_is_the_same(cluster, drawn, tmp_path, swiss):
    local = jaxgbg.tournament(FOUR, out=tmp_path / "local", swiss=swiss, **SETTINGS)
    sent = jaxgbg.tournament(FOUR, out=tmp_path / "ray", swiss=swiss, executor="ray", **SETTINGS)
    assert sent.records() == local.records()
    assert len(cluster) == (4 if swiss else 6)
    assert sorted(lines(tmp_path / "ray")) == sorted(lines(tmp_path / "local"))
    # What the one has kept the other goes on with.
    again = jaxgbg.tournament(FOUR, out=tmp_path / "local", swiss=swiss, executor="ray", **SETTINGS)
    assert again.records() == local.records()
    assert len(cluster) == (4 if swiss else 6)


def test_a_group_that_fails_is_told_when_all_others_have_met(cluster, drawn, tmp_path):
    drawn.update({"random", "maxn"})
    options = SETTINGS | {"out": tmp_path / "t", "executor": "ray"}
    with pytest.raises(ValueError, match=r"1 of 6 groups .* first best - random: game; the same"):
        jaxgbg.tournament(FOUR, **options)
    assert len(lines(tmp_path / "t")) == 5
    drawn.clear()
    ladder = jaxgbg.tournament(FOUR, **options)
    assert len(cluster) == 6 + 1
    assert ladder.records() == jaxgbg.tournament(FOUR, **SETTINGS).records()


def test_whom_only_python_knows_is_refused_before_a_game(cluster):
    players = {"A": RandomPlayer(SMALL), "B": "maxn"}
    with pytest.raises(ValueError, match="A was made in Python and cannot be sent to a cluster"):
        jaxgbg.tournament(players, executor="ray", **SETTINGS)
    assert cluster == []


@pytest.mark.slow
@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "127.0.0.1:99999"])
def test_a_cluster_that_is_not_there_is_told_at_once(address):
    pytest.importorskip("ray")
    with pytest.raises(ValueError, match=f"no Ray cluster answers at {address}: "):
        jaxgbg.tournament(FOUR[:2], executor="ray", address=address, **SETTINGS)


def test_a_machine_with_other_rules_is_refused(cluster, drawn, tmp_path):
    jaxgbg.tournament(FOUR[:2], executor="ray", **SETTINGS)
    content = json.loads(cluster[0])
    content["settings"]["fingerprint"] = "0" * 16
    with pytest.raises(ValueError, match="a machine of the cluster has other rules of nim"):
        scheduler.play_sent(json.dumps(content))


@pytest.mark.slow
def test_agents_are_sent_by_their_files_and_known_by_their_weights(cluster, tmp_path, monkeypatch):
    run = jaxgbg.preset(SMALL, seeds=[0, 1], episodes=160, eval_every=160, opponents=["random"])
    folder = jaxgbg.train(run, tmp_path / "runs", progress=False)
    first, second = sorted((folder.path / "agents").glob("*-farl.agent"))
    monkeypatch.chdir(folder.path)
    players = ["random", f"agents/{first.name}", f"ahead=agents/{first.name}:look-ahead=2"]
    local = jaxgbg.tournament(players, **SETTINGS)
    sent = jaxgbg.tournament(players, executor="ray", **SETTINGS)
    assert sent.records() == local.records()
    group = json.loads(cluster[-1])["group"]
    assert f"{first}:look-ahead=2" in {w for t in cluster for w in json.loads(t)["group"].values()}
    (text,) = {text for text in cluster if json.loads(text)["group"] == group}
    for each in folder.path.glob("agents/*.agent"):
        each.write_bytes(second.read_bytes())
    with pytest.raises(ValueError, match=r"-farl\.agent.* is another agent than when"):
        scheduler.play_sent(text)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own; they are not ours to mend.
def test_a_cluster_that_loses_a_machine_finishes_its_tournament(tmp_path, monkeypatch):
    players = ["random", "mcts-20", "mcts-30", "maxn"]
    local = jaxgbg.tournament(players, out=tmp_path / "local", **SETTINGS)
    out = tmp_path / "ray"
    with two_machines(monkeypatch) as lose_a_machine:
        played_by_then = []

        def lose_it_in_time() -> None:
            while not (out / "games.jsonl").exists():
                time.sleep(0.02)
            played_by_then.append(len(lines(out)))
            lose_a_machine()

        # A tournament that fails writes no file: nobody waits for it then.
        watcher = threading.Thread(target=lose_it_in_time, daemon=True)
        watcher.start()
        sent = jaxgbg.tournament(players, out=out, executor="ray", **SETTINGS)
        watcher.join()
        # The machine was lost before all groups had met.
        assert played_by_then[0] < 6
    assert sent.records() == local.records()
    assert sorted(lines(out)) == sorted(lines(tmp_path / "local"))
