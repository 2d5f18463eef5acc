"""Specs: each setting checks itself, in one line, whichever way it came."""

import dataclasses
import inspect
import json
import re
import tomllib

import pytest

from jaxgbg.evaluation import Protocol
from jaxgbg.games import LinesOfAction, make
from jaxgbg.learners import (
    LearnerSpec,
    QSpec,
    SarsaSpec,
    Schedule,
    TDOffPolicySpec,
    TDOnePlySpec,
    TDSpec,
)
from jaxgbg.results.configs import Configs
from jaxgbg.runs import Evaluation, Run, Training, with_changes
from jaxgbg.runs.presets import GAMES, preset
from jaxgbg.runs.settings import find, settings
from jaxgbg.search import QSearchSpec, SarsaSearchSpec, TDLeafSpec, TDSearchSpec
from jaxgbg.specs import Spec, setting
from jaxgbg.sweeps.spec import units
from jaxgbg.values import MLPSpec, NTupleSpec, ValueSpec

# Path of a setting, what is out of its range, and the whole complaint.
OUT_OF_RANGE = [
    ("schedule.episodes", 0, "episodes must lie in [1, 2,147,483,648], not 0"),
    ("schedule.batch", -2, "batch must lie in [1, 1,048,576], not -2"),
    ("schedule.alpha", 0.0, "alpha must lie in [1e-09, 1,000,000], not 0.0"),
    ("schedule.alpha_end", -0.5, "alpha_end must lie in [1e-09, 1,000,000], not -0.5"),
    ("schedule.epsilon", 1.5, "epsilon must lie in [0, 1], not 1.5"),
    ("schedule.epsilon_end", -0.1, "epsilon_end must lie in [0, 1], not -0.1"),
    ("schedule.opening_plies", -1, "opening_plies must lie in [0, 10,000], not -1"),
    ("schedule.opening_share", 0.0, "opening_share must lie in (0, 1], not 0.0"),
    ("learner.trace_decay", 1.0, "trace_decay must lie in [0, 1), not 1.0"),
    ("learner.trace_cut", 0.0, "trace_cut must lie in (0, 1), not 0.0"),
    ("learner.discount", 1.25, "discount must lie in [0, 1], not 1.25"),
    ("evaluation.every", 0, "eval_every must lie in [1, 2,147,483,648], not 0"),
    ("value.beta", 0.0, "beta must lie in (0, 1,000,000], not 0.0"),
    ("value.walks", [-1, 3], "walks must lie in [0, 1,000], not -1"),
    ("value.tcl", "maybe", "tcl must be one of none, id, exp, not 'maybe'"),
    ("value.combine", "vote", "combine must be one of sum, mean, saturating, not 'vote'"),
    ("partner", "kasparov", "unknown player 'kasparov'"),
]
of_each = pytest.mark.parametrize(
    ("path", "value", "complaint"), OUT_OF_RANGE, ids=[each[0] for each in OUT_OF_RANGE]
)


def one_line(error, complaint) -> bool:
    return complaint in str(error.value) and "\n" not in str(error.value)


@of_each
def test_a_setting_out_of_range_is_one_line_from_python(path, value, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)) as error:
        Training(with_changes(preset("tictactoe"), {path: value}))
    assert one_line(error, complaint)


@of_each
def test_it_is_the_same_line_from_a_sweep_file(path, value, complaint):
    for table, given in (("settings", value), ("axes", [value])):
        fields = tomllib.loads(f'game = "tictactoe"\n[{table}]\n{path} = {json.dumps(given)}')
        with pytest.raises(ValueError, match=re.escape(complaint)) as error:
            units(fields)
        assert one_line(error, complaint)


@of_each
def test_it_is_the_same_line_from_a_flag(jaxgbg, tmp_path, path, value, complaint):
    short = find(path).short
    words = value if isinstance(value, list) else [value]
    flags = [f"--{short.replace('_', '-')}", *words]
    code, out, err = jaxgbg("train", "tictactoe", *flags, "--out", tmp_path / "runs")
    assert (code, out, err.count("\n")) == (2, "", 1)
    # What is no choice at all the parser of flags finds first, in words of its own.
    named = complaint.replace(short, flags[0]) if "_" in short else complaint
    assert named in err or (isinstance(value, str) and flags[0] in err and value in err)
    assert not (tmp_path / "runs").exists()


EXTRAS = MLPSpec(extras=("freedom",))


