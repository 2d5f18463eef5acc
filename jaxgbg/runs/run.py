"""What a run is: every number that it takes to repeat it, as a composition of specs."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import numbers
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from jaxgbg.evaluation import Protocol
from jaxgbg.games import Game, make
from jaxgbg.games.fingerprint import fingerprint
from jaxgbg.lazy import jax
from jaxgbg.learners import FARL_PARTS, Learner, LearnerSpec, Schedule, TDSpec
from jaxgbg.players import Player, name_of
from jaxgbg.runs.averaging import Averaging
from jaxgbg.runs.play import Play
from jaxgbg.specs import LAST_SEED, Limits, Spec, plain, setting, shown
from jaxgbg.system import file_name
from jaxgbg.types import JSON, SettingValue
from jaxgbg.values import NTupleSpec, ValueSpec

MOST_SEEDS = 100_000
"""A run has no more agents of a variant than this."""
Seeds = Annotated[int, Limits(low=1, high=MOST_SEEDS)]
"""A number of seeds."""
_MOST_OPPONENTS = 100


MEAN = "-mean"
"""What the variant of an agent of averaged weights ends in."""


class LaneName(NamedTuple):
    """A lane of a run, or its agent: its seed and its FARL variant, "farl", "part1" or "none".

    The agent of a lane's averaged weights has a variant of its own: "farl-mean".
    """

    seed: int
    variant: str

    @property
    def file(self) -> str:
        """The name of its agent's file."""
        return f"seed{self.seed}-{self.variant}.agent"

    @property
    def mean(self) -> LaneName:
        """The agent of this lane's averaged weights."""
        return self._replace(variant=self.variant + MEAN)


@dataclasses.dataclass(frozen=True)
class Evaluation(Spec):
    """When and by whom agents are judged.

    Attributes:
      every: Episodes between evaluations.
      opponents: Evaluate against these players or agent files.
      protocols: How each opponent is met; ten random starts from every seat where not given.
    """

    every: int = setting(1_000, low=1, high=2**31, short="eval_every")
    opponents: tuple[str, ...] = setting((), most=_MOST_OPPONENTS)
    protocols: tuple[Protocol, ...] = setting((), most=_MOST_OPPONENTS)

    def __post_init__(self) -> None:
        if isinstance(self.protocols, list | tuple):
            read = (p if isinstance(p, Protocol) else Protocol.read(p) for p in self.protocols)
            object.__setattr__(self, "protocols", tuple(read))
        if isinstance(self.opponents, list | tuple):
            object.__setattr__(self, "opponents", tuple(name_of(each) for each in self.opponents))
        super().__post_init__()
        if len(set(self.opponents)) != len(self.opponents):
            raise ValueError(f"opponents must be all different, not {shown(self.opponents)}")
        if self.protocols and len(self.protocols) != len(self.opponents):
            raise ValueError("protocols must be one for each of the opponents, or none at all")

    def protocol_of(self, opponent: str) -> Protocol | None:
        """How `opponent` is met; None for the default."""
        return dict(zip(self.opponents, self.protocols, strict=False)).get(opponent)


