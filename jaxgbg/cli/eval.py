"""The command `eval`: evaluate trained agents."""

import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from jaxgbg.arguments import Seconds
from jaxgbg.cli.common import (
    Json,
    Position,
    Record,
    TableFormat,
    console,
    optional,
    print_records,
    read_position,
    write_rows,
)
from jaxgbg.cli.options import GREEDY, Playing
from jaxgbg.cli.session import start_jax
from jaxgbg.evaluation import Judge, MatchJudge, judge_names, judges_alone
from jaxgbg.games import Game
from jaxgbg.lazy import jax
from jaxgbg.players import Player
from jaxgbg.runs.play import Play
from jaxgbg.runs.presets import protocol_for
from jaxgbg.specs import Seed, checked
from jaxgbg.types import JSON

if TYPE_CHECKING:
    from jaxgbg.evaluation.played_games import PlayedGames
    from jaxgbg.results.rows import Source
    from jaxgbg.runs.storage.agents import SavedAgent
    from jaxgbg.runs.storage.recorded_games import RecordedGame

Opponent = Annotated[
    str | None,
    optional(
        "NAME|AGENT",
        "random",
        help=f"{', '.join(judge_names())} or an agent file. In a game of one player, it plays"
        " from the same starts and has its own row.",
        aliases=["--opponents"],
    ),
]