@pytest.mark.parametrize(
    ("make_spec", "complaint"),
    [
        (lambda: Schedule(episodes=1.5), "episodes must be a whole number, not 1.5"),
        (lambda: Schedule(episodes=True), "episodes must be a whole number, not True"),
        (lambda: Schedule(alpha="1"), "alpha must be a number, not '1'"),
        (lambda: Schedule(alpha=float("nan")), "alpha must be a number, not nan"),
        (lambda: TDSpec(reset_traces=1), "reset_traces must be true or false, not 1"),
        (lambda: NTupleSpec(layout=3), "layout must be a list, not 3"),
        (lambda: NTupleSpec(walks=(1, 2, 3)), "walks must be a list of 2, not"),
        (lambda: NTupleSpec(layout=[[0, "1"]]), "layout must be a whole number, not '1'"),
        (lambda: MLPSpec(hidden=[True]), "hidden must be a whole number, not True"),
        (lambda: MLPSpec(optimizer=None), "optimizer must be text, not None"),
        (
            lambda: MLPSpec(extras=["moves"] * 2),
            "extras must be all different, not ('moves', 'moves')",
        ),
        (lambda: MLPSpec(extras=["\n"] * 2), r"extras must be all different, not ('\n', '\n')"),
        (lambda: MLPSpec(extras_as="inputs"), "extras_as is for extras: name at least one"),
        (
            lambda: Run("lines_of_action", value=MLPSpec(extras=["moves"])),
            "lines_of_action has no extra 'moves': its extras are immobility, freedom,"
            " concentration, cluster",
        ),
        (
            lambda: Run("nim", value=MLPSpec(extras=["freedom"])),
            "nim has no extra 'freedom', nor any other",
        ),
        (
            lambda: Run("lines_of_action", value=EXTRAS, learner=SarsaSpec(), variants=["farl"]),
            "values of actions use extras as inputs alone: set extras_as inputs, or the learner td",
        ),
        (
            lambda: Run("lines_of_action", value=EXTRAS, learner=TDSpec(trace_decay=0.5)),
            "extras as outputs are learned without traces: set trace_decay 0, or extras_as inputs",
        ),
        (lambda: Evaluation(opponents="maxn"), "opponents must be a list, not 'maxn'"),
        (lambda: Run(make("nim"), seeds=[True]), "seeds must be a whole number, not True"),
        (lambda: Run(make("nim"), seeds=[1, 1]), "seeds must be at least one, and all different"),
        (lambda: Run(make("nim"), variants=["half"]), "variants must be one of farl, part1, none"),
        (lambda: Run(make("nim"), value=TDSpec()), "value must be ValueSpec"),
        (lambda: Run("go"), "unknown game 'go'"),
        (lambda: Protocol(starts="late"), "starts must be one of default"),
        (lambda: Schedule.read([1]), "schedule must be a table, not [1]"),
        (lambda: Schedule.read({"pace": 1}), "unknown setting 'pace'"),
        (
            lambda: ValueSpec.read({"kind": "dream"}),
            f"value must be one of {', '.join(ValueSpec.kinds)}, not",
        ),
        (lambda: LearnerSpec.read({}), f"learner must be one of {', '.join(LearnerSpec.kinds)}"),
    ],
)
def test_what_is_of_another_kind_is_named_in_one_line(make_spec, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)) as error:
        make_spec()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ["ntuple", "mlp"])
@pytest.mark.parametrize("learner", ["td", "sarsa", "q", "td-leaf"])
@pytest.mark.parametrize("game", GAMES)
def test_every_published_run_comes_back_from_its_plain_form(monkeypatch, game, learner, value):
    # What it stands for takes a while to compute and is tested with the games.
    monkeypatch.setattr("jaxgbg.runs.run.fingerprint", lambda game: game.name)
    if game == "2048" and learner == "td-leaf":
        with pytest.raises(ValueError, match="is a game of chance"):
            preset(game, learner=learner, value=value)
        return
    run = preset(game, learner=learner, value=value)
    text = json.dumps(run.plain())
    again = Run.read(json.loads(text))
    assert again == run
    assert (again.digest, json.dumps(again.plain())) == (run.digest, text)
    assert (run.learner.kind, run.value.kind) == (learner, value)


def test_every_kind_is_one_of_its_component():
    assert ValueSpec.kinds == {"ntuple": NTupleSpec, "mlp": MLPSpec}
    assert LearnerSpec.kinds == {
        "td": TDSpec,
        "sarsa": SarsaSpec,
        "q": QSpec,
        "td-off-policy": TDOffPolicySpec,
        "td-one-ply": TDOnePlySpec,
        "td-leaf": TDLeafSpec,
        "td-search": TDSearchSpec,
        "sarsa-search": SarsaSearchSpec,
        "q-search": QSearchSpec,
    }


def test_a_new_setting_at_its_default_leaves_the_digest_alone():
    @dataclasses.dataclass(frozen=True)
    class Patient(Schedule):
        pauses: int = setting(3, low=0)

    run = preset("tictactoe")
    fields = {f.name: getattr(run.schedule, f.name) for f in dataclasses.fields(Schedule)}
    assert dataclasses.replace(run, schedule=Patient(**fields)).digest == run.digest
    assert dataclasses.replace(run, schedule=Patient(**fields, pauses=4)).digest != run.digest


