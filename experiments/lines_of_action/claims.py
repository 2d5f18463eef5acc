"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.page_text import Claim, cells_in
from experiments.shared import interval

OUTSIDE = {
    "with epsilon ending at .05 (five)": "a setting",
    "noise of .6/.3/.1 in the tests": "a setting",
}
CURES = ("itself, noise", "itself, epsilon .05", "itself, noise, epsilon .05")
"""Self-play with chance to the end."""


def claims() -> Iterator[Claim]:
    """Sentences with holes, each with the values of its holes."""
    cells = cells_in("lines_of_action")
    partners = ("RAND", "COM", "itself")
    thesis = [cells(f"{name} | COM", "paper") for name in partners]
    own = [cells(f"{name} | COM", "average") for name in ("COM", "itself", "RAND")]
    yield "has RAND < COM < itself ({}, {}, {}),", *thesis
    yield "gradient descent ({}, {}, {}; ten networks each)", *own
    yield "itself < RAND by gradient descent ({}, {}, {}).", *own
    yield (
        "the optimizer of COM (with Adam {})",
        cells("COM, Adam | COM", "average", having="change"),
    )
    kept = [cells(f"{name} | COM", "average") for name in CURES]
    yield "(without the collapse {} to {})", min(kept), max(kept)
    yield "after self-play (there {}). Dropping", cells("itself | SELF", "paper", having="gain")
    errors = [
        cells(f"COM | {feature} | {opponent}", "gain", 1)
        for feature in ("immobility", "freedom", "concentration", "cluster")
        for opponent in ("COM", "SELF")
    ]
    yield "after COM the error alone is {} to {}.", min(errors), max(errors)
    low, _ = interval(np.ones(100), (0.0, 1.0))
    yield "up to {}% may be lost (95%, from 100 games)", 100 * (1 - low)
    below = [
        cells(f"{name} | SELF", "paper") - cells(f"{name} | SELF", "average") for name in partners
    ]
    yield "all shares against it lie {} to {} below those of", min(below), max(below)
    against_self = [cells(f"itself, {name} | SELF", "average") for name in ("FARL", "no FARL")]
    yield "there FARL brings {}.", against_self[0] - against_self[1]