@checked
def evaluate(
    what: Annotated[Positional[tuple[Path, ...]], optional("RUN|AGENT ...")],
    opponent: Opponent = None,
    engine: Annotated[str | None, optional("COMMAND")] = None,
    timeout: Annotated[Seconds, arg(metavar="SECONDS")] = 10.0,
    playing: Playing = GREEDY,
    game: Annotated[str | None, optional("GAME")] = None,
    position: Position = None,
    seed: Seed = 0,
    record: Record = None,
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
    if keep and (playing != GREEDY or seed or position is not None or record is not None):
        raise ValueError(
            "--keep evaluates as training does: leave out --seed, --position, --record and options"
            " of play"
        )
    start_jax()
    from jaxgbg.runs.opponents import make_opponent
    from jaxgbg.runs.storage.recorded_games import write_games

    agents = _agents(what, game)
    rules = next(iter(agents.values())).run.game
    if keep:
        sources = [_keep(each, _judge(rules, opponent, engine, timeout)) for each in what]
        _print_kept(sources, form, json_file)
        return
    alone = rules.num_players == 1 and opponent is not None and not judges_alone(opponent)
    judge = _judge(rules, None if alone else opponent, engine, timeout)
    played = _PlayedByName(rules, seed)
    if position is not None or record is not None:
        judge = _matches(judge, rules, position, None if record is None else played)
    with contextlib.closing(judge):
        records = _all_records(judge, what, agents, playing.read(), seed, played)
    if alone:
        # A game of one player: the opponent plays its own games, from the same starts.
        with contextlib.closing(make_opponent(str(opponent), rules)) as other:
            played.agent = str(opponent)
            records += _records(judge, str(opponent), rules, "", other, seed)
    if record is not None:
        write_games(record, played.games)
    scale = next(iter(judge.scales.values()))
    print_records(records, json_file, form, {"mean": scale.text} if len(judge.scales) == 1 else {})


def _print_kept(sources: "list[Source]", form: TableFormat, json_file: Path | None) -> None:
    """Print and write the rows of finished runs with the results that were added."""
    from jaxgbg.results.rows import as_records, group
    from jaxgbg.results.table import print_table as print_rows

    rows = group(sources, ("variant",) if len(sources) == 1 else ()).rows
    print_rows(rows, console(), form)
    write_rows(json_file, as_records(rows))


class _PlayedByName:
    """The games of the matches of `agent` against the opponent of a judge."""

    def __init__(self, rules: Game, seed: int) -> None:
        self.agent, self.opponent, self.games = "", "", list["RecordedGame"]()
        self._rules, self._seed = rules, seed

    def add(self, played: "PlayedGames") -> None:
        from jaxgbg.evaluation.played_games import moves_of
        from jaxgbg.runs.storage.recorded_games import RecordedGame

        names = (self.agent, self.opponent)
        for game, (opening, moves) in enumerate(moves_of(self._rules, played)):
            players = tuple(names[number] for number in played.seats[game])
            result = tuple(played.rewards[game].tolist())
            number = len(self.games) + 1
            self.games.append(
                RecordedGame(self._rules, players, moves, result, opening, self._seed, number)
            )


def _matches(
    judge: Judge, rules: Game, position: str | None, played: _PlayedByName | None
) -> MatchJudge:
    """The judge with all games from a position, or kept; raises ValueError if it plays none."""
    if not isinstance(judge, MatchJudge):
        raise ValueError(
            f"{next(iter(judge.scales))} plays no games: leave out --position and --record"
        )
    start = None
    if position is not None:
        from jaxgbg.games.game_replay import GameReplay
        from jaxgbg.players.core import history_of

        line, state = read_position(rules, position)
        if state.terminal:
            raise ValueError("the game is over in this position: --position needs one to play on")
        if judge.opponent is not None and judge.opponent.needs_history and line.start:
            raise ValueError(
                f"{judge.name} needs the moves from the start of the game: give --position as 3,2,4"
            )
        start = jax.tree.map(lambda leaf: leaf[None], state), history_of(GameReplay(rules), line)
    if played is not None:
        played.opponent = judge.name
    return dataclasses.replace(
        judge, position=start, on_games=None if played is None else played.add
    )


def _all_records(
    judge: Judge,
    what: tuple[Path, ...],
    agents: "dict[Path, SavedAgent]",
    play: Play,
    seed: int,
    played: _PlayedByName,
) -> list[dict[str, JSON]]:
    """The rows of all agents; those of several runs are named with their runs."""
    records = []
    for path, saved in agents.items():
        player = play.player(saved.player())
        run = f"{path.parent.parent.name}/" if len(what) > 1 and path not in what else ""
        played.agent = run + path.name
        records += _records(judge, played.agent, saved.run.game, saved.variant, player, seed)
    return records


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


def _agents(what: tuple[Path, ...], game: str | None) -> "dict[Path, SavedAgent]":
    """Load the named agents, by file; raises ValueError if they play different games."""
    if not what:
        raise ValueError("name an agent file, or the folder of a run")
    from jaxgbg.runs.storage.agents import load_agent

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
    from jaxgbg.runs.opponents import agents_of, names_agent

    if not place.is_dir():
        if not names_agent(str(place)) and not place.exists():
            raise ValueError(f"{place}: No such file; name an agent file, or the folder of a run")
        return [place]
    return sorted(agents_of(place))


def _judge(rules: Game, opponent: str | None, engine: str | None, timeout: float) -> Judge:
    """The judge of the agents, with the published protocol."""
    from jaxgbg.runs.opponents import judge_by

    if engine is not None:
        from jaxgbg.players import GTPEngine

        player = GTPEngine(rules, engine, timeout=timeout)
        return MatchJudge(rules, player, protocol_for(rules, player.name), player.name)
    name = opponent if opponent is not None else ("score" if rules.num_players == 1 else "random")
    return judge_by(name, rules, protocol_for(rules, name))


def _keep(folder: Path, judge: Judge) -> "Source":
    """Evaluate a finished run with `judge`, keep the result in its folder, and return it."""
    from jaxgbg.results.rows import source_of
    from jaxgbg.runs import RunFolder
    from jaxgbg.runs.presets.table1 import meet

    if not folder.is_dir():
        raise ValueError(f"--keep needs the folder of a finished run, and {folder} is a file")
    with contextlib.closing(judge):
        run_folder = RunFolder.open(folder)
        if not run_folder.finished:
            raise ValueError(f"{folder} is not finished: --keep needs a finished run")
        summary = run_folder.summary()
        meet(run_folder, judge.scales, lambda: judge)
    results = [each for each in run_folder.results() if each.opponent in judge.scales]
    return source_of(run_folder.run, results, summary["training_seconds"])
