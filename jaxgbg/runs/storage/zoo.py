"""The zoo: agents that come with the package, `zoo:NAME`, each with a card of what it is.

An agent is a file `NAME.agent` of the folder `jaxgbg/zoo`, its card `NAME.json`. They are made by
`python -m experiments.zoo.run` in the repository.
"""

import dataclasses
from pathlib import Path

from jaxgbg.contents import Readable, read_json
from jaxgbg.games import Game
from jaxgbg.runs.run import plain_game
from jaxgbg.runs.storage.schemas import GREATEST, validate
from jaxgbg.specs import Spec, did_you_mean, setting, shown

PREFIX = "zoo:"
"""What the names of these agents begin with, wherever an agent is named."""
FOLDER = Path(__file__).parents[2] / "zoo"


@dataclasses.dataclass(frozen=True)
class Card(Spec):
    """What an agent of the zoo is: its training, its size, and its scores.

    Attributes:
      game: The game, its name and parameters.
      command: The command that trains it, measures it and writes both files.
      settings: Settings of its training that differ from the defaults of the game.
      seeds: Seeds of its trainings; an agent of several is the mean of their networks.
      episodes: Episodes of each training.
      seconds: Time of all trainings, of one core shared with other work, without evaluations.
      machine: Architecture and devices of its training.
      versions: Versions of Python and of packages.
      revision: Revision of the source.
      bits: Bits of a weight in the file.
      weights: Number of weights; `active` of them are not 0.
      active: Number of weights that are not 0.
      bytes: Size of the file.
      sha256: Hash of the file.
      rounding: Positions of its own play with some random moves, and in how many of them the
        rounded weights choose other moves than the weights of the training.
      scores: Opponent, games, mean with its 95% interval, and in some of them the mean of the
        weights before rounding.
      notes: What else a reader must know of the figures.
    """

    game: dict = dataclasses.field(default_factory=dict)
    command: str = ""
    settings: dict = dataclasses.field(default_factory=dict)
    seeds: tuple[int, ...] = setting((), low=0, high=GREATEST)
    episodes: int = setting(0, low=0, high=GREATEST)
    seconds: float = setting(0, low=0, high=GREATEST)
    machine: str = ""
    versions: dict = dataclasses.field(default_factory=dict)
    revision: str = ""
    bits: int = setting(8, low=1, high=32)
    weights: int = setting(0, low=0, high=GREATEST)
    active: int = setting(0, low=0, high=GREATEST)
    bytes: int = setting(0, low=0, high=GREATEST)
    sha256: str = ""
    rounding: dict = dataclasses.field(default_factory=dict)
    scores: tuple[dict, ...] = ()
    notes: str = ""


def zoo_names() -> list[str]:
    """The names of all agents of the zoo, without the prefix, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.agent"))


def is_zoo_name(text: str) -> bool:
    """Whether `text` names an agent of the zoo, known or not."""
    return text.startswith(PREFIX)


def file_at(path: Readable) -> Readable:
    """The file of an agent of the zoo; any other path is itself. Raises ValueError."""
    text = str(path) if isinstance(path, str | Path) else ""
    if not is_zoo_name(text):
        return path
    return FOLDER / f"{_known(text.removeprefix(PREFIX))}.agent"


def card_of(name: str) -> Card:
    """The card of an agent of the zoo, named with the prefix or without; raises ValueError."""
    return validate(Card, read_json(FOLDER / f"{_known(name.removeprefix(PREFIX))}.json"))


def zoo_agent_for(game: Game) -> str | None:
    """The name of the zoo's agent of this very game, with the prefix; None without one."""
    for name in zoo_names():
        if card_of(name).game == plain_game(game):
            return PREFIX + name
    return None


def _known(name: str) -> str:
    if name in zoo_names():
        return name
    names = [PREFIX + each for each in zoo_names()]
    near = did_you_mean(PREFIX + name, names) or f": choose one of {', '.join(names)}"
    raise ValueError(f"no agent {shown(PREFIX + name)} comes with jaxgbg{near}")