@dataclasses.dataclass(frozen=True)
class Run(Spec):
    """One training run of one game: a learner times variants times seeds.

    Attributes:
      game: A game, or its name.
      value: The value function, n-tuples or a network.
      learner: The learning algorithm.
      schedule: How long and how boldly each agent learns.
      evaluation: When and by whom agents are judged.
      play: How agents choose their moves in those games.
      averaging: Which mean of its weights each lane leaves as a second agent.
      partner: Opponent in training: self, a player that JAX can compile, or an agent file, which
        may look ahead: FILE:look-ahead=3.
      variants: Parts of Final Adaptation, trained side by side: farl (both), part1, none.
      seeds: One agent of each variant for each seed.
    """

    game: Game
    value: ValueSpec = NTupleSpec()
    learner: LearnerSpec = TDSpec()
    schedule: Schedule = Schedule()
    evaluation: Evaluation = Evaluation()
    play: Play = Play()
    averaging: Averaging = Averaging()
    partner: str = "self"
    variants: tuple[str, ...] = setting(("farl", "none"), choices=tuple(FARL_PARTS))
    seeds: tuple[int, ...] = setting(tuple(range(10)), low=0, high=LAST_SEED, most=MOST_SEEDS)

    def __post_init__(self) -> None:
        if isinstance(self.game, str):
            object.__setattr__(self, "game", make(self.game))
        object.__setattr__(self, "partner", name_of(self.partner))
        if isinstance(self.seeds, numbers.Integral):
            number = shown(self.seeds)
            raise ValueError(
                f"seeds must be a list, not {number}: range({number}) for so many seeds, or"
                f" [{number}] for this one"
            )
        super().__post_init__()
        for name in ("seeds", "variants"):
            entries = getattr(self, name)
            if not entries or len(set(entries)) != len(entries):
                raise ValueError(
                    f"{name} must be at least one, and all different, not {shown(entries)}"
                )
        alone = self.game.num_players == 1
        if self.partner == "rand":
            # The papers write RAND.
            object.__setattr__(self, "partner", "random")
        if self.learner.learn_from_partner and self.partner == "self":
            raise ValueError("learn_from_partner needs a partner other than self")
        if self.learner.one_explores and (self.partner != "self" or alone):
            raise ValueError(
                "the learner is the only one who explores: leave out one_explores, which is for"
                " self-play of two players or more"
            )
        if self.partner != "self" and alone:
            raise ValueError(f"{self.game.name} is played alone: its only partner is self")
        for variant in set(self.variants) - set(self.learner.variants):
            raise ValueError(f"{self.learner.kind} has no second part of FARL: leave out {variant}")
        self._check_play(self.make_learner())

    def make_learner(self) -> Learner:
        """The static half of the run: game, value function, batch and horizon."""
        return self.learner.build(self.game, self.value, self.schedule)

    def _check_play(self, learner: Learner) -> None:
        """Raises ValueError where agents of `learner` cannot play as they are to."""

        from jaxgbg.players import GreedyAgent

        def player() -> Player:
            params = learner.value.init(key=jax.random.key(0))
            return self.play.player(GreedyAgent(learner.game, learner.value, params))

        if self.play != Play():
            jax.eval_shape(player)

    def for_seed(self, seed: int) -> Run:
        """This run with one seed, and what it draws for itself written out."""
        return dataclasses.replace(self, value=self.value.for_seed(self.game, seed), seeds=(seed,))

    @property
    def lanes(self) -> tuple[LaneName, ...]:
        """Every training that runs side by side."""
        return tuple(LaneName(seed, variant) for seed in self.seeds for variant in self.variants)

    @property
    def agents(self) -> tuple[LaneName, ...]:
        """Every agent that is judged and kept: those of the lanes and, if any, of their means."""
        averaged = tuple(lane.mean for lane in self.lanes) if self.averaging.on else ()
        return self.lanes + averaged

    def plain(self) -> dict[str, JSON]:
        """All settings as JSON knows them, and the fingerprint of the game's rules."""
        parts = {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        game = plain_game(self.game)
        return json.loads(json.dumps(parts | {"game": game, "fingerprint": fingerprint(self.game)}))

    def changed(self) -> dict[str, JSON]:
        """What differs from the defaults, as JSON knows it."""
        parts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return changed_parts(parts | {"game": plain_game(self.game)})

    @classmethod
    def read(cls, content: JSON) -> Run:
        """Undo `plain`; raises ValueError on what is no run, or one under other rules."""
        if not isinstance(content, Mapping) or "game" not in content:
            raise ValueError(f"a run must be a table with a game, not {shown(content)}")
        fields = {**content, "game": read_game(content["game"])}
        stored = fields.pop("fingerprint", None)
        run = super().read(fields)
        if stored is not None and stored != fingerprint(run.game):
            raise RulesChanged(
                f"made under other rules of {run.game.name} (fingerprint {shown(stored)},"
                f" now {fingerprint(run.game)})"
            )
        return run

    @functools.cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with any setting that is not its default."""
        return digest_of(self.changed())

    @property
    def name(self) -> str:
        """The name of its folder."""
        return file_name(f"{self.game.name}-{self.digest}")


class RulesChanged(ValueError):
    """A run or an agent that was made when its game had other rules."""


def read_parts(content: Mapping[str, JSON]) -> dict[str, SettingValue]:
    """All of a plain run but its game, each part checked by itself; raises ValueError."""
    parts = {field.name: field.default for field in dataclasses.fields(Run)[1:]}
    for name, part in content.items():
        if name not in ("game", "fingerprint"):
            spec = Run.part(name)
            parts[name] = spec.read(part) if spec else Run.check(name, part)
    return parts


def changed_parts(parts: Mapping[str, SettingValue]) -> dict[str, JSON]:
    """What of the parts of a run, its game plain, differs from the defaults, as JSON knows it.

    A part at its defaults is left out: one that is added later alters no digest.
    """
    changed = {
        name: part.digested() if isinstance(part, Spec) else plain(part)
        for name, part in parts.items()
    }
    return json.loads(json.dumps({name: part for name, part in changed.items() if part != {}}))


def digest_of(changed: Mapping[str, JSON]) -> str:
    """Eight hexadecimal digits of what `Run.changed` gives."""
    text = json.dumps(changed, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def plain_game(game: Game) -> dict[str, JSON]:
    """A game as JSON knows it: its name and parameters."""
    known = {
        field.name: value
        for field in dataclasses.fields(game)
        if (value := getattr(game, field.name)) != field.default or not field.metadata.get("added")
    }
    return {"name": game.name, **known}


def read_game(content: JSON) -> Game:
    """Undo `plain_game`; raises ValueError for what is no game."""
    if not isinstance(content, Mapping) or not isinstance(content.get("name"), str):
        raise ValueError(f"not a known game: {shown(content)}")
    parameters = {key: value for key, value in content.items() if key != "name"}
    return make(content["name"], **parameters)
