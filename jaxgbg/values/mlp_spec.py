"""The settings of a multi-layer perceptron.

Source: van der Ree & Wiering 2013, section III; Auer, Herbster & Warmuth 1996 (matching losses).
"""

import dataclasses

from jaxgbg.games.core import Game
from jaxgbg.specs import setting, shown
from jaxgbg.values.auxiliary import AuxiliaryMLP
from jaxgbg.values.core import ValueSpec
from jaxgbg.values.layers import ACTIVATIONS, INITIALIZERS, optimizer
from jaxgbg.values.mlp import MLP


@dataclasses.dataclass(frozen=True)
class MLPSpec(ValueSpec):
    """A multi-layer perceptron (van der Ree & Wiering 2013, section III); alpha is its step size.

    Attributes:
      hidden: Sizes of the hidden layers.
      activation: Activation function of the hidden layers.
      output: Activation function of the outputs; sigmoid spans the rewards.
      initializer: Initial weights.
      bias: Initial biases, unless the initializer is uniform, which draws them.
      optimizer: Name of an optax optimizer that takes only a step size.
      loss: Squared errors, or the loss that matches the output (for sigmoid the cross-entropy),
        whose gradient does not have the slope of the output as a factor.
      combine: Whether the errors of one tick are summed or averaged.
      extras: Names of the game's extras (numbers in addition to the cells) that the network uses.
      extras_as: Whether the network gets them as inputs, predicts those of the player's next board
        (outputs), or both.
    """

    hidden: tuple[int, ...] = setting((50,), low=1, high=2**20, most=100)
    activation: str = setting("sigmoid", choices=tuple(ACTIVATIONS))
    output: str = setting("tanh", choices=("tanh", "sigmoid", "identity"))
    initializer: str = setting("uniform", choices=tuple(INITIALIZERS))
    bias: float = setting(0.0, low=-1_000_000, high=1_000_000)
    optimizer: str = "sgd"
    loss: str = setting("squared", choices=("squared", "matching"))
    combine: str = setting("sum", choices=("sum", "mean"))
    extras: tuple[str, ...] = ()
    extras_as: str = setting("both", choices=("inputs", "outputs", "both"))

    kind = "mlp"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden:
            raise ValueError("hidden must name at least one layer's size")
        optimizer(self.optimizer)
        if len(set(self.extras)) != len(self.extras):
            raise ValueError(f"extras must be all different, not {shown(self.extras)}")
        if not self.extras and self.extras_as != "both":
            raise ValueError("extras_as is for extras: name at least one")

    def build(self, game: Game, of_actions: bool, batch: int) -> MLP:
        kind = AuxiliaryMLP if self.extras and self.extras_as != "inputs" else MLP
        return kind(spec=self, game=game, num_actions=game.num_actions if of_actions else 1)
