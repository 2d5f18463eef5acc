"""The command `compare`: test which of two players is stronger."""

import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from jaxgbg.arena.sequential import SequentialTest
from jaxgbg.arguments import Elo, MaxGames, OpeningPlies, Pairs, Risk
from jaxgbg.cli.common import Json, TableFormat, print_records
from jaxgbg.cli.options import GREEDY, Playing
from jaxgbg.cli.session import start_jax
from jaxgbg.games.scale import WIN_RATE
from jaxgbg.specs import Seed, checked

if TYPE_CHECKING:
    from rich.status import Status

    from jaxgbg.arena.comparison import Comparison

_VERDICTS = {
    "accept": "accept: above {0:+g} Elo",
    "reject": "reject: below {1:+g} Elo",
    "continue": "undecided",
}


@checked
def compare(
    agent: Annotated[Positional[Path], arg(metavar="AGENT")],
    opponent: Annotated[Positional[str], arg(metavar="AGENT|NAME")],
    elo0: Elo = -50,
    elo1: Elo = 0,
    alpha: Risk = 0.05,
    beta: Risk = 0.05,
    playing: Playing = GREEDY,
    opening_plies: OpeningPlies = 4,
    batch: Pairs = 50,
    max_games: MaxGames = 20_000,
    seed: Seed = 0,
    form: TableFormat = "table",
    json_file: Json = None,
) -> None:
    """Test whether an agent is at least about as strong as an opponent.

    A sequential probability ratio test (SPRT), which needs few games if the answer is clear. Accept
    means that the agent is better than elo0, reject that it is worse than elo1; between the two,
    both are possible. Greedy agents would repeat one game, so each start is drawn by random plies
    and played twice, with seats swapped; the two games count as one observation. -50 Elo is 43% of
    the points.

    Args:
      agent: Agent file, or the folder of a run for its first agent.
      opponent: Another agent, or the name of a player; FILE:look-ahead=3 looks ahead.
      elo0: Elo difference (agent minus opponent) at or below which the agent should be rejected.
      elo1: Elo difference (agent minus opponent) at or above which it should be accepted.
      alpha: Probability to accept an agent that is too weak.
      beta: Probability to reject an agent that is strong enough.
      opening_plies: Random plies before each start.
      batch: Starts played at once; each is played from both seats.
      max_games: Give up after this number of games.
      seed: Seed of starts and draws.
    """
    test = SequentialTest(elo0, elo1, alpha, beta)
    if agent.is_dir() and Path(opponent).is_dir() and agent.samefile(opponent):
        raise ValueError(
            f"{agent} is given twice, and stands for its first agent: name two files in it"
        )
    start_jax()
    from rich.console import Console

    from jaxgbg.arena.comparison import compare as play
    from jaxgbg.runs.opponents import agent_file, make_opponent
    from jaxgbg.runs.storage.agents import load_agent

    agent = agent_file(agent)
    saved = load_agent(agent)
    game = saved.run.game
    first = playing.read().player(saved.player())
    opponent = str(agent_file(Path(opponent)))
    player = make_opponent(opponent, game)
    with contextlib.closing(player), Console(stderr=True).status("playing") as status:
        shown = partial(_show_progress, status, test)
        comparison = play(game, first, player, test, opening_plies, batch, max_games, seed, shown)
    record = {"agent": agent.name, "opponent": Path(opponent).name, "game": game.name}
    record |= _record_of(comparison, _VERDICTS[comparison.decision].format(elo0, elo1))
    print_records([record], json_file, form)


def _show_progress(status: "Status", test: SequentialTest, now: "Comparison") -> None:
    games = now.wins + now.draws + now.losses
    ratio = f"{now.log_likelihood_ratio:+.2f} of {test.lower:+.2f} to {test.upper:+.2f}"
    status.update(f"{games:,} games, log likelihood ratio {ratio}")


def _record_of(comparison: "Comparison", verdict: str) -> dict[str, Any]:
    """The result of a comparison as a record; points are win rates, as in other tables."""
    counts = {name: getattr(comparison, name) for name in ("wins", "draws", "losses")}
    return {
        "games": sum(counts.values()),
        **counts,
        WIN_RATE.label: round(100 * comparison.score, 2),
        "sem": round(100 * comparison.sem, 2),
        "llr": round(comparison.log_likelihood_ratio, 3),
        "verdict": verdict,
    }
