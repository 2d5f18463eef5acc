"""The steps from rules to a rated agent, each with a line of what it does and found."""

import contextlib
import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from jaxgbg import api
from jaxgbg.arguments import Minutes
from jaxgbg.cli.building.card import write_card
from jaxgbg.cli.building.choices import (
    EVALUATIONS,
    LEAST_MATCHES,
    MOST_GAMES,
    SYMMETRY_SHARE,
    games_for,
    run_for,
    training_seconds,
)
from jaxgbg.cli.building.rating import plain_score, rate, seconds_of_a_game
from jaxgbg.cli.building.rules import check_rules, named_rules, symmetries_of
from jaxgbg.contents import defect, read_bytes, read_json
from jaxgbg.games import Game, fingerprint, make
from jaxgbg.games.precision import in_32_bits
from jaxgbg.players import GreedyAgent, MissingExtra
from jaxgbg.runs import Result, Run, RunFolder, StopTraining
from jaxgbg.runs.budget import STRETCH_SHARE, episodes_in, measured_pace, with_episodes
from jaxgbg.runs.run import plain_game
from jaxgbg.runs.storage.agents import SavedAgent, load_agent, save_agent
from jaxgbg.runs.storage.files import check_can_make, write_json, written_whole
from jaxgbg.runs.storage.latest_agent import LatestAgent, latest_file, read_latest
from jaxgbg.runs.storage.schemas import GREATEST, validate
from jaxgbg.specs import Spec, checked, pluralize, setting
from jaxgbg.system import file_name

_RESERVE = 0.05
# A training that takes so much longer than planned ends early.
_LATE = 1.2
# Evaluations after which an earlier version of the agent is kept: four versions at most.
_VERSION_EVERY = 2


@dataclasses.dataclass(frozen=True)
class BuildPlan(Spec):
    """plan.json: what was found and chosen before the training, for a call that resumes.

    Attributes:
      game: The game, its name and parameters.
      minutes: Time of the whole.
      run: The run that is trained.
      games: Games of a match; 0 until the training is over.
      steps: What each step found, by the names of the steps.
    """

    game: dict = dataclasses.field(default_factory=dict)
    minutes: float = setting(10, above=0, high=GREATEST)
    run: dict = dataclasses.field(default_factory=dict)
    games: int = setting(0, low=0, high=GREATEST)
    steps: dict = dataclasses.field(default_factory=dict)


@in_32_bits
@checked
def build_agent(
    game: str | Path | Game,
    minutes: Minutes = 10.0,
    out: str | Path | None = None,
    progress: bool = True,
    say: Callable[[str], None] = print,
) -> Path:
    """Train, rate and export an agent of a game in about so many minutes; return its folder.

    Args:
      game: A game, its name, or the path of a Python file (.py) or a file of Ludax (.ldx).
      minutes: Time for everything: checks, compiling, training, matches and files.
      out: The folder, by default agents/GAME. The same call resumes what was interrupted.
      progress: Whether bars show the training and the matches.
      say: Receives a line of each step.

    Raises ValueError, in one line, for rules with a fault, a folder of something else, and what
    cannot be trained here.
    """
    start = time.monotonic()
    rules = make(named_rules(game) if isinstance(game, str | Path) else game)
    folder = Path("agents") / file_name(rules.name) if out is None else Path(out)
    plan = _read_plan(folder, rules, minutes)
    if plan is None:
        plan = _plan(rules, minutes, start, say)
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "plan.json", plan.plain())
    elif (folder / "card.md").exists():
        say(f"finished already: {folder / 'card.md'}")
        return folder
    else:
        say(f"resuming {folder}")
    run, total = Run.read(plan.run), 60 * minutes
    agent = folder / f"{file_name(rules.name)}.agent"
    planned = training_seconds(total, time.monotonic() - start)
    _train(run, agent, time.monotonic() + _LATE * planned, total / 20, progress, say)
    deadline, least = start + (1 - _RESERVE) * total, LEAST_MATCHES * total
    if not plan.games:
        plan = _with_games(plan, rules, max(deadline - time.monotonic(), least), say)
        write_json(folder / "plan.json", plan.plain())
    versions = _versions(folder, agent)
    rated = rate(rules, agent, versions, folder / "ladder", plan.games, deadline, least, say)
    notes = [*rated.unmet, *_files(rules, agent, say)]
    scores = [plain_score(score) for score in rated.scores]
    write_json(folder / "scores.json", {"scores": scores, "missing": notes})
    write_card(folder, agent, plan.steps, rated, notes, time.monotonic() - start)
    say(f"card: {folder / 'card.md'}")
    return folder


def _read_plan(folder: Path, game: Game, minutes: float) -> BuildPlan | None:
    """The plan in the folder; None in a new one. Raises ValueError if the folder is another's."""
    file = folder / "plan.json"
    if not file.exists():
        check_can_make(folder)
        if folder.exists() and any(folder.iterdir()):
            raise ValueError(f"{folder} holds something else: choose another --out")
        return None
    try:
        plan = validate(BuildPlan, read_json(file))
        Run.read(plan.run)
    except (OSError, ValueError) as error:
        raise ValueError(f"{defect(file, error)}: choose another --out, or delete it") from error
    if plan.game != json.loads(json.dumps(plain_game(game))) or plan.minutes != minutes:
        raise ValueError(
            f"{folder} has an agent of {plan.game.get('name')} in {plan.minutes:g} minutes: choose"
            " another --out, or give the same game and minutes to resume"
        )
    return plan