OTHERS = {
    "stages": [3, 5],
    "train_search": "puct-7",
    "layout": [[0, 1, 2]],
    "images": [[0, 1, 2, 3, 4, 5, 6, 7, 8]],
    "walks": [4, 3],
    "hidden": [9],
    "optimizer": "adam",
    "opponents": ["random"],
    "protocols": [{"starts": "default"}],
    "partner": "maxn",
    "variants": ["none"],
    "seeds": [7],
    "alpha_end": 0.25,
    "epsilon_end": 0.25,
    "loss_discount": 0.25,
    "averaging_from": 0.25,
    "opening_plies": 2,
    "ranks": [0.6, 0.4],
    "play_ranks": [0.6, 0.4],
    "search": "puct-50",
    "width": [3],
    "extras": ["freedom"],
    "train_width": [3],
}

# What a setting is for: alone it is refused.
NEEDS = {
    "width": {"look_ahead": 2},
    "passes": {"replay_episodes": 5},
    "minibatch": {"replay_episodes": 5},
    "extras_as": {"extras": ["cluster"]},
    "opening_cycle": {"opening_plies": 2, "opening_share": 1.0},
    "from_lines": {"walks": [4, 3]},
    "averaging_from": {"averaging": "tail"},
    "averaging_samples": {"averaging": "tail"},
    "averaging_decay": {"averaging": "exponential"},
    "one_explores": {"partner": "self"},
    "parameter_traces": {"value": "mlp"},
    "shared_traces": {"value": "mlp", "parameter_traces": True},
}
# Where a setting is of use, if not in TicTacToe.
GAMES = dict.fromkeys(("extras", "extras_as"), LinesOfAction(size=4))


def another(each, present):
    """A value that this setting may have and has not."""
    if each.short in OTHERS:
        return OTHERS[each.short]
    if each.choices:
        return next(choice for choice in each.choices if choice != present)
    if isinstance(present, bool):
        return not present
    return present + 1 if isinstance(present, int) else (present + 0.3) / 2


@pytest.mark.parametrize("each", settings().values(), ids=lambda each: each.path)
def test_every_setting_changes_the_digest_by_its_path_and_by_its_short_form(each):
    game = GAMES.get(each.short, "tictactoe")
    base = preset(game, partner="random", learn_from_partner=False)
    part, _, name = each.path.partition(".")
    if each.kinds and getattr(base, part).kind not in each.kinds:
        base = with_changes(base, {part: each.kinds[0]})
    present = getattr(getattr(base, part), name) if name else getattr(base, part)
    if isinstance(present, Spec):
        present = present.kind
    changes = {each.path: another(each, present)}
    if each.short in NEEDS:
        base = with_changes(base, NEEDS[each.short])
    if each.short in ("passes", "minibatch"):
        base = with_changes(base, {"replay_episodes": 8})
    changed = with_changes(base, changes)
    assert changed.digest != base.digest
    assert (
        with_changes(base, {find(path).short: value for path, value in changes.items()}) == changed
    )


FORMER = {"terminal_value_zero": "zero_terminal", "replay_episodes": "round_games"}


def test_a_renamed_setting_is_read_by_its_former_name_and_keeps_the_digest():
    run = preset("lines_of_action", value="mlp", seeds=(0,))
    content = run.plain()
    for today, former in FORMER.items():
        content["learner"][former] = content["learner"].pop(today)
    assert Run.read(content) == run
    # Of the names before they were changed.
    assert run.digest == "2a661f3d"
    known, seeds, _ = Configs().read(content)
    assert (known.unknown, known.digest(seeds), known.values["learner.replay_episodes"]) == (
        (),
        run.digest,
        500,
    )


def test_a_setting_under_both_of_its_names_is_refused():
    content = preset("lines_of_action", value="mlp").plain()
    content["learner"]["round_games"] = 3
    with pytest.raises(ValueError, match="unknown setting 'round_games'"):
        Run.read(content)


def test_a_spec_describes_itself_in_a_line():
    assert Schedule().describe() == "all as by default"
    assert Schedule(episodes=500, alpha=0.5).describe() == "episodes 500, alpha 0.5"
    assert NTupleSpec().describe() == "ntuple"
    layout = tuple((cell,) for cell in range(9))
    assert NTupleSpec(layout=layout, sigmoid=False).describe() == "ntuple: layout of 9, sigmoid off"
    assert SarsaSpec(replan=True).describe() == "sarsa: replan on"
    assert MLPSpec(hidden=(8, 4)).describe() == "mlp: hidden 8 4"


@pytest.mark.parametrize("spec", [NTupleSpec, MLPSpec, TDSpec, SarsaSpec, QSpec, Schedule])
def test_every_setting_says_what_it_is(spec):
    assert set(spec.help()) >= {field.name for field in dataclasses.fields(spec)}
    assert all(text.endswith(".") for text in spec.help().values())


@pytest.mark.parametrize("strip", [str, inspect.cleandoc])
def test_a_setting_is_explained_whatever_the_indentation_of_docstrings(strip):
    # As the source has it up to Python 3.12, and stripped from 3.13 on.
    class Tea(Spec):
        sugar: int = 0

    Tea.__doc__ = strip("""What to drink.

    Attributes:
      sugar: How many lumps,
        at most two.
      milk: Whether there is any.

    Raises nothing.
    """)
    assert Tea.help()["sugar"] == "How many lumps, at most two."
    assert Tea.help()["milk"] == "Whether there is any."
