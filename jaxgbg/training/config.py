"""What a run is: every number that it takes to repeat it, and the published parameter sets."""

import dataclasses
import hashlib
import json
from typing import Any

import numpy as np

import jaxgbg.games
from jaxgbg.arena import Protocol
from jaxgbg.games import Game
from jaxgbg.learners import LEARNERS, Learner, SarsaLearner, horizon_of
from jaxgbg.values import Layout, NTuple, ValueFunction, check_layout, random_walk

# Fields that came when there were finished runs already.
_YOUNGER = (
    *("learner", "replan", "discount", "value", "hidden", "activation", "output", "initializer"),
    *("bias", "optimizer", "parameter_traces", "partner", "learn_from_partner", "starts"),
)


@dataclasses.dataclass(frozen=True)
class Config:
    """One training run of one game, for any number of seeds.

    `tuples` are the n-tuples' cells; where there are none, every seed draws its own random walks,
    `walks` = (number, length). The share `opening_share` of the episodes begins `opening_plies`
    random plies after the start. `farl` lists the variants trained side by side: "farl" (both
    parts of Final Adaptation), "part1" (without the adaptation of the terminal state) or "none".
    `opponents` are evaluated against every `eval_every` episodes. `learner` is "td", "sarsa"
    or "q"; these two learn values of actions, SARSA with `replan` by Algorithm 5 to the letter.
    `value` is "ntuple" or "mlp", a network of `hidden` layers (see `MLP`), for which alpha is the
    step size of `optimizer`, and which can have `parameter_traces`. `partner` is "self" or whom to
    train against, a player's name or the file of an agent. `starts` are those of the evaluations,
    the published ones if empty (see `Protocol`).
    """

    game: str
    tuples: Layout = ()
    walks: tuple[int, int] = (0, 0)
    game_parameters: tuple[tuple[str, Any], ...] = ()
    episodes: int = 10_000
    eval_every: int = 1_000
    batch: int = 64
    combine: str = "saturating"
    alpha_start: float = 1.0
    alpha_end: float = 1.0
    epsilon_start: float = 0.1
    epsilon_end: float = 0.0
    trace_decay: float = 0.0
    trace_cut: float = 0.1
    reset_traces: bool = False
    delayed_traces: bool = False
    sigmoid: bool = True
    tcl: str = "none"
    beta: float = 2.7
    opening_plies: int = 0
    opening_share: float = 0.5
    learn_from_random: bool = True
    zero_terminal: bool = False
    farl: tuple[str, ...] = ("farl", "none")
    opponents: tuple[str, ...] = ()
    seeds: tuple[int, ...] = tuple(range(10))
    learner: str = "td"
    replan: bool = False
    discount: float = 1.0
    value: str = "ntuple"
    hidden: tuple[int, ...] = (50,)
    activation: str = "sigmoid"
    output: str = "tanh"
    initializer: str = "uniform"
    bias: float = 0.0
    optimizer: str = "sgd"
    parameter_traces: bool = False
    partner: str = "self"
    learn_from_partner: bool = False
    starts: str = ""

    def __post_init__(self) -> None:
        for name in ("episodes", "eval_every", "batch"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("alpha_start", "alpha_end", "beta"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a positive number, not {getattr(self, name)}")
        for name in ("epsilon_start", "epsilon_end"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie between 0 and 1, not {getattr(self, name)}")
        if not 0 <= self.trace_decay < 1 or not 0 < self.trace_cut < 1:
            raise ValueError("trace_decay must lie in [0, 1) and trace_cut in (0, 1)")
        if not self.seeds or min(self.seeds) < 0 or len(set(self.seeds)) != len(self.seeds):
            raise ValueError("seeds must be different numbers, 0 or greater, and at least one")
        unknown = set(self.farl) - set(FARL_SWITCHES)
        if unknown or not self.farl:
            raise ValueError(f"farl must be among {', '.join(FARL_SWITCHES)}, not {self.farl}")
        if self.opening_plies < 0 or not 0 < self.opening_share <= 1:
            raise ValueError("opening_plies must be 0 or more, opening_share lie in (0, 1]")
        if self.value not in ("ntuple", "mlp"):
            raise ValueError(f"value must be ntuple or mlp, not {self.value!r}")
        if self.learner not in LEARNERS:
            raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, not {self.learner!r}")
        if not 0 <= self.discount <= 1:
            raise ValueError(f"discount must lie between 0 and 1, not {self.discount}")
        if self.replan and self.learner != "sarsa":
            raise ValueError("replan belongs to the learner sarsa: it chooses the next action anew")
        if self.parameter_traces and self.value != "mlp":
            raise ValueError("parameter_traces are for value mlp: n-tuples have eligibility lists")
        if self.parameter_traces and self.delayed_traces:
            raise ValueError("choose parameter_traces or delayed_traces, not both")
        if self.learn_from_partner and self.partner == "self":
            raise ValueError("learn_from_partner needs a partner other than self")
        if self.partner != "self" and self.make_game().num_players == 1:
            raise ValueError(f"{self.game} is played alone: its only partner is self")
        if self.learner != "td" and "part1" in self.farl:
            raise ValueError(f"{self.learner} has no second part of FARL: leave out part1")
        if self.learner != "td" and self.make_game().stochastic:
            raise ValueError(
                f"{self.game} is learned on afterstates, before chance has its turn, and"
                f" {self.learner} learns values of actions: use the learner td"
            )
        self.make_learner()

    def make_game(self) -> Game:
        return jaxgbg.games.make(self.game, **dict(self.game_parameters))

    def make_learner(self) -> Learner:
        """The static half of the run: game, value function, batch and horizon."""
        game, value = self.make_game(), self._make_value()
        horizon = horizon_of(self.trace_decay, self.trace_cut)
        learner = LEARNERS[self.learner](
            game=game,
            value=value,
            batch=self.batch,
            horizon=horizon,
            opening_plies=self.opening_plies,
            opening_share=self.opening_share,
            # One game at a time is the serial algorithm to the letter.
            delayed=self.delayed_traces and self.batch > 1 and horizon > 1,
            parameter_traces=self.parameter_traces,
        )
        if isinstance(learner, SarsaLearner):
            return dataclasses.replace(learner, replan=self.replan)
        return learner

    def _make_value(self) -> ValueFunction:
        game, of_actions = self.make_game(), self.learner != "td"
        if self.value == "mlp":
            from jaxgbg.values.mlp import MLP

            names = ("hidden", "activation", "output", "initializer", "bias", "optimizer")
            settings = {name: getattr(self, name) for name in (*names, "combine")}
            return MLP.for_game(game, of_actions, **settings)
        # With one game at a time nothing is combined; "sum" then saves the scratch count.
        combine = self.combine if self.batch > 1 else "sum"
        tuples = self.layout(self.seeds[0])
        return NTuple.for_game(
            game,
            tuples,
            self.sigmoid,
            self.tcl,
            combine,
            varied=not self.tuples,
            of_actions=of_actions,
        )

    def layout(self, seed: int) -> Layout:
        """The n-tuples of one seed; raises ValueError where they do not fit the game."""
        game = self.make_game()
        if self.tuples:
            return check_layout(game, self.tuples, "layout")
        if self.walks[0] < 1:
            raise ValueError("give the n-tuples, or how many random walks to draw")
        return random_walk(game, *self.walks, seed=seed)

    def of_seed(self, seed: int) -> "Config":
        """This config with the n-tuples that `seed` has."""
        if self.value == "mlp":
            return dataclasses.replace(self, seeds=(seed,))
        return dataclasses.replace(self, tuples=self.layout(seed), seeds=(seed,))

    @property
    def lanes(self) -> tuple[tuple[int, str], ...]:
        """(seed, FARL variant) of every training that runs side by side."""
        return tuple((seed, variant) for seed in self.seeds for variant in self.farl)

    def as_json(self) -> dict[str, Any]:
        """All fields, but for younger ones with their defaults: old runs keep their digests."""
        fields = dataclasses.asdict(self)
        for field in dataclasses.fields(self):
            if field.name in _YOUNGER and fields[field.name] == field.default:
                del fields[field.name]
        return json.loads(json.dumps(fields))

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Config":
        """Undo `as_json`; raises ValueError or TypeError on fields that make no config."""

        def fixed(value: Any) -> Any:
            return tuple(fixed(item) for item in value) if isinstance(value, list) else value

        return cls(**{name: fixed(value) for name, value in fields.items()})

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with any field."""
        return digest_of(self.as_json())


def digest_of(fields: dict[str, Any]) -> str:
    """The digest of a run whose config.json holds `fields`, of whichever version it is."""
    text = json.dumps(fields, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# (final_others, final_zero) of each variant: FARL parts 1 and 2.
FARL_SWITCHES = {"farl": (True, True), "part1": (True, False), "none": (False, False)}

# The four 6-tuples of 2048, of the form given by Jaskowski 2018, Fig. 3c.
TUPLES_2048 = (
    (0, 4, 8, 1, 5, 9),
    (1, 5, 9, 2, 6, 10),
    (2, 6, 9, 10, 13, 14),
    (3, 7, 10, 11, 14, 15),
)

PROTOCOLS = {
    ("tictactoe", "maxn"): Protocol("one_ply"),
    ("connectfour", "ab"): Protocol("default", repeats=40, seats=(0,)),
    ("connectfour", "ab-dl"): Protocol("default", repeats=40, seats=(0,)),
    ("nim", "maxn"): Protocol("choose_01", count=10),
    ("nim3p", "maxn"): Protocol("choose_01", count=10, repeats=10),
    ("nim3p", "mcts"): Protocol("choose_01", count=10, repeats=3),
    ("hex", "mcts"): Protocol("one_ply_triangle", repeats=3),
    ("2048", "score"): Protocol("default", repeats=250),
    # D'Ambra: 200 test games; who begins is not said.
    ("tictactoe", "random"): Protocol("default", repeats=100),
    ("connectfour", "blocker"): Protocol("default", repeats=100),
}


def protocol_for(game: str, opponent: str) -> Protocol:
    """The published evaluation of `game` against `opponent`; else ten random starts, every seat."""
    if game == "othello":
        return Protocol("four_ply")
    kind = "mcts" if opponent.startswith("mcts-") else opponent
    return PROTOCOLS.get((game, kind), Protocol("choose_01", count=10, repeats=4))


def preset(game: str, **changes: Any) -> Config:
    """The published parameters of a game (Konen & Bagheri 2021, appendix A.6), with `changes`.

    Where the paper's text and its authors' saved agents differ, the agents' values stand here:
    ConnectFour learns from random moves, Nim3P does not, Nim's epsilon falls to 0. The batch
    is our own choice. ConnectFour's 70 8-tuples are random walks as the paper's were, not its own.
    With `value="mlp"` only budget, evaluation and openings are published ones; see `_NETWORK`.
    Raises ValueError for a game without published parameters.
    """
    if game not in jaxgbg.games.GAMES:
        jaxgbg.games.make(game)
    built = jaxgbg.games.make(game, **dict(changes.get("game_parameters", ())))
    if game == "tictactoe":
        fields: dict[str, Any] = {
            "tuples": (tuple(range(9)),),
            "episodes": 30_000,
            "eval_every": 1_000,
            "alpha_end": 0.5,
            "opponents": ("maxn",),
        }
    elif game == "nim":
        fields = {
            "tuples": (tuple(range(built.num_cells)),),
            "episodes": 20_000,
            "eval_every": 1_000,
            "alpha_start": 0.5,
            "alpha_end": 0.5,
            "trace_decay": 0.5,
            "tcl": "id",
            "opponents": ("maxn",),
        }
    elif game == "nim3p":
        fields = {
            "tuples": (tuple(range(built.num_cells)),) * 2,
            "episodes": 300_000,
            "eval_every": 10_000,
            "batch": 256,
            "alpha_start": 0.2,
            "alpha_end": 0.2,
            "epsilon_start": 0.15,
            "epsilon_end": 0.15,
            "trace_decay": 0.5,
            "trace_cut": 0.01,
            "reset_traces": True,
            "tcl": "id",
            "opening_plies": 1,
            "learn_from_random": False,
            "opponents": ("maxn",),
        }
    elif game == "hex":
        fields = {
            "walks": (25, 6),
            "episodes": 300_000,
            "eval_every": 50_000,
            "alpha_end": 0.5,
            "epsilon_start": 0.2,
            "epsilon_end": 0.2,
            "tcl": "id",
            "opening_plies": 1,
            "opponents": ("mcts-100",),
        }
    elif game == "othello":
        fields = {
            "tuples": changes.get("tuples") or random_walk(built, 50, 6, seed=0),
            "episodes": 250_000,
            "eval_every": 25_000,
            "alpha_start": 0.2,
            "alpha_end": 0.2,
            "epsilon_start": 0.2,
            "epsilon_end": 0.2,
            "trace_decay": 0.5,
            "trace_cut": 0.01,
            "delayed_traces": True,
            "tcl": "exp",
            "opening_plies": 4,
            "opening_share": 0.7,
            "learn_from_random": False,
            "opponents": ("bench",),
        }
    elif game == "2048":
        fields = {
            "tuples": TUPLES_2048,
            "episodes": 200_000,
            "eval_every": 5_000,
            "epsilon_start": 0.0,
            "sigmoid": False,
            "tcl": "id",
            "learn_from_random": False,
            "opponents": ("score",),
        }
    else:
        fields = {
            "tuples": changes.get("tuples") or random_walk(built, 70, 8, seed=0),
            "episodes": 5_000_000,
            "eval_every": 100_000,
            "alpha_start": 3.7,
            "alpha_end": 3.7,
            "tcl": "exp",
            "opponents": ("ab", "ab-dl"),
        }
    if changes.get("value") == "mlp":
        kept = ("episodes", "eval_every", "opening_plies", "opening_share", "opponents")
        fields = {name: fields[name] for name in kept if name in fields} | _NETWORK
        if built.num_cells <= _SMALL_BOARD:
            fields |= _SMALL_NETWORK
    return Config(game=game, **{**fields, **changes})


# Van der Ree & Wiering 2013: one layer of 50, plain gradient descent. Step size and lockstep are
# our own choice.
_NETWORK: dict[str, Any] = {
    "batch": 16,
    "combine": "sum",
    "alpha_start": 0.01,
    "alpha_end": 0.01,
    "zero_terminal": True,
}
# On few cells these learn in 20 000 episodes what the others have not begun to learn; on large
# boards they diverge (experiments/networks).
_SMALL_BOARD = 9
_SMALL_NETWORK: dict[str, Any] = {
    "hidden": (100,),
    "activation": "relu",
    "output": "identity",
    "initializer": "xavier",
    "alpha_start": 0.02,
    "alpha_end": 0.02,
}
