"""The schedule of faults in short, and that it would notice a loss."""

import json
import random
from collections import Counter

import pytest

from tests.faults.__main__ import Tally, run, schedule, settle
from tests.faults.kinds import KINDS, flip
from tests.faults.work import Work, Wrong, left_by


@pytest.mark.slow
def test_nothing_is_lost(tmp_path):
    tallies, wrong = run(6, 0, tmp_path)
    assert wrong == []
    assert sum(tally.tried for tally in tallies.values()) == 6
    assert sum(tally.compared for tally in tallies.values()) == 6


def test_every_kind_has_its_turn_and_a_seed_its_order():
    order = schedule(list(KINDS), 2 * len(KINDS) + 3, random.Random(1))
    counts = Counter(kind.name for kind in order)
    assert set(counts) == {kind.name for kind in KINDS}
    assert sorted(set(counts.values())) == [2, 3]
    assert order == schedule(list(KINDS), 2 * len(KINDS) + 3, random.Random(1))


class Done(Work):
    """A run that was finished long ago."""

    def __init__(self, folder):
        self.out = folder
        run = folder / "nim-00000000"
        (run / "agents").mkdir(parents=True)
        for name in ("config.json", "metrics.jsonl", "histograms.json", "agents/seed0-farl.agent"):
            (run / name).write_text(name)
        (run / "summary.json").write_text(json.dumps({"state_sha256": "0"}))
        self.expected = left_by(folder)

    def finish(self):
        return []


@pytest.mark.parametrize("name", ["metrics.jsonl", "agents/seed0-farl.agent", "config.json"])
def test_a_bit_that_is_lost_is_noticed(tmp_path, name):
    work = Done(tmp_path)
    work.compare()
    flip(tmp_path / "nim-00000000" / name, random.Random(0))
    with pytest.raises(Wrong, match=name):
        work.compare()
    tallies = [Tally(tried=1), Tally(tried=1)]
    kept = list(tallies)
    assert settle(work, tallies)
    assert [tally.lost for tally in kept] == [1, 1]


def test_what_is_left_behind_is_noticed(tmp_path):
    work = Done(tmp_path)
    (tmp_path / "nim-00000000" / "checkpoints").mkdir()
    with pytest.raises(Wrong, match="left behind"):
        work.compare()
