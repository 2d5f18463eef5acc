"""The commands `zoo` and `shrink`, and agents of the zoo in other commands."""

import json
import re

from jaxgbg.runs.storage.agents import load_agent
from jaxgbg.runs.storage.zoo import card_of, zoo_names


def test_all_agents_are_listed_and_a_card_has_the_figures(jaxgbg, tmp_path):
    code, out, err = jaxgbg("zoo", "--json", tmp_path / "zoo.json")
    assert (code, err) == (0, "")
    rows = json.loads((tmp_path / "zoo.json").read_text())
    assert [row["agent"] for row in rows] == [f"zoo:{name}" for name in zoo_names()]
    assert all(row["agent"] in out for row in rows)
    code, out, _ = jaxgbg("zoo", "zoo:nim", "--json", tmp_path / "nim.json")
    card = card_of("nim")
    assert code == 0
    for part in (card.command, f"{card.bytes:,} bytes", card.revision, "maxn", "n = "):
        assert part in out
    assert json.loads((tmp_path / "nim.json").read_text()) == [{"agent": "zoo:nim", **card.plain()}]


def test_an_agent_of_the_zoo_is_evaluated_and_named_in_errors(jaxgbg):
    code, out, _ = jaxgbg("eval", "zoo:nim", "--opponent", "zoo:nim:look-ahead=2")
    assert code == 0
    assert "zoo:nim:look-ahead=2" in out
    for arguments in (["eval", "zoo:nm"], ["play", "zoo:nm"], ["zoo", "nm"], ["gtp", "zoo:nm"]):
        code, _, err = jaxgbg(*arguments)
        assert code == 2
        assert err == "jaxgbg: no agent 'zoo:nm' comes with jaxgbg: did you mean zoo:nim?\n"


def test_an_agent_is_shrunk_and_plays_the_same(jaxgbg, trained, tmp_path):
    agent = next((trained / "small").glob("nim-*/agents/*-farl.agent"))
    small = tmp_path / "small.agent"
    code, out, err = jaxgbg("shrink", agent, small, "--bits", 16)
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{re.escape(str(small))}: [1-9][\d.]* kB\n", out)
    assert small.stat().st_size < agent.stat().st_size
    assert load_agent(small).run == load_agent(agent).run
    rows = []
    for file in (agent, small):
        assert jaxgbg("eval", file, "--opponent", "maxn", "--json", tmp_path / "rows.json")[0] == 0
        (row,) = json.loads((tmp_path / "rows.json").read_text())
        rows.append(row["mean"])
    assert rows[0] == rows[1]
    code, _, err = jaxgbg("shrink", agent, small)
    assert (code, "--replace overwrites it" in err) == (2, True)
    assert jaxgbg("shrink", agent, small, "--bits", 7)[0] == 2
