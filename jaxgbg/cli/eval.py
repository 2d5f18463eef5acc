"""The command `eval`: evaluate trained agents."""

import contextlib
from pathlib import Path
from typing import Annotated

import jax
from tyro.conf import Positional

from jaxgbg.cli.common import Json, TableFormat, console, optional, print_records, write_rows
from jaxgbg.cli.options import GREEDY, Playing
from jaxgbg.evaluation import Judge, MatchJudge, judge_names, judges_alone
from jaxgbg.games import Game
from jaxgbg.players import GTPEngine, Player
from jaxgbg.players.gtp import Seconds
from jaxgbg.results.rows import Source, as_records, group, source_of
from jaxgbg.results.table import print_table as print_rows
from jaxgbg.runs import RunFolder
from jaxgbg.runs.opponents import judge_by, make_opponent, names_agent
from jaxgbg.runs.presets import protocol_for
from jaxgbg.runs.presets.table1 import meet
from jaxgbg.runs.storage.agents import SavedAgent, load_agent
from jaxgbg.specs import Seed, checked
from jaxgbg.types import JSON


@checked
def evaluate(
    what: Annotated[Positional[tuple[Path, ...]], optional("RUN|AGENT ...")],
    opponent: Annotated[
        str | None,
        optional(
            "NAME|AGENT",
            "random",
            help=f"{', '.join(judge_names())} or an agent file. In a game of one player, it plays"
            " from the same starts and has its own row.",
            aliases=["--opponents"],
        ),
    ] = None,
    engine: Annotated[str | None, optional("COMMAND")] = None,
    timeout: Seconds = 10.0,
    playing: Playing = GREEDY,
    game: Annotated[str | None, optional("GAME")] = None,
    seed: Seed = 0,
    keep: bool = False,
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Play trained agents against an opponent, by the published protocol.

    Args:
      what: Folders of runs, for all their agents, or agent files, all of one game.
      engine: Command of a GTP engine to play against instead of --opponent, such as
        "edax -gtp -l 1 -n 1 -book-usage off".
      timeout: Maximum time of an engine for a move.
      game: Refuse agents of any other game.
      seed: Seed of the evaluation's random draws.
      keep: Add the result to the finished run, as one more evaluation after its last episode;
        `results` then shows it. An evaluation that was kept before is not repeated.
    """
    if engine is not None and opponent is not None:
        raise ValueError("give --opponent or --engine, not both")
    if keep and (playing != GREEDY or seed):
        raise ValueError("--keep evaluates as training does: leave out --seed and options of play")
    agents = _agents(what, game)
    rules = next(iter(agents.values())).run.game
    if keep:
        sources = [_keep(each, _judge(rules, opponent, engine, timeout)) for each in what]
        rows = group(sources, ("variant",) if len(what) == 1 else ()).rows
        print_rows(rows, console(), form)
        write_rows(json_file, as_records(rows))
        return
    alone = rules.num_players == 1 and opponent is not None and not judges_alone(opponent)
    judge = _judge(rules, None if alone else opponent, engine, timeout)
    records = []
    with contextlib.closing(judge):
        for path, saved in agents.items():
            player = playing.read().player(saved.player())
            run = f"{path.parent.parent.name}/" if len(what) > 1 and path not in what else ""
            records += _records(judge, run + path.name, rules, saved.variant, player, seed)
    if alone:
        # A game of one player: the opponent plays its own games, from the same starts.
        with contextlib.closing(make_opponent(str(opponent), rules)) as other:
            records += _records(judge, str(opponent), rules, "", other, seed)
    scale = next(iter(judge.scales.values()))
    print_records(records, json_file, form, {"mean": scale.text} if len(judge.scales) == 1 else {})


def _records(
    judge: Judge, name: str, rules: Game, variant: str, player: Player, seed: int
) -> list[dict[str, JSON]]:
    """The rows of `eval` for a player, one for each score that `judge` gives it."""
    return [
        {
            "agent": name,
            "game": rules.name,
            "variant": variant,
            "opponent": score,
            "unit": judge.scales[score].label,
            "mean": round(judge.scales[score].figure(float(scores.mean())), 4),
            "games": scores.size,
        }
        for score, scores in judge.scores(player, jax.random.key(seed)).items()
    ]


def _agents(what: tuple[Path, ...], game: str | None) -> dict[Path, SavedAgent]:
    """Load the named agents, by file; raises ValueError if they play different games."""
    if not what:
        raise ValueError("name an agent file, or the folder of a run")
    agents = {path: load_agent(path, game) for place in what for path in _agent_files(place)}
    rules = next(iter(agents.values())).run.game
    for path, saved in agents.items():
        if saved.run.game != rules:
            raise ValueError(
                f"{path} plays another game than the first agent: name agents of one game"
            )
    return agents


def _agent_files(place: Path) -> list[Path]:
    """The file `place`, or the agent files of a run; raises ValueError."""
    if not place.is_dir():
        if not names_agent(str(place)) and not place.exists():
            raise ValueError(f"{place}: No such file; name an agent file, or the folder of a run")
        return [place]
    files = sorted((place / "agents").glob("*.agent"))
    if not files:
        raise ValueError(f"{place} holds no agents; give the folder of a finished run")
    if (place / "config.json").exists():
        folder = RunFolder.open(place)
        missing = [path for path in map(folder.agent, folder.run.agents) if not path.exists()]
        if missing:
            raise ValueError(
                f"{missing[0]}: No such file, though the run has it; put it back, or name the agent"
                " files to evaluate"
            )
    return files


def _judge(rules: Game, opponent: str | None, engine: str | None, timeout: float) -> Judge:
    """The judge of the agents, with the published protocol."""
    if engine is not None:
        player = GTPEngine(rules, engine, timeout=timeout)
        return MatchJudge(rules, player, protocol_for(rules, player.name), player.name)
    name = opponent or ("score" if rules.num_players == 1 else "random")
    return judge_by(name, rules, protocol_for(rules, name))


def _keep(folder: Path, judge: Judge) -> Source:
    """Evaluate a finished run with `judge`, keep the result in its folder, and return it."""
    with contextlib.closing(judge):
        run_folder = RunFolder.open(folder)
        if not run_folder.finished:
            raise ValueError(f"{folder} is not finished: --keep needs a finished run")
        meet(run_folder, judge.scales, lambda: judge)
    results = [each for each in run_folder.results() if each.opponent in judge.scales]
    return source_of(run_folder.run, results, run_folder.summary()["training_seconds"])
