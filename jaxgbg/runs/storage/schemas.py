"""Schemas of the files of a run, one spec for each kind of file, and their validation."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TypeVar

from jaxgbg.contents import reason
from jaxgbg.learners import FARL_PARTS
from jaxgbg.runs.run import MEAN, Run
from jaxgbg.specs import Spec, setting
from jaxgbg.types import JSON, SettingValue

GREATEST = 2**53
"""No count in our files is greater: a float holds it exactly, and five of them fit 64 bits."""
_GREATEST_WEIGHT = 3.5e38


@dataclasses.dataclass(frozen=True)
class Summary(Spec):
    """summary.json: totals of a finished run.

    Attributes:
      episodes: Episodes of all agents together.
      moves: Moves of all agents together.
      training_seconds: Time of the training, without evaluations.
      moves_per_second: Rate of all agents together.
      state_sha256: Hash of tables, counters, games and random state.
      diverged: Seed and variant of each agent whose network has diverged.
      agents: Seed, variant, episodes, moves, weights and active weights (finite and not 0) of each
        trained agent, without means of weights.
    """

    episodes: int = setting(low=0, high=GREATEST)
    moves: int = setting(low=0, high=GREATEST)
    training_seconds: float = setting(low=0, high=GREATEST)
    moves_per_second: float = setting(low=0, high=GREATEST)
    state_sha256: str = ""
    diverged: tuple[tuple[int, str], ...] = ()
    agents: tuple[tuple[int, str, int, int, int, int], ...] = setting((), low=0, high=GREATEST)


@dataclasses.dataclass(frozen=True)
class Provenance(Spec):
    """provenance.json: the machine, versions and command that made a run.

    Attributes:
      command: The command line, word by word.
      python: Version of Python.
      machine: Architecture of the machine.
      versions: Versions of the relevant packages, by name.
      settings: Settings of JAX that change what a seed draws.
      devices: Devices of JAX.
      revision: Revision of this package's source.
      started: Time of the start, in UTC.
      resumed: Times at which the run was resumed.
      resumed_with: Versions and settings at each of these times.
    """

    command: tuple[str, ...] = ()
    python: str = ""
    machine: str = ""
    versions: dict = dataclasses.field(default_factory=dict)
    settings: dict = dataclasses.field(default_factory=dict)
    devices: tuple[str, ...] = ()
    revision: str = ""
    started: str = ""
    resumed: tuple[str, ...] = ()
    resumed_with: tuple[dict, ...] = ()


@dataclasses.dataclass(frozen=True)
class About(Spec):
    """The header of a checkpoint.

    Attributes:
      run: Digests of its runs.
      metrics_sha256: Hash of each run's metrics.
      reached: Number of milestones evaluated.
      seconds: Training time so far.
      metrics: Number of bytes of each run's metrics that belong to it.
      bytes: Size of the state.
    """

    run: str
    metrics_sha256: tuple[str, ...]
    reached: int = setting(low=0, high=GREATEST)
    seconds: float = setting(low=0, high=GREATEST)
    metrics: tuple[int, ...] = setting(low=0, high=GREATEST)
    bytes: int = setting(low=0, high=GREATEST)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.metrics) != len(self.metrics_sha256):
            raise ValueError("metrics_sha256 must be as many as metrics")


@dataclasses.dataclass(frozen=True)
class AgentHeader(Spec):
    """The header of an agent file.

    Attributes:
      run: The run, with the agent's seed only.
      variant: The agent's variant, such as farl, or farl-mean for averaged weights.
      members: In an ensemble, the digest of each member's run, and its variant.
    """

    run: Run
    variant: str = setting(choices=(*FARL_PARTS, *(each + MEAN for each in FARL_PARTS)))
    members: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.run.seeds) != 1:
            raise ValueError(f"an agent has one seed, not {len(self.run.seeds)}")
        variants = [agent.variant for agent in self.run.agents]
        if self.variant not in variants:
            known = ", ".join(variants)
            raise ValueError(f"variant must be one of its run's ({known}), not {self.variant!r}")


@dataclasses.dataclass(frozen=True)
class Counts(Spec):
    """One agent in a histogram.

    Attributes:
      seed: Seed of the agent.
      variant: Variant of the agent.
      counts: Number of weights in each bin.
    """

    seed: int = setting(low=0, high=GREATEST)
    variant: str = setting(choices=tuple(FARL_PARTS))
    counts: tuple[int, ...] = setting(low=0, high=GREATEST)


@dataclasses.dataclass(frozen=True)
class Histogram(Spec):
    """A part of histograms.json.

    Attributes:
      edges: Edges of the bins, ascending.
      agents: One record for each agent.
    """

    edges: tuple[float, ...] = setting(low=-_GREATEST_WEIGHT, high=_GREATEST_WEIGHT)
    agents: tuple[Counts, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.agents, list | tuple):
            read = (each if isinstance(each, Counts) else Counts.read(each) for each in self.agents)
            object.__setattr__(self, "agents", tuple(read))
        super().__post_init__()
        if len(self.edges) < 2 or list(self.edges) != sorted(set(self.edges)):
            raise ValueError("edges must be two or more, and ascending")
        if any(len(each.counts) != len(self.edges) - 1 for each in self.agents):
            raise ValueError(f"counts must be one for each of {len(self.edges) - 1} bins")


@dataclasses.dataclass(frozen=True)
class Histograms(Spec):
    """histograms.json: histograms of the weights and of their TC factors.

    Attributes:
      weights: Histogram of the active weights.
      tc_factors: Histogram of the TC factors of the active weights, if there are any.
    """

    weights: Histogram
    tc_factors: Histogram | None = None

    def __post_init__(self) -> None:
        for name in ("weights", "tc_factors"):
            object.__setattr__(self, name, self.check(name, getattr(self, name)))

    @classmethod
    def check(cls, name: str, value: JSON) -> SettingValue:
        """As a spec does, and a histogram also as JSON knows it."""
        if isinstance(value, Histogram) or (value is None and name == "tc_factors"):
            return value
        return Histogram.read(value)


Stored = TypeVar("Stored", bound=Spec)


def validate(kind: type[Stored], content: JSON) -> Stored:
    """Validate the content of a file by its spec; unknown fields of newer versions are left out.

    Raises ValueError, without the file's name, where something is missing or of another kind.
    """
    known = _fields(kind, content)
    missing = _missing(kind, known)
    if missing:
        raise ValueError(missing)
    return kind.read(known)


def validate_partial(
    kind: type[Stored], content: JSON, complain: Callable[[str], None]
) -> dict[str, SettingValue]:
    """The valid fields of a file's content; `complain` receives the other ones in one line."""
    try:
        fields = _fields(kind, content)
    except ValueError as error:
        complain(str(error))
        return {}
    good: dict[str, SettingValue] = {}
    wrong = [_missing(kind, fields)]
    for name, value in fields.items():
        try:
            good[name] = kind.check(name, value)
        except ValueError as error:
            wrong.append(reason(error))
    if any(wrong):
        complain("; ".join(filter(None, wrong)))
    return good


def _fields(kind: type[Spec], content: JSON) -> dict[str, JSON]:
    if not isinstance(content, Mapping):
        raise ValueError("not a JSON object")
    names = [field.name for field in dataclasses.fields(kind)]
    return {name: content[name] for name in names if name in content}


def _missing(kind: type[Spec], found: Mapping[str, JSON]) -> str:
    """The missing fields without a default, in words; empty if there are none."""
    free = (dataclasses.MISSING, dataclasses.MISSING)
    names = [
        field.name
        for field in dataclasses.fields(kind)
        if (field.default, field.default_factory) == free and field.name not in found
    ]
    return f"no {', '.join(names)}" if names else ""
