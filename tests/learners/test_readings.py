"""Other readings of the papers, each a setting, and TD from ply to ply, against the references.

Settings are those of `docs/how-we-read-the-papers.md`. The reference replays a record with the same
settings, and then with one of them as it is by default: then the tables must differ, or the record
would say nothing of that setting.
"""

import dataclasses
from typing import Any

import numpy as np
import pytest

import jaxgbg
from jaxgbg.learners.td_one_ply import TD_ONE_PLY
from jaxgbg.learners.tick import Learner
from jaxgbg.runs.lanes import hyperparameters
from tests.games.knockout import Knockout
from tests.learners.replay import (
    CASES,
    made,
    named,
    ntuple,
    played,
    reference_tables,
    stack_hyperparameters,
    transcripts,
)
from tests.reference import rules
from tests.reference.lockstep_td_farl import LockstepTDFarl
from tests.reference.one_ply_td import LockstepOnePlyTD, SerialOnePlyTD
from tests.reference.sarsa_farl import ActionValueParameters, SerialActionValues
from tests.reference.td_farl import Parameters, SerialTDFarl

ROUNDING = 1e-4
READINGS = {"alpha_decay", "learn_start", "random_test", "symmetries"}


def trained(name: str, episodes: int, batch: int, **settings: Any) -> tuple[Any, Any, Any]:
    """A run of a small layout, its lane after all episodes, and the record."""
    _, layout, alpha = CASES[name]
    run = jaxgbg.preset(
        name,
        layout=layout,
        seeds=(0,),
        variants=("farl",),
        opponents=(),
        **{
            "alpha": alpha,
            "alpha_end": alpha / 4,
            "trace_decay": 0.0,
            "reset_traces": False,
            "epsilon": 0.3,
            "epsilon_end": 0.3,
            "opening_plies": 1,
            "opening_share": 0.5,
            "episodes": episodes,
            "batch": batch,
            "tcl": "none",
            "learn_from_random": False,
            **settings,
        },
    )
    _, lane, record = played(run.make_learner(), hyperparameters(run, run.lanes), 1, episodes)
    return run, lane, record


def parameters_of(run: Any, kind: Any, **changes: Any) -> Any:
    """The settings of a run as a reference has them, but for `changes`."""
    known = {
        "alpha_start": run.schedule.alpha,
        "alpha_end": run.schedule.last_alpha,
        "alpha_decay": run.schedule.alpha_decay,
        "episodes": run.schedule.episodes,
        "lambda_": run.learner.trace_decay,
        "horizon": run.learner.horizon,
        "trace_mode": "reset" if run.learner.reset_traces else "et",
        "terminal_value_zero": run.learner.terminal_value_zero,
        "symmetries": run.value.symmetries,
        "learn_from_random": run.learner.learn_from_random,
        "learn_start": getattr(run.learner, "learn_start", None),
        "random_test": getattr(run.learner, "random_test", "gbg"),
    }
    fields = {field.name for field in dataclasses.fields(kind)}
    chosen = {n: each for n, each in known.items() if n in fields} | changes
    if chosen["random_test"] == "gbg":
        chosen["random_test"] = "adapted" if kind is ActionValueParameters else "current"
    return kind(**chosen)


def tables_of(run: Any, record: Any, plain: Any, **changes: Any) -> np.ndarray:
    """The weights that the serial or lockstep reference learns from a record."""
    layout, batch, learner = run.value.layout, run.schedule.batch, run.learner.kind
    if learner in ("sarsa", "q"):
        parameters = parameters_of(run, ActionValueParameters, rule=learner, **changes)
        actions = SerialActionValues(plain, layout, parameters)
        for opening, moves in transcripts(record, 0):
            actions.episode(opening, moves)
        sizes = [plain.num_cell_values ** len(cells) for cells in layout]
        rows = [each for table in actions.weights for each in table]
        return np.concatenate([row[i, :n] for row in rows for i, n in enumerate(sizes)])
    parameters = parameters_of(run, Parameters, **changes)
    games = [
        [(opening, made(moves)) for opening, moves in transcripts(record, 0, game)]
        for game in range(batch)
    ]
    one_ply = learner == "td-one-ply"
    if batch > 1:
        lockstep = LockstepOnePlyTD if one_ply else LockstepTDFarl
        reference = lockstep(plain, layout, parameters, rule=run.value.combine)
        reference.replay(games)
        assert reference.collisions > run.schedule.episodes / 10
    else:
        reference = (SerialOnePlyTD if one_ply else SerialTDFarl)(plain, layout, parameters)
        for opening, moves in games[0]:
            reference.episode(opening, moves)
    return reference_tables(reference, run.make_learner().value)[0]


@pytest.mark.parametrize(
    ("name", "batch", "settings"),
    [
        ("nim", 1, {"learn_start": False, "random_test": "letter", "alpha_decay": "linear"}),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [
                (
                    "nim3p",
                    8,
                    {"random_test": "adapted", "trace_decay": 0.5, "reset_traces": True},
                ),
                ("nim3p", 1, {"learner": "sarsa", "random_test": "letter", "trace_decay": 0.5}),
                ("tictactoe", 1, {"learner": "q", "random_test": "current", "symmetries": False}),
                ("nim3p", 1, {"learner": "td-one-ply", "trace_decay": 0.5, "reset_traces": True}),
                (
                    "tictactoe",
                    8,
                    {"learner": "td-one-ply", "learn_start": False, "symmetries": False},
                ),
            ]
        ),
    ],
)
def test_the_learner_and_its_reference_agree_on_every_reading(name, batch, settings):
    run, lane, record = trained(name, 80, batch, **settings)
    plain = CASES[name][0]
    found, expected = np.asarray(lane.params.weights[0]), tables_of(run, record, plain)
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(found, expected, atol=ROUNDING, rtol=ROUNDING)
    for reading in READINGS & settings.keys():
        parts = (run.schedule, run.learner, run.value)
        part = next(each for each in parts if hasattr(each, reading))
        default = type(part).__dataclass_fields__[reading].default
        assert default != settings[reading]
        other = tables_of(run, record, plain, **{reading: default})
        assert np.abs(other - expected).max() > 100 * ROUNDING, reading


@pytest.mark.slow
def test_ply_to_ply_who_leaves_has_its_reward_once_and_no_value_after_it() -> None:
    """In a game that pays players as they leave, and goes on without them."""
    game, plain, layout, alpha = Knockout(2, 3), rules.Knockout(2, 3), ((0, 1), (1,)), 0.2
    value, episodes = ntuple(game, layout, tcl="none", combine="mean"), 30
    learner = Learner(game, value, TD_ONE_PLY, batch=1, opening_plies=1)
    hyper = stack_hyperparameters([named(True, True, True, False)], alpha, 0.0, episodes)
    _, lane, record = played(learner, hyper, 1, episodes)
    parameters = Parameters(
        alpha_start=alpha,
        alpha_end=alpha / 2,
        episodes=episodes,
        tcl="none",
        terminal_value_zero=True,
    )
    reference = SerialOnePlyTD(plain, layout, parameters)
    for opening, moves in transcripts(record, 0):
        reference.episode(opening, made(moves))
    expected = reference_tables(reference, value)[0]
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(lane.params.weights[0], expected, atol=ROUNDING, rtol=ROUNDING)
