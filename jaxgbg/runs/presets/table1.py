"""The paper's Table 1: what to train, and whom the finished agents still have to meet."""

import shutil
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import jax

from jaxgbg.arguments import Factor
from jaxgbg.evaluation import Judge, MatchJudge, make_judge
from jaxgbg.games import Game
from jaxgbg.players import GRHINO, GTPEngine
from jaxgbg.runs import Run, RunFolder
from jaxgbg.runs.loop import evaluate
from jaxgbg.runs.presets import konen2021, preset, protocol_for
from jaxgbg.runs.run import Seeds
from jaxgbg.specs import Seed, checked


@checked
def table1_run(
    game: str, seeds: Seeds, scale: Factor, first: Seed = 0, batch: int | None = None
) -> Run:
    """The published run of `game` with `scale` times its episodes, seeds from `first` on.

    It is evaluated as often as the published run, but a shortened one ten times at most. `batch`
    games play in lockstep; as many as we ship where it is not given.

    Raises ValueError for a game that is not in the table.
    """
    if game not in konen2021.GAMES:
        known = ", ".join(konen2021.GAMES)
        raise ValueError(f"table1 has no row of {game!r}: choose among {known}")
    published = preset(game)
    episodes = max(1, round(scale * published.schedule.episodes))
    eval_every = max(1, round(scale * published.evaluation.every))
    if scale < 1:
        eval_every = max(eval_every, -(-episodes // 10))
    changes = {} if batch is None else {"batch": batch}
    numbers = range(first, first + seeds)
    return preset(game, seeds=numbers, episodes=episodes, eval_every=eval_every, **changes)


def othello_engine(command: str | None) -> tuple[str, str] | None:
    """(name, command) of the engine that the Othello row is played against, None if there is none.

    `command` is the user's, e.g. Edax's; without it GRhino, where it is installed.
    """
    if command:
        name = Path(command.split()[0]).name.lower()
        return ("edax" if "edax" in name else name), command
    return ("grhino", GRHINO) if shutil.which(GRHINO.split()[0]) else None


def meet(folder: RunFolder, names: Collection[str], make: Callable[[], Judge]) -> None:
    """Let the judge that `make` builds judge all agents of a finished run, unless it has.

    `names` are its scores in results.

    They play as in its other evaluations, whose results these join.
    """
    run = folder.run
    met = {(one.seed, one.variant) for one in folder.results() if one.opponent in names}
    lanes = tuple(lane for lane in run.agents if lane not in met)
    if not lanes:
        return
    agents = run.play.player(folder.agents(lanes))
    judge = make()
    try:
        episodes = run.schedule.episodes
        for result in evaluate(agents, judge, episodes, lanes, jax.random.key(episodes)):
            folder.append(result)
    finally:
        judge.close()


def meet_final_opponents(
    folder: RunFolder, engine: str | None, on_opponent: Callable[[str], None]
) -> None:
    """All of Table 1's opponents of a game that the finished run has not met yet."""
    game = folder.run.game
    for opponent in konen2021.FINAL_OPPONENTS.get(game.name, ()):
        if opponent != "engine":
            on_opponent(opponent)
            protocol = protocol_for(game, opponent)
            meet(folder, [opponent], partial(make_judge, opponent, game, protocol))
            continue
        named = othello_engine(engine)
        if named is None:
            on_opponent("no engine for othello: install grhino, or name one with --engine")
            continue
        on_opponent(named[0])
        meet(folder, [named[0]], partial(engine_judge, game, *named))


def engine_judge(game: Game, name: str, command: str) -> Judge:
    """The judge by a GTP engine, as `othello_engine` names it."""
    return MatchJudge(game, GTPEngine(game, command, name), protocol_for(game, name), name)