def _plan(game: Game, minutes: float, start: float, say: Callable[[str], None]) -> BuildPlan:
    """Check the rules, choose the settings and set the budget; nothing is written."""
    steps: dict[str, str] = {}

    def found(step: str, text: str) -> None:
        steps[step] = text
        say(f"{step}: {text}")

    total = 60 * minutes
    found(
        "game",
        f"{game.name}, {pluralize(game.num_players, 'player')},"
        f" {pluralize(game.num_cells, 'cell')} of {game.num_cell_values} digits,"
        f" {pluralize(game.num_actions, 'action')}",
    )
    found("rules", f"{check_rules(game)} (fingerprint {fingerprint(game)})")
    symmetries, text = symmetries_of(game, SYMMETRY_SHARE * total)
    found("symmetries", text)
    images = np.arange(game.num_cells)[None] if symmetries is None else symmetries.cells
    run, text = run_for(game, images)
    # Its draws written out: the program whose pace is measured must be that of the training.
    run = run.for_seed(0)
    found("value", text)
    found("learner", f"{run.learner.kind} with FARL, {run.schedule.batch} games in lockstep")
    pace = measured_pace(run, STRETCH_SHARE * total)
    seconds = training_seconds(total, time.monotonic() - start)
    run = with_episodes(run, episodes_in(seconds, pace, 1, run.schedule.batch), EVALUATIONS)
    found(
        "budget",
        f"{run.schedule.episodes:,} episodes in about {seconds:,.0f} s, at {pace.moves:,.0f}"
        f" moves/s and {pace.episodes:,.{0 if pace.episodes >= 100 else 1}f} episodes/s",
    )
    return BuildPlan(json.loads(json.dumps(plain_game(game))), minutes, run.plain(), steps=steps)


def _with_games(
    plan: BuildPlan, game: Game, seconds: float, say: Callable[[str], None]
) -> BuildPlan:
    """The plan with as many games of a match as fit into the `seconds` left."""
    if game.num_players == 1:
        return dataclasses.replace(plan, games=MOST_GAMES)
    cost = seconds_of_a_game(game)
    games = games_for(seconds, cost)
    text = f"{games} games each; one against mcts-100 takes about {cost:.2g} s"
    say(f"matches: {text}")
    return dataclasses.replace(plan, games=games, steps={**plan.steps, "matches": text})


def _train(
    run: Run,
    agent: Path,
    deadline: float,
    checkpoint_every: float,
    progress: bool,
    say: Callable[[str], None],
) -> None:
    """Train a run in the folder of `agent`, which is written last, and keep earlier versions.

    At an evaluation after the `deadline` the training ends early.
    """
    if agent.exists():
        return
    folder = RunFolder(agent.parent, run)

    def on_evaluation(result: Result) -> None:
        if result.episodes >= run.schedule.episodes:
            return
        if result.episodes // run.evaluation.every % _VERSION_EVERY == 0:
            _keep_version(folder, agent.parent / "versions")
        if time.monotonic() > deadline:
            raise StopTraining("the time is over")

    api.train(run, agent.parent, (on_evaluation,), progress, checkpoint_every)
    latest = _latest(folder)
    assert latest is not None
    _save(agent, run, latest)
    early = "" if folder.finished else f" of {run.schedule.episodes:,}: the time was over"
    say(f"training: {latest.episodes:,} episodes{early}")


def _latest(folder: RunFolder) -> LatestAgent | None:
    file = latest_file(folder.path, folder.run)
    return None if file is None else read_latest(file, folder.run)


def _keep_version(folder: RunFolder, versions: Path) -> None:
    """Keep the agent of the latest checkpoint, if there is a new one; it may just be replaced."""
    with contextlib.suppress(ValueError, OSError):
        latest = _latest(folder)
        if latest is not None and latest.episodes:
            file = versions / f"after-{latest.episodes}.agent"
            versions.mkdir(exist_ok=True)
            if not file.exists():
                _save(file, folder.run, latest)


def _versions(folder: Path, agent: Path) -> list[Path]:
    """The earlier versions, the first one first; one that the training ended with is no other."""
    found = sorted((folder / "versions").glob("*.agent"), key=lambda path: (len(path.name), path))
    return [path for path in found if read_bytes(path) != read_bytes(agent)]


def _save(file: Path, run: Run, latest: LatestAgent) -> None:
    agent: GreedyAgent = latest.agent
    weights = agent.value.weights_of(jax.tree.map(lambda leaf: leaf[0], agent.params))
    save_agent(file, SavedAgent(run, latest.lane.variant, weights))


def _files(game: Game, agent: Path, say: Callable[[str], None]) -> list[str]:
    """Write the report and the page to play on; return why one of them is missing."""
    from jaxgbg.web.export.file import game_file
    from jaxgbg.web.html import write_report

    missing: list[str] = []

    def attempt(name: str, write: Callable[[Path], object]) -> None:
        try:
            write(agent.parent / name)
            say(f"file: {agent.parent / name}")
        except (ValueError, MissingExtra) as error:
            missing.append(f"no {name}: {error}")
            say(missing[-1])

    def page(path: Path) -> None:
        text = game_file(game, {agent.stem: load_agent(agent).player()})
        with written_whole(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")

    attempt("report.html", lambda path: write_report(agent.parent, path))
    attempt("play.html", page)
    return missing
