"""Where the figures in the text of this experiment come from."""

from collections.abc import Iterator

import numpy as np

from experiments.page_tables import kept_records
from experiments.page_text import Cells, Claim, cells_in
from experiments.shared import interval

OUTSIDE = {
    "with epsilon ending at .05 (five)": "a setting",
    "noise of .6/.3/.1 in the tests": "a setting",
    "Two hold at 5%": "the level of the test",
    "against COM from 20 to 70 % of the training and fall": "the part of the training",
    "over the first 80 % of the games": "a setting",
    "From 80 % of the games on": "a setting",
    "in the first tenth and .98 from 20 to 70 %,": "the part of the training",
    "exploration that ends at .05. A game": "a setting",
    "is nearest to the .88 of Table 4.1": "the thesis",
    "each rise of .2 in the picture": "a fifth: one of five networks",
    "± 0.000 means that": "a form",
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
    yield from of_details(cells)


def of_details(cells: Cells) -> Iterator[Claim]:
    """Those of details.md that README.md has not."""

    def paper(row: str, having: str = "average") -> float:
        return cells(row, "paper", having=having)

    def average(row: str) -> float:
        return cells(row, "average")

    def t_of(row: str, column: str = "over our networks") -> float:
        return cells(row, column, 1)

    yield (
        "SELF wins {} against COM ({} to {},",
        *(
            cells("SELF | COM", column, n)
            for column, n in (("share", 0), ("95 % interval", 0), ("95 % interval", 1))
        ),
    )
    yield "20 000 games; there {}), COM", paper("SELF | COM", "games")
    yield "there {} and {}). **Tested", paper("RAND | RAND"), paper("itself | RAND")
    yield (
        "self-play has .735 ± .004 ({}) and RAND .798 ± .010 ({}).",
        *(paper(f"{name} | COM") for name in ("itself", "RAND")),
    )
    yield "± .085, there {}). They win", paper("COM | COM")
    yield "overshoots the thesis ({}, {}) as far", paper("COM | COM"), paper("COM | RAND")
    kept = [average(f"{name} | COM") for name in CURES]
    both = cells("COM, Adam | COM", "average", having="change"), paper("COM | COM")
    yield (
        "overshoot it: COM with Adam {} ({}), self-play without the collapse {} to {} ({}).",
        *both,
        min(kept),
        max(kept),
        paper("itself | COM"),
    )
    yield (
        "With chance to the end it is {} to {}. The thesis' {} lies",
        min(kept),
        max(kept),
        (paper("itself | COM")),
    )
    for first in ("A.1 | itself | RAND | COM", "A.1 | COM | RAND | COM"):
        yield "the other way round (t = {} each)", t_of(first)
    first, second = "A.2 | COM, looking ahead", "A.2 | itself, looking ahead"
    yield (
        "COM against COM t(99) = {}, not {}, which",
        *(t_of(first, column) for column in ("from its tables", "thesis")),
    )
    yield (
        "self-play against SELF {}, not {}.",
        *(t_of(second, column) for column in ("from its tables", "thesis")),
    )
    gains = {
        name: cells(f"{name} | SELF", "paper", having="gain") for name in ("itself", "RAND", "COM")
    }
    yield (
        "after self-play (there {}), .016 ± .003 after RAND ({}), .040 ± .013 after COM ({});",
        *gains.values(),
    )
    yield (
        "after self-play ({} both), .007 ± .003 after COM ({},",
        *(cells(f"{name} | COM", "paper", having="gain") for name in ("itself", "COM")),
    )
    yield "networks leave open: p {}); against", cells(first, "p")
    yield "against RAND nothing to {}. Dropping", cells("COM | RAND", "gain")
    yield "where it gains {}, in all", cells("RAND | freedom | COM", "paper's gain")
    concentration = [cells(f"{name} | concentration | RAND", "paper") for name in ("COM", "RAND")]
    yield "after COM and RAND ({}, {});", *concentration
    others = [
        cells(f"COM | {name} | RAND", "average") for name in ("immobility", "freedom", "cluster")
    ]
    yield "among {} to {}, .987", min(others), max(others)
    yield "after RAND ({} there), and", cells("RAND | immobility | COM", "paper's gain")
    yield "(three networks; there {}),", cells("COM, Adam | freedom | COM", "paper's gain")
    third = "A.3 | RAND, cluster | RAND | SELF", "A.3 | itself, cluster | itself | SELF"
    yield (
        "after RAND t(4) = {} (p = {}) and after self-play t(9) = {} (p = {})",
        *(value for row in third for value in (t_of(row), cells(row, "p"))),
    )
    rest = ("COM, cluster", "COM, freedom", "RAND, immobility", "RAND, cluster | RAND | RAND")
    yield (
        "(t(7) = {}), freedom after COM against COM ({}), immobility after RAND against COM ({})"
        " and the cluster after RAND against RAND ({})",
        *(t_of(f"A.3 | {name}") for name in rest),
    )
    tenths = ("at 70 to 80 %", "at 90 to 100 %")
    noise, mixed, epsilon, neither = (
        [cells(f"{name} | SELF", column) for column in tenths]
        for name in ("itself, noise", "itself, noise, epsilon .05", "itself, epsilon .05", "itself")
    )
    yield "its last tenth {} becomes {} ± .021 with noise and {} ±", *noise, mixed[1]
    yield (
        "with both, {} becomes {} ± .024 with epsilon alone, {} becomes {} with neither",
        *epsilon,
        *neither,
    )
    losses = [-cells(f"{name} | COM", "change") for name in CURES]
    yield "against COM, of {} with both to {} with epsilon alone", min(losses), max(losses)
    yield "self-play against COM, {}, is that", average("itself | COM")
    rounds = average("itself, move by move | COM"), paper("itself | COM")
    yield "is {} ± .001 against COM (thesis {},", *rounds
    yield "without chance have {} on average against SELF", average("itself | SELF")
    for name, sentence in (
        ("itself, noise, epsilon .05", "and epsilon .05 have {} ± .026 and {} ± .010, those"),
        ("itself, move by move", "move by move {} ± .032 and {} ± .006."),
    ):
        yield sentence, *(cells(f"{name} | {each}", tenths[1]) for each in ("SELF", "COM"))
    with_farl = [cells(f"{name} | farl", "COM") for name in ("lines", "windows", "walks")]
    yield "and {} to {} against COM. In", min(with_farl), max(with_farl)
    yield from of_forecast()
    yield from of_tuples(cells)


def of_forecast() -> Iterator[Claim]:
    """What random play said of FARL before any training."""
    (row,) = kept_records("lines_of_action/forecast")
    yield "In {} % of random games the last move", 100 * row["random"]["last_mover_loses"]
    yield "borrowed_games/README.md), is {}; the", row["random"]["positions_blindness"]
    gain = row["forecast"]["positions_blindness"]
    yield "makes of it a gain of {} ({} to {}): FARL", gain["gain"], gain["low"], gain["high"]


def of_tuples(cells: Cells) -> Iterator[Claim]:
    """What part 2 brings with lines."""
    both, one = (
        [cells(f"lines | {variant}", "COM", number) for number in (0, 1)]
        for variant in ("farl", "part1")
    )
    brings, errors = both[0] - one[0], (100 * one[1], 100 * both[1])
    yield "with lines ({}, and a spread of {} points becomes one of {}),", brings, *errors
